# SPDX-License-Identifier: BSD-2-Clause
"""Commands side by side: who waits for whom, what is told of them, and how they are ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daedalus.generator.host.steps import Ended, Step, run_steps

# Notes in a file when it began and ended.
NOTE = "echo +$0 >> log; sleep 0.3; echo -$0 >> log"


def noting(name: str, after: tuple[str, ...] = (), *, wide: bool = False) -> Step:
    return Step(name, ["sh", "-c", NOTE, name], after, wide)


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def run(steps: list[Step], folder: Path, processors: int = 2) -> dict[str, Ended]:
    return {e.step.name: e for e in run_steps(steps, folder, processors)}


def test_as_many_at_once_as_processors(tmp_path: Path) -> None:
    ended = run([noting(n) for n in "abcd"], tmp_path)
    assert not any(e.failure for e in ended.values()) and len(ended) == 4
    at_once = [0]
    for line in log(tmp_path):
        at_once.append(at_once[-1] + (1 if line[0] == "+" else -1))
    assert max(at_once) == 2


def test_a_wide_step_is_alone_and_in_its_place(tmp_path: Path) -> None:
    run([noting("a"), noting("w", wide=True), noting("b")], tmp_path)
    assert log(tmp_path) == ["+a", "-a", "+w", "-w", "+b", "-b"]


def test_a_step_waits_for_what_it_needs_and_lets_others_pass(tmp_path: Path) -> None:
    steps = [noting("first"), noting("second", after=("first",)), noting("other")]
    run(steps, tmp_path)
    lines = log(tmp_path)
    assert lines.index("+second") > lines.index("-first") > lines.index("+other")


def test_what_needs_a_failed_step_fails_without_being_run(tmp_path: Path) -> None:
    steps = [Step("bad", ["false"]), noting("next", ("bad",)), noting("last", ("next",))]
    ended = run([*steps, noting("other")], tmp_path)
    assert ended["next"].failure == "not run, as it needs: bad"
    assert ended["last"].failure == "not run, as it needs: next"
    assert log(tmp_path) == ["+other", "-other"]


def test_what_is_not_in_the_list_is_not_waited_for(tmp_path: Path) -> None:
    assert not run([noting("a", after=("elsewhere",))], tmp_path)["a"].failure


def test_steps_that_need_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="need each other: .'a', 'b'."):
        run([noting("a", ("b",)), noting("b", ("a",))], tmp_path)


def test_the_whole_output_of_a_failure(tmp_path: Path) -> None:
    script = "seq 300; echo to stderr >&2; exit 3"
    failure = run([Step("a", ["sh", "-c", script])], tmp_path)["a"].failure
    lines = [*map(str, range(1, 301)), "to stderr", "exit status 3"]
    assert failure.splitlines() == lines


def test_a_signal_is_a_failure(tmp_path: Path) -> None:
    assert run([Step("a", ["sh", "-c", "kill -9 $$"])], tmp_path)["a"].failure == (
        "killed by signal 9"
    )


def test_a_missing_program_is_a_failure(tmp_path: Path) -> None:
    ended = run([Step("a", ["no-such-program"]), noting("b")], tmp_path)
    assert ended["a"].failure == "no-such-program is not installed: run ./daedalus setup"
    assert not ended["b"].failure


def test_processor_time_of_children_counts(tmp_path: Path) -> None:
    spin = "import time\nwhile time.process_time() < 0.5: pass"
    ended = run([Step("a", ["sh", "-c", '"$0" -c "$1"; true', sys.executable, spin])], tmp_path)
    assert 0.5 <= ended["a"].processor < 3


@pytest.mark.parametrize("again", [False, True])
def test_interrupted_steps_are_gone(tmp_path: Path, again: bool) -> None:
    """One that dies of the interrupt and one that does not, each with a child; also where another
    interrupt comes before the second is killed."""
    deaf = "trap '' INT; sleep 600 & echo $! >> pids; wait"
    polite = "echo $$ > first; sleep 600 & echo $! >> pids; wait"
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from daedalus.generator.host.steps import Step, run_steps\n"
        f"steps = [Step(n, ['sh', '-c', s]) for n, s in (('a', {polite!r}), ('b', {deaf!r}))]\n"
        "list(run_steps(steps, Path(sys.argv[1]), 2))\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program, tmp_path], stderr=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    patience = time.monotonic() + 60
    while not pids.is_file() or len(pids.read_text().split()) < 2:
        assert time.monotonic() < patience and runner.poll() is None
        time.sleep(0.05)
    children = [int(pid) for pid in pids.read_text().split()]
    runner.send_signal(signal.SIGINT)
    if again:
        while _runs(int((tmp_path / "first").read_text())):  # the interrupt has not got there
            assert time.monotonic() < patience and runner.poll() is None
            time.sleep(0.05)
        runner.send_signal(signal.SIGINT)
    assert runner.wait(60) != 0
    while any(map(_runs, children)):  # killed, and not gone at once
        assert time.monotonic() < patience
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether there is such a process, not counting one that has ended and was not waited for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.getpid() != pid
