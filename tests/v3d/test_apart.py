# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are run apart: how they end, and that none is left behind."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from daedalus.v3d import apart

# Heeds no request to end, and starts another one that does not either; both are asked for by name.
_STUBBORN = """
import os, signal, sys, time
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
inner = os.fork() == 0
open(f"{sys.argv[1]}/{'inner' if inner else 'outer'}", "w").write(str(os.getpid()))
print("begun", flush=True)
time.sleep(600)
"""


def run(code: str, place: Path, limit_s: float = 60) -> apart.Ended:
    words = [sys.executable, "-c", code, str(place)]
    return apart.finish(words, {"MARK": "7"}, limit_s=limit_s, log=place / "log", folder=place)


def wait_for(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()


def running(place: Path, name: str) -> bool:
    """Whether a process that wrote its number to place/name runs; one that waits to be reaped
    does not."""
    try:
        state = Path("/proc", (place / name).read_text(), "stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def begun(place: Path) -> bool:
    return all((place / n).is_file() and (place / n).read_text() for n in ("inner", "outer"))


def test_how_it_ended(tmp_path: Path) -> None:
    code = "import os, sys; print(os.environ['MARK'], os.getcwd()); print('no', file=sys.stderr)"
    assert run(code, tmp_path) == apart.Ended(f"7 {tmp_path.resolve()}\n", apart.DONE)
    assert (tmp_path / "log").read_text() == "no\n"
    assert run("raise SystemExit(3)", tmp_path).how == "exit status 3"
    assert run("import os; os.kill(os.getpid(), 9)", tmp_path).how == "exit status -9"


def test_what_takes_too_long_is_killed_with_all_it_started(tmp_path: Path) -> None:
    ended = run(_STUBBORN, tmp_path, limit_s=3)
    assert ended.how == "not done after 3 s" and "begun" in ended.out
    assert begun(tmp_path)
    for name in ("inner", "outer"):
        assert wait_for(lambda n=name: not running(tmp_path, n)), name  # type: ignore[misc]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    """It comes as from Ctrl-C or `kill`; the program has a session of its own and gets none."""
    pid = os.fork()
    if pid == 0:
        try:
            run(_STUBBORN, tmp_path)
        except (KeyboardInterrupt, SystemExit) as e:
            os._exit(42 if isinstance(e, KeyboardInterrupt) else e.code)
        os._exit(1)
    assert wait_for(lambda: begun(tmp_path))
    assert running(tmp_path, "inner") and running(tmp_path, "outer")
    os.kill(pid, number)
    expected = 42 if number == signal.SIGINT else 128 + number
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == expected
    for name in ("inner", "outer"):
        assert wait_for(lambda n=name: not running(tmp_path, n)), name  # type: ignore[misc]


def test_what_signals_did_before_they_do_again(tmp_path: Path) -> None:
    before = [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)]
    run("", tmp_path)
    assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)] == before


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        apart.finish([str(tmp_path / "none")], {}, limit_s=1, log=tmp_path / "log")
