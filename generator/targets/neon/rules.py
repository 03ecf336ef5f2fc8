# SPDX-License-Identifier: BSD-2-Clause
"""Selection rules as data: which operation computes a node as demanded, and when that is right.

A *demand* is what one use wants of a value, in lanes of w bits:
  bits   congruent to the value modulo 2**w (which is the value itself where its range fits)
  sat_u, sat_s   the value limited to the unsigned or signed w-bit range
  mask   all ones where a boolean holds, else zero

A rule says: node operation `on`, demanded as `gives` at width w, is machine operation `op` on
operands demanded as `takes`:
  bits             bits at w                 half_u, half_s   the value, exact in w/2 bits
  u, s             the value, exact at w     twice            bits at 2w
  twice_u, twice_s the value, exact at 2w    mask             mask at w
  sat_u, sat_s     limited, at w             twice_sat_u, twice_sat_s   limited, at 2w
                                             const            a constant or uniform, as a scalar
  half_const_u, half_const_s                 a scalar that fits w/2 bits
  negated          bits at w of the negated value

"exact" needs the value's proven range to fit; that is the side condition every such code carries.
`when` adds what else must hold, `pick` names the operands if they are not the node's own, `imm`
gives the immediate.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from daedalus.dsl.ir import Node, Op
from daedalus.dsl.ranges import Interval

RangeOf = Callable[[Node], Interval]
When = Callable[[Node, int, RangeOf], bool]
Pick = Callable[[Node], Iterator[tuple[Node, ...]]]


def limits(width: int, signed: bool) -> tuple[int, int]:
    """The smallest and largest value of a lane."""
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def _always(node: Node, w: int, of: RangeOf) -> bool:
    return True


def _own(node: Node) -> Iterator[tuple[Node, ...]]:
    yield node.args


def _either(node: Node) -> Iterator[tuple[Node, ...]]:
    yield node.args
    if node.args[0] is not node.args[1]:
        yield node.args[::-1]


def _first(node: Node) -> Iterator[tuple[Node, ...]]:
    yield node.args[:1]


def _no_imm(node: Node) -> int:
    return 0


@dataclass(frozen=True)
class Rule:
    name: str
    on: Op
    gives: str
    takes: tuple[str, ...]
    op: str
    when: When = _always
    pick: Pick = _own
    imm: Callable[[Node], int] = _no_imm
    widths: tuple[int, ...] = (8, 16, 32)


# ------------------------------------------------------------------ operands


def _added_product(node: Node) -> Iterator[tuple[Node, ...]]:
    """a + x*y as (a, x, y)."""
    for a, m in ((node.args[0], node.args[1]), (node.args[1], node.args[0])):
        if m.op is Op.MUL:
            yield (a, *m.args)


def _subtracted_product(node: Node) -> Iterator[tuple[Node, ...]]:
    if node.args[1].op is Op.MUL:
        yield (node.args[0], *node.args[1].args)


def _halved_sum(node: Node) -> Iterator[tuple[Node, ...]]:
    if node.args[0].op is Op.ADD:
        yield node.args[0].args


def _shifted_product(node: Node) -> Iterator[tuple[Node, ...]]:
    """x*y >> n as (x, y)."""
    if node.args[0].op is Op.MUL:
        yield node.args[0].args


def _negated(node: Node) -> Iterator[tuple[Node, ...]]:
    if node.args[0].op is Op.CONST and node.args[0].value == 0:
        yield (node.args[1],)


def _twice(node: Node) -> Iterator[tuple[Node, ...]]:
    if _log2(node) == 1:
        yield (node.args[0], node.args[0])


def _without_constant(node: Node) -> Iterator[tuple[Node, ...]]:
    if _log2(node) > 0:
        yield (node.args[0],)


def _wrapped_operand(node: Node) -> Iterator[tuple[Node, ...]]:
    """x, of wrap(x) * 2**k."""
    if _log2(node) > 0 and node.args[0].op is Op.WRAP:
        yield node.args[0].args


def _masked(node: Node) -> Iterator[tuple[Node, ...]]:
    if node.args[2].op is Op.CONST and node.args[2].value == 0:
        yield node.args[:2]


def _masked_out(node: Node) -> Iterator[tuple[Node, ...]]:
    if node.args[1].op is Op.CONST and node.args[1].value == 0:
        yield (node.args[2], node.args[0])


def _inverted(node: Node) -> Iterator[tuple[Node, ...]]:
    """x, of its bits inverted: -1 - x."""
    inverted = node.inverted
    if inverted is not None:
        yield (inverted,)


def _with_inverted(node: Node) -> Iterator[tuple[Node, ...]]:
    """x and y, of x and the inverse of y."""
    for a, b in (node.args, node.args[::-1]):
        for x in _inverted(b):
            yield (a, *x)


def _with_negation(node: Node) -> Iterator[tuple[Node, ...]]:
    for a, b in (node.args, node.args[::-1]):
        if b.op is Op.NOT:
            yield (a, b.args[0])


def _log2(node: Node) -> int:
    """k for a multiplication by 2**k, else 0."""
    c = node.args[1]
    if c.op is not Op.CONST or c.value < 2 or c.value & (c.value - 1):
        return 0
    return c.value.bit_length() - 1


# ------------------------------------------------------------------ side conditions


def _shift_fits(node: Node, w: int, of: RangeOf) -> bool:
    return 1 <= int(node.attr[0]) <= w


def _shift_by_one(node: Node, w: int, of: RangeOf) -> bool:
    return int(node.attr[0]) == 1


def _power_fits(node: Node, w: int, of: RangeOf) -> bool:
    return 0 < _log2(node) < w


def _power_fits_half(node: Node, w: int, of: RangeOf) -> bool:
    return 0 < _log2(node) < w // 2


def _not_negative(node: Node, w: int, of: RangeOf) -> bool:
    return all(of(a).lo >= 0 for a in node.args)


def _clips_to(signed: bool) -> When:
    """The clip's bounds bind exactly where the lane's type ends (or do not bind at all)."""

    def when(node: Node, w: int, of: RangeOf) -> bool:
        (lo, hi), (tlo, thi) = node.attr, limits(w, signed)
        x = of(node.args[0])
        low_ok = lo == tlo or (x.lo >= lo and x.lo >= tlo)
        high_ok = hi == thi or (x.hi <= hi and x.hi <= thi)
        return low_ok and high_ok

    return when


def _min_is_limit(signed: bool) -> When:
    def when(node: Node, w: int, of: RangeOf) -> bool:
        c, (tlo, thi) = node.args[1], limits(w, signed)
        return c.op is Op.CONST and c.value == thi and of(node.args[0]).lo >= tlo

    return when


def _limit_is(end: int, signed: bool) -> When:
    """The other operand is where the lane's type begins (0) or ends (1): limited to the lane, the
    first is the same without it."""

    def when(node: Node, w: int, of: RangeOf) -> bool:
        c = node.args[1]
        return c.op is Op.CONST and c.value == limits(w, signed)[end]

    return when


def _max_is_limit(signed: bool) -> When:
    def when(node: Node, w: int, of: RangeOf) -> bool:
        c, (tlo, thi) = node.args[1], limits(w, signed)
        return c.op is Op.CONST and c.value == tlo and of(node.args[0]).hi <= thi

    return when


def _other_inside(limited: int, signed: bool) -> When:
    """Comparing with operand `limited` limited to the lane decides the same.

    A value beyond an end of the lane becomes that end. For `a <= b` and `a > b` that changes
    nothing if b stays below the upper end (a limited), or a above the lower end (b limited).
    """

    def when(node: Node, w: int, of: RangeOf) -> bool:
        lo, hi = limits(w, signed)
        other = of(node.args[1 - limited])
        return other.within(lo, hi - 1) if limited == 0 else other.within(lo + 1, hi)

    return when


def _wraps_here(node: Node, w: int, of: RangeOf) -> bool:
    return w <= int(node.attr[0].bits)


def _low_bits_of(node: Node, w: int, of: RangeOf) -> bool:
    return not node.attr[0].signed and int(node.attr[0].bits) < w


def _low_mask(node: Node) -> int:
    return (1 << int(node.attr[0].bits)) - 1


def _shifts_wrap_out(node: Node, w: int, of: RangeOf) -> bool:
    """What the wrap removes is shifted out of the lane anyway."""
    return _log2(node) < w <= int(node.args[0].attr[0].bits) + _log2(node)


def _negatable(node: Node, w: int, of: RangeOf) -> bool:
    """-b exists in the signed lane."""
    lo, hi = limits(w, True)
    return of(node.args[1]).within(lo + 1, hi)


def _upper_half(node: Node, w: int, of: RangeOf) -> bool:
    """A product of two signed values of the lane, shifted so that it fits the lane; but of the
    lowest value by itself none does."""
    lo, hi = limits(w, True)
    x, c = (of(a) for a in node.args[0].args)
    return int(node.attr[0]) == w - 1 and c.within(lo, hi) and (x.lo > lo or c.lo > lo)


# ------------------------------------------------------------------ the rules


def _signed_pair(
    name: str, on: Op, gives: str, takes: tuple[str, ...], op: str, **more: object
) -> list[Rule]:
    """A rule for unsigned and for signed operands: `#` stands for u and s."""
    return [
        Rule(
            f"{name}_{s}", on, gives.replace("#", s), tuple(t.replace("#", s) for t in takes),
            op.replace("#", s), **more,  # type: ignore[arg-type]
        )
        for s in "us"
    ]  # fmt: skip


_LONG = (16, 32)
_NARROW = (8, 16)

RULES: tuple[Rule, ...] = (
    # ADD
    Rule("add", Op.ADD, "bits", ("bits", "bits"), "add"),
    *_signed_pair("addl", Op.ADD, "bits", ("half_#", "half_#"), "addl_#", widths=_LONG),
    *_signed_pair(
        "addw", Op.ADD, "bits", ("bits", "half_#"), "addw_#", pick=_either, widths=_LONG
    ),
    *_signed_pair("qadd", Op.ADD, "sat_#", ("#", "#"), "qadd_#"),
    Rule("qadd_parts", Op.ADD, "sat_u", ("sat_u", "sat_u"), "qadd_u", when=_not_negative),
    Rule("sqadd", Op.ADD, "sat_u", ("u", "s"), "sqadd_u", pick=_either),
    Rule("mla", Op.ADD, "bits", ("bits", "bits", "bits"), "mla", pick=_added_product),
    Rule(
        "mla_k", Op.ADD, "bits", ("bits", "bits", "const"), "mla_k", pick=_added_product,
        widths=_LONG,
    ),
    *_signed_pair(
        "mlal", Op.ADD, "bits", ("bits", "half_#", "half_#"), "mlal_#", pick=_added_product,
        widths=_LONG,
    ),
    *_signed_pair(
        "mlal_k", Op.ADD, "bits", ("bits", "half_#", "half_const_#"), "mlal_k_#",
        pick=_added_product, widths=(32,),
    ),
    # SUB
    Rule("sub", Op.SUB, "bits", ("bits", "bits"), "sub"),
    Rule("neg", Op.SUB, "bits", ("bits",), "neg", pick=_negated),
    Rule("invert", Op.SUB, "bits", ("bits",), "mvn", pick=_inverted),
    *_signed_pair("subl", Op.SUB, "bits", ("half_#", "half_#"), "subl_#", widths=_LONG),
    *_signed_pair("subw", Op.SUB, "bits", ("bits", "half_#"), "subw_#", widths=_LONG),
    *_signed_pair("qsub", Op.SUB, "sat_#", ("#", "#"), "qsub_#"),
    Rule("sqadd_neg", Op.SUB, "sat_u", ("u", "negated"), "sqadd_u", when=_negatable),
    Rule("mls", Op.SUB, "bits", ("bits", "bits", "bits"), "mls", pick=_subtracted_product),
    Rule(
        "mls_k", Op.SUB, "bits", ("bits", "bits", "const"), "mls_k", pick=_subtracted_product,
        widths=_LONG,
    ),
    *_signed_pair(
        "mlsl", Op.SUB, "bits", ("bits", "half_#", "half_#"), "mlsl_#", pick=_subtracted_product,
        widths=_LONG,
    ),
    *_signed_pair(
        "mlsl_k", Op.SUB, "bits", ("bits", "half_#", "half_const_#"), "mlsl_k_#",
        pick=_subtracted_product, widths=(32,),
    ),
    # MUL
    Rule("mul", Op.MUL, "bits", ("bits", "bits"), "mul"),
    Rule("mul_k", Op.MUL, "bits", ("bits", "const"), "mul_k", widths=_LONG),
    Rule("double", Op.MUL, "bits", ("bits", "bits"), "add", pick=_twice),
    Rule(
        "shl", Op.MUL, "bits", ("bits",), "shl_n", pick=_without_constant, imm=_log2,
        when=_power_fits,
    ),
    Rule(
        "shl_wrapped", Op.MUL, "bits", ("bits",), "shl_n", pick=_wrapped_operand, imm=_log2,
        when=_shifts_wrap_out,
    ),
    *_signed_pair(
        "shll", Op.MUL, "bits", ("half_#",), "shll_n_#", pick=_without_constant, imm=_log2,
        when=_power_fits_half, widths=_LONG,
    ),
    *_signed_pair("mull", Op.MUL, "bits", ("half_#", "half_#"), "mull_#", widths=_LONG),
    *_signed_pair("mull_k", Op.MUL, "bits", ("half_#", "half_const_#"), "mull_k_#", widths=(32,)),
    Rule("qdouble", Op.MUL, "sat_u", ("u", "u"), "qadd_u", pick=_twice),
    Rule(
        "qshl", Op.MUL, "sat_u", ("u",), "qshl_n_u", pick=_without_constant, imm=_log2,
        when=_power_fits,
    ),
    # shifts
    *_signed_pair(
        "shr", Op.SHR, "bits", ("#",), "shr_n_#", imm=lambda n: int(n.attr[0]), when=_shift_fits
    ),
    Rule(
        "shrn", Op.SHR, "bits", ("twice",), "shrn_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "qshrn", Op.SHR, "sat_#", ("twice_#",), "qshrn_n_#", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    Rule(
        "qshrun", Op.SHR, "sat_u", ("twice_s",), "qshrun_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "qshrn_parts", Op.SHR, "sat_#", ("twice_sat_#",), "qshrn_n_#",
        imm=lambda n: int(n.attr[0]), when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "hadd", Op.SHR, "bits", ("#", "#"), "hadd_#", pick=_halved_sum, when=_shift_by_one
    ),
    Rule(
        "dmulh", Op.SHR, "bits", ("s", "const"), "dmulh_k", pick=_shifted_product,
        when=_upper_half, widths=(16,),
    ),
    Rule(
        "rdmulh", Op.RSHR, "bits", ("s", "const"), "rdmulh_k", pick=_shifted_product,
        when=_upper_half, widths=(16,),
    ),
    *_signed_pair(
        "rshr", Op.RSHR, "bits", ("#",), "rshr_n_#", imm=lambda n: int(n.attr[0]), when=_shift_fits
    ),
    Rule(
        "rshrn", Op.RSHR, "bits", ("twice",), "rshrn_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "qrshrn", Op.RSHR, "sat_#", ("twice_#",), "qrshrn_n_#", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    Rule(
        "qrshrun", Op.RSHR, "sat_u", ("twice_s",), "qrshrun_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "qrshrn_parts", Op.RSHR, "sat_#", ("twice_sat_#",), "qrshrn_n_#",
        imm=lambda n: int(n.attr[0]), when=_shift_fits, widths=_NARROW,
    ),
    *_signed_pair(
        "rhadd", Op.RSHR, "bits", ("#", "#"), "rhadd_#", pick=_halved_sum, when=_shift_by_one
    ),
    *_signed_pair("shrv", Op.SHRV, "bits", ("#", "negated"), "shl_v_#"),
    Rule("shlv", Op.SHLV, "bits", ("bits", "s"), "shl_v_u"),
    # bit by bit
    Rule("and_bits", Op.BITAND, "bits", ("bits", "bits"), "and"),
    Rule("orr_bits", Op.BITOR, "bits", ("bits", "bits"), "orr"),
    Rule("eor_bits", Op.BITXOR, "bits", ("bits", "bits"), "eor"),
    Rule("bic_bits", Op.BITAND, "bits", ("bits", "bits"), "bic", pick=_with_inverted),
    Rule("orn_bits", Op.BITOR, "bits", ("bits", "bits"), "orn", pick=_with_inverted),
    # order
    *_signed_pair("min", Op.MIN, "bits", ("#", "#"), "min_#"),
    *_signed_pair("max", Op.MAX, "bits", ("#", "#"), "max_#"),
    *_signed_pair("min_parts", Op.MIN, "sat_#", ("sat_#", "sat_#"), "min_#"),
    *_signed_pair("max_parts", Op.MAX, "sat_#", ("sat_#", "sat_#"), "max_#"),
    *_signed_pair("abd", Op.ABSDIFF, "bits", ("#", "#"), "abd_#"),
    *_signed_pair("abdl", Op.ABSDIFF, "bits", ("half_#", "half_#"), "abdl_#", widths=_LONG),
    Rule("abs", Op.ABS, "bits", ("s",), "abs"),
    # limits: aliases of a saturated operand, or min and max
    Rule("clip_u", Op.CLIP, "bits", ("sat_u",), "", pick=_first, when=_clips_to(False)),
    Rule("clip_s", Op.CLIP, "bits", ("sat_s",), "", pick=_first, when=_clips_to(True)),
    Rule("min_sat_u", Op.MIN, "bits", ("sat_u",), "", pick=_first, when=_min_is_limit(False)),
    Rule("min_sat_s", Op.MIN, "bits", ("sat_s",), "", pick=_first, when=_min_is_limit(True)),
    Rule("max_sat_u", Op.MAX, "bits", ("sat_u",), "", pick=_first, when=_max_is_limit(False)),
    Rule("max_sat_s", Op.MAX, "bits", ("sat_s",), "", pick=_first, when=_max_is_limit(True)),
    Rule("min_of_sat_u", Op.MIN, "sat_u", ("sat_u",), "", pick=_first, when=_limit_is(1, False)),
    Rule("min_of_sat_s", Op.MIN, "sat_s", ("sat_s",), "", pick=_first, when=_limit_is(1, True)),
    Rule("max_of_sat_u", Op.MAX, "sat_u", ("sat_u",), "", pick=_first, when=_limit_is(0, False)),
    Rule("max_of_sat_s", Op.MAX, "sat_s", ("sat_s",), "", pick=_first, when=_limit_is(0, True)),
    Rule("wrap", Op.WRAP, "bits", ("bits",), "", when=_wraps_here),
    Rule("wrap_and", Op.WRAP, "bits", ("bits",), "and_n", when=_low_bits_of, imm=_low_mask),
    Rule("assume", Op.ASSUME, "bits", ("bits",), ""),
    *_signed_pair("assume_sat", Op.ASSUME, "sat_#", ("sat_#",), ""),
    # choice and conditions
    Rule("bsl", Op.SELECT, "bits", ("mask", "bits", "bits"), "bsl"),
    Rule("and_value", Op.SELECT, "bits", ("mask", "bits"), "and", pick=_masked),
    Rule("bic_value", Op.SELECT, "bits", ("bits", "mask"), "bic", pick=_masked_out),
    Rule("and", Op.AND, "mask", ("mask", "mask"), "and"),
    Rule("orr", Op.OR, "mask", ("mask", "mask"), "orr"),
    Rule("bic", Op.AND, "mask", ("mask", "mask"), "bic", pick=_with_negation),
    Rule("orn", Op.OR, "mask", ("mask", "mask"), "orn", pick=_with_negation),
    Rule("mvn", Op.NOT, "mask", ("mask",), "mvn"),
    *_signed_pair(
        "le", Op.LE, "mask", ("#", "#"), "cge_#", pick=lambda n: iter([n.args[::-1]])
    ),
    *_signed_pair("gt", Op.GT, "mask", ("#", "#"), "cgt_#"),
    *[
        Rule(
            f"{name}_sat{which}_{s}", on, "mask",
            tuple(f"sat_{s}" if (k == which) != flip else s for k in range(2)), f"{op}_{s}",
            when=_other_inside(which, s == "s"),
            pick=(lambda n: iter([n.args[::-1]])) if flip else _own,
        )
        for name, on, op, flip in (("le", Op.LE, "cge", True), ("gt", Op.GT, "cgt", False))
        for which in (0, 1)
        for s in "us"
    ],
)  # fmt: skip

# What needs elements of 64 bits: sums of products of 32 bits by constants, until they are shifted
# to the right; and upper halves of such products.
WIDEST = 64
WIDE_RULES: tuple[Rule, ...] = (
    Rule("add_wide", Op.ADD, "bits", ("bits", "bits"), "add", widths=(WIDEST,)),
    Rule("sub_wide", Op.SUB, "bits", ("bits", "bits"), "sub", widths=(WIDEST,)),
    Rule(
        "mull_k_wide", Op.MUL, "bits", ("half_s", "half_const_s"), "mull_k_s", widths=(WIDEST,)
    ),
    Rule(
        "mlal_k_wide", Op.ADD, "bits", ("bits", "half_s", "half_const_s"), "mlal_k_s",
        pick=_added_product, widths=(WIDEST,),
    ),
    Rule(
        "mlsl_k_wide", Op.SUB, "bits", ("bits", "half_s", "half_const_s"), "mlsl_k_s",
        pick=_subtracted_product, widths=(WIDEST,),
    ),
    Rule(
        "shrn_wide", Op.SHR, "bits", ("twice",), "shrn_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=(WIDEST // 2,),
    ),
    Rule(
        "rshrn_wide", Op.RSHR, "bits", ("twice",), "rshrn_n", imm=lambda n: int(n.attr[0]),
        when=_shift_fits, widths=(WIDEST // 2,),
    ),
    Rule(
        "dmulh_wide", Op.SHR, "bits", ("s", "const"), "dmulh_k", pick=_shifted_product,
        when=_upper_half, widths=(WIDEST // 2,),
    ),
    Rule(
        "rdmulh_wide", Op.RSHR, "bits", ("s", "const"), "rdmulh_k", pick=_shifted_product,
        when=_upper_half, widths=(WIDEST // 2,),
    ),
)  # fmt: skip
