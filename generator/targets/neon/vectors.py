# SPDX-License-Identifier: BSD-2-Clause
"""Vector values as C text: types, casts, machine operations, transposes.

A *group* holds one value for all lanes: registers in lane order. With V lanes of w bits it is
V*w/128 quad registers, or one double register when 64 bits or fewer are needed (at 32 bits, its
lower half).
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from daedalus.generator.targets.neon import zips
from daedalus.generator.targets.neon.ops import MachineOp
from daedalus.generator.targets.neon.target import NEON, Target


@dataclass(frozen=True)
class Group:
    """A value in registers: C names, lane width, signedness of their C type.

    quad  a quad register whose lower half holds the value as well, where there is one
    """

    names: tuple[str, ...]
    width: int
    sign: str  # "u" or "s"
    quad: str = ""

    def in_quad(self, sign: str) -> str:
        """A value of 64 bits as the lower half of a quad register of the given sign."""
        if self.quad:
            return cast(self.quad, (self.sign, self.width), (sign, self.width), 128)
        half = cast(self.names[0], (self.sign, self.width), (sign, self.width), 64)
        return f"daedalus_quad_{suffix(sign, self.width)}({half})"


@dataclass(frozen=True)
class Shape:
    """How many lanes a stage has; everything about register counts follows."""

    lanes: int
    target: Target = NEON

    def bits(self, width: int) -> int:
        """Bits of a register that holds (part of) a value at this width: 64 or 128."""
        return 128 if self.lanes * width >= 128 else 64

    def count(self, width: int) -> int:
        return max(1, self.lanes * width // 128)

    def per_register(self, width: int) -> int:
        """Lanes that one register holds, at most all."""
        return min(self.lanes, self.bits(width) // width)


def ctype(sign: str, width: int, bits: int) -> str:
    """The vector type, for instance uint8x16_t."""
    return f"{'u' if sign == 'u' else ''}int{width}x{bits // width}_t"


def suffix(sign: str, width: int) -> str:
    return f"{sign}{width}"


def cast(text: str, old: tuple[str, int], new: tuple[str, int], bits: int) -> str:
    """The same bits as another vector type; (sign, width) each."""
    if old == new:
        return text
    q = "q" if bits == 128 else ""
    return f"vreinterpret{q}_{suffix(*new)}_{suffix(*old)}({text})"


def low(text: str, sign: str, width: int) -> str:
    return f"vget_low_{suffix(sign, width)}({text})"


def high(text: str, sign: str, width: int) -> str:
    return f"vget_high_{suffix(sign, width)}({text})"


def combine(a: str, b: str, sign: str, width: int) -> str:
    return f"vcombine_{suffix(sign, width)}({a}, {b})"


@dataclass(frozen=True)
class ByLane:
    """A constant operand: lane `lane` of the constant vector `vector`."""

    vector: str
    lane: int


@dataclass(frozen=True)
class ByScalar:
    """A run-time scalar operand, as C text of the element type."""

    text: str


Scalar = ByLane | ByScalar


def operation(
    op: MachineOp, shape: Shape, width: int, operands: list[Group], scalar: Scalar | None, imm: int
) -> tuple[list[str], str]:
    """The C expressions of a machine operation, one a result register, and the result's sign.

    What widens gives a quad register also where its lower half is all that counts.
    """
    signs = _signs(op, operands)
    result = signs[-1]
    if op.shape == "same":
        texts = [
            _call(
                op, width, shape.bits(width), "", _at(operands, signs, shape, r), signs, scalar, imm
            )
            for r in range(shape.count(width))
        ]
    elif op.shape == "narrow":
        texts = _narrow(op, shape, width, operands[0], signs, imm)
    else:
        texts = _widening(op, shape, width, operands, signs, scalar, imm)
    return texts, result


def _signs(op: MachineOp, operands: list[Group]) -> str:
    """The operation's signs with every "=" resolved: signed only if all such operands are."""
    free = [g.sign for g, s in zip(operands, op.signs, strict=False) if s == "="]
    chosen = "s" if free and all(s == "s" for s in free) else "u"
    return op.signs.replace("=", chosen)


def _at(operands: list[Group], signs: str, shape: Shape, r: int) -> list[str]:
    """Register r of every operand, cast to what the intrinsic takes."""
    return [
        cast(g.names[r], (g.sign, g.width), (s, g.width), shape.bits(g.width))
        for g, s in zip(operands, signs, strict=False)
    ]


def _call(
    op: MachineOp, width: int, bits: int, half: str, args: list[str], signs: str,
    scalar: Scalar | None, imm: int,
) -> str:  # fmt: skip
    """One intrinsic. `width` is the type suffix's, `half` is "_high" for the upper-half forms."""
    q = "q" if bits == 128 and op.shape == "same" else ""
    # The suffix names the operand that is computed with: the last vector operand's type, except
    # for operations whose first operand decides (shifts by a vector, mixed saturating adds).
    sign = signs[0] if op.name in ("sqadd_u", "shl_v_s", "shl_v_u") else signs[len(args) - 1]
    by = ""
    if op.form == "n":
        args, by = [*args, str(imm)], "_n"
    elif op.form == "m":
        args = [*args, f"vdup{q}_n_{suffix(sign, width)}({imm})"]
    elif isinstance(scalar, ByLane):
        args, by = [*args, scalar.vector, str(scalar.lane)], "_laneq"
    elif isinstance(scalar, ByScalar):
        args, by = [*args, scalar.text], "_n"
    return f"v{op.stem}{q}{half}{by}_{suffix(sign, width)}({', '.join(args)})"


def _narrow(op: MachineOp, shape: Shape, width: int, g: Group, signs: str, imm: int) -> list[str]:
    if shape.bits(g.width) == 64:  # four lanes: only a quad register can be narrowed
        return [_call(op, g.width, 64, "", [g.in_quad(signs[0])], signs, None, imm)]
    src = [cast(n, (g.sign, g.width), (signs[0], g.width), shape.bits(g.width)) for n in g.names]
    if len(src) == 1:
        return [_call(op, g.width, 64, "", src, signs, None, imm)]
    out = []
    for a, b in zip(src[::2], src[1::2], strict=True):
        if shape.target.paired:
            by = ("_n", f", {imm}") if op.form == "n" else ("", "")
            name = f"v{op.stem}q{by[0]}_{suffix(signs[0], g.width)}"
            out.append(f"{name}({a}, {b}{by[1]})")
            continue
        first = _call(op, g.width, 64, "", [a], signs, None, imm)
        both = _call(op, g.width, 64, "_high", [first, b], signs[0] * 2 + signs, None, imm)
        out.append(both)
    return out


def narrow_pairs(op: MachineOp, g: Group, imm: int) -> tuple[list[str], str]:
    """The C expressions of a narrowing of 128 bits, of which operations take halves; their sign."""
    signs = _signs(op, [g])
    src = [cast(n, (g.sign, g.width), (signs[0], g.width), 128) for n in g.names]
    types = f"{suffix(signs[0], g.width)}, {suffix(signs[-1], g.width // 2)}"
    form, by = ("_N", f", {imm}") if op.form == "n" else ("", "")
    pairs = zip(src[::2], src[1::2], strict=True)
    return [f"DAEDALUS_NARROW{form}({op.stem}, {types}, {a}, {b}{by})" for a, b in pairs], signs[-1]


def _widening(
    op: MachineOp, shape: Shape, width: int, operands: list[Group], signs: str,
    scalar: Scalar | None, imm: int,
) -> list[str]:  # fmt: skip
    """long and wide operations: `full` operands are as wide as the result, the others half."""
    half = width // 2
    full = 1 if op.acc or op.shape == "wide" else 0
    texts = []
    for r in range(shape.count(width)):
        args = []
        for n, (g, s) in enumerate(zip(operands, signs, strict=False)):
            if n < full:
                if shape.bits(width) == 64:
                    args.append(g.in_quad(s))
                else:
                    args.append(cast(g.names[r], (g.sign, width), (s, width), 128))
                continue
            name = cast(g.names[r // 2] if len(g.names) < shape.count(width) else g.names[r],
                        (g.sign, half), (s, half), shape.bits(half))  # fmt: skip
            upper = shape.bits(half) == 128 and r % 2 == 1
            args.append(low(name, s, half) if shape.bits(half) == 128 and not upper else name)
        upper_form = "_high" if shape.bits(half) == 128 and r % 2 == 1 else ""
        texts.append(_call(op, half, 64, upper_form, args, signs, scalar, imm))
    return texts


# ------------------------------------------------------------------ transposes


class Lines:
    """Collects statements that declare fresh vector variables."""

    def __init__(self, fresh: "Fresh") -> None:
        self.lines: list[str] = []
        self._fresh = fresh

    def let(self, wanted: str, sign: str, width: int, bits: int, text: str) -> str:
        name = self._fresh(wanted)
        self.lines.append(f"{ctype(sign, width, bits)} {name} = {text};")
        return name


class Fresh(Protocol):
    """Gives unused C names."""

    def __call__(self, wanted: str) -> str: ...


def can_transpose(rows: int, cols: int, width: int) -> bool:
    """Whether `transpose` handles a matrix of that many rows of `cols` elements."""
    if cols * width == 64:
        return rows == cols or rows % (2 * cols) == 0
    return cols * width == 128 and (rows % cols == 0 or 2 * rows == cols)


def transpose(
    out: Lines, rows: list[str], cols: int, width: int, names: list[str], side_by_side: int = 1,
    target: Target = NEON,
) -> list[list[str]]:  # fmt: skip
    """Columns of a matrix given as rows (unsigned registers): a list of registers each.

    Rows of 64 bits are paired so that quad registers are used throughout; of half as many rows as
    columns two are made a register. With several matrices
    `side_by_side`, a register holds the same row of each, and they are squares.
    """
    if target.zips and side_by_side <= 2:
        let = partial(_let_quad, out, width)
        return zips.transpose(let, rows, cols, width, names, side_by_side)
    if side_by_side > 1:
        done = _network(out, rows, width, 128)
        return [
            [out.let(name, "u", width, 128, reg)] for name, reg in zip(names, done, strict=True)
        ]
    if cols * width == 64 and len(rows) == cols == 8:
        return [[c] for c in _eight_by_eight_bytes(out, rows, names)]
    if 2 * len(rows) == cols and cols * width == 128:
        pairs = [out.let("c", "u", width, 128, reg) for reg in _network(out, rows, width, 128)]
        halves = [*(low(p, "u", width) for p in pairs), *(high(p, "u", width) for p in pairs)]
        return [[out.let(n, "u", width, 64, x)] for n, x in zip(names, halves, strict=True)]
    step = 2 * cols if cols * width == 64 and len(rows) > cols else cols
    columns: list[list[str]] = [[] for _ in range(cols)]
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        bits = 128 if step > cols or cols * width == 128 else 64
        if step > cols:
            block = [
                out.let(f"r{n}", "u", width, 128, combine(a, b, "u", width))
                for n, (a, b) in enumerate(zip(block[:cols], block[cols:], strict=True))
            ]
        done = _network(out, block, width, bits)
        last = len(rows) == step
        for n, reg in enumerate(done):
            name = names[n] if last else f"{names[n]}_{start // step}"
            columns[n].append(out.let(name, "u", width, bits, reg))
    return columns


def _let_quad(out: Lines, width: int, wanted: str, text: str) -> str:
    return out.let(wanted, "u", width, 128, text)


def _network(out: Lines, regs: list[str], width: int, bits: int) -> list[str]:
    """log2(n) levels of trn1/trn2; the last level's results are expressions."""
    n, level = len(regs), 0
    while 1 << level < n:
        w, step = width << level, 1 << level
        last = 2 * step == n
        new = list(regs)
        for i in range(n):
            if i & step:
                continue
            for k, trn in ((i, "trn1"), (i + step, "trn2")):
                a, b = (cast(regs[x], ("u", width), ("u", w), bits) for x in (i, i + step))
                text = f"v{trn}{'q' if bits == 128 else ''}_u{w}({a}, {b})"
                text = cast(text, ("u", w), ("u", width), bits)
                new[k] = text if last else out.let(f"t{level}_{k}", "u", width, bits, text)
        regs, level = new, level + 1
    return regs


def _eight_by_eight_bytes(out: Lines, rows: list[str], names: list[str]) -> list[str]:
    """Eight rows of eight bytes in 12 quad operations: rows i and i + 4 share a register."""
    q = [out.let(f"r{i}", "u", 8, 128, combine(rows[i], rows[i + 4], "u", 8)) for i in range(4)]
    a: list[str] = []
    for i in (0, 2):
        for trn in ("trn1", "trn2"):
            text = f"v{trn}q_u8({q[i]}, {q[i + 1]})"
            a.append(out.let(f"t0_{len(a)}", "u", 16, 128, cast(text, ("u", 8), ("u", 16), 128)))
    b: list[str] = []
    for i in (0, 1):
        for trn in ("trn1", "trn2"):
            text = f"v{trn}q_u16({a[i]}, {a[i + 2]})"
            b.append(out.let(f"t1_{len(b)}", "u", 32, 128, cast(text, ("u", 16), ("u", 32), 128)))
    # b holds columns (0|4), (2|6), (1|5), (3|7) of the upper and lower four rows.
    columns: dict[int, str] = {}
    for x, y, first, second in ((0, 2, 0, 1), (1, 3, 2, 3)):
        for uzp, add in (("uzp1", 0), ("uzp2", 4)):
            text = cast(f"v{uzp}q_u32({b[x]}, {b[y]})", ("u", 32), ("u", 8), 128)
            pair = out.let(f"c{first + add}{second + add}", "u", 8, 128, text)
            columns[first + add] = low(pair, "u", 8)
            columns[second + add] = high(pair, "u", 8)
    return [out.let(names[n], "u", 8, 64, columns[n]) for n in range(8)]


def interleave(
    out: Lines, columns: list[list[str]], lanes: int, width: int
) -> tuple[list[str], int]:
    """Registers of row-major k-tuples from k = 2 or 4 columns, and their register bits."""
    k = len(columns)
    bits = 128 if lanes * width >= 128 else 64
    if bits == 64 and k == 4:
        a = out.let("z", "u", width, 128, combine(columns[0][0], columns[2][0], "u", width))
        b = out.let("z", "u", width, 128, combine(columns[1][0], columns[3][0], "u", width))
        first, second = (
            [out.let("z", "u", width, 128, f"v{z}q_u{width}({a}, {b})")] for z in ("zip1", "zip2")
        )
        return _zip(out, first, second, width, 2 * width, 128), 128
    unit = width
    while len(columns) > 1:
        pairs = zip(columns[::2], columns[1::2], strict=True)
        columns = [_zip(out, a, b, width, unit, bits) for a, b in pairs]
        unit *= 2
    return columns[0], bits


def _zip(out: Lines, a: list[str], b: list[str], width: int, w: int, bits: int) -> list[str]:
    """Two columns of w-bit units woven into one of 2w; all registers typed at `width`."""
    q = "q" if bits == 128 else ""
    got = []
    for x, y in zip(a, b, strict=True):
        for z in ("zip1", "zip2"):
            args = ", ".join(cast(r, ("u", width), ("u", w), bits) for r in (x, y))
            text = cast(f"v{z}{q}_u{w}({args})", ("u", w), ("u", width), bits)
            got.append(out.let("z", "u", width, bits, text))
    return got
