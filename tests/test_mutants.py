# SPDX-License-Identifier: BSD-2-Clause
"""The checks notice every error that can be made in one place of generated NEON code."""

import re

import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import options_of
from daedalus.generator.verify import crosscheck, goals
from daedalus.generator.verify.mutants import CHOICE, mutate, unknown
from daedalus.generator.verify.proofs import mutant_proofs
from daedalus.generator.verify.witness import mutation, reasons, witness_file

# All kernels are a campaign of many minutes: `./daedalus mutate`.
SOME = ("vp9_lpf4_v", "h264_idct4")
PROD = [(e, s) for e in load() if e.kernel.id in SOME for s in mutation.neon_variants(e, prod=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "options"), PROD, ids=lambda x: getattr(x, "name", ""))
def test_every_mutant_is_killed(entry, options):
    report = mutation.run(entry, options, seed=3, sample=60)
    assert report.survivors == []
    accounted = report.by_witness + report.by_drawn + report.proven + len(report.equivalent)
    assert report.mutants == accounted
    assert report.by_witness > report.mutants / 3


@pytest.mark.campaign
def test_survivors_are_reported(monkeypatch):
    """Without witnesses, and with few items, some mutants survive."""
    entry = find(load(), "vp9_lpf4_v")
    monkeypatch.setattr(witness_file, "read", witness_file.none)
    monkeypatch.setattr(mutation, "DRAWN", 16)
    monkeypatch.setattr(mutation, "DEEP", 0)
    monkeypatch.setattr(mutation, "PATIENCE", (0.2, 0.2))
    report = mutation.run(entry, options_of("neon", early_out=True))
    assert len(report.survivors) > 3
    assert any("vcge" in str(m) or "vq" in str(m) for m in report.survivors)


@pytest.mark.parametrize(
    ("call", "mutants"),
    [
        ("vqadd_u8(a, b)", ["vadd_u8(a, b)"]),
        ("vsqaddq_u8(a, b)", ["vaddq_u8(a, vreinterpretq_u8_s8(b))"]),
        ("vqmovun_s16(a)", ["vreinterpret_u8_s8(vmovn_s16(a))"]),
        ("vqmovn_high_s16(a, b)", ["vmovn_high_s16(a, b)"]),
        (
            "vqrshrun_high_n_s16(a, b, 8)",
            ["vqshrun_high_n_s16(a, b, 8)",
             "vreinterpretq_u8_s8(vrshrn_high_n_s16(vreinterpret_s8_u8(a), b, 8))",
             "vqrshrun_high_n_s16(a, b, 7)"],
        ),
        ("vshl_n_u8(a, 7)", ["vshl_n_u8(a, 6)"]),
        ("vrshrn_n_s32(a, 1)", ["vshrn_n_s32(a, 1)", "vrshrn_n_s32(a, 2)"]),
        ("vcgtq_u8(a, b)", ["vcgeq_u8(a, b)"]),
        ("vdup_n_u8((uint8_t)(4))", ["vdup_n_u8((uint8_t)(3))", "vdup_n_u8((uint8_t)(5))"]),
        ("vdup_n_u8((uint8_t)(limit))", []),
        ("vadd_u8(a, b)", []),
        ("vreinterpret_u8_s8(a)", []),
    ],
)  # fmt: skip
def test_mutations(call, mutants):
    found = mutate(f"static inline void f(void) {{ x = {call}; }}")
    assert [m.after for m in found.mutants] == mutants
    assert found.text.count(f"{CHOICE} == ") == len(mutants)


def test_calls_in_calls_and_multipliers():
    text = (
        "static inline void f(void) {\n"
        "  static const int16_t k_values[8] = {5, -7, 0, 0, 0, 0, 0, 0};\n"
        "  y = vqmovn_s16(vmulq_laneq_s16(a,\n      k, 1));\n}"
    )
    found = mutate(text)
    assert {m.after for m in found.mutants} == {
        "vmulq_laneq_s16(a, vdupq_n_s16((int16_t)-8), 0)",
        "vmulq_laneq_s16(a, vdupq_n_s16((int16_t)-6), 0)",
        "vmovn_s16(vmulq_laneq_s16(a, k, 1))",
    }
    assert [m.number for m in found.mutants] == [1, 2, 3]


def test_every_mutant_is_of_a_lowering():
    """The solver can be asked about all of them."""
    entry = find(load(), "vp9_lpf4_v")
    for plan in goals.plans(entry):
        file = repo_root() / "generated" / "src" / entry.kernel.family / f"{plan.name}.c"
        mine = [m for m in mutate(file.read_text()).mutants if m.function == plan.function]
        assert len(mine) > 15
        assert all(mutant_proofs.lowering(plan, m) is not None for m in mine)


def test_all_that_is_generated_is_known():
    for file in sorted((repo_root() / "generated" / "src").glob("*/*__neon_*.c")):
        assert unknown(file.read_text()) == set()
    assert unknown("vqdmlal_s16(a, b, c)") == {"vqdmlal_s16"}


def test_a_choice_of_nothing_is_the_original():
    """Number 0 is no mutant's."""
    text = "static inline void f(void) { x = vqadd_u8(a, b); }"
    choice = re.search(r"x = (.*);", mutate(text).text)
    assert choice is not None
    assert choice[1] == f"({CHOICE} == 1 ? vadd_u8(a, b) : vqadd_u8(a, b))"


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("equivalent", 'before = "a"\nafter = "b"\nwhy = " "\nvariant = "v"'),
        ("equivalent", 'before = "a"\nafter = "b"\nwhy = "c"'),  # of which variant
        ("equivalent", 'before = "a"\nafter = "b"\nwhy = "c"\nproof = true'),
        ("unwitnessed", 'goal = "a"\nwhy = "c"'),
        ("unwitnessed", 'goal = "a"\nwhy = "c"\nproof = false'),
        ("unwitnessed", 'goal = "a"\nwhy = "c"\nproof = true\nvariant = "v"'),
    ],
)
def test_reasons_are_complete(tmp_path, section, entry):
    file = tmp_path / "mutants.toml"
    file.write_text(f'[[{section}]]\nkernel = "k"\n{entry}\n')
    with pytest.raises(crosscheck.UserError, match=f"entry 1 of {section} needs"):
        reasons.read(section, file)


def test_a_reason_is_of_one_variant_or_proven(monkeypatch):
    one = reasons.Reason("k", ("goal",), "why", variant="v")
    monkeypatch.setattr(reasons, "read", lambda section: (one,))
    assert reasons.of("unwitnessed", "k", "v", "goal") is one
    assert reasons.of("unwitnessed", "k", "v2", "goal") is None
    proven = reasons.Reason("k", ("goal",), "why", proof=True)
    monkeypatch.setattr(reasons, "read", lambda section: (proven,))
    assert reasons.of("unwitnessed", "k", "v2", "goal") is proven
    assert reasons.of("unwitnessed", "k2", "v2", "goal") is None
