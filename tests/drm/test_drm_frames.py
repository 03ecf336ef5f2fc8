# SPDX-License-Identifier: BSD-2-Clause
"""The route through DRM on the simulated device: frames of all kinds, and a GPU that fails.

What the runtime promises for each failure stands in docs/vulkan-runtime.md, what is particular to
this route in docs/drm-route.md.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frame_runs
import pytest
from frame_runs import BLOCKS, EIO, RIGHT, Ran

from daedalus.generator.devices import drm

HANG_MS, RESET_MS = 1500, 1200  # longer than any job takes here, however busy the machine
JOBS = {"caller": 1, "imported": 1, "created": 3, "shadowed": 3}  # of a batch: copy, mark, compute
Second = Callable[..., int]


@pytest.fixture(scope="module")
def program() -> Path:
    return frame_runs.program()


def ran(program: Path, tmp_path: Path, kind: str, *more: str, reset_ms: int = 0, **how: Any) -> Ran:
    """Strict, so that a job whose code broke a rule would fail; by this route alone."""
    environment = {**drm.environment(True), "DAEDALUS_DRM_RESET_MS": str(reset_ms)}
    run = Ran(program, tmp_path, kind, *more, strict=True, environment=environment, **how)
    assert "leads nowhere" not in run.said and run.computed, run.said
    return run


@pytest.fixture(scope="module")
def second(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Second:
    """The number of a job of the second batch among all submissions of such a run: the one that
    computes, or its first."""

    @functools.cache
    def numbers(kind: str, *more: str) -> list[int]:
        run = ran(program, tmp_path_factory.mktemp(kind), kind, *more)
        assert run.errors == RIGHT and run.right and not run.lost, run.said
        return [int(n) for n in run.computed]

    def number(kind: str, *more: str, first: bool = False) -> int:
        return numbers(kind, *more)[-2 * JOBS[kind] if first else -JOBS[kind] - 1]

    return number


@pytest.mark.parametrize("page_kib", [4, 16])
@pytest.mark.parametrize("kind", ["caller", "created", "imported", "shadowed", "twice", "corners"])
def test_frames_of_all_kinds(program: Path, tmp_path: Path, kind: str, page_kib: int) -> None:
    run = ran(program, tmp_path, kind, page_kib=page_kib)
    assert run.errors == RIGHT and run.right and not run.lost and run.said == "", run.said


@pytest.mark.parametrize("kind", ["created", "twice"])
def test_batches_in_flight(program: Path, tmp_path: Path, kind: str) -> None:
    run = ran(program, tmp_path, kind, "together")
    assert run.errors == RIGHT and run.right and not run.lost, run.said


@pytest.mark.parametrize("kind", ["caller", "created", "imported"])
def test_a_fence_tells_when_the_frame_is_done(
    program: Path, second: Second, tmp_path: Path, kind: str
) -> None:
    slow = f"slow@{second(kind, 'fences')}:ms=400"
    run = ran(program, tmp_path, kind, "fences", faults=(slow,))
    assert run.errors == RIGHT and run.right and not run.lost
    assert run.batches[1][1] == "later"


@pytest.mark.parametrize("kind", ["caller", "created", "shadowed"])
def test_a_lost_device(program: Path, second: Second, tmp_path: Path, kind: str) -> None:
    run = ran(program, tmp_path, kind, faults=(f"lost@{second(kind)}",))
    assert run.lost and run.errors == RIGHT and run.right, run.said
    assert run.said.count("the CPU does the work instead, and all that follows") == 1


@pytest.mark.parametrize("kind", ["caller", "created", "imported", "shadowed"])
def test_a_submission_without_memory(
    program: Path, second: Second, tmp_path: Path, kind: str
) -> None:
    """Nothing had begun but copies, so that frames used in place are right as well."""
    run = ran(program, tmp_path, kind, faults=(f"no-memory@{second(kind)}:of=submit",))
    assert run.errors == RIGHT and run.right and not run.lost, run.said
    assert run.said.count("DRM_IOCTL_V3D_SUBMIT_CSD failed: Cannot allocate memory;") == 1


@pytest.mark.parametrize("kind", ["caller", "created", "shadowed"])
def test_a_reset_is_told_by_its_time(
    program: Path, second: Second, tmp_path: Path, kind: str
) -> None:
    """The kernel says nothing of it; the CPU does that batch, and the GPU the next."""
    hang = f"hang@{second(kind)}:ms={HANG_MS}"
    run = ran(program, tmp_path, kind, faults=(hang,), reset_ms=RESET_MS)
    assert run.errors == RIGHT and run.right and not run.lost, run.said
    assert run.said.count("a compute job failed: it took as long as only one does") == 1
    assert len(run.computed) == len(ran(program, tmp_path, kind).computed)


@pytest.mark.parametrize("kind", ["created", "shadowed"])
def test_a_reset_of_the_copy(program: Path, second: Second, tmp_path: Path, kind: str) -> None:
    """What was to be brought back is not there: the items are named, not wrong in silence."""
    hang = f"hang@{second(kind, first=True)}:ms={HANG_MS}"
    run = ran(program, tmp_path, kind, faults=(hang,), reset_ms=RESET_MS)
    assert run.errors == [(0, 0), (EIO, BLOCKS), (0, 0)] and not run.lost, run.said


def test_a_reset_with_others_in_flight(program: Path, tmp_path: Path) -> None:
    """The first of three hangs: the later ones worked with what it had not done."""
    first = ran(program, tmp_path, "created", "together").computed[-2 * JOBS["created"] - 1]
    hang = f"hang@{first}:ms={HANG_MS}"
    run = ran(program, tmp_path, "created", "together", faults=(hang,), reset_ms=RESET_MS)
    assert run.errors == RIGHT and run.right and not run.lost, run.said


def test_the_third_reset_is_the_last(program: Path, tmp_path: Path) -> None:
    last = ran(program, tmp_path, "caller").computed[-3:]
    hangs = tuple(f"hang@{n}:ms={HANG_MS}" for n in last)
    run = ran(program, tmp_path, "caller", faults=hangs, reset_ms=RESET_MS)
    assert run.errors == RIGHT and run.right and run.lost, run.said
    assert run.said.count("and all that follows") == 1


def test_a_hang_without_end(program: Path, second: Second, tmp_path: Path) -> None:
    hang = f"hang@{second('created')}:ms=1500"
    run = ran(program, tmp_path, "created", faults=(hang,), timeout_ms=300)
    assert run.errors == RIGHT and run.lost, run.said
    assert run.said.count("made no progress for 300 ms") == 1


@pytest.mark.parametrize("fault", ["lost@{}", "hang@{}:ms=1500"])
def test_what_is_undefined_is_named(
    program: Path, second: Second, tmp_path: Path, fault: str
) -> None:
    faults = (fault.format(second("imported")),)
    run = ran(program, tmp_path, "imported", faults=faults, reset_ms=RESET_MS)
    assert run.errors == [(0, 0), (EIO, BLOCKS), (0, 0)], run.said
    assert run.lost == fault.startswith("lost")


SOMETHING = [*(("buffer", n) for n in range(1, 7)), ("syncobj", 1)]


@pytest.mark.parametrize(("of", "number"), SOMETHING)
def test_without_memory_for_something(program: Path, tmp_path: Path, of: str, number: int) -> None:
    """Whatever it is for: a self-test, a copy, a submission."""
    run = ran(program, tmp_path, "caller", faults=(f"no-memory@{number}:of={of}",))
    assert run.errors == RIGHT and run.right and not run.lost, run.said


def test_without_memory_for_the_copy(program: Path, tmp_path: Path) -> None:
    """The device has no room for 64 MiB; that costs no more than this batch."""
    run = ran(program, tmp_path, "corners", side=8192, memory=40)
    assert run.errors == RIGHT and run.right and not run.lost
    assert run.said.count("DRM_IOCTL_V3D_CREATE_BO failed: Cannot allocate memory; the CPU") == 3


def test_a_reset_of_a_copy_behind_another(program: Path, second: Second, tmp_path: Path) -> None:
    """That one is not brought back from either, although its wait was not the first to fail."""
    computes = second("created", "together")
    copies = computes + 1
    hangs = (f"hang@{computes}:ms={HANG_MS}", f"hang@{copies}:ms={HANG_MS}")
    run = ran(program, tmp_path, "created", "together", faults=hangs, reset_ms=RESET_MS)
    assert run.errors == [(0, 0), (EIO, BLOCKS), (EIO, BLOCKS)] and not run.lost, run.said


def test_a_reset_of_a_self_test(program: Path, tmp_path: Path) -> None:
    """The variant is refused once and for all; the next by rank does its work, on the GPU."""
    hangs = tuple(f"hang@{n}:ms={HANG_MS}" for n in (1, 2, 3))
    run = ran(program, tmp_path, "caller", faults=hangs, reset_ms=RESET_MS)
    assert run.errors == RIGHT and run.right and not run.lost, run.said
    assert run.said.count("is not used: its self-test ended in a reset of the GPU") == 3
