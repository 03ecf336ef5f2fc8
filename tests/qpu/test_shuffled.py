# SPDX-License-Identifier: BSD-2-Clause
"""Temps that move between the elements of an item: conditions, limits, first values, stages of
other shapes, against the reference interpreter, with no memory for temps."""

from collections.abc import Callable

import pytest

from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import KernelBuilder, clip_u8, kernel, u8
from daedalus.generator.options import Options, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu.best import compile_quick
from daedalus.generator.verify.qpu_trial import Run, Scheduled, interpreted, selected, trials


def _masked() -> Kernel:
    """What is not stored keeps its first value; then a stage keeps some of what was stored."""

    @kernel(clause="none: a test")
    def test_masked(k: KernelBuilder) -> None:
        """Stores under conditions."""
        src = k.plane("src", u8, rows=(0, 1), cols=(0, 8))
        dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 7), access="out")
        least = k.param("least", u8, 0, 255)
        t = k.temp("t", (8,), init=77)
        with k.stage(x=8) as x, k.when(src[0, x] > least):
            t[x] = src[0, x]
        with k.stage(y=8) as y, k.when(src[0, 7 - y] > 100):
            t[7 - y] = src[0, y] >> 1
        with k.stage(z=7) as z:
            dst[0, z] = clip_u8(t[z + 1] + t[6 - z] - t[0])

    return test_masked.kernels()[0]


def _limited() -> Kernel:
    """Rows of which as many exist as a parameter says, each read by others."""

    @kernel(clause="none: a test")
    def test_limited(k: KernelBuilder) -> None:
        """Limits."""
        src = k.plane("src", u8, rows=(0, 4), cols=(0, 4))
        dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 4), access="out")
        rows = k.param("rows", u8, 1, 4)
        t = k.temp("t", (4, 4))
        with k.stage(y=k.upto(rows, 4), x=4) as (y, x):
            t[y, x] = src[y, x] + src[y, 3 - x]
        with k.stage(b=k.upto(rows, 4), a=4) as (b, a):
            dst[b, a] = clip_u8(t[b, 3 - a] + 1)

    return test_limited.kernels()[0]


def _either() -> Kernel:
    """A temp that one of two stages stores, by other points, and one that all elements read."""

    @kernel(clause="none: a test")
    def test_either(k: KernelBuilder) -> None:
        """Stages for some items only."""
        src = k.plane("src", u8, rows=(0, 2), cols=(0, 6))
        dst = k.plane("dst", u8, rows=(0, 2), cols=(0, 6), access="out")
        mode = k.param("mode", u8, 0, 3)
        t, one = k.temp("t", (2, 6)), k.temp("one", (1,))
        with k.stage(y=2, x=6, given=mode > 1) as (y, x):
            t[y, x] = src[y, x] * 2
        with k.stage(b=6, a=2, given=mode <= 1) as (b, a):
            t[1 - a, b] = src[a, 5 - b]
        with k.stage(m=1) as m:
            one[m] = src[0, 0] + t[1, 5]
        with k.stage(d=2, c=3) as (d, c):
            dst[d, c] = clip_u8(t[1 - d, c] + one[0])

    return test_either.kernels()[0]


def _windows() -> Kernel:
    """Three by five points, then fifteen in a row; windows."""

    @kernel(clause="none: a test")
    def test_windows(k: KernelBuilder) -> None:
        """No powers of two."""
        src = k.plane("src", u8, rows=(0, 3), cols=(0, 5))
        dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 13), access="out")
        t, u = k.temp("t", (3, 5)), k.temp("u", (15,))
        with k.stage(y=3, x=5) as (y, x):
            t[y, x] = src[y, x] + src[2 - y, x]
        with k.stage(b=5, a=3) as (b, a):
            u[3 * b + a] = t[a, b] - t[2 - a, 4 - b]
        with k.stage(z=13) as z:
            dst[0, z] = clip_u8(u[z] + u[z + 2] - u[14 - z])

    return test_windows.kernels()[0]


KERNELS = (_masked, _limited, _either, _windows)


def _compare(made: Kernel, options: Options, run: Run) -> None:
    s = selected(made, options)
    assert s.scratch == 0
    assert not any("scratch" in str(p) for p in s.programs)
    try:
        assert selected(made, options_of("qpu", points=options.points)).scratch > 0
    except NotLowerable as e:
        assert "has a first value, and is in memory" in e.message
    compared = 0
    for kind, o in trials(made, options, 60, run=run, s=s):
        assert not o.mismatches and not o.strayed, f"{kind} items: {o.first}"
        compared += o.conformant
    assert compared >= 20


@pytest.mark.parametrize("points", [1, 2])
@pytest.mark.parametrize("make", KERNELS)
def test_temps_that_move_are_what_they_would_be_in_memory(
    make: Callable[[], Kernel], points: int
) -> None:
    _compare(make(), options_of("qpu", points=points, shuffle=True), interpreted)


@pytest.mark.parametrize("make", KERNELS)
def test_they_are_on_the_simulator(make: Callable[[], Kernel]) -> None:
    """Strictly."""
    _compare(make(), options_of("qpu", shuffle=True), Scheduled(2, compile_quick))
