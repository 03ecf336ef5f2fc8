# SPDX-License-Identifier: BSD-2-Clause
"""The vector extension of GCC and Clang as a target: NEON's vocabulary, at other prices.

What an operation computes is the same, and so are the rules; `daedalus/vector.h` says how it is
written. An operation costs what the compilers make of it on a processor that has not got it as one
instruction: limits of signed sums, comparisons of unsigned lanes, narrowing.
"""

from dataclasses import replace

import numpy as np

from daedalus.dsl.ir import Node, Op
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import RULES, RangeOf, Rule
from daedalus.generator.targets.neon.target import Target

# Instructions of x86-64-v3 that GCC 12 and Clang 19 make of one, roughly between the two.
_COSTS = {
    "mla": 2.0, "mls": 2.0, "mla_k": 2.0, "mls_k": 2.0,
    "abd_u": 2.5, "abd_s": 2.5, "hadd_u": 4.0, "hadd_s": 4.0, "rhadd_s": 4.0,
    "rshr_n_u": 2.0, "rshr_n_s": 3.5, "shl_v_u": 24.0, "shl_v_s": 24.0,
    "dmulh_k": 4.0, "rdmulh_k": 3.0,
    "qadd_u": 2.0, "qsub_u": 1.5, "qadd_s": 4.5, "qsub_s": 4.5, "sqadd_u": 5.0, "qshl_n_u": 3.0,
    "cge_u": 2.0, "cgt_u": 2.5, "cge_s": 1.5, "bsl": 2.0,
    "addl_u": 2.5, "addl_s": 3.5, "subl_u": 2.5, "subl_s": 3.5, "abdl_u": 5.0, "abdl_s": 5.5,
    "movl_s": 1.5, "addw_u": 2.0, "addw_s": 2.5, "subw_u": 2.0, "subw_s": 2.5,
    "mull_u": 3.0, "mull_s": 3.0, "mull_k_u": 2.5, "mull_k_s": 2.5,
    "mlal_u": 4.0, "mlal_s": 4.0, "mlal_k_u": 3.5, "mlal_k_s": 3.5,
    "mlsl_u": 4.0, "mlsl_s": 4.0, "mlsl_k_u": 3.5, "mlsl_k_s": 3.5,
    "shll_n_u": 2.0, "shll_n_s": 2.5,
    "movn": 1.5, "shrn_n": 2.5, "rshrn_n": 3.5,
    "qmovn_u": 1.75, "qmovn_s": 2.0, "qmovun": 2.0,
    "qshrn_n_u": 2.75, "qshrn_n_s": 3.0, "qshrun_n": 3.0,
    "qrshrn_n_u": 3.75, "qrshrn_n_s": 5.0, "qrshrun_n": 5.0,
}  # fmt: skip


def _by_one(node: Node, w: int, of: RangeOf) -> bool:
    """The amount is known at run time alone: one for all lanes of the vector."""
    return node.args[1].op is not Op.CONST


# A shift of all lanes by one amount, which processors have; by an amount a lane few have it.
_SHIFTS = {
    f"shrv_k_{s}": MachineOp(
        f"shrv_k_{s}", "shrv", "same", s * 3,
        lambda w, a, n: a[0] >> np.clip(a[1], 0, 31), "k",
    )
    for s in "us"
} | {
    "shlv_k": MachineOp(
        "shlv_k", "shlv", "same", "uuu", lambda w, a, n: a[0] << np.clip(a[1], 0, 31), "k"
    )
}  # fmt: skip
_SHIFT_RULES = (
    *(
        Rule(f"shrv_k_{s}", Op.SHRV, "bits", (s, "const"), f"shrv_k_{s}", when=_by_one)
        for s in "us"
    ),
    Rule("shlv_k", Op.SHLV, "bits", ("bits", "const"), "shlv_k", when=_by_one),
)

VECTOR = Target(
    "vector",
    {n: replace(op, cost=_COSTS.get(n, op.cost)) for n, op in OPS.items()} | _SHIFTS,
    RULES + _SHIFT_RULES,
    "vector.h",
    ("vector_base.h", "vector_same.h"),
    {"vshlv": "vector_left.h"},
    paired=True,
    zips=True,
    looks_up=False,
    rows=False,
    words=False,
    moves=False,
    reduces=False,
    weaves=frozenset({"vst3q_u16"}),
)
