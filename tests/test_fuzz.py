# SPDX-License-Identifier: BSD-2-Clause
"""The random programs themselves: reproducible, legal, varied; and a handful of them run."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from daedalus.dsl.ir import Op, Stage, walk
from daedalus.dsl.show import show
from daedalus.dsl.verify import uniform, verify
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import fuzz
from daedalus.generator.options import options_of
from daedalus.generator.passes.split_wide import split_wide
from daedalus.generator.targets.neon.dots import Dots
from daedalus.generator.targets.neon.vectors import Lines
from daedalus.generator.verify.fuzz import campaign
from daedalus.generator.verify.fuzz import programs as drawing
from daedalus.generator.verify.fuzz.back_end import BackEnd, Failure, suited
from daedalus.generator.verify.fuzz.campaign import Campaign
from daedalus.generator.verify.fuzz.cpu import Cpu, CpuTally, variants
from daedalus.generator.verify.fuzz.glsl import Glsl, GlslTally
from daedalus.generator.verify.fuzz.programs import Drawn, make_program
from daedalus.generator.verify.fuzz.qpu import Qpu, QpuTally, forms
from daedalus.generator.verify.fuzz.shrink import shrink

SEED = 7


def test_same_number_same_program() -> None:
    for number in range(5):
        first, again = make_program(SEED, number), make_program(SEED, number)
        assert show(first.kernel) == show(again.kernel)
        assert first.listed == again.listed


def test_other_seed_other_program() -> None:
    assert show(make_program(SEED, 0).kernel) != show(make_program(SEED + 1, 0).kernel)


def test_programs_are_legal_and_varied() -> None:
    programs = [make_program(SEED, n) for n in range(40)]
    seen: set[Op] = set()
    for p in programs:
        verify(p.kernel)
        seen |= {n.op for s in p.kernel.stages for n in walk(s.roots())}
    assert {len(p.kernel.stages) for p in programs} >= {1, 2}
    assert {b.kind for p in programs for b in p.kernel.buffers} == {"plane", "block"}
    assert {Op.ADD, Op.SUB, Op.MUL, Op.CLIP, Op.WRAP, Op.SELECT, Op.SHRV, Op.LE, Op.AND} <= seen


LATER = {Op.BITAND, Op.BITOR, Op.BITXOR, Op.SHLV}


def test_what_came_later_leaves_other_programs_as_they_were() -> None:
    """Half of the programs draw it."""
    drawn = 0
    seen: set[Op] = set()
    for number in range(40):
        made, before = (make_program(SEED, number, later=x).kernel for x in (True, False))
        ops = {n.op for s in made.stages for n in walk(s.roots())}
        assert not LATER & {n.op for s in before.stages for n in walk(s.roots())}
        if show(made) == show(before):
            assert not LATER & ops
        else:
            drawn += 1
            seen |= ops
    assert 12 <= drawn <= 28 and seen >= LATER


def test_programs_leave_much_to_parameters() -> None:
    stages = [s for n in range(60) for s in make_program(SEED, n).kernel.stages]
    nodes = [n for s in stages for n in walk(s.roots())]
    assert any(s.given is not None for s in stages)
    assert any(s.limits for s in stages)
    assert {x.combine for s in stages for x in s.stores} >= {"", "add"}
    assert any(n.op is Op.LANE for n in nodes)
    assert any(n.op is Op.LOAD and n.args for n in nodes)
    assert any(n.op is Op.PARAM and n.index for n in nodes)


def test_programs_gather_and_have_rows_that_belong_together() -> None:
    kernels = [make_program(SEED, n).kernel for n in range(60)]
    loads = [n for k in kernels for s in k.stages for n in s.nodes() if n.op is Op.LOAD]
    gathers = [n for n in loads if not all(map(uniform, n.args))]
    assert len(gathers) >= 6
    alike = [k for k in kernels if any(p.name == "many" for p in k.params)]
    assert len(alike) >= 2 and all(sum(bool(s.limits) for s in k.stages) >= 2 for k in alike)


WITH_DOTS = 20  # a program that DOT instructions have something to do in


def test_programs_have_dot_products_of_neighbouring_bytes() -> None:
    tally = CpuTally()
    names: set[str] = set()
    for number in range(45):
        program = make_program(SEED, number)
        wanted = tuple(s for s in program.listed if s.choice("dot"))
        made = variants(program.kernel, wanted, tally)
        assert all("vdotq_lane_s32" in v.text for v in made)
        names |= {v.options.name for v in made}
    assert tally.dot_variants >= 5
    assert any("part0" in n for n in names)
    assert any("_x2" in n for n in names)


@pytest.mark.campaign
def test_wrong_dot_products_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Campaign((Cpu(),), Drawn(SEED), 64)
    (right,) = work.batch([WITH_DOTS])
    assert [f.text for f in right.failures] == []
    assert isinstance(right, CpuTally) and right.dot_variants > 0
    tables = Dots._tables

    def first_outputs_alone(self: Dots, out: Lines, n: int) -> list[str]:
        sign_bits, first, *others = tables(self, out, n)
        return [sign_bits, first, *(first for _ in others)]

    monkeypatch.setattr(Dots, "_tables", first_outputs_alone)
    (wrong,) = work.batch([WITH_DOTS])
    assert wrong.failures
    assert all(s.choice("dot") for f in wrong.failures for s in f.ways)
    monkeypatch.setattr(campaign, "_TRIES", 3)
    program = make_program(SEED, WITH_DOTS)
    assert work.shrunk(program, wrong.failures[0], work.back_ends[0]).stages


@pytest.mark.campaign  # `./daedalus test fuzz` runs them together too
def test_back_ends_agree_on_a_handful() -> None:
    """All of them, on the same programs."""
    cpu, qpu = CpuTally(), QpuTally()
    for tallies in Campaign((Cpu(), Qpu()), Drawn(SEED), 16).run(0, 2):
        for total, tally in zip((cpu, qpu), tallies, strict=True):
            total.add(tally)
    for total in (cpu, qpu):
        assert [f.text for f in total.failures] == []
        assert total.programs == 2 and total.operations == cpu.operations > 0
        assert total.conformant > 0
    assert qpu.ran > 0 and cpu.comparisons > cpu.variants > 0
    assert all(name in cpu.lines(1)[0] for name in ("2 programs", f"{cpu.conformant} conformant"))
    assert f"{qpu.ran} of 2 programs" in qpu.lines(1)[0]


def test_shaders_agree_on_a_handful() -> None:
    """Up to three variants a program, in one process."""
    (tally,) = Campaign((Glsl(),), Drawn(SEED), 16).batch([0, 1])
    assert isinstance(tally, GlslTally) and [f.text for f in tally.failures] == []
    assert tally.ran == 2 and tally.ran < tally.comparisons <= 6 and tally.conformant > 0
    assert "2 of 2 programs" in tally.lines(1)[0]
    (made,) = Campaign((Glsl(only_make=True),), Drawn(SEED), 16).batch([0])
    assert isinstance(made, GlslTally) and made.ran == 1 and made.compared == 0


def test_magnitudes_of_words_without_sign() -> None:
    """For which GLSL has no abs()."""
    drawn = Drawn(1).make(16)
    values = {n.op for s in drawn.kernel.stages for n in walk(s.roots())}
    assert Op.ABS in values
    (tally,) = Campaign((Glsl(),), Drawn(1), 16).batch([16])
    assert isinstance(tally, GlslTally) and [f.text for f in tally.failures] == []
    assert tally.ran == 1 and tally.conformant > 0


def test_what_is_not_asked_for_is_not_run() -> None:
    (tally,) = Campaign((Cpu(("c",)),), Drawn(SEED), 16).batch([0])
    assert isinstance(tally, CpuTally)
    assert tally.failures == [] and tally.comparisons > 0
    assert tally.asked.keys() == {"c"} and not tally.rules


class _Fake(Cpu):
    """A back end that fails with what stores under a condition."""

    def run(self, programs, items, again=None):
        assert again is None or again.ways == ("this",)
        bad = [p for p in programs if any(x.mask for s in p.kernel.stages for x in s.stores)]
        return CpuTally(failures=[Failure(p.number, "wrong", "because", ("this",)) for p in bad])


def test_failures_are_written_and_shrunk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(campaign, "build_dir", lambda: tmp_path)
    work = Campaign((_Fake(),), Drawn(SEED), 16)
    tallies = work.batch(range(8))
    numbers = [f.number for f in tallies[0].failures]
    folder = work.write_failures(tallies)
    names = [f"{SEED}-{n}-c-vector-neon.txt" for n in numbers]
    assert {f.name for f in folder.iterdir()} == set(names) != set()
    text = (folder / names[0]).read_text()
    parts = text.split("\n\n")
    assert parts[:2] == [work.replay(numbers[0]), "wrong:\nbecause"]
    whole, small = text.split("shrunk for c,vector,neon:\n")
    assert len(small) < len(whole)


def written(folder: Path, *back_ends: BackEnd) -> tuple[set[str], str]:
    """The files of a campaign, and the text of one of its failures."""
    work = Campaign(back_ends, Drawn(SEED), 16)
    found = work.write_failures(work.batch(range(8)))
    files = sorted(found.iterdir())
    text = files[0].read_text()
    for f in files:
        f.unlink()
    return {f.name for f in files}, text


def test_other_targets_failures_are_other_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(campaign, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(campaign, "_SHRUNK", 0)
    ways = [(_Fake(("c",)),), (_Fake(("neon",)),), (_Fake(("neon",), True),)]
    every = [written(tmp_path, *w)[0] for w in (*ways, (*ways[0], *ways[1]))]
    assert all(every) and len(set.union(*every)) == sum(map(len, every))


def test_each_back_end_s_failure_is_shrunk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(campaign, "build_dir", lambda: tmp_path)
    _, text = written(tmp_path, _Fake(("c",)), _Fake(("neon",)))
    assert text.index("shrunk for c:\nkernel") < text.index("shrunk for neon:\nkernel")


def test_an_error_while_shrinking_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object, tries: int) -> None:
        raise RuntimeError("too small")

    monkeypatch.setattr(campaign, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(campaign, "shrink", fail)
    _, text = written(tmp_path, _Fake())
    assert "shrunk for c,vector,neon:\n(making it smaller went wrong)" in text
    assert "RuntimeError: too small" in text and "cannot be made" not in text


@pytest.mark.parametrize("back_end", [Cpu(("c",)), Qpu()])
def test_smaller_programs_are_run_in_the_ways_that_they_have(back_end: BackEnd) -> None:
    """A way may take an assumption for granted that went with what it was about."""
    kernel = make_program(SEED, 0).kernel
    gone = options_of(back_end.targets[0], assume=("gone",))
    assert not suited(kernel, gone) and suited(kernel, replace(gone, assume=()))
    assert not suited(kernel, replace(gone, assume=(), class_name="gone"))
    form = next(forms(kernel, Random(1)))
    way = gone if isinstance(back_end, Cpu) else replace(form, options=gone)
    tally = back_end.run([make_program(SEED, 0)], 16, Failure(0, "difference", "", (way,)))
    assert [f.text for f in tally.failures] == []


def test_a_program_that_cannot_be_made_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(seed: int, number: int) -> None:
        raise RuntimeError("no legal program")

    monkeypatch.setattr(drawing, "make_program", fail)
    cpu, qpu = Campaign((Cpu(), Qpu()), Drawn(SEED), 16).batch([3])
    assert [(f.number, f.kind) for f in cpu.failures] == [(3, "generator")]
    assert qpu.failures == [] and qpu.nothing() == "no program had a QPU form"
    assert cpu.programs == qpu.programs == 1


def test_shrinking_keeps_what_fails() -> None:
    program = next(p for n in range(20) if len((p := make_program(SEED, n)).kernel.stages) > 1)

    def stores_much(kernel: object) -> bool:
        return any(b.access != "in" for b in kernel.buffers)  # type: ignore[attr-defined]

    small = shrink(program.kernel, stores_much, tries=200)
    verify(small)
    assert len(show(small)) < len(show(program.kernel))


@pytest.mark.parametrize("sanitize", [False, True])
def test_replay_names_the_program(sanitize: bool) -> None:
    text = Campaign((Cpu(sanitize=sanitize),), Drawn(3), 64).replay(14)
    assert "--target c,vector,neon --programs 1 --seed 3 --first 14" in text
    assert text.endswith("--sanitize") == sanitize
    assert "--target c,qpu " in Campaign((Cpu(("c",)), Qpu()), Drawn(3), 64).replay(14)


def test_exit_codes_and_what_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """1 after failures, with the command that repeats them; also where nothing was compared."""
    monkeypatch.setattr(campaign, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(fuzz, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(fuzz, "Cpu", lambda targets, sanitize, _: _Fake(targets, sanitize))
    words = ["--programs", "8", "--seed", str(SEED), "--items", "16"]
    result = CliRunner().invoke(fuzz.command, words)
    assert isinstance(result.exception, UserError), result.output
    assert result.exception.exit_code == 1
    assert re.fullmatch(r"\d of 8 programs failed", result.exception.message)
    assert result.exception.hint == "they are in fuzz/failures"
    found = json.loads(CliRunner().invoke(fuzz.command, [*words, "--json"]).stdout)
    assert found["seed"] == SEED and found["items"] == 16
    assert found["c,vector,neon"]["programs"] == 8 and found["c,vector,neon"]["failures"]

    monkeypatch.setattr(Qpu, "run", lambda *_: QpuTally())
    result = CliRunner().invoke(fuzz.command, ["--programs", "1", "--target", "qpu"])
    assert isinstance(result.exception, UserError) and result.exception.exit_code == 1
    assert result.exception.message == "no program had a QPU form: nothing was compared"

    monkeypatch.setattr(_Fake, "run", lambda *_: CpuTally())
    result = CliRunner().invoke(fuzz.command, ["--programs", "1", "--target", "neon"])
    assert isinstance(result.exception, UserError) and result.exception.exit_code == 1
    assert result.exception.message == (
        "no program had a form for these targets: nothing was compared"
    )


@pytest.mark.parametrize("tally", [CpuTally, GlslTally, QpuTally])
def test_why_nothing_was_compared(tally: type[CpuTally | GlslTally | QpuTally]) -> None:
    assert tally(programs=1).nothing() == f"no program had {tally.form}"
    excluded = f"no program had {tally.form} and items that it does not exclude"
    assert tally(programs=1, programs_excluded=1).nothing() == excluded
    assert CpuTally(comparisons=1).nothing() == QpuTally(ran=1).nothing() == ""


def test_some_programs_need_more_than_32_bits_and_most_of_these_do_with_two_parts() -> None:
    drawn = [make_program(77, n, every=True).kernel for n in range(24)]
    wide = [k for k in drawn if k.wide]
    assert len(wide) >= 3
    assert sum(not split_wide(k).wide for k in wide) > len(wide) // 2


def _looked_up(stage: Stage) -> bool:
    """Whether elements of tables say where a stage runs."""
    deciding = [n for n in (stage.given, *dict(stage.limits).values()) if n is not None]
    return any(n.op is Op.TABLE for n in walk(deciding))


def test_tables_decide_of_stages_and_of_two_in_a_row() -> None:
    drawn = [make_program(5, n, every=True).kernel for n in range(30)]
    decided = [s for k in drawn for s in k.stages if _looked_up(s)]
    assert sum(s.given is not None for s in decided) >= 10
    assert sum(bool(s.limits) for s in decided) >= 2
    rows = [(a, b) for k in drawn for a, b in pairwise(k.stages) if _looked_up(a) and _looked_up(b)]
    both = [(a.given, b.given) for a, b in rows if a.given is not None and b.given is not None]
    ops = [(a.op, b.op) for a, b in both]
    assert len(rows) >= 5 and {(Op.LE, Op.GT), (Op.GT, Op.LE)} & set(ops)


def test_ci_draws_stages_that_tables_decide_of() -> None:
    """As `./daedalus test fuzz` does, without --additions."""
    drawn = [make_program(1, n).kernel for n in range(24)]
    assert sum(any(map(_looked_up, k.stages)) for k in drawn) >= 4
