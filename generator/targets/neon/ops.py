# SPDX-License-Identifier: BSD-2-Clause
"""The NEON operations the back end uses, as data: intrinsic, shape, operand signs, meaning, cost.

Shapes, for a result of w bits a lane:
  same    operands of w bits
  long    operands of w/2 bits (an accumulator in front of them, marked in `acc`, of w bits)
  wide    first operand of w bits, second of w/2
  narrow  operand of 2w bits

`signs` has a letter an operand and one for the result: u, s, or = (either; bits only).
`form` says what else the intrinsic takes: "" nothing, "n" an immediate, "m" an immediate in all
lanes of a vector, "k" a constant or a run-time scalar as its last operand (by lane, or the _n_
form).

`meaning(w, args, imm)` computes a lane on integers (or arrays of them, element by element), given
and returned as values of the lane's sign (for "=": congruent modulo 2**w); the tests of the
selection rules run it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Meaning = Callable[[int, tuple[Any, ...], int], Any]


@dataclass(frozen=True)
class MachineOp:
    name: str
    stem: str
    shape: str
    signs: str
    meaning: Meaning
    form: str = ""
    acc: bool = False
    cost: float = 1.0


def _sat(signed: bool) -> Callable[[Any, int], Any]:
    def limit(x: Any, w: int) -> Any:
        lo, hi = (-(1 << (w - 1)), (1 << (w - 1)) - 1) if signed else (0, (1 << w) - 1)
        return np.minimum(np.maximum(x, lo), hi)

    return limit


_su, _ss = _sat(False), _sat(True)


def _round(x: Any, n: int) -> Any:
    return (x + (1 << (n - 1))) >> n


def _shift(x: Any, by: Any, w: int) -> Any:
    """To the left, or by a negative amount to the right; only the amount's low byte counts."""
    amount = ((by + 128) & 255) - 128
    return (x << np.clip(amount, 0, w)) >> np.clip(-amount, 0, w)


def _mask(condition: Any) -> Any:
    return np.where(condition, -1, 0)


def _pair(
    name: str, stem: str, shape: str, operands: int, meaning: Meaning, form: str = "",
    cost: float = 1.0, acc: bool = False,
) -> list[MachineOp]:  # fmt: skip
    """An operation in its unsigned and its signed form."""
    return [
        MachineOp(f"{name}_{s}", stem, shape, s * (operands + 1), meaning, form, acc, cost)
        for s in "us"
    ]


# fmt: off
_ALL: list[MachineOp] = [
    # modulo 2**w
    MachineOp("add", "add", "same", "===", lambda w, a, n: a[0] + a[1]),
    MachineOp("sub", "sub", "same", "===", lambda w, a, n: a[0] - a[1]),
    MachineOp("mul", "mul", "same", "===", lambda w, a, n: a[0] * a[1], cost=1.5),
    MachineOp("mla", "mla", "same", "====", lambda w, a, n: a[0] + a[1] * a[2], cost=1.5),
    MachineOp("mls", "mls", "same", "====", lambda w, a, n: a[0] - a[1] * a[2], cost=1.5),
    MachineOp("mul_k", "mul", "same", "sss", lambda w, a, n: a[0] * a[1], "k", cost=1.5),
    MachineOp("mla_k", "mla", "same", "ssss", lambda w, a, n: a[0] + a[1] * a[2], "k", cost=1.5),
    MachineOp("mls_k", "mls", "same", "ssss", lambda w, a, n: a[0] - a[1] * a[2], "k", cost=1.5),
    MachineOp("shl_n", "shl", "same", "==", lambda w, a, n: a[0] << n, "n"),
    MachineOp("neg", "neg", "same", "ss", lambda w, a, n: -a[0]),
    MachineOp("abs", "abs", "same", "ss", lambda w, a, n: abs(a[0])),
    # exact at w
    *_pair("abd", "abd", "same", 2, lambda w, a, n: abs(a[0] - a[1])),
    *_pair("min", "min", "same", 2, lambda w, a, n: np.minimum(a[0], a[1])),
    *_pair("max", "max", "same", 2, lambda w, a, n: np.maximum(a[0], a[1])),
    *_pair("hadd", "hadd", "same", 2, lambda w, a, n: (a[0] + a[1]) >> 1),
    *_pair("rhadd", "rhadd", "same", 2, lambda w, a, n: (a[0] + a[1] + 1) >> 1),
    *_pair("shr_n", "shr", "same", 1, lambda w, a, n: a[0] >> n, "n"),
    *_pair("rshr_n", "rshr", "same", 1, lambda w, a, n: _round(a[0], n), "n"),
    MachineOp("shl_v_s", "shl", "same", "sss", lambda w, a, n: _shift(a[0], a[1], w)),
    MachineOp("shl_v_u", "shl", "same", "usu", lambda w, a, n: _shift(a[0], a[1], w)),
    # saturating
    MachineOp("qadd_u", "qadd", "same", "uuu", lambda w, a, n: _su(a[0] + a[1], w)),
    MachineOp("qadd_s", "qadd", "same", "sss", lambda w, a, n: _ss(a[0] + a[1], w)),
    MachineOp("qsub_u", "qsub", "same", "uuu", lambda w, a, n: _su(a[0] - a[1], w)),
    MachineOp("qsub_s", "qsub", "same", "sss", lambda w, a, n: _ss(a[0] - a[1], w)),
    MachineOp("sqadd_u", "sqadd", "same", "usu", lambda w, a, n: _su(a[0] + a[1], w)),
    MachineOp("qshl_n_u", "qshl", "same", "uu", lambda w, a, n: _su(a[0] << n, w), "n"),
    MachineOp(
        "dmulh_k", "qdmulh", "same", "sss", lambda w, a, n: _ss((a[0] * a[1]) >> (w - 1), w), "k",
        cost=1.5,
    ),
    MachineOp(
        "rdmulh_k", "qrdmulh", "same", "sss", lambda w, a, n: _ss(_round(a[0] * a[1], w - 1), w),
        "k", cost=1.5,
    ),
    # masks: all ones or zero
    MachineOp("cge_u", "cge", "same", "uuu", lambda w, a, n: _mask(a[0] >= a[1])),
    MachineOp("cge_s", "cge", "same", "ssu", lambda w, a, n: _mask(a[0] >= a[1])),
    MachineOp("cgt_u", "cgt", "same", "uuu", lambda w, a, n: _mask(a[0] > a[1])),
    MachineOp("cgt_s", "cgt", "same", "ssu", lambda w, a, n: _mask(a[0] > a[1])),
    MachineOp("and", "and", "same", "===", lambda w, a, n: a[0] & a[1]),
    MachineOp("and_n", "and", "same", "uu", lambda w, a, n: a[0] & n, "m"),
    # limits of a sign that a lane has and its other reading has not
    MachineOp("min_n_u", "min", "same", "uu", lambda w, a, n: np.minimum(a[0], n), "m"),
    MachineOp("max_n_s", "max", "same", "ss", lambda w, a, n: np.maximum(a[0], n), "m"),
    MachineOp("orr", "orr", "same", "===", lambda w, a, n: a[0] | a[1]),
    MachineOp("eor", "eor", "same", "===", lambda w, a, n: a[0] ^ a[1]),
    MachineOp("bic", "bic", "same", "===", lambda w, a, n: a[0] & ~a[1]),
    MachineOp("orn", "orn", "same", "===", lambda w, a, n: a[0] | ~a[1]),
    MachineOp("mvn", "mvn", "same", "==", lambda w, a, n: ~a[0]),
    MachineOp("bsl", "bsl", "same", "u===", lambda w, a, n: (a[0] & a[1]) | (~a[0] & a[2])),
    # widening
    *_pair("movl", "movl", "long", 1, lambda w, a, n: a[0]),
    *_pair("addl", "addl", "long", 2, lambda w, a, n: a[0] + a[1]),
    *_pair("subl", "subl", "long", 2, lambda w, a, n: a[0] - a[1]),
    *_pair("abdl", "abdl", "long", 2, lambda w, a, n: abs(a[0] - a[1])),
    *_pair("mull", "mull", "long", 2, lambda w, a, n: a[0] * a[1]),
    *_pair("mull_k", "mull", "long", 2, lambda w, a, n: a[0] * a[1], "k"),
    *_pair("mlal", "mlal", "long", 3, lambda w, a, n: a[0] + a[1] * a[2], acc=True),
    *_pair("mlsl", "mlsl", "long", 3, lambda w, a, n: a[0] - a[1] * a[2], acc=True),
    *_pair("mlal_k", "mlal", "long", 3, lambda w, a, n: a[0] + a[1] * a[2], "k", acc=True),
    *_pair("mlsl_k", "mlsl", "long", 3, lambda w, a, n: a[0] - a[1] * a[2], "k", acc=True),
    *_pair("shll_n", "shll", "long", 1, lambda w, a, n: a[0] << n, "n"),
    *_pair("addw", "addw", "wide", 2, lambda w, a, n: a[0] + a[1]),
    *_pair("subw", "subw", "wide", 2, lambda w, a, n: a[0] - a[1]),
    # narrowing
    MachineOp("movn", "movn", "narrow", "==", lambda w, a, n: a[0]),
    MachineOp("shrn_n", "shrn", "narrow", "==", lambda w, a, n: a[0] >> n, "n"),
    MachineOp("rshrn_n", "rshrn", "narrow", "==", lambda w, a, n: _round(a[0], n), "n"),
    MachineOp("qmovn_u", "qmovn", "narrow", "uu", lambda w, a, n: _su(a[0], w)),
    MachineOp("qmovn_s", "qmovn", "narrow", "ss", lambda w, a, n: _ss(a[0], w)),
    MachineOp("qmovun", "qmovun", "narrow", "su", lambda w, a, n: _su(a[0], w)),
    MachineOp("qshrn_n_u", "qshrn", "narrow", "uu", lambda w, a, n: _su(a[0] >> n, w), "n"),
    MachineOp("qshrn_n_s", "qshrn", "narrow", "ss", lambda w, a, n: _ss(a[0] >> n, w), "n"),
    MachineOp("qshrun_n", "qshrun", "narrow", "su", lambda w, a, n: _su(a[0] >> n, w), "n"),
    MachineOp("qrshrn_n_u", "qrshrn", "narrow", "uu", lambda w, a, n: _su(_round(a[0], n), w), "n"),
    MachineOp("qrshrn_n_s", "qrshrn", "narrow", "ss", lambda w, a, n: _ss(_round(a[0], n), w), "n"),
    MachineOp("qrshrun_n", "qrshrun", "narrow", "su", lambda w, a, n: _su(_round(a[0], n), w), "n"),
]
# fmt: on

# Saturating operations cost a trifle more: where a limit cannot bind, the plain one is chosen.
_TIE = 0.001

OPS: dict[str, MachineOp] = {
    op.name: replace(op, cost=op.cost + _TIE) if op.stem.startswith(("q", "sq")) else op
    for op in _ALL
}
