# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune`: what was measured."""

import click

from daedalus.generator.cli.tune_store import COMMANDS


@click.group("tune")
def command() -> None:
    """What is kept of measurements."""


for _command in COMMANDS:
    command.add_command(_command)
