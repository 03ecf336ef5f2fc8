# SPDX-License-Identifier: BSD-2-Clause
"""Accumulation into temps: runs of neighbours at once, one element of all lanes by a reduction, and
anything else lane by lane.

Sums are made modulo the temp's width: what a conformant item has in it in the end fits.
"""

from daedalus.dsl.ir import Buffer, DType, Store
from daedalus.generator.targets.neon import pieces
from daedalus.generator.targets.neon.lanes import Place, run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines, suffix


def merge(scope: Scope, out: Lines, s: Store, g: Group) -> None:
    """Merges a value of every lane into the elements that a store names."""
    b, dtype = scope.kernel.buffer(s.buffer), scope.ranges.dtype(s.buffer)
    width, sign = dtype.bits, "s" if dtype.signed else "u"
    bits, per = scope.shape.bits(width), scope.shape.per_register(width)
    q, t = "q" if bits == 128 else "", suffix(sign, width)
    places = scope.lanes.places(s.index)
    together: dict[Place, str] = {}  # what is to be reduced into an element
    for r in range(scope.shape.count(width)):
        part = places[r * per : (r + 1) * per]
        value = scope.typed(g, r, dtype)
        first = part[0]
        if first is not None and _one(part, bits // width) and scope.shape.target.reduces:
            before = together.get(first)
            if before is not None:
                value = f"v{s.combine}{q}_{t}({before}, {value})"
                value = out.let("merged", sign, width, bits, value)
            together[first] = value
        elif run_length(b, part) * width == bits:
            assert first is not None
            where = f"&{scope.element(b, first)}"
            old = f"vld1{q}_{t}({where})"
            new = out.let("merged", sign, width, bits, f"v{s.combine}{q}_{t}({old}, {value})")
            out.lines.append(f"vst1{q}_{t}({where}, {new});")
        else:
            for n, place in enumerate(part):
                if place is not None:
                    text = pieces.lane_of(value, dtype, bits, n)
                    out.lines.append(_merged(scope, b, dtype, place, s.combine, text))
    for place, value in together.items():
        text = f"v{s.combine}v{q}_{t}({value})"
        out.lines.append(_merged(scope, b, dtype, place, s.combine, text))


def _one(part: list[Place | None], lanes: int) -> bool:
    """Whether all lanes of a register are the same element."""
    return len(part) == lanes and len(set(part)) == 1


def _merged(scope: Scope, b: Buffer, dtype: DType, place: Place, how: str, value: str) -> str:
    """A statement that merges a scalar into an element."""
    where = scope.element(b, place)
    if how == "add":
        return f"{where} = ({dtype.c})((uint32_t){where} + (uint32_t){value});"
    return f"{where} = ({dtype.c})daedalus_{how}64({where}, {value});"
