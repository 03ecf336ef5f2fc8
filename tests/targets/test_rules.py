# SPDX-License-Identifier: BSD-2-Clause
"""Every NEON selection rule is proven to do what the semantics say, wherever it may be applied.

`rule_proofs` makes the proofs, from the rules, conditions and meanings that the back end itself
uses: a rule needs nothing here to be proven, and one that no form of a node uses fails by name.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from rule_proofs import Prover, Refuted

from daedalus.dsl.ir import Op
from daedalus.generator.targets.neon import rules as rules_module
from daedalus.generator.targets.neon.forms import WIDTHS
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import RULES, WIDE_RULES, Rule
from daedalus.generator.targets.vector.target import VECTOR

ALL = RULES + WIDE_RULES
BY_NAME = {r.name: r for r in ALL}
# A rule says the same of every width; proofs of the wider ones take most of the time.
WIDER = pytest.mark.campaign
# Products of halves, of which a proof takes a solver longest.
_LONG = ("rdmulh", "dmulh", "rdmulh_wide", "dmulh_wide")


def cases(rules: Iterable[Rule]) -> list[ParameterSet]:
    return [
        pytest.param(
            r,
            w,
            id=f"{r.name}-{w}",
            marks=[WIDER] if w > min(r.widths) or r.name in _LONG else [],
        )
        for r in rules
        for w in r.widths
    ]


CASES = cases(ALL)
CONVERSIONS = {
    "bits": {"", "movn", "movl_u", "movl_s"}, "mask": {"movn", "movl_s"},
    "sat_u": {"", "qmovun", "qmovn_u", "max_n_s"}, "sat_s": {"", "qmovn_s", "min_n_u"},
}  # fmt: skip


@pytest.mark.parametrize(("rule", "w"), CASES)
def test_rule_is_proven(rule: Rule, w: int) -> None:
    assert Prover().rule(rule, w) >= 1, "no form of a node has this rule applied: never proven"


OWN = cases(VECTOR.rules[len(RULES) :])


@pytest.mark.parametrize(("rule", "w"), OWN)
def test_rule_of_vectors_is_proven(rule: Rule, w: int) -> None:
    """What the target has beyond NEON's rules."""
    assert Prover(dict(VECTOR.ops)).rule(rule, w) >= 1


def test_vectors_share_what_neon_has() -> None:
    """The same rules and meanings, so one proof is both's; only prices differ."""
    assert VECTOR.rules[: len(RULES)] == RULES
    for name, op in OPS.items():
        assert replace(VECTOR.ops[name], cost=op.cost) == op
    assert {r.op for r in VECTOR.rules} - {""} <= set(VECTOR.ops)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(ALL)


def test_every_operation_is_used() -> None:
    """By a rule or a conversion; no entry of the table is there for nothing."""
    assert set(OPS) <= {r.op for r in RULES} | set().union(*CONVERSIONS.values()) | {"neg"}


@pytest.mark.parametrize("kind", CONVERSIONS)
def test_conversions_are_proven(kind: str) -> None:
    found = [Prover().conversions(kind, w) for w in WIDTHS]
    assert set().union(*found) == CONVERSIONS[kind]


@pytest.mark.parametrize("w", WIDTHS)
def test_negation_is_proven(w: int) -> None:
    Prover().negation(w)


# ------------------------------------------------------------------ broken rules are noticed


def _broken(name: str, **changes: object) -> Rule:
    return replace(BY_NAME[name], **changes)  # type: ignore[arg-type]


def _almost(limited: int, signed: bool) -> Callable[..., bool]:
    """_other_inside with its strict end forgotten."""

    def when(node: object, w: int, of: Callable) -> bool:
        return of(node.args[1 - limited]).within(*rules_module.limits(w, signed))  # type: ignore

    return when


def _too_far(node: object, w: int, of: object) -> bool:
    return int(node.attr[0]) <= w + 1  # type: ignore[attr-defined]


BROKEN = {
    "sums of negative parts": _broken("qadd_parts", when=rules_module._always),
    "negating the least value": _broken("sqadd_neg", when=rules_module._always),
    "clip to other bounds": _broken("clip_u", when=rules_module._always),
    "clip of the other sign": _broken("clip_s", when=rules_module._clips_to(False)),
    "minimum with any limit": _broken("min_sat_u", when=rules_module._always),
    "maximum with any limit": _broken("max_sat_s", when=rules_module._always),
    "minimum of negative values": _broken(
        "min_sat_u",
        when=lambda n, w, of: n.args[1].op is Op.CONST
        and n.args[1].value == rules_module.limits(w, False)[1],
    ),
    "wrap to fewer bits": _broken("wrap", when=rules_module._always),
    "halving by more than one": _broken("hadd_u", when=rules_module._always),
    "rounded halving unrounded": _broken("rhadd_s", op="hadd_s"),
    "shift off by one": _broken("shr_u", imm=lambda n: int(n.attr[0]) - 1),
    "narrowing shift too far": _broken("shrn", when=_too_far),
    "rounding forgotten": _broken("rshrn", op="shrn_n"),
    "saturation forgotten": _broken("qrshrun", op="rshrn_n"),
    "unsigned saturation of signed": _broken("qshrun", op="qshrn_n_u"),
    "power too large": _broken("shl", when=lambda n, w, of: rules_module._log2(n) > 0),
    "widened as unsigned": _broken("mull_s", op="mull_u"),
    "widened the wrong half": _broken("addw_s", op="addl_s"),
    "added for subtracted": _broken("mlsl_u", op="mlal_u"),
    "operands swapped": _broken("subl_u", pick=lambda n: iter([n.args[::-1]])),
    "comparison not swapped": _broken("le_u", pick=rules_module._own),
    "comparison of the other sign": _broken("gt_s", op="cgt_u"),
    "equal allowed": _broken("gt_u", op="cge_u"),
    "limited beside the end, le 0": _broken("le_sat0_u", when=_almost(0, False)),
    "limited beside the end, le 1": _broken("le_sat1_s", when=_almost(1, True)),
    "limited beside the end, gt 0": _broken("gt_sat0_s", when=_almost(0, True)),
    "limited beside the end, gt 1": _broken("gt_sat1_u", when=_almost(1, False)),
    "choice the wrong way round": _broken(
        "bsl", pick=lambda n: iter([(n.args[0], *n.args[:0:-1])])
    ),
    "mask not negated": _broken("bic_value", op="and"),
    "or for and": _broken("and", op="orr"),
    "negation forgotten": _broken("orn", op="orr"),
    "bits not inverted": _broken("bic_bits", op="and"),
    "any difference as an inverse": _broken("invert", pick=lambda n: iter([n.args[1:]])),
    "saturated for exact": _broken("abs", gives="sat_s"),
    "amount not negated": _broken("shrv_s", takes=("s", "bits")),
    "exact operands forgotten": _broken("qadd_s", takes=("bits", "bits")),
    "upper half of another shift": _broken(
        "rdmulh", when=lambda n, w, of: rules_module._upper_half(n, w, of) or n.attr[0] == w - 2
    ),
    "upper half of the lowest": _broken("dmulh", when=lambda n, w, of: int(n.attr[0]) == w - 1),
    "upper half of a shorter shift": _broken(
        "rdmulh_wide", when=lambda n, w, of: n.attr[0] == w - 2
    ),
    "rounding of 64 bits forgotten": _broken("rshrn_wide", op="shrn_n"),
    "64 bits added for subtracted": _broken("mlsl_k_wide", op="mlal_k_s"),
    "product limited": _broken("qdouble", pick=lambda n: iter([(n.args[0], n.args[0])])),
}


def refutation(rule: Rule, ops: dict[str, MachineOp] = OPS) -> str:
    """Why a rule is wrong, at the first width where it is."""
    for w in rule.widths:
        try:
            Prover(ops).rule(rule, w)
        except Refuted as e:
            return str(e)
    return ""


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[WIDER] if r.name in _LONG else []) for c, r in BROKEN.items()],
)
def test_broken_rule_is_refuted(case: str) -> None:
    why = refutation(BROKEN[case])
    assert why.startswith(BROKEN[case].name + " at ")
    assert "wrong for" in why


def test_a_counterexample_is_one() -> None:
    """The inputs that a refutation names do show the error."""
    shown = refutation(BROKEN["sums of negative parts"]).partition("wrong for ")[2]
    at = {k: int(v) for k, v in (part.split("=") for part in shown.split(", "))}
    limited = [min(max(at[x], 0), 255) for x in ("0", "1")] if "both" not in at else [0, 0]
    assert min(max(at["0"] + at["1"], 0), 255) != min(sum(limited), 255)


def _wrapping(name: str) -> MachineOp:
    """The operation without its saturation or rounding."""
    plain = {
        "qadd_u": lambda w, a, n: a[0] + a[1], "qadd_s": lambda w, a, n: a[0] + a[1],
        "qsub_u": lambda w, a, n: a[0] - a[1], "qsub_s": lambda w, a, n: a[0] - a[1],
        "sqadd_u": lambda w, a, n: a[0] + a[1], "qshl_n_u": lambda w, a, n: a[0] << n,
        "qshrn_n_u": lambda w, a, n: a[0] >> n, "qshrn_n_s": lambda w, a, n: a[0] >> n,
        "qshrun_n": lambda w, a, n: a[0] >> n,
        "qrshrn_n_u": lambda w, a, n: (a[0] + (1 << n >> 1)) >> n,
        "qrshrn_n_s": lambda w, a, n: (a[0] + (1 << n >> 1)) >> n,
        "qrshrun_n": lambda w, a, n: (a[0] + (1 << n >> 1)) >> n,
        "rhadd_u": lambda w, a, n: (a[0] + a[1]) >> 1,
        "rhadd_s": lambda w, a, n: (a[0] + a[1]) >> 1,
        "rdmulh_k": lambda w, a, n: (a[0] * a[1]) >> (w - 1),
    }  # fmt: skip
    return replace(OPS[name], meaning=plain[name])


SATURATING = [
    n for n in OPS if n.startswith("q") or n in ("sqadd_u", "rhadd_u", "rhadd_s", "rdmulh_k")
]


@pytest.mark.parametrize("name", [n for n in SATURATING if "movn" not in n and n != "qmovun"])
def test_a_wrapping_operation_is_noticed(name: str) -> None:
    """A saturating or rounding operation that does not is told from the real one by some input."""
    ops = OPS | {name: _wrapping(name)}
    users = [r for r in RULES if r.op == name]
    assert users
    assert all(refutation(rule, ops) for rule in users)


@pytest.mark.parametrize(("name", "kind"), [("qmovn_u", "sat_u"), ("qmovn_s", "sat_s"),
                                            ("qmovun", "sat_u")])  # fmt: skip
def test_a_wrapping_conversion_is_noticed(name: str, kind: str) -> None:
    ops = OPS | {name: replace(OPS[name], meaning=lambda w, a, n: a[0])}
    with pytest.raises(Refuted, match=name):
        Prover(ops).conversions(kind, 8)


def test_operations_are_well_described() -> None:
    for op in OPS.values():
        assert op.shape in ("same", "long", "wide", "narrow") and op.form in ("", "n", "m", "k")
        assert set(op.signs) <= set("us=") and op.cost > 0
        args = tuple(np.array([1]) for _ in op.signs[:-1])
        assert np.asarray(op.meaning(16, args, 1)).shape == (1,)
