# SPDX-License-Identifier: BSD-2-Clause
"""The checks notice every error that can be made in one place of what was selected for NEON."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.dsl.ir import Node, Op
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import mutate
from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.host import native
from daedalus.generator.options import options_of
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.forms import Choice, Demand
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.verify import crosscheck, goals, mutants
from daedalus.generator.verify.fuzz.build import Build
from daedalus.generator.verify.goals import Plan
from daedalus.generator.verify.mutants import Mutant
from daedalus.generator.verify.proofs.lane_walk import Variation
from daedalus.generator.verify.witness import mutation, reasons, shown, witness_file

# All kernels are a campaign of many minutes: `./daedalus mutate`.
SOME = ("vp9_lpf4_v", "h264_idct4", "h264_deblock_luma_v")
LONG = ("h264_deblock_luma_v",)
PROD = [
    pytest.param(e, s, marks=[pytest.mark.campaign] if e.kernel.id in LONG else [])
    for e in load()
    if e.kernel.id in SOME
    for s in mutation.neon_variants(e, prod=True)
]


@pytest.mark.parametrize(("entry", "options"), PROD, ids=lambda x: getattr(x, "name", ""))
def test_every_mutant_is_told(entry, options):
    report = mutation.run(entry, options, seed=3)
    assert report.survivors == [] and report.stale == [] and report.unproven == []
    accounted = report.by_witness + report.by_drawn + report.proven + len(report.listed)
    assert report.mutants == accounted
    assert report.by_witness > report.mutants / 3


def test_survivors_are_reported(monkeypatch):
    """Without witnesses, and with few items, some mutants survive."""
    entry = find(load(), "vp9_lpf4_v")
    monkeypatch.setattr(witness_file, "read", witness_file.none)
    monkeypatch.setattr(mutation, "DRAWN", 4)
    monkeypatch.setattr(mutation, "DEEP", 0)
    monkeypatch.setattr(mutation, "PATIENCE", (0.2, 0.2))
    report = mutation.run(entry, options_of("neon", early_out=True), sample=6)
    assert report.mutants == 6
    assert len(report.survivors) > 1
    assert any("for" in str(m) for m in report.survivors)


def plans_of(kernel: str) -> Iterator[Plan]:
    entry = find(load(), kernel)
    assert entry is not None
    return goals.plans(entry)


def all_of(op: str, width: int, imm: int = 0, scalar: int | None = None) -> list[Variation]:
    """What an operation is varied to."""
    node = replace(next(plans_of("vp9_lpf4_v")).stages[0].order[0][0], op=Op.ADD)
    known = () if scalar is None else (replace(node, op=Op.CONST, attr=(scalar,)),)
    choice = Choice("a rule", op, (), known, imm, 1)
    return [v for _, v in mutants._variations((node, Demand("bits", width)), choice)]


@pytest.mark.parametrize(
    ("op", "width", "imm", "varied"),
    [
        ("qadd_u", 8, 0, [Variation(op="add")]),
        ("sqadd_u", 8, 0, [Variation(op="add")]),
        ("qmovun", 8, 0, [Variation(op="movn")]),
        ("hadd_u", 8, 0, [Variation(op="rhadd_u")]),
        ("rhadd_u", 8, 0, [Variation(op="hadd_u")]),
        ("cgt_s", 8, 0, [Variation(op="cge_s")]),
        ("add", 8, 0, []),
        (
            "qrshrun_n", 8, 8,
            [Variation(op="rshrn_n"), Variation(op="qshrun_n"), Variation(imm=-1)],
        ),
        ("shl_n", 8, 7, [Variation(imm=-1)]),
        ("shll_n_u", 16, 0, [Variation(imm=1)]),
        ("shll_n_u", 16, 7, [Variation(imm=-1)]),
        ("rshrn_n", 16, 1, [Variation(op="shrn_n"), Variation(imm=1)]),
        ("shr_n_u", 8, 3, [Variation(imm=-1), Variation(imm=1)]),
        ("and_n", 8, 255, []),
    ],
)  # fmt: skip
def test_variations(op, width, imm, varied):
    assert all_of(op, width, imm) == varied


def test_factors_are_one_more_or_less():
    assert all_of("mul_k", 16, scalar=5) == [Variation(scalar=-1), Variation(scalar=1)]


def test_every_lossy_operation_is_varied():
    """Whatever saturates, rounds or compares, as its name in the architecture says."""
    lossy = [n for n, o in OPS.items() if o.stem.startswith(("q", "sq", "r", "cg", "hadd"))]
    assert len(lossy) > 25
    assert [n for n in lossy if n != "dmulh_k" and not any(v.op for v in all_of(n, 8, 4, 4))] == []


def lossy(text: str) -> set[str]:
    """The saturating and rounding instructions of C code, as OPS names them; but for doubling
    products, whose limit no operands reach, and table lookups."""
    found = re.findall(r"\bv(s?q(?!dmul|tbl)[a-z0-9]*|r(?!einterpret|ev|bit)[a-z0-9]*)_\w+\(", text)
    return {name.removesuffix("q") for name in found}


def test_all_lossy_instructions_of_generated_code_are_known():
    """One that is emitted without being selected as one of OPS would have no mutants."""
    stems = {o.stem for o in OPS.values()}
    found = set()
    for file in (repo_root() / "generated" / "src").glob("*/*.neon*.c"):
        found |= lossy(file.read_text())
    assert len(found) > 5 and found <= stems
    assert lossy("x = vqdmlal_s16(vsqaddq_u8(a, b), vrev64_u8(c), d)") == {"qdmlal", "sqadd"}
    assert "qdmlal" not in stems


@pytest.mark.parametrize("kernel", ["vp9_lpf4_v", "av1_cdef8", "h264_idct8", "vp9_mc_8h"])
def test_every_goal_has_its_mutants(kernel):
    for plan in plans_of(kernel):
        every = list(mutants.mutants(plan))
        assert {m.goal for m in every} - {None} == {g for g in plan.goals if g.plain}
        for m in every:
            if m.goal is not None:
                assert m.text.endswith(m.goal.text.rpartition("(")[2])


def test_an_error_in_one_of_several_instructions_is_a_mutant():
    (plan,) = [p for p in plans_of("vp9_mc_8h") if p.name.endswith("neon_sub8_r2_dot")]
    items = witness_file.read(plan.kernel)
    items = items.take(plan.conformant(items))
    base = simulate.run(plan.lowered, plan.stages, items)
    several = [m for m in mutants.mutants(plan) if m.count > 1]
    m = several[0]
    every = [x for x in several if (x.need, x.varied) == (m.need, m.varied)]
    assert [x.number for x in every] == list(range(m.count))
    assert [str(x).rpartition(", ")[2] for x in every] == [
        f"instruction {n} of 4" for n in range(1, 5)
    ]
    lanes = np.array([x.change.lanes for x in every])
    assert (lanes.sum(axis=0) == 1).all() and lanes.any(axis=1).all()
    for x in every:
        forms = simulate.changed_forms(plan.stages[m.stage], base, x.change)
        if forms is not None:
            differs = forms[x.need] != base.forms[m.stage][x.need]
            assert differs.any() and not differs[:, ~x.change.lanes].any()


# ------------------------------------------------------------------ as compiled code


def more(constant: Node, by: int) -> Node:
    return replace(constant, attr=(constant.value + by,))


KINDS = ("op", "imm", "scalar", "result")  # other operations, shifts, factors, constants


def kinds(every: list[Mutant]) -> list[Mutant]:
    """Some mutants of each kind."""
    chosen: list[Mutant] = []
    for kind in KINDS:
        own = [m for m in every if m.number == 0 and getattr(m.varied, kind)]
        chosen += own[:: len(own) // 6 + 1]
    return chosen


def changing(m: Mutant, found: list[Node]) -> Callable[[Selection], None]:
    """Has the emitter take a mutant's operation, immediate, factor or constant for what was
    selected, in all instructions; `found` gets what is changed."""
    plan, seen = m.plan, []

    def watch(selection: Selection) -> None:
        seen.append(selection)
        if len(seen) != m.stage + 1:
            return
        need = selection.reached()[plan.stages[m.stage].order.index(m.need)]
        choice = selection.chosen[need]
        assert choice.op == plan.stages[m.stage].selection.chosen[m.need].op
        v = m.varied
        if v.result:  # another constant in its place
            other = more(need[0], -v.result if need[1].kind == "negated" else v.result), need[1]
            selection.chosen[other] = choice
            selection.ranges._of[other[0]] = selection.ranges.of(need[0])
            choice = choice._replace(op="", inputs=(other,), scalars=())
        elif v.scalar:
            choice = choice._replace(scalars=(more(choice.scalars[0], v.scalar),))
        op = v.op or choice.op
        selection.chosen[need] = choice._replace(op=op, imm=choice.imm + v.imm)
        found.append(need[0])

    return watch


@pytest.mark.parametrize(
    ("kernel", "of", "each"),
    [("h264_deblock_luma_v", KINDS, 1), ("vp9_idct8", KINDS[:3], 2)],
)
def test_compiled_code_does_what_the_simulation_says(
    kernel: str, of: tuple[str, ...], each: int, tmp_path: Path
) -> None:
    """`check` finds an error in compiled code on the witnesses where the simulated mutant is told,
    and nowhere else."""
    entry = find(load(), kernel)
    assert entry is not None
    options = options_of("neon")
    (plan,) = goals.plans_of(entry, options)
    every = kinds(list(mutants.mutants(plan)))
    assert {k for k in KINDS if any(getattr(m.varied, k) for m in every)} == set(of)
    every = every[::each]
    made, found = [], []
    for n, m in enumerate(every):
        one = replace(entry.kernel, id=f"{kernel}_changed{n}", decoders=())  # a place is for one
        c = make_variant(emit.environment(), one, options_of("c"), prod=True, rank=0, spec="a test")
        neon = make_variant(
            emit.environment(), one, options, prod=True, rank=1, spec="a test",
            watch=changing(m, found),
        )  # fmt: skip
        made.append((one, (c, neon)))
    assert len(found) == len(every) > 8
    build = Build(tmp_path, made, sanitize=False, targets=("neon",), level="-O0")
    arch = "host" if native.is_arm() else "simde"
    (device,) = [d for d in build.devices if d.arch == arch]
    exe = build.program(device)
    kept = witness_file.read(entry.kernel)
    told = 0
    for m, (one, (_, neon)) in zip(every, made, strict=True):
        batches = [b for b in crosscheck.prepare(one, 1, 1, kept) if b.kind == crosscheck.WITNESS]
        (outcome,) = crosscheck.check_kernel(one, [neon.name], device, exe, batches, 1)
        assert outcome.out_of_bounds == 0
        whole = replace(m, count=1)  # in all instructions, as that code has it
        left = mutation.untold(plan, [kept], [whole])
        assert bool(outcome.mismatches) == (not left), m
        told += not left
    assert told > len(every) / 2


# ------------------------------------------------------------------ tools/mutants.toml


@pytest.mark.parametrize(
    "entry",
    [
        'goal = "a"\nwhy = " "\nvariant = "v"',
        'goal = "a"\nwhy = "c"',  # of which variant
        'goal = "a"\nwhy = "c"\nproof = false',
        'goal = "a"\nwhy = "c"\nproof = true\nvariant = "v"',
        'before = "a"\nafter = "b"\nwhy = "c"\nvariant = "v"',
    ],
)
def test_reasons_are_complete(tmp_path, entry):
    file = tmp_path / "mutants.toml"
    file.write_text(f'[[unwitnessed]]\nkernel = "k"\n{entry}\n')
    with pytest.raises(UserError, match="entry 1 needs kernel, goal, why"):
        reasons.read(file)


def test_a_reason_is_of_one_variant_or_proven(monkeypatch):
    one = reasons.Reason("k", "goal", "why", variant="v")
    monkeypatch.setattr(reasons, "read", lambda: (one,))
    assert reasons.of("k", "v", "goal") is one
    assert reasons.of("k", "v2", "goal") is None
    proven = reasons.Reason("k", "goal", "why", proof=True)
    monkeypatch.setattr(reasons, "read", lambda: (proven,))
    assert reasons.of("k", "v2", "goal") is proven
    assert reasons.of("k2", "v2", "goal") is None
    family = reasons.Reason("k*", "goal", "why", proof=True)
    assert family.about("k2") and not family.about("other_k2")


def test_a_reason_for_a_mutant_that_is_told_is_stale(monkeypatch):
    """Of one that is no goal's, `mutate` says so, and `witness` leaves it alone."""
    entry, options = find(load(), "vp9_lpf4_v"), options_of("neon", early_out=True)
    (plan,) = goals.plans_of(entry, options)
    other = next(m for m in mutants.mutants(plan) if m.goal is None)
    entries = (reasons.Reason("vp9_lpf4_v", other.text, "why", variant=plan.name),)
    monkeypatch.setattr(reasons, "read", lambda: entries)
    report = mutation.run(entry, options)
    assert report.stale == list(entries)
    assert mutate._record(report)["stale"] == [f"vp9_lpf4_v: {other.text}"]
    assert shown.recorded(entry).missing == []


def test_a_reason_for_a_variant_that_is_gone_is_an_error(monkeypatch):
    entry = find(load(), "vp9_lpf4_v")
    (plan,) = goals.plans_of(entry, options_of("neon", early_out=True))
    other = next(m for m in mutants.mutants(plan) if m.goal is None)
    gone = reasons.Reason("vp9_lpf4_v", other.text, "why", variant=f"{plan.name}_gone")
    monkeypatch.setattr(reasons, "read", lambda: (gone,))
    (line,) = shown.recorded(entry).missing
    assert line.startswith(f"{reasons.NAME}: {gone}: ") and "take it out" in line
