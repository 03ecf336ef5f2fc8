# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs that may hang, or not heed to be asked to end, and leaves none of them behind."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DONE = "exit status 0"


@dataclass(frozen=True)
class Ended:
    """What became of a program."""

    out: str  # its standard output, as far as it came
    how: str  # DONE, another exit status, or that it took too long


def finish(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit_s: float,
    log: Path,
    folder: Path | None = None,
) -> Ended:
    """Runs words in `folder` until they end, or for limit_s seconds.

    environment  what is added to this process's own
    log          gets its standard error

    Whatever the program started and left in its process group is killed, too: when it takes too
    long, and when this process is interrupted or asked to end (SIGINT, SIGTERM, SIGHUP).
    """
    with log.open("w") as errors, _leaving_by_exception():
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
            env={**os.environ, **environment},
            cwd=folder,
            start_new_session=True,
        )
        try:
            out, _ = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _kill(child)
            out, _ = child.communicate()
            return Ended(out, f"not done after {limit_s:g} s")
        except BaseException:
            _kill(child)
            child.communicate()
            raise
    return Ended(out, f"exit status {child.returncode}")


@contextlib.contextmanager
def _leaving_by_exception() -> Iterator[None]:
    """SIGTERM and SIGHUP unwind the stack as SIGINT does; by default, nothing would be done."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = {n: signal.signal(n, leave) for n in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _kill(child: "subprocess.Popen[str]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
