# SPDX-License-Identifier: BSD-2-Clause
"""Dot products of neighbouring bytes with taps of 8 bits, four at a time by SDOT.

Pixels are unsigned, the instruction multiplies signed bytes: it gets pixel - 128, and 128 times the
sum of the taps is the value it starts from. That sum is a constant because all rows of taps that
can be selected have the same. A table lookup brings the window of every output together.
"""

from daedalus.dsl.ir import Node, Table
from daedalus.generator.targets.neon.lanes import Place, run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines
from daedalus.generator.targets.shell import table_name

_WINDOWS = (8, 4)  # outputs that one window may serve, which are adjacent lanes
_HALF = 8  # bytes that one load of a window takes


class Dots:
    """The dot products of a stage."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._taps: dict[tuple[str, str], str] = {}
        self._shared: dict[str, str] = {}
        self._places: dict[tuple[int, int], list[str]] = {}

    def fits(self, node: Node) -> bool:
        """Whether enough lanes at a time lie beside one another."""
        return self._outputs(node) > 0

    def _outputs(self, node: Node) -> int:
        """How many lanes a window serves; 0 where none can."""
        lanes, n = self.scope.lanes, len(node.args) - 1
        buffer = self.scope.kernel.buffer(node.args[1].attr[0])
        run = run_length(buffer, lanes.places(node.args[1].index)) if lanes.whole else 0
        return next((w for w in _WINDOWS if w <= run and _upper(n, w) >= 0), 0)

    def emit(self, out: Lines, node: Node) -> Group:
        """The sums, in lanes of 32 bits."""
        scope, n, outputs = self.scope, len(node.args) - 1, self._outputs(node)
        buffer = scope.kernel.buffer(node.args[1].attr[0])
        start = self._constant(
            out, "dot_start", "int32x4_t",
            f"vdupq_n_s32({128 * sum(scope.ranges.rows(node)[0])})",
        )  # fmt: skip
        flip, *orders = self._tables(out, n, outputs)
        halves = (node.args[1], node.args[1 + _upper(n, outputs)])
        firsts, lasts = (scope.lanes.places(x.index) for x in halves)
        wanted = node.name or f"t{node.seq}"
        names: list[str] = []
        for at in range(0, len(firsts), outputs):
            first, last = firsts[at], lasts[at]
            assert first is not None and last is not None
            parts = [scope.element(buffer, p, node.args[1].args) for p in (first, last)]
            window = scope.names.fresh("window")
            out.lines.append(
                f"const daedalus_window {window} ="
                f" daedalus_signed_window(&{parts[0]}, &{parts[1]}, {flip});"
            )
            fours = [
                out.let("fours", "s", 8, 128, f"daedalus_lookup({window}, {order})")
                for order in orders
            ]
            taps = self._row(out, node, first)
            for half in range(outputs // 4):
                total = start
                for k in range(n // 4):
                    total = f"vdotq_lane_s32({total}, {fours[half + k]}, {taps}, {k})"
                names.append(out.let(f"{wanted}_{len(names)}", "s", 32, 128, total))
        return Group(tuple(names), 32, "s")

    def _constant(self, out: Lines, wanted: str, kind: str, text: str) -> str:
        """A vector that all dot products of the stage share."""
        if text not in self._shared:
            name = self._shared[text] = self.scope.names.fresh(wanted)
            out.lines.append(f"{kind} {name} = {text};")
        return self._shared[text]

    def _tables(self, out: Lines, n: int, outputs: int) -> list[str]:
        """The sign bits; and for every m, where the bytes of outputs 4m to 4m + 3, four of each,
        are in a window.

        Its lower half has the first elements, its upper half the last ones.
        """
        if (n, outputs) not in self._places:
            upper = _upper(n, outputs)
            rows = [["0x80"] * 16]
            for m in range((n + outputs) // 4 - 1):
                elements = [4 * m + k + tap for k in range(4) for tap in range(4)]
                rows.append(
                    [str(e) if e < _HALF else f"DAEDALUS_UPPER + {e - upper}" for e in elements]
                )
            table, at = (self.scope.names.fresh(name) for name in ("places", "places_at"))
            entries = ", ".join(e for row in rows for e in row)
            out.lines += [
                f"static const uint8_t {table}[{16 * len(rows)}] = {{{entries}}};",
                f"const uint8_t *const {at} = daedalus_beside({table});",
            ]
            self._places[n, outputs] = [
                out.let("order" if k else "sign_bits", "u", 8, 128, f"vld1q_u8(&{at}[{16 * k}])")
                for k in range(len(rows))
            ]
        return self._places[n, outputs]

    def _row(self, out: Lines, node: Node, place: Place) -> str:
        """The taps of an item, as bytes."""
        scope, n = self.scope, len(node.args) - 1
        table = scope.kernel.table(node.attr[0])
        index = scope.spelled(node.args[0], place.item)
        key = (table.name, index)
        if key not in self._taps:
            row = f"{table_name(table)}[{self._inside(node, table, index)}]"
            if table.dtype.bits == 8:
                load = f"vld1_s8({row})" if n == 8 else _one_word(row)
            elif n == 8:
                load = f"vmovn_s16(vld1q_s16({row}))"
            else:
                load = f"vmovn_s16(vcombine_s16(vld1_s16({row}), vld1_s16({row})))"
            self._taps[key] = out.let("taps", "s", 8, 64, load)
        return self._taps[key]

    def _inside(self, node: Node, table: Table, index: str) -> str:
        """The row's number: inside the table whatever the index is."""
        count = len(table.rows)
        known = self.scope.ranges.of(node.args[0]).within(0, count - 1)
        if known and count & (count - 1) == 0:  # for items that are not conformant any row will do
            return f"{index} & {count - 1}"
        return f"daedalus_clip({index}, 0, {count - 1})"


def _upper(taps: int, outputs: int) -> int:
    """The element that a window's upper half begins with; negative where it would be too long."""
    return outputs + taps - 1 - _HALF


def _one_word(row: str) -> str:
    return f"vreinterpret_s8_u32(vdup_n_u32(*(const daedalus_any_u32 *){row}))"
