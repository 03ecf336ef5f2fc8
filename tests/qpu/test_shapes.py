# SPDX-License-Identifier: BSD-2-Clause
"""Programs of shapes that random ones seldom have, against the interpreter."""

from collections.abc import Callable

import numpy as np
import pytest

from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.builder import Builder, LoopBuilder
from daedalus.generator.targets.qpu.interpret import Memory
from daedalus.generator.targets.qpu.random_programs import Case
from daedalus.generator.targets.qpu.virtual import Uniform, Value

_DATA, _TRIPS = 0x1000, 5
_BYTES = 64 * 64


def _case(b: Builder) -> Case:
    data = np.random.default_rng(7).integers(0, 256, _BYTES, dtype=np.uint8)
    uniforms = {Uniform("value", "data"): _DATA, Uniform("value", "end"): _DATA + 64 * _TRIPS}
    return Case(0, b.program(), Memory({_DATA: data}), uniforms, 1)


def _own(b: Builder) -> Value:
    """The address of the element's word in the first 64 bytes, computed by the entry."""
    with b.before_loop():
        return b.op("add", b.uniform("data"), b.op("shl", b.element(), 2))


def _go_on(b: Builder, loop: LoopBuilder, at: Value) -> None:
    """The address goes on by 64 bytes a trip until the end."""
    after = b.op("add", at, 64)
    loop.next(at, after)
    loop.repeat(b.flag("pushc", "sub", after, b.uniform("end")), "a0")


def entry_only(b: Builder) -> None:
    (x,) = b.load(_own(b), space="in")
    b.store(_own(b), [b.op("add", x, 1)], space="in")


def nothing_loaded(b: Builder) -> None:
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        b.store(at, [b.op("smul24", at, 3)], space="out")
        _go_on(b, loop, at)


def sums_that_are_kept_in_some_elements(b: Builder) -> None:
    with b.loop(ahead=True) as loop:
        total = loop.carried(0)
        at = loop.carried(_own(b))
        (x,) = b.load(at, space="in")
        odd = b.flag("pushz", "and", x, 1)
        more = b.op("add", total, x, when=~odd, old=total)
        b.store(at, [more], space="in")
        loop.next(total, more)
        _go_on(b, loop, at)


def two_carried_values_change_places(b: Builder) -> None:
    with b.loop(ahead=True) as loop:
        low, high = loop.carried(1), loop.carried(b.element())
        at = loop.carried(_own(b))
        b.store(at, [low], space="out")
        loop.next(low, b.op("mov", high))
        loop.next(high, b.op("add", low, high))
        _go_on(b, loop, at)


def an_invariant_is_kept_in_some_elements(b: Builder) -> None:
    other = b.op("add", b.element(), 7)
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        (x,) = b.load(at, space="in")
        b.store(at, [b.select(b.flag("pushn", "mov", x), x, other)], space="in")
        _go_on(b, loop, at)


def the_flag_that_repeats_is_read_as_well(b: Builder) -> None:
    with b.loop(ahead=False) as loop:
        at = loop.carried(_own(b))
        after = b.op("add", at, 64)
        loop.next(at, after)
        more = b.flag("pushc", "sub", after, b.uniform("end"))
        b.store(at, [b.mask(more)], space="out", when=more)
        loop.repeat(more, "alla")


def an_updated_inverse_flag_repeats(b: Builder) -> None:
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        (x,) = b.load(at, space="in")
        b.store(at, [b.op("not", x)], space="in")
        after = b.op("add", at, 64)
        loop.next(at, after)
        past = b.flag("pushc", "sub", b.uniform("end"), after)
        inside = b.update(past, "norc", "sub", b.uniform("end"), after)  # !past
        outside = b.update(inside, "nornz", "sub", after, after)  # !(inside | !Z) = !inside
        loop.repeat(~outside, "a0")


def scratch_is_written_and_read(b: Builder) -> None:
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        (x,) = b.load(at, space="in")
        place = b.op("add", _own(b), 64 * 32)
        b.store(place, [x], space="scratch")
        b.wait_stores()
        turned = b.op("sub", b.uniform("data"), b.op("shl", b.element(), 2))
        (y,) = b.load(b.op("add", turned, 64 * 32 + 60), space="scratch")
        b.store(at, [y], space="in")
        _go_on(b, loop, at)


def many_stores(b: Builder) -> None:
    """More than may be on their way at once."""
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        (x,) = b.load(at, space="in")
        for k in range(20):
            b.store(b.op("add", at, 64 * 16 + 64 * (k % 16)), [b.op("add", x, k)], space="out")
        _go_on(b, loop, at)


def many_loads(b: Builder) -> None:
    """More than may be on their way at once, and results that nobody reads."""
    with b.loop(ahead=True) as loop:
        at = loop.carried(_own(b))
        total = b.op("mov", 0)
        for k in range(12):
            words = b.load(b.op("add", at, 64 * k), "vec2" if k % 3 else "u32", space="in")
            total = b.op("add", total, words[0])
        b.store(at, [total], space="out")
        _go_on(b, loop, at)


_SHAPES: list[Callable[[Builder], None]] = [
    entry_only, nothing_loaded, sums_that_are_kept_in_some_elements,
    two_carried_values_change_places, an_invariant_is_kept_in_some_elements,
    the_flag_that_repeats_is_read_as_well, an_updated_inverse_flag_repeats,
    scratch_is_written_and_read, many_stores, many_loads,
]  # fmt: skip


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("shape", _SHAPES, ids=lambda x: x.__name__)
def test_a_shape(shape: Callable[[Builder], None], threads: int) -> None:
    b = Builder(shape.__name__)
    shape(b)
    verdict = compare(_case(b), threads, budget=1000)
    assert verdict.assembly is not None, verdict.reason
    assert verdict.differing == 0
