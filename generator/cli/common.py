# SPDX-License-Identifier: BSD-2-Clause
"""What every verb needs: where the repository is, exit codes, errors, output."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

EXIT_FAILED = 1  # something that was checked is wrong
EXIT_USAGE = 2  # bad arguments or input
EXIT_MISSING = 3  # a needed tool or package is missing
EXIT_INTERRUPTED = 130

# Progress and remarks go to stderr, results to stdout, so that results can be piped.
console = Console(stderr=True, highlight=False)
out = Console(highlight=False)


class UserError(Exception):
    """A failure that the user can understand and mend: what, and what to do."""

    def __init__(self, message: str, hint: str = "", exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class WrongOutput(UserError):
    """Code that was compared leaves something other than the reference does."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, EXIT_FAILED)


def report_error(error: UserError) -> None:
    """Prints an error the one way it is printed everywhere."""
    print(f"daedalus: error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)


def repo_root() -> Path:
    """The checkout this package belongs to; for an installed package, the one around this folder.

    Verbs that need C sources (build, check, stream, test) work only inside one.
    """
    own = Path(__file__).resolve().parents[2]  # a checkout's generator/cli lies two below its root
    for folder in (own, Path.cwd(), *Path.cwd().parents):
        if (folder / "CMakeLists.txt").is_file() and (folder / "dsl" / "ir.py").is_file():
            return folder
    raise UserError(
        "this command needs a checkout of daedalus, and none contains the current folder",
        "clone the repository and run ./daedalus there",
    )


def build_dir() -> Path:
    """Everything that is built, fetched or cached lies below this folder of the checkout."""
    return repo_root() / "build"


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    what: str = "",
    log: Path | None = None,
) -> str:
    """Runs a tool and returns its stdout; its failure becomes a UserError with its last lines.

    With `log`, the whole output is kept there as well.
    """
    words = [str(a) for a in argv]
    try:
        done = subprocess.run(
            words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise UserError(
            f"{words[0]} is not installed", "run ./daedalus setup", EXIT_MISSING
        ) from None
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise UserError(
            f"{what or ' '.join(words)}: exit status {done.returncode}\n{tail}",
            f"the whole output is in {log}" if log else "",
            EXIT_FAILED,
        )
    return done.stdout
