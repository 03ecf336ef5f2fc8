# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d`: the GPU of a Raspberry Pi 5 without one; a group of verbs, one module each."""

import importlib

import click

# Verb -> module `v3d_<verb>` of this package that defines the command `command`.
VERBS = ("corpus",)


class Verbs(click.Group):
    """Loads a verb's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"daedalus.generator.cli.v3d_{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command


@click.group(name="v3d", cls=Verbs)
def command() -> None:
    """Works with the GPU of a Raspberry Pi 5 (V3D 7.1) on any machine."""
