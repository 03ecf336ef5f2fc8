# SPDX-License-Identifier: BSD-2-Clause
"""Pointers at the rows of planes: each is made from its neighbour, so that addresses cost one
addition a row."""

from daedalus.dsl.ir import Buffer
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.shell import pointer


class RowPointers:
    """The rows that a body's unconditional code touches, as C variables."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._rows: dict[tuple[str, str], dict[int, str]] = {}
        self._buffers: dict[str, Buffer] = {}

    def name(self, b: Buffer, base: str, row: int) -> str:
        """The variable for a row of the plane whose item begins at `base`; 0 is `base` itself."""
        if row == 0:
            return base
        self._buffers[b.name] = b
        rows = self._rows.setdefault((b.name, base), {})
        if row not in rows:
            side = "above" if row < 0 else "row"
            rows[row] = self._names.fresh(f"{b.name}_{side}{abs(row)}")
        return rows[row]

    def declarations(self) -> list[str]:
        """Statements that define them all, from the item's row outwards."""
        out = []
        for (name, base), rows in self._rows.items():
            b = self._buffers[name]
            for sign in (1, -1):
                before, at = base, 0
                for row in sorted((r for r in rows if r * sign > 0), key=abs):
                    step = abs(row - at)
                    times = f"{step} * " if step > 1 else ""
                    offset = f"{'+' if sign > 0 else '-'} {times}{name}_stride"
                    out.append(_definition(b, rows[row], before, offset))
                    before, at = rows[row], row
        return out


def _definition(b: Buffer, name: str, before: str, offset: str) -> str:
    assert b.dtype is not None
    kind = pointer(b)
    if b.dtype.bytes == 1:
        return f"{kind}const {name} = {before} {offset};"
    raw = "const uint8_t" if b.access == "in" else "uint8_t"
    return f"{kind}const {name} = ({kind})(({raw} *){before} {offset});"
