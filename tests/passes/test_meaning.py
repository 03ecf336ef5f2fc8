# SPDX-License-Identifier: BSD-2-Clause
"""No pass changes what a kernel computes, and after each the program is legal.

Compared are all elements, on items that meet the class and the assumptions of the variant.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from random_programs import accepted_kernels, random_items

from daedalus.dsl import interp, vectors
from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import SpecError, VerifyError
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel, Op
from daedalus.dsl.show import show
from daedalus.dsl.verify import verify
from daedalus.generator.compile.registry import load
from daedalus.generator.options import Options, options_of
from daedalus.generator.passes.guard import find_guard, select_old
from daedalus.generator.passes.pipeline import Lowered, lower, passes
from daedalus.generator.passes.split_clips import split_clips
from daedalus.generator.passes.split_products import split_products

# Of kernels that have no variant for the QPU.
_FURTHER = (options_of("qpu", points=4), options_of("qpu", keep=True))


def _variants() -> Iterator[Any]:
    """Those of the library, and in the campaign the others."""
    for e in load():
        listed = list(e.listed)
        if all(s.target != "qpu" for s, _ in listed):
            listed += [(s, False) for s in _FURTHER]
        for s, prod in listed:
            marks = [] if prod else [pytest.mark.campaign]
            yield pytest.param(e.kernel, s, id=f"{e.kernel.id}-{s.name}", marks=marks)


VARIANTS = list(_variants())
RANDOM = accepted_kernels(25)
BACK_END = (select_old, find_guard, split_clips, split_products)


@cache
def _drawn(kernel: Kernel, count: int, seed: int) -> Items:
    return vectors.make_items(kernel, count, seed)


def items_of(kernel: Kernel, options: Options, count: int, seed: int) -> Items:
    """Items on which a variant has to be right."""
    drawn = _drawn(kernel, count, seed)
    ok = interp.in_class(kernel, options.class_name, drawn)
    ok &= interp.run(kernel, drawn).conformant(kernel.defaults | set(options.assume))
    assert ok.sum() >= count // 20, "too few items of the class"
    return drawn.take(ok)


def assert_same(kernel: Kernel, changed: Kernel, items: Items, what: str) -> None:
    """Every element of every output buffer agrees."""
    want, got = interp.run(kernel, items), interp.run(changed, items)
    for name, values in want.buffers.items():
        assert np.array_equal(got.buffers[name], values), f"{what}: {name} differs"


def verified(changed: Kernel, points: bool) -> None:
    """Legal; behind `points`, a point beyond a limit of an axis may read what nobody wrote: it
    stores nothing, which assert_same sees."""
    try:
        verify(changed)
    except VerifyError as e:
        if e.rule != "uninitialised" or not points or not any(s.limits for s in changed.stages):
            raise


@pytest.mark.of_many
@pytest.mark.parametrize(("kernel", "options"), VARIANTS)
def test_every_pass_keeps_the_result(kernel: Kernel, options: Options) -> None:
    items = items_of(kernel, options, 400, 11)
    seen: list[str] = []

    def watch(name: str, changed: Kernel) -> None:
        verified(changed, "points" in (name, *seen))
        assert_same(kernel, changed, items, f"after {name}")
        seen.append(name)

    lowered = lower(kernel, options, watch)
    assert seen == [name for name, _ in passes(kernel, options)]
    for step in BACK_END:
        changed = step(lowered)
        verified(changed, "points" in seen)
        assert_same(kernel, changed, items, f"after {step.__name__}")
    together = split_products(split_clips(select_old(find_guard(lowered))))
    verified(together, "points" in seen)
    assert_same(kernel, together, items, "after all")


@pytest.mark.parametrize("class_name", ["few", "full"])
@pytest.mark.parametrize("kernel", RANDOM, ids=lambda k: k.id)
def test_random_programs_keep_their_result(kernel: Kernel, class_name: str) -> None:
    items = random_items(kernel, 64, 3, class_name)
    assert interp.in_class(kernel, class_name, items).all()

    def watch(name: str, changed: Kernel) -> None:
        verify(changed)
        assert_same(kernel, changed, items, f"after {name}")

    lowered = lower(kernel, options_of("neon", class_name), watch)
    for step in BACK_END:
        assert_same(kernel, step(lowered), items, f"after {step.__name__}")


def test_lower_without_a_watcher_is_the_same() -> None:
    kernel, options = VARIANTS[0].values
    assert len(lower(kernel, options).stages) <= len(kernel.stages)


# ------------------------------------------------------------------ these tests would notice


def _off_by_one(kernel: Kernel) -> Kernel:
    """A broken pass: the first rounding shift of the last stage shifts by one more."""
    stage = kernel.stages[-1]
    first = next(n for n in stage.nodes() if n.op in (Op.RSHR, Op.SHR))
    builder = Builder({t.name: t for t in kernel.tables})
    broken = rewrite_stage(
        stage, builder,
        lambda n, a: builder.make(n.op, a, (n.attr[0] + 1,), n.loc) if n is first else None,
    )  # fmt: skip
    return replace(kernel, stages=(*kernel.stages[:-1], broken))


@pytest.mark.parametrize(("kernel", "options"), [VARIANTS[0].values, VARIANTS[-1].values])
def test_a_broken_pass_is_noticed(kernel: Kernel, options: Options) -> None:
    items = items_of(kernel, options, 400, 11)
    with pytest.raises(AssertionError, match="differs"):
        assert_same(kernel, _off_by_one(kernel), items, "broken")


def test_an_illegal_result_is_noticed() -> None:
    """Specialising for a class and then running another class's items gives other results."""
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_idct8")
    dc = lower(kernel, options_of("c", "dc"))
    with pytest.raises(AssertionError, match="differs"):
        assert_same(kernel, dc, items_of(kernel, options_of("c"), 200, 1), "dc")


def test_verify_runs_on_lowered_kernels() -> None:
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_idct8")
    lowered = lower(kernel, options_of("c"))
    with pytest.raises(SpecError, match="no earlier stage wrote"):
        verify(replace(lowered, stages=lowered.stages[1:]))


@pytest.mark.parametrize("name", ["av1_cdef8", "h264_idct8", "vp9_mc_8h"])
def test_passes_done_for_another_variant(name: str) -> None:
    """A variant that goes on with what others have come to gets what it gets alone."""
    (entry,) = [e for e in load() if e.kernel.id == name]
    listed = [s for s, _ in entry.listed]
    for order in (listed, listed[::-1]):
        known: Lowered = {}
        steps = 0
        for options in order:
            steps += len(passes(entry.kernel, options))
            alone = lower(entry.kernel, options)
            shared = lower(entry.kernel, options, known=known)
            assert show(shared) == show(alone), options.name
            assert shared.items_per_vector == alone.items_per_vector
            assert shared.branches == alone.branches
        assert len(known) < steps  # something was shared
