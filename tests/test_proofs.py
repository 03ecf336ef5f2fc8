# SPDX-License-Identifier: BSD-2-Clause
"""The proofs say no where they have to, by every way that a change can be seen (of real kernels:
`test_proofs_seen.py`); and what is on record counts only for what it was proven of."""

import re
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import z3
from spec_support import HEAD, load_text

from daedalus.generator.base import records
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.options import options_of
from daedalus.generator.targets.neon.forms import Need
from daedalus.generator.verify import goals
from daedalus.generator.verify.goals import Plan
from daedalus.generator.verify.proofs import lane_questions, proof_file, symbolic
from daedalus.generator.verify.proofs.equivalence import Prover
from daedalus.generator.verify.proofs.lane_walk import Variation
from daedalus.generator.verify.proofs.symbolic import Number, Truth
from daedalus.generator.verify.witness import mutation, witness_file
from daedalus.generator.verify.witness import shown as witness

HALVES = """
    a = k.block("a", u8, (8,))
    c = k.block("c", u8, (8,))
    p = k.param("p", u8, 0, 255)
    out = k.block("out", u8, (8,), access="out")
    w = k.table("w", u8, list(range(128)))
    t = k.temp("t", (8,))
    with k.stage(i=8) as i:
        t[i] = {value} >> 1
    with k.stage(i=8) as i:
        out[i] = {result}
"""


def halves(folder: Path, value: str, result: str) -> Plan:
    """Two stages: what the first halves and stores the second reads."""
    text = HEAD + textwrap.dedent(HALVES.format(value=value, result=result)).replace("\n", "\n    ")
    (entry,) = load_text(folder, text)
    (plan,) = goals.plans(Entry(entry.kernel, "spec.py", ((options_of("neon"), True),)))
    return plan


def shift(plan: Plan) -> Need:
    """The shift of the first stage."""
    part = plan.stages[0]
    (need,) = [n for n in part.order if "shr" in part.selection.chosen[n].op]
    return need


@pytest.mark.parametrize(
    ("value", "result", "same"),
    [
        ("a[i]", "t[i]", False),
        # Never negative, which ranges do not know.
        ("(max(a[i], c[i]) - min(a[i], c[i]))", "max(0 - t[i], 0)", True),
        # A lane of the writer is another than the reader's, but its parameters are the same: with
        # c and p confused there would be nothing to shift.
        ("min(absdiff(p, c[i]), absdiff(a[i], c[i]))", "t[i]", False),
        ("min(a[i], p)", "max(t[i], p >> 1)", True),
        ("min(a[i], p)", "max(t[i], c[i] >> 1)", False),
        # Read by all lanes as a scalar: broadcast, in a sum, as the index of a table or a load.
        ("a[i]", "min(a[i], t[0])", False),
        ("a[i]", "min(a[i], t[0] + 1)", False),
        ("a[i]", "min(a[i], w[t[0]])", False),
        ("a[i]", "max(t[i] >> 7, w[t[0]])", False),
        ("a[i]", "min(a[i], c[min(max(t[0] >> 4, 0), 7)])", False),
    ],
)
def test_of_what_later_stages_read(tmp_path: Path, value: str, result: str, same: bool) -> None:
    """A shift by one more is the same where its result does not matter."""
    plan = halves(tmp_path, value, result)
    prover = Prover(plan.lowered, plan.stages, seconds=20)
    assert prover.same(0, shift(plan), Variation(imm=1)) == same


def test_nothing_follows_from_a_contradiction(tmp_path: Path) -> None:
    plan = halves(tmp_path, "a[i]", "t[i]")
    prover = Prover(plan.lowered, plan.stages, seconds=5)
    x = Number(z3.ZeroExt(prover.width - 8, z3.BitVec("x", 8)))
    usual = [Truth((x <= 9).term)]
    assert prover.holds(usual, (x <= 10).term, 1)
    assert not prover.holds(usual, (x <= 8).term, 1)
    assert not prover.holds([*usual, Truth((x >= 10).term)], (x <= 8).term, 1)


def test_a_question_says_how_wide_its_inputs_are() -> None:
    """The same text of other inputs is another question."""
    of = [z3.Extract(7, 0, z3.BitVec("x", bits)) == 0 for bits in (9, 10)]
    assert of[0].sexpr() == of[1].sexpr()
    assert lane_questions._text([of[0]]) != lane_questions._text([of[1]])


def test_a_variation_that_changes_nothing_is_not_asked_about(tmp_path: Path) -> None:
    plan = halves(tmp_path, "a[i]", "t[i]")
    prover, need = Prover(plan.lowered, plan.stages), shift(plan)
    choice = plan.stages[0].selection.chosen[need]
    for nothing in (Variation(), Variation(op=choice.op)):
        with pytest.raises(AssertionError):
            prover.same(0, need, nothing)


# ------------------------------------------------------------------ what is on record


def deblocking() -> tuple[Entry, Plan]:
    entry = find(load(), "h264_deblock_luma_v")
    assert entry is not None
    return entry, next(goals.plans(entry))


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[None]:
    """Copies of the records on file."""
    shutil.copytree(records.folder(), tmp_path / records.FOLDER)
    with records.kept_in(tmp_path):
        yield


@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_every_proof_is_on_record(entry: Entry) -> None:
    assert witness.recorded(entry).unproven == [], "run ./daedalus witness --prove"


@pytest.mark.usefixtures("copied")
def test_what_is_not_on_record_excuses_nothing() -> None:
    entry, plan = deblocking()
    said = witness.said_to_be_proven(plan, witness_file.read(entry.kernel))
    assert {proof_file.key(plan, g) for g in said} == proof_file.recorded(plan)
    report = mutation.Report(plan.name)
    assert mutation._proven(report, plan) == said
    assert report.unproven == []
    proof_file.write(plan, said[1:])
    found = witness.recorded(entry)
    assert found.missing == []
    mine = [line for line in found.unproven if line.startswith(f"{plan.title}: ")]
    assert len(mine) == 1
    assert str(said[0]) in mine[0]
    assert len(found.unproven) == 1, "the other variant's are still there"
    assert mutation._proven(report, plan) == said[1:]
    (line,) = report.unproven
    assert line.endswith("run ./daedalus witness --prove h264_deblock_luma_v")
    records.write(entry.kernel.id, records.PROOFS, {})
    assert mutation._proven(report, plan) == []


def test_a_record_is_of_one_program_and_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowered program, what was selected for it, and the code of the proofs all count."""
    _, plan = deblocking()
    assert proof_file.recorded(plan)
    (stage,) = plan.lowered.stages
    fewer = replace(stage, stores=stage.stores[1:])
    assert not proof_file.recorded(replace(plan, lowered=replace(plan.lowered, stages=(fewer,))))
    assert not proof_file.recorded(replace(plan, function="items_2"))
    (part,) = plan.stages
    chosen = part.selection.chosen
    for need in (part.order[0], part.order[-1]):
        with monkeypatch.context() as patched:
            patched.setitem(chosen, need, chosen[need]._replace(imm=chosen[need].imm + 1))
            assert not proof_file.recorded(plan)
    assert proof_file.recorded(plan)
    other = (*proof_file._sources()[1:], "other")
    monkeypatch.setattr(proof_file, "_sources", lambda: other)
    assert not proof_file.recorded(plan)


def test_comments_do_not_make_records_stale() -> None:
    text = 'def f(x):\n    """What."""\n    # why\n\n    return x + 1\n'
    assert proof_file._code(text) == "def f(x):\n    return x + 1"
    assert proof_file._code(text.replace("1", "2")) != proof_file._code(text)
    one_line = 'class A(B): """What."""\n'
    assert proof_file._code(one_line) == one_line.strip()


def test_what_the_hash_is_of() -> None:
    """What values are is in it; not what else the files hold that say so."""
    text = "\n".join(proof_file._sources())
    assert all(f"def {name}(" in text for name in ("evaluate", "table_rows", "same", "holds"))
    assert all(f"class {name}" in text for name in ("Ranges", "Walk", "Terms", "MachineOp"))
    assert "class Kernel" not in text
    assert "def check_ranges" not in text


@pytest.mark.usefixtures("copied")
def test_records_of_others_stay() -> None:
    entry, plan = deblocking()
    before = records.each(records.PROOFS)
    assert len(before) > 1
    proof_file.keep(entry.kernel.id, [plan])
    mine = before[entry.kernel.id]
    left = {k: r for k, r in mine.items() if k.startswith(f"{plan.name} ")}
    assert 0 < len(left) < len(mine)
    assert records.each(records.PROOFS) == before | {entry.kernel.id: left}
    proof_file.write(plan, [])
    del before[entry.kernel.id]
    assert records.each(records.PROOFS) == before


def test_terms_may_be_deep() -> None:
    """As those of long kernels are: none of them is walked by recursion."""
    term = symbolic.number("x").term
    for _ in range(5000):
        term = term * 3 + 1
    assert symbolic.inputs(term) == {"x"}
    assert symbolic.inputs(term + symbolic.number("y").term) == {"x", "y"}


def test_limits_of_solvers_are_work() -> None:
    """So that what is proven does not depend on how busy a machine is."""
    root = repo_root()
    files = [p for f in ("generator", "tests") for p in (root / f).rglob("*.py")]
    assert [p.name for p in files if re.search(r"\.set\(\W?timeout", p.read_text())] == []
    assert sum('.set("rlimit"' in p.read_text() for p in files) >= 5
