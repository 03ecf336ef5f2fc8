# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune`: tries every variant that a kernel may have, and keeps what each takes."""

import click

from daedalus.generator.cli import tune_optimum, tune_run, tune_store


class Tune(click.Group):
    """A group whose command `run` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in self.commands
        asked = bool(args) and args[0] in ("-h", "--help")
        return super().parse_args(ctx, args if named or asked else ["run", *args])


@click.group(cls=Tune)
def command() -> None:
    """Finds where each kernel should run, and in which shape.

    `daedalus tune [KERNEL...]` is `daedalus tune run [KERNEL...]`: its options are listed by
    `daedalus tune run --help`. The others read what it has kept.
    """


command.add_command(tune_run.command)
command.add_command(tune_optimum.command)
for _command in tune_store.COMMANDS:
    command.add_command(_command)
