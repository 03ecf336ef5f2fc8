# SPDX-License-Identifier: BSD-2-Clause
"""The command line: one verb a module, gathered here."""

import importlib
import sys

import click

from daedalus import __version__
from daedalus.dsl.errors import SpecError
from daedalus.generator.cli.common import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    UserError,
    report_error,
)

# Verb -> module of the same name in this package that defines the command `command`.
VERBS = (
    "bench", "build", "check", "count", "doctor", "explain", "farm", "fuzz", "gen", "help", "list",
    "mutate", "new", "oracle", "recipe", "report", "setup", "stats", "stream", "test", "tune",
    "v3d", "witness",
)  # fmt: skip


class Verbs(click.Group):
    """Loads a verb's module only when it is called, so that every verb starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"daedalus.generator.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="daedalus")
def cli() -> None:
    """Codec kernels written once, generated for every processor of a Raspberry Pi 5.

    \b
    Exit codes: 0 done; 1 something checked is wrong; 2 bad arguments or input;
    3 a needed tool or package is missing; 130 interrupted.
    """


def main() -> None:
    """Console entry point."""
    try:
        code = cli(prog_name="daedalus", standalone_mode=False)
    except click.ClickException as e:
        e.show()
        code = 2
    except click.Abort:
        code = EXIT_INTERRUPTED
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except UserError as e:
        report_error(e)
        code = e.exit_code
    except SpecError as e:
        report_error(UserError(str(e)))
        code = EXIT_USAGE
    except BrokenPipeError:
        code = EXIT_FAILED
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
