# SPDX-License-Identifier: BSD-2-Clause
"""The runtime on Mesa's drivers: frames in dma-bufs, and, on the simulated device, failures.

What the runtime promises for each failure stands in docs/vulkan-runtime.md.
"""

import functools
import os
import subprocess
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import frame_runs
import pytest
from frame_runs import BATCHES, BLOCKS, EIO, RIGHT, SIDE

from daedalus.generator.devices import validation
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.verify import crosscheck
from daedalus.v3d import driver, vkrun

Ran = partial(
    frame_runs.Ran, environment={"DAEDALUS_QPU_ROUTE": "vulkan", "DAEDALUS_VULKAN_DEVICE": "v3d"}
)


@pytest.fixture(scope="module")
def frames() -> Path:
    return frame_runs.program()


@pytest.fixture(scope="module")
def program(frames: Path) -> Path:
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    return frames


Second = Callable[..., int]


@pytest.fixture(scope="module")
def second(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Second:
    """The number of the second batch's first compute job among all submissions of such a run."""

    @functools.cache
    def number(kind: str, *more: str) -> int:
        ran = Ran(program, tmp_path_factory.mktemp(kind), kind, *more)
        assert ran.errors == RIGHT and ran.right and not ran.lost, ran.said
        return int(ran.computed[-4 if kind == "twice" else -2])

    return number


@pytest.mark.parametrize("kind", ["caller", "created", "imported"])
def test_a_fence_tells_when_the_frame_is_done(
    program: Path, second: Second, tmp_path: Path, kind: str
) -> None:
    ran = Ran(program, tmp_path, kind, "fences", faults=(f"slow@{second(kind, 'fences')}:ms=400",))
    assert ran.errors == RIGHT and ran.right and not ran.lost
    assert ran.batches[1][1] == "later"
    assert all(fence in ("later", "at-once", "-") for _, fence, _ in ran.batches)


FAILURES = ["lost@{}", "no-memory@{}:of=submit", "hang@{}:ms=1500"]


@pytest.mark.parametrize("fault", FAILURES)
@pytest.mark.parametrize("kind", ["caller", "created", "shadowed"])
def test_the_cpu_goes_on(
    program: Path, second: Second, tmp_path: Path, kind: str, fault: str
) -> None:
    faults = (fault.format(second(kind)),)
    ran = Ran(program, tmp_path, kind, faults=faults, timeout_ms=300)
    assert ran.lost and ran.errors == RIGHT and ran.right, ran.said
    assert ran.said.count("the CPU does the work instead, and all that follows") == 1


@pytest.mark.parametrize("fault", FAILURES[:2])
def test_what_is_undefined_is_named(
    program: Path, second: Second, tmp_path: Path, fault: str
) -> None:
    ran = Ran(program, tmp_path, "imported", faults=(fault.format(second("imported")),))
    assert ran.lost and ran.errors == [(0, 0), (EIO, BLOCKS), (0, 0)], ran.said


def test_what_is_undefined_through_another_import(
    program: Path, second: Second, tmp_path: Path
) -> None:
    ran = Ran(program, tmp_path, "twice", faults=(f"lost@{second('twice')}",))
    assert ran.lost and ran.errors == [(0, 0), (EIO, 2 * BLOCKS), (0, 0)], ran.said


def test_batches_through_two_imports(program: Path, tmp_path: Path) -> None:
    """Two batches in flight, each through both imports."""
    ran = Ran(program, tmp_path, "twice", "together", batches=2)
    assert ran.errors == [(0, 0)] * 2 and ran.right and not ran.lost, ran.said


def test_a_reset_within_the_time_is_not_noticed(
    program: Path, second: Second, tmp_path: Path
) -> None:
    """No call reports it: what the self-test cannot see either."""
    ran = Ran(program, tmp_path, "caller", faults=(f"hang@{second('caller')}:ms=50",))
    assert ran.errors == RIGHT and not ran.lost and not ran.right


@pytest.mark.parametrize("kind", ["imported", "twice", "shadowed"])
def test_the_validation_layers_say_nothing(frames: Path, tmp_path: Path, kind: str) -> None:
    """On lavapipe, which a dma-buf may be any file of memory for."""
    vkrun.lavapipe()  # fetches it
    (found,), _ = devices.find(["lavapipe-8"], partial(crosscheck.program, loads=True))
    device = validation.validated(found, tmp_path / "log")
    done = subprocess.run(
        [*device.prefix, str(frames), kind, str(SIDE), str(BATCHES)],
        env={**os.environ, **device.environment, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.endswith("frame right, device there\n"), done.stdout + done.stderr
    assert validation.complaints(tmp_path / "log") == []


def test_without_memory_for_the_copy(program: Path, tmp_path: Path) -> None:
    """The device has no room for 64 MiB; that costs no more than this batch."""
    ran = Ran(program, tmp_path, "corners", side=8192, memory=40)
    assert ran.errors == RIGHT and ran.right and not ran.lost
    assert ran.said.count("VK_ERROR_OUT_OF_DEVICE_MEMORY; the CPU does the work instead\n") == 3


def test_what_still_runs_is_waited_for(program: Path, tmp_path: Path) -> None:
    """The second submission fails while the first one computes in the frame, which the CPU then
    takes over: not before that has ended."""
    ran = Ran(program, tmp_path, "created", "together", batches=2)
    assert ran.right and not ran.lost
    first, last = ran.computed[-2:]
    # The copy that the first one keeps, a fill that says so, and then what both lie before.
    faults = (f"slow@{first - 2}:ms=500", f"no-memory@{last}:of=submit")
    ran = Ran(program, tmp_path, "created", "together", faults=faults, batches=2)
    assert ran.lost and ran.errors == [(0, 0)] * 2 and ran.right, ran.said
