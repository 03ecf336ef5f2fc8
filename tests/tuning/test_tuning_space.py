# SPDX-License-Identifier: BSD-2-Clause
"""The tuning space: what constraints leave and reject, against what back ends say of it."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from daedalus.generator.cli.tune import command
from daedalus.generator.compile.facts import Facts
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.measure.gpu.compare import usual
from daedalus.generator.options import TARGETS, options_of
from daedalus.generator.targets.gpu import device
from daedalus.generator.tuning import made
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.space import (
    CONSTRAINTS,
    Candidate,
    everything,
    recorded,
    simplicity,
    space,
)


def entry(name: str) -> Entry:
    found = find(load(), name)
    assert found is not None
    return found


def broken(name: str, candidate: Candidate) -> list[str]:
    """The constraints that a candidate does not meet."""
    facts = Facts(entry(name).kernel)
    rules = [c for c in CONSTRAINTS if candidate.options.target in c.targets]
    return [c.name for c in rules if not c.holds(facts, candidate)]


def neon(**choices: object) -> Candidate:
    return Candidate(replace(options_of("neon"), **choices), "gcc")  # type: ignore[arg-type]


def glsl(workgroup: int = 64, **choices: object) -> Candidate:
    options = replace(options_of("glsl"), **choices)  # type: ignore[arg-type]
    return Candidate(options, workgroup=workgroup)


def qpu(**choices: object) -> Candidate:
    return Candidate(replace(options_of("qpu"), **choices))  # type: ignore[arg-type]


# One variant a constraint that it alone rejects, and one that it lets through.
CASES = [
    ("items", "sand128_nv12", neon(items=2), "h264_idct4", neon(items=2)),
    ("rows", "vp9_idct8", neon(rows=2), "h264_qpel_mc20", neon(rows=2)),
    ("vector", "h264_qpel_mc20", neon(items=8), "h264_qpel_mc20", neon(items=4)),
    ("dot", "vp9_idct8", neon(dot=True), "vp9_mc_8h", neon(class_name="sub8", dot=True)),
    ("branch", "h264_idct4", neon(branch=True), "vp9_lpf8_v", neon(branch=True)),
    ("early", "h264_idct4", neon(early_out=True), "vp9_lpf4_v", neon(early_out=True)),
    ("points", "h264_idct4", qpu(points=8), "h264_idct4", qpu(points=4)),
    ("elements", "sand128_nv12", qpu(points=8), "sand128_nv12", qpu(points=16)),
    ("unaligned", "h264_idct4", glsl(word=True, unaligned=True), "h264_qpel_mc20",
     glsl(word=True, unaligned=True)),
    ("needs", "h264_qpel_mc20", glsl(unaligned=True), "h264_qpel_mc20", glsl(word=True)),
    ("sums", "h264_qpel_mc20", qpu(points=8, dot=True), "h264_qpel_mc20",
     qpu(points=8, dot=True, word=True, unaligned=True)),
    ("swar", "h264_idct4", glsl(swar=True), "h264_qpel_mc20",
     glsl(points=8, word=True, unaligned=True, swar=True)),
    ("signs", "h264_idct4", glsl(signs=True), "vp9_lpf4_v", glsl(signs=True)),
    ("pack", "h264_qpel_mc20", glsl(pack=True), "vp9_idct8",
     glsl(points=2, word=True, pack=True)),
    ("keep", "vp9_idct8", qpu(points=4, keep=True), "vp9_idct8", qpu(points=8, keep=True)),
    ("pair", "vp9_lpf4_v", qpu(points=4, word=True, pair=True), "h264_idct4",
     qpu(points=4, word=True, pair=True)),
    ("shuffle", "vp9_idct8", qpu(points=8, shuffle=True), "vp9_idct8",
     qpu(points=4, shuffle=True)),
    ("jointreads", "h264_qpel_mc20", qpu(points=8, word=True, joint_reads=True), "vp9_idct8",
     qpu(points=8, word=True, joint_reads=True)),
    ("one-item", "sand128_p010", qpu(points=8, record_once=True), "sand128_p010",
     qpu(points=4, record_once=True)),
    ("aside", "h264_idct4", qpu(aside=True), "vp9_lpf16_high_h", qpu(aside=True)),
    ("workgroup", "sand128_nv12", glsl(16, points=4), "sand128_nv12", glsl(64, points=4)),
    ("shared", "av1_cdef8", glsl(256, points=16), "av1_cdef8", glsl(64, points=4)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bad", "rejected", "good", "accepted"), CASES)
def test_each_constraint_rejects_and_accepts(
    name: str, bad: str, rejected: Candidate, good: str, accepted: Candidate
) -> None:
    assert broken(bad, rejected)[:1] == [name]
    assert broken(good, accepted) == []


def test_every_constraint_has_a_case() -> None:
    rejecting = {name for name, *_ in CASES}
    # What no kernel of today breaks: a device's limit, and words for kernels of 32-bit elements.
    assert {c.name for c in CONSTRAINTS} - rejecting == {"assume", "invocations", "word"}


def test_an_assumption_must_be_there() -> None:
    gone = neon(class_name="full", assume=("no_such",))
    assert broken("vp9_idct8", gone) == ["assume"]
    assert broken("vp9_idct8", neon(assume=("sum16",))) == []


@pytest.mark.parametrize("wish", usual(), ids=lambda w: w.kernel)
def test_what_is_on_record_is_in_the_space(wish: object) -> None:
    e = entry(wish.kernel)  # type: ignore[attr-defined]
    for target in TARGETS:
        found = space(e, target)
        there = set(found.candidates)
        listed = {c.options for c in found.candidates}
        for c in recorded(e, target):
            assert c.options in listed, c.options.name
            # Of a GPU variant some sizes of workgroups do not hold an item.
            assert c in there or target == "glsl"


@pytest.mark.parametrize("name", ["h264_idct4", "h264_qpel_mc20", "vp9_lpf4_v"])
def test_counts_add_up_and_points_are_distinct(name: str) -> None:
    e = entry(name)
    for target in TARGETS:
        found = space(e, target)
        assert found.tried == len(list(everything(e, target)))
        assert len(found.candidates) + sum(found.rejected.values()) == found.tried
        texts = [str(p) for p in found.points]
        assert len(set(texts)) == len(texts)
        assert [str(parse_point(t)) for t in texts] == texts
        assert found.candidates == sorted(found.candidates, key=simplicity)


@pytest.mark.parametrize("name", ["h264_idct4", "h264_qpel_mc20", "vp9_lpf4_v", "vp9_mc_8h"])
def test_what_constraints_let_through_back_ends_take(name: str) -> None:
    e = entry(name)
    for target in ("neon", "glsl"):
        listed = {c.options for c in space(e, target).candidates}
        refused = []
        for s in listed:
            try:
                made.text_variant(e, s)
            except made.Refused as why:
                if not str(why).startswith("the same code as"):
                    refused.append(f"{s.name}: {why}")
        assert len(refused) <= len(listed) // 20, refused


def test_a_choice_that_changes_nothing_is_refused_by_the_name_of_the_simpler_one() -> None:
    with pytest.raises(made.Refused, match="the same program as daedalus_h264_idct4__qpu_full$"):
        made.machine_code(entry("h264_idct4"), options_of("qpu", word=True))
    made.machine_code(entry("h264_idct4"), options_of("qpu", points=4, word=True))


def test_four_threads_are_a_point_where_their_registers_do() -> None:
    e = entry("h264_idct8")
    fits, fits_not = (
        options_of("qpu", four_threads=True),
        options_of("qpu", points=8, word=True, four_threads=True),
    )
    assert {fits, fits_not} <= {c.options for c in space(e, "qpu").candidates}
    two, four = (made.machine_code(e, replace(fits, four_threads=t4)) for t4 in (False, True))
    assert (two.code.threads, four.code.threads) == (2, 4)
    assert two.input_hash != four.input_hash
    with pytest.raises(made.Refused, match="^no schedule of its loop does with 32 registers: "):
        made.machine_code(e, fits_not)


def test_shared_memory_is_what_the_shader_has() -> None:
    e = entry("vp9_idct8")
    facts = Facts(e.kernel)
    for c in space(e, "glsl").candidates[::9]:
        try:
            shader = made.text_variant(e, c.options).shader
        except made.Refused:
            continue
        assert shader is not None
        assert facts.shared_bytes(c.options) == shader.shared_bytes
        assert facts.invocations(c.options) == shader.invocations
        items = c.workgroup // shader.invocations
        assert items >= 1 and items * shader.shared_bytes <= device.SHARED_BYTES


def test_a_dry_run_prints_points_and_what_rejects() -> None:
    done = CliRunner().invoke(command, ["--dry-run", "h264_idct4", "--target", "neon"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert "h264_idct4/full/daedalus_h264_idct4__neon_full_x2/gcc/-/0" in lines
    assert any(line.split()[:4] == ["h264_idct4", "neon", "256", "8"] for line in lines)
    assert lines[-1] == "8 points of 256 choices"
