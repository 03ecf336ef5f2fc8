# SPDX-License-Identifier: BSD-2-Clause
"""The passes between a spec and a back end's selection, in order."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from daedalus.dsl.ir import Kernel, Node, u8
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import check_places
from daedalus.generator.options import ELEMENTS, INVOCATIONS, VECTOR_TARGETS, Options
from daedalus.generator.passes import dots
from daedalus.generator.passes.accumulate import gather_accumulations
from daedalus.generator.passes.assume import keep_assumptions
from daedalus.generator.passes.bias import bias_sums
from daedalus.generator.passes.centre import centre_filters
from daedalus.generator.passes.compare import compare_operands
from daedalus.generator.passes.copies import read_originals
from daedalus.generator.passes.cut import cut_stages
from daedalus.generator.passes.decide import decide_comparisons
from daedalus.generator.passes.divide import divide_stages
from daedalus.generator.passes.expand_dot import expand_dot
from daedalus.generator.passes.fold_rounding import fold_rounding
from daedalus.generator.passes.forward import drop_unread, forward_temps
from daedalus.generator.passes.guard import find_guard, select_old
from daedalus.generator.passes.late_bias import subtract_late
from daedalus.generator.passes.loops import loop_lanes
from daedalus.generator.passes.masked_terms import choose_terms
from daedalus.generator.passes.max_tree import merge_limits
from daedalus.generator.passes.narrow_taps import narrow_taps
from daedalus.generator.passes.nearby import place_nearby
from daedalus.generator.passes.pairs import pair_sums
from daedalus.generator.passes.panels import cut_panels
from daedalus.generator.passes.points import give_points
from daedalus.generator.passes.scale_products import scale_products
from daedalus.generator.passes.settle import settle_stages
from daedalus.generator.passes.signed_limits import limit_differences
from daedalus.generator.passes.specialise import specialise
from daedalus.generator.passes.split_clips import split_clips
from daedalus.generator.passes.split_products import split_products
from daedalus.generator.passes.split_wide import split_wide
from daedalus.generator.passes.spread import spread_accumulations
from daedalus.generator.passes.tile import choose_vectors
from daedalus.generator.passes.unroll import unroll_outer

Pass = Callable[[Kernel], Kernel]
Lowered = dict[tuple[Pass, ...], Kernel]  # of one kernel, what comes out of passes


@dataclass(frozen=True)
class _With:
    """A pass that takes an argument: equal to another one that does the same."""

    step: Callable[[Kernel, Any], Kernel]
    argument: Hashable

    def __call__(self, kernel: Kernel) -> Kernel:
        return self.step(kernel, self.argument)


def _keep_none(kernel: Kernel, ranges: Ranges, node: Node) -> bool:
    return False


def _keep_dot(options: Options) -> Callable[[Kernel, Ranges, Node], bool]:
    """Which dot products the back end of a variant makes itself."""
    if not options.choice("dot"):
        return _keep_none

    def keep(kernel: Kernel, ranges: Ranges, node: Node) -> bool:
        if not dots.suits(kernel, ranges, node):
            return False
        # The QPU takes them from words, which need not be aligned in planes that are only read.
        first = node.args[1]
        b = kernel.buffer(first.attr[0])
        known = b.access == "in" and b.dtype == u8 and not first.args
        return options.target == "neon" or (options.choice("unaligned") and known)

    return keep


def passes(kernel: Kernel, options: Options) -> list[tuple[str, Pass]]:
    """Name and function of every pass that `variant` asks for."""
    assume = kernel.defaults | set(options.assume)
    chosen: list[tuple[str, Pass]] = [
        ("assume", _With(keep_assumptions, assume)),
        ("specialise", _With(specialise, options.class_name)),
        ("settle", settle_stages),
        ("copies", read_originals),
        ("forward", forward_temps),
        ("compare", compare_operands),
        ("decide", decide_comparisons),
        *([] if options.target == "qpu" else [("max_tree", merge_limits)]),
    ]
    if options.target == "neon":
        chosen.append(("centre", _With(centre_filters, _keep_dot(options))))
    chosen.append(("expand_dot", _With(expand_dot, _keep_dot(options))))
    if options.target != "c":
        chosen.append(("split_wide", _With(split_wide, options.target == "neon")))
    if options.target in VECTOR_TARGETS:
        if options.choice("dot"):
            chosen.append(("narrow_taps", narrow_taps))
        if options.choice("items") == 1:
            chosen += [("panels", cut_panels), ("divide", divide_stages), ("loops", loop_lanes)]
        chosen.append(("tile", _With(choose_vectors, options.choice("rows"))))
        chosen.append(("unroll", _With(unroll_outer, options.choice("early_out"))))
        if options.target == "neon":
            chosen.append(("nearby", place_nearby))
        if options.choice("early_out"):
            chosen.append(("guard", find_guard))
        chosen += [
            ("select_old", select_old),
            ("accumulations", gather_accumulations),
            ("split_clips", split_clips),
            ("bias", bias_sums),
            ("split_products", split_products),
            ("scale_products", _With(scale_products, 32 if options.target == "neon" else 16)),
            (
                "pack",
                lambda k: replace(
                    k, items_per_vector=options.choice("items"), branches=options.choice("branch")
                ),
            ),
        ]
    if options.target == "glsl":
        chosen.append(("signed_limits", limit_differences))
        if options.choice("early_out"):
            chosen.append(("guard", find_guard))
        chosen.append(("points", _With(give_points, options.choice("points"))))
        chosen.append(("cut", _With(cut_stages, INVOCATIONS)))
        chosen.append(("scalars", forward_temps))
        if options.choice("word") or options.choice("unaligned"):
            chosen.append(("select_old", select_old))
        if options.choice("signs"):
            chosen.append(("masked_terms", choose_terms))
        if options.choice("swar"):
            chosen += [("pairs", pair_sums), ("late_bias", subtract_late)]
    if options.target == "qpu":
        chosen.append(("points", _With(give_points, options.choice("points"))))
        chosen.append(("spread", _With(spread_accumulations, (options.choice("points"), ELEMENTS))))
        chosen.append(("cut", _With(cut_stages, ELEMENTS)))
        if not options.choice("keep"):
            chosen.append(("scalars", forward_temps))
        if options.choice("word"):
            chosen.append(("select_old", select_old))
        chosen.append(("fold_rounding", fold_rounding))
    chosen.append(("drop_unread", drop_unread))
    return chosen


def lower(
    kernel: Kernel,
    options: Options,
    watch: Callable[[str, Kernel], None] | None = None,
    known: Lowered | None = None,
) -> Kernel:
    """The kernel as the back end of `variant` gets it; `watch` sees it after every pass.

    `known` holds what other variants of the same kernel have come to, and gets what this one does:
    passes with which both begin are done once.
    """
    known = {} if known is None else known
    done: tuple[Pass, ...] = ()
    for name, step in passes(kernel, options):
        done = (*done, step)
        if done not in known:
            known[done] = step(kernel)
        kernel = known[done]
        if watch is not None:
            watch(name, kernel)
    check_places(kernel, options.name)
    return kernel
