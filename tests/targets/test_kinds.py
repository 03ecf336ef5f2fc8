# SPDX-License-Identifier: BSD-2-Clause
"""Values of one kind are solved once: what that gives each is what solving it alone would give."""

import textwrap
from pathlib import Path
from typing import Any

import pytest
from spec_support import HEAD, load_text

from daedalus.dsl.ir import Node
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.targets.neon.forms import WIDTHS, Demand, Forms
from daedalus.generator.targets.neon.select import Selection

KINDS = ("bits", "sat_u", "sat_s", "negated", "mask")

# Pairs of values that differ in a single respect which decides how they can be computed.
ALMOST_ALIKE = """
    a = k.block("a", i16, (8, 2), lo=0, hi=255)
    high = k.block("high", i16, (8,), lo=0, hi=256)
    low = k.block("low", i16, (8,), lo=-1, hi=255)
    bytes_ = k.block("bytes_", u8, (8,))
    same = k.block("same", i16, (8,), lo=0, hi=255)
    out = k.block("out", i32, (8, 8), access="out")
    with k.stage(i=8) as i:
        x, y = a[i, 0], a[i, 1]
        out[i, 0] = x + y
        out[i, 1] = x + x  # one operand
        out[i, 2] = high[i] + y  # its range
        out[i, 3] = low[i] + y
        out[i, 4] = bytes_[i] + y  # its element
        out[i, 5] = same[0] + y  # the same on all lanes
        out[i, 6] = (x + y) >> 3
        out[i, 7] = (x + y) >> 4  # its amount
"""


def selections(entry: Entry) -> list[Selection]:
    """Of every stage of its NEON variants."""
    seen: list[Selection] = []
    for options, prod in entry.listed:
        if options.target == "neon":
            make_variant(
                environment(), entry.kernel, options, prod=prod, rank=0, spec="", watch=seen.append
            )
    return seen


class Alone(Forms):
    """Every value solved by itself."""

    def _key(self, node: Node) -> tuple[Any, ...]:
        return (node,)


def compare(forms: Forms) -> int:
    """Checks all values of a stage: their choices, the cheapest of these, and what it costs with
    all it is made of. How many values were of a kind that an earlier one has, too."""
    known = 0
    alone = Alone(forms.kernel, forms.lanes, forms.ranges, forms.shape)
    for node in forms.lanes.stage.nodes():
        assert alone._kinds[node].first is node
        known += forms._kinds[node].first is not node
        for demand in (Demand(kind, w) for kind in KINDS for w in WIDTHS):
            if node.is_bool != (demand.kind == "mask"):
                continue
            need = node, demand
            assert forms.choices(need) == alone.choices(need)
            assert forms.can(need) == alone.can(need)
            if forms.can(need):
                assert forms.best(need) == alone.best(need)
                assert forms.best(need) in forms.choices(need)
                assert forms.best_from(need) == alone.best_from(need)
                assert forms._kinds[node].cost[demand] == alone._kinds[node].cost[demand]
    return known


@pytest.mark.parametrize("name", ["av1_cdef8", "h264_deblock_luma_v", "vp9_idct8", "vp9_mc_8h"])
def test_each_value_has_the_choices_that_are_its_own(name: str) -> None:
    entry = find(load(), name)
    assert entry is not None
    assert sum(compare(s._forms) for s in selections(entry)) > 20


def test_values_that_are_almost_alike_are_told_apart(tmp_path: Path) -> None:
    text = HEAD + textwrap.indent(textwrap.dedent(ALMOST_ALIKE), "    ")
    (entry,) = load_text(tmp_path, text)
    (selection,) = selections(entry)
    assert compare(selection._forms) > 0
