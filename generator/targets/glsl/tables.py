# SPDX-License-Identifier: BSD-2-Clause
"""Constant tables: bits of literals where all entries fit one or two words, else a buffer.

Mesa keeps constant arrays in memory and fills them first, so there are none.
"""

from daedalus.dsl.ir import Kernel, Node, Op, Table
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.glsl.values import Values, constant

_WORD = 32


class Tables:
    """Lookups in the tables of a kernel; `words` is what the buffer of constants has to hold."""

    def __init__(self, kernel: Kernel, ranges: Ranges, hostile: Ranges) -> None:
        self._kernel, self._ranges, self._hostile = kernel, ranges, hostile
        self._places: dict[str, int] = {}
        self.words: list[int] = []

    def read(self, n: Node, values: Values) -> str:
        """The expression of a TABLE."""
        table = self._kernel.table(n.attr[0])
        width = len(table.rows[0])
        packed = self._packed(_entries(table, n), n, values)
        if packed:
            return packed
        index = self._limited(n.args[0], len(table.rows), values, memory=True)
        if width > 1:
            index = f"{index} * {width}"
            if len(n.args) > 1:
                index += f" + {self._limited(n.args[1], width, values, memory=True)}"
        place = self._place(table)
        value = f"constants[{index}{f' + {place}' if place else ''}]"
        return value if values.kind(n) == "int" else f"uint({value})"

    def _limited(self, x: Node, count: int, values: Values, *, memory: bool) -> str:
        """An index kept inside: for every item where memory depends on it."""
        if x.op is Op.CONST:
            return str(min(max(x.value, 0), count - 1))
        ranges = self._hostile if memory else self._ranges
        if ranges.of(x).within(0, count - 1):
            return values.operand(x, "int")
        if values.kind(x) == "uint":
            return f"int(min({values.operand(x)}, {count - 1}u))"
        return f"clamp({values.operand(x, 'int')}, 0, {count - 1})"

    def in_memory(self, n: Node) -> bool:
        """Whether a lookup is, or may be, one in the buffer of constants."""
        return not _fits(_entries(self._kernel.table(n.attr[0]), n))

    def _packed(self, entries: list[int], n: Node, values: Values) -> str:
        """The entry as a field of a literal; "" where they do not fit two."""
        if not entries:
            return ""
        row = n.args[0]
        # Beyond the fields of a literal is no entry: what decides a place keeps to them.
        index = self._limited(row, len(entries), values, memory=values.decides_place(n))
        period, inside = _period(entries), self._hostile.of(row).within(0, len(entries) - 1)
        if period < len(entries):
            entries, index, inside = entries[:period], f"({index} & {period - 1})", True
        if inside and entries == list(range(len(entries))):
            return index
        lo, bits = _field(entries)
        each = _WORD // bits
        if len(entries) > 2 * each:
            return ""
        fields = [
            sum((e - lo) << (bits * k) for k, e in enumerate(entries[at : at + each]))
            for at in range(0, len(entries), each)
        ]
        word, by = constant(fields[0], "uint"), f"{index} * {bits}" if bits > 1 else index
        if len(fields) > 1:
            word = f"({index} < {each} ? {word} : {constant(fields[1], 'uint')})"
            by = f"{by} & 31"
        field = f"int({word} >> ({by}) & {(1 << bits) - 1}u)"
        return f"({field} - {-lo})" if lo else field

    def _place(self, table: Table) -> int:
        """Where the buffer of constants has the table, an entry a word."""
        if table.name not in self._places:
            self._places[table.name] = len(self.words)
            self.words += [e & 0xFFFFFFFF for row in table.rows for e in row]
            self.words += [0] * (-len(self.words) % 4)
        return self._places[table.name]


def _entries(table: Table, n: Node) -> list[int]:
    """The entries that a lookup chooses from by its row; none where it has a column to choose."""
    if len(n.args) > 1 and n.args[1].op is not Op.CONST:
        return []
    col = 0 if len(n.args) == 1 else min(max(n.args[1].value, 0), len(table.rows[0]) - 1)
    return [r[col] for r in table.rows]


def _field(entries: list[int]) -> tuple[int, int]:
    """What is taken from entries, and added again afterwards, and the bits that are left then."""
    lo, bits = min(0, *entries), 1
    while max(entries) - lo >= 1 << bits:
        bits *= 2
    return lo, bits


def _fits(entries: list[int]) -> bool:
    """Whether entries are fields of two words."""
    if not entries:
        return False
    entries = entries[: _period(entries)]
    return len(entries) <= 2 * (_WORD // _field(entries)[1])


def _period(entries: list[int]) -> int:
    """The smallest power of two after which all entries repeat; else how many there are."""
    period = 1
    while period < len(entries):
        if all(e == entries[n % period] for n, e in enumerate(entries)):
            return period
        period *= 2
    return len(entries)
