# SPDX-License-Identifier: BSD-2-Clause
"""The command line: one verb a module, gathered here."""

import contextlib
import difflib
import errno
import importlib
import os
import sys

import click

from daedalus import __version__
from daedalus.dsl.errors import SpecError
from daedalus.generator.base.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    UserError,
    report_error,
)
from daedalus.generator.base.process import collect_seldom

# Verb -> module of the same name in this package that defines the command `command`.
VERBS = (
    "bench", "build", "check", "checkasm", "count", "doctor", "explain", "farm", "fuzz", "gen",
    "help", "list", "mutate", "new", "oracle", "recipe", "report", "scale", "setup", "stats",
    "stream", "test", "tune", "v3d", "witness",
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = difflib.get_close_matches(args[0], VERBS)
        if near and args[0] not in VERBS:
            ctx.fail(f"No such command '{args[0]}'. Did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="daedalus")
def cli() -> None:
    """Codec kernels written once, generated for every processor of a Raspberry Pi 5.

    \b
    Exit codes: 0 done; 1 something checked is wrong; 2 bad arguments or input;
    3 a needed tool or package is missing; 130 interrupted.
    """


def _drop_stdout() -> None:
    """Nobody can take what is left: without this Python tries again at its end, and complains."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Console entry point."""
    collect_seldom()
    try:
        code = cli(prog_name="daedalus", standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk can still be told
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
        _drop_stdout()
        code = EXIT_FAILED
    except OSError as e:
        if e.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _drop_stdout()
        where = f" {e.filename}" if e.filename else ""
        report_error(UserError(f"cannot write{where}: {e.strerror}", "make room on the disk"))
        code = EXIT_USAGE
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
