# SPDX-License-Identifier: BSD-2-Clause
"""Runs other programs, and sets up this one."""

import gc
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError


def collect_seldom() -> None:
    """Looks for garbage in circles a hundred times less often than Python does by itself.

    Specs and what is made of them are many small objects that stay: looking through them again and
    again was a fifth of the time of `gen`. It takes some 30 MB more memory.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


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
