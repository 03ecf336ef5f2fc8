# SPDX-License-Identifier: BSD-2-Clause
"""Rows of four bytes, at neighbouring places, as the taps of a filter of width 4 read them.

A register is four words, one of each row. The first and the last places of the rows are loaded in
runs of 64 bits, a pair of words each; the places between are shifted together from two registers of
words, all rows at once; that is done where the stage has a load at each of these places. Where
loads begin at several rows, as the taps of a vertical filter do, each row is read once, and
registers are cut out of two; that is done where it reads fewer rows than the loads do one by one,
and each row is one of theirs. So nothing is read but what the loads of the stage read.
"""

from dataclasses import replace

from daedalus.dsl.ir import Node, Op
from daedalus.generator.targets.neon.lanes import Place, run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines, cast, combine

_ROWS, _WORD = 4, 4  # rows of a register, bytes of a row
_SPANS = range(5, 9)  # places that two pairs of words leave no gap between
_FEW = 2  # rows further down, for which rows read once are not worth it
_BYTES = ("u", 8)
_WORDS = ("u", 32)


class Words:
    """The registers of words that a stage has loaded."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._quads: dict[tuple[Place, ...], str] = {}
        self._pairs: dict[tuple[Place, ...], tuple[str, str]] = {}

    def load(self, out: Lines, node: Node) -> Group | None:
        """The group of a load that is one of such a row of places; None for others."""
        places = self._places(node)
        if places is None:
            return None
        text = self._below(out, node, places)
        if text:
            return self._group(out, node, text)
        columns = self._columns(node)
        first, last = min(columns), max(columns)
        if last - first not in _SPANS or len(columns) <= last - first:
            return None
        at = node.index[-1].const
        # Places between those of a pair's words are made of both of them.
        base = first if at - first <= _WORD else last - _WORD
        before, behind = self._pair(out, node, places, base - at)
        if at in (base, base + _WORD):
            text = behind if at > base else before
        else:
            bits = 8 * (at - base)
            text = f"vsliq_n_u32(vshrq_n_u32({before}, {bits}), {behind}, {32 - bits})"
        return self._group(out, node, text)

    def _group(self, out: Lines, node: Node, text: str) -> Group:
        """Words as the bytes of a load."""
        text = cast(text, _WORDS, _BYTES, 128)
        return Group((out.let(node.name or f"t{node.seq}", *_BYTES, 128, text),), 8, "u")

    def _below(self, out: Lines, node: Node, places: list[Place]) -> str:
        """The words of rows that other loads read as well, from other rows on: each row is read
        once. Empty of others."""
        row, col = places[0].index
        if any(
            p.index != (replace(row, const=row.const + n), col) or p.item != places[0].item
            for n, p in enumerate(places)
        ):
            return ""
        starts = {
            n.index[0].const
            for n in self.scope.lanes.stage.nodes()
            if n.op is Op.LOAD
            and (n.attr[0], n.args, n.index[1:]) == (node.attr[0], (), node.index[1:])
            and n.index[0].terms == node.index[0].terms
        }
        by = node.index[0].const - min(starts)
        span = max(starts) - min(starts)
        rows = {start + n for start in starts for n in range(_ROWS)}
        if span < _FEW or len(rows) < span + _ROWS or len(rows) >= _ROWS * len(starts):
            return ""
        end = row.const - by + span + _ROWS
        start = row.const - by % _ROWS
        before = self._quad(out, node, places[0], start, end)
        if start == row.const:
            return before
        behind = self._quad(out, node, places[0], start + _ROWS, end)
        return f"vextq_u32({before}, {behind}, {by % _ROWS})"

    def _quad(self, out: Lines, node: Node, place: Place, start: int, end: int) -> str:
        """The words of four rows, or of those before the end."""
        row, col = place.index
        b = self.scope.kernel.buffer(node.attr[0])
        there = [
            Place(place.item, (replace(row, const=n), col))
            for n in range(start, min(start + _ROWS, end))
        ]
        key = tuple(there)
        if key not in self._quads:
            words = [f"*(const daedalus_any_u32 *)&{self.scope.element(b, p)}" for p in there]
            value = f"vdupq_n_u32({words[0]})"
            for k, word in enumerate(words[1:], 1):
                value = f"vsetq_lane_u32({word}, {value}, {k})"
            self._quads[key] = out.let("words", *_WORDS, 128, value)
        return self._quads[key]

    def _places(self, node: Node) -> list[Place] | None:
        """Where the rows of a load begin; None where it has no such rows."""
        scope = self.scope
        b = scope.kernel.buffer(node.attr[0])
        fixed = not node.args and b.kind == "plane" and b.access == "in"
        if not fixed or scope.kernel.branches or not scope.shape.target.words:
            return None
        dtype, all_places = scope.dtype(node), scope.lanes.places(node.index)
        if (dtype.signed, dtype.bits) != (False, 8) or len(all_places) != _ROWS * _WORD:
            return None
        if run_length(b, all_places) != _WORD:
            return None
        return [p for p in all_places[::_WORD] if p is not None]

    def _columns(self, node: Node) -> set[int]:
        """Where the loads of the same rows begin."""
        return {
            n.index[-1].const
            for n in self.scope.lanes.stage.nodes()
            if n.op is Op.LOAD and not n.args and _row(n) == _row(node)
        }

    def _pair(self, out: Lines, node: Node, places: list[Place], by: int) -> tuple[str, str]:
        """The words at so many elements from a load's places, and those behind them."""
        first = [
            Place(p.item, (*p.index[:-1], replace(p.index[-1], const=p.index[-1].const + by)))
            for p in places
        ]
        key = tuple(first)
        if key not in self._pairs:
            b = self.scope.kernel.buffer(node.attr[0])
            halves = [f"vld1_u8(&{self.scope.element(b, p)})" for p in first]
            two = []
            for a, c in (halves[:2], halves[2:]):
                rows = out.let("rows", *_BYTES, 128, combine(a, c, *_BYTES))
                two.append(cast(rows, _BYTES, _WORDS, 128))
            self._pairs[key] = (
                out.let("words", *_WORDS, 128, f"vuzp1q_u32({', '.join(two)})"),
                out.let("words", *_WORDS, 128, f"vuzp2q_u32({', '.join(two)})"),
            )
        return self._pairs[key]


def _row(node: Node) -> tuple[object, ...]:
    """What loads from the same rows have in common."""
    return (node.attr[0], node.index[:-1], node.index[-1].terms)
