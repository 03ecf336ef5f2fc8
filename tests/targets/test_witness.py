# SPDX-License-Identifier: BSD-2-Clause
"""Witnesses: the simulator computes what the interpreter does, every goal is met by what is on
file, and what is not met is said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spec_support import kernel_of, spec_text

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Op
from daedalus.generator.base import records
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.options import options_of
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.verify import goals
from daedalus.generator.verify.proofs import goal_proofs
from daedalus.generator.verify.witness import reasons, witness_file
from daedalus.generator.verify.witness import search as witness_search
from daedalus.generator.verify.witness import shown as witness
from daedalus.generator.verify.witness import solver as witness_solver

NEON = [e for e in load() if any(s.target == "neon" for s, _ in e.listed)]


@pytest.mark.of_many
@pytest.mark.parametrize("entry", NEON, ids=lambda e: e.kernel.id)
def test_simulator_is_the_interpreter(entry: Entry) -> None:
    plans = goals.plans(entry)
    assert plans
    for plan in plans:
        _compare(plan)


def _compare(plan: goals.Plan) -> None:
    items = vectors.make_items(plan.kernel, 300, 3)
    items = items.take(plan.conformant(items))
    assert items.count > 20, plan.title
    want = interp.run(plan.kernel, items).buffers
    got = simulate.run(plan.lowered, plan.stages, items).outputs
    panels, columns = plan.lowered.panels, {b.name: slice(None) for b in plan.kernel.buffers}
    if panels is not None:
        columns |= dict.fromkeys(panels.planes, slice(panels.lanes))  # of the first one
    assert all((got[k] == values)[..., columns[k]].all() for k, values in want.items()), plan.title


@pytest.mark.parametrize("entry", NEON, ids=lambda e: e.kernel.id)
def test_every_goal_has_a_witness_on_file(entry: Entry) -> None:
    found = witness.recorded(entry)
    assert found.missing == [], "run ./daedalus witness"
    assert any(count for count, _, _ in found.counts.values()) or adds_only(entry)


def adds_only(entry: Entry) -> bool:
    """Whether NEON variants add, and shift a sum, at most: nothing saturates, rounds or wraps."""
    needs = [n for p in goals.plans(entry) for part in p.stages for n in part.selection.reached()]
    return all(node.op in (Op.LOAD, Op.ADD, Op.SHR) for node, _ in needs)


def test_what_is_on_file_can_be_found_again() -> None:
    entry = find(load(), "h264_idct4")
    assert entry is not None
    found, kept = witness_search.search(entry).items, witness_file.read(entry.kernel)
    assert all((found.buffers[n] == a).all() for n, a in kept.buffers.items())
    assert found.count == kept.count


def test_every_lossy_operation_has_a_plain_one() -> None:
    lossy = {n for n, op in OPS.items() if op.stem.startswith(("q", "sq", "rsh", "rhadd"))}
    lossy.remove("dmulh_k")  # its rule lets no operands limit it
    assert lossy <= set(goals.PLAIN)
    for name, plain in goals.PLAIN.items():
        a, b = OPS[name], OPS[plain]
        assert (a.shape, a.form, len(a.signs)) == (b.shape, b.form, len(b.signs))


# Some that take seconds, by every way of proving: of loads of changed temps, of tables row by row,
# of many lowerings. `./daedalus witness --search --prove` does all again.
PROVEN = {"vp9_idct8": "", "vp9_mc_8h_avg": "", "av1_cdef8": "neon_inside"}


@pytest.mark.parametrize("kernel", PROVEN)
def test_what_has_no_witness_can_have_none(kernel: str) -> None:
    entry = find(load(), kernel)
    assert entry is not None
    items = witness_file.read(entry.kernel)
    some = [p for p in goals.plans(entry) if PROVEN[kernel] in p.name]
    said = [(p, g) for p in some for g in witness.said_to_be_proven(p, items)]
    assert len(said) >= 4
    assert [str(g) for p, g in said if not goal_proofs.impossible(p, g)] == []


def test_the_solver_finds_a_witness() -> None:
    """Of a sum that leaves 16 bits on the way, which drawn items do not show."""
    entry = find(load(), "h264_idct8")
    assert entry is not None
    plan = next(goals.plans(entry))
    goal = next(g for g in plan.goals if g.text == "sub as bits 16 (rule sub, wraps)")
    items = vectors.make_items(plan.kernel, 50, 1)
    mine, purse = items.take(plan.conformant(items)), witness_solver.Purse()
    one = witness_solver.solved(plan, goal, mine, purse)
    assert one is not None
    assert len(witness.shown(plan, one, [goal])[goal]) == 1
    assert not purse.empty
    while not purse.empty:
        purse.spend(0)  # a question counts, however little it takes
    assert witness_solver.solved(plan, goal, mine, purse) is None


def test_sums_of_taps_get_to_their_ends() -> None:
    """13770 is what the taps below 0 can take away: with one less the least sum is below 0. Planes
    with the ends of their ranges reach it, in both stages."""
    entry = find(load(), "vp9_mc_8hv")
    assert entry is not None
    (plan,) = (p for p in goals.plans(entry) if p.name.endswith("__neon_full"))
    wanted = [g for g in plan.goals if "const 13770 as bits 16 (rule dup, one less)" in str(g)]
    assert [g.stage for g in wanted] == [0, 1]
    left = set(wanted)
    for seed in range(1, 9):
        usual = vectors.make_items(entry.kernel, 900, seed, "conformant")
        drawn = witness_search._at_ends(entry.kernel, usual, np.random.default_rng([seed, 3, 0]))
        assert set(np.unique(drawn.buffers["src"])) == {0, 255}
        found = witness.shown(plan, drawn.take(plan.conformant(drawn)), wanted)
        left -= {g for g in wanted if len(found[g])}
    assert not left


def test_a_lost_witness_is_noticed() -> None:
    entry = find(load(), "vp9_lpf4_h")
    assert entry is not None
    kept = witness_file.read(entry.kernel)
    lost = [
        line
        for n in range(kept.count)
        for line in witness.examine(entry, kept.take(np.arange(kept.count) != n)).missing
    ]
    assert lost
    assert all(line.startswith("daedalus_vp9_lpf4_h__neon_full") for line in lost)
    assert any("dsl/kernels/vp9/loop_filter.py:" in line and "(rule " in line for line in lost)


def never_saturating(folder: Path) -> Entry:
    """The larger minus the smaller is never negative, which ranges do not know."""
    kernel = kernel_of(
        folder,
        spec_text(
            """
            with k.stage(i=8) as i:
                a, b = px[0, i], px[1, i]
                px[2, i] = clip_u8(max(a, b) - min(a, b))
            """
        ),
    )
    return Entry(kernel, "spec.py", ((options_of("neon"), True),))


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that soon ends."""
    monkeypatch.setattr(witness_search, "_ROUNDS", 3)
    monkeypatch.setattr(witness_search, "_ATTEMPTS", 1)


@pytest.mark.usefixtures("hasty")
def test_what_never_saturates_is_said(tmp_path: Path) -> None:
    found = witness_search.search(never_saturating(tmp_path))
    assert len(found.missing) == 1
    assert "sub as sat_u 8 (rule qsub_u, qsub_u for sub)" in found.missing[0]
    assert found.missing[0].split(": ")[1].rpartition(":")[2].isdigit(), "it names the line"


@pytest.mark.usefixtures("hasty")
def test_what_is_not_found_is_listed_once(tmp_path: Path) -> None:
    """By a kernel's first search, or one that is asked for: else a witness that was there could be
    lost."""
    entry = never_saturating(tmp_path)
    name = entry.kernel.id
    with records.kept_in(tmp_path):
        found = witness_search.known_or_searched(entry)
        assert found.missing == []
        (line,) = found.wanted
        assert line.endswith("an item whose result sub in place of qsub_u would change")
        ((place, (key,)),) = witness_file.listed(name).items()
        items = witness_file.read(entry.kernel)
        assert witness.recorded(entry).listed == {place: [key]}

        witness_file.write(name, items, {place: [f"{key} of before"]})
        lost = witness_search.known_or_searched(entry)
        assert lost.wanted == []
        assert [line.rpartition(": ")[2] for line in lost.missing] == [
            "no witness was found",
            f"it has a witness, or is none; ./daedalus witness {name} --search takes it out",
        ]
        assert witness_search.known_or_searched(entry, anew=True).missing == []
        assert witness_file.listed(name) == {place: [key]}


def test_a_search_anew_keeps_what_it_does_not_find() -> None:
    entry = find(load(), "vp9_lpf4_h")
    assert entry is not None
    kept = witness_file.read(entry.kernel)
    none = witness_file.none(entry.kernel)
    assert witness.examine(entry, none).missing != []
    again = witness_search._none_lost(entry, none, kept)
    assert witness.examine(entry, again).missing == []


def test_a_reason_that_is_not_needed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find(load(), "h264_idct4")
    assert entry is not None
    needless = reasons.Reason("h264_idct4", "add as nothing", "none", proof=True)
    monkeypatch.setattr(reasons, "read", lambda: (needless,))
    (line,) = witness.examine(entry, witness_file.read(entry.kernel)).missing
    assert line.startswith("tools/mutants.toml: h264_idct4: add as nothing")


def test_file_round_trip(tmp_path: Path) -> None:
    kernel = NEON[-1].kernel
    items = vectors.make_items(kernel, 5, 1)
    with records.kept_in(tmp_path):
        witness_file.write(kernel.id, items)
        again = witness_file.read(kernel)
        assert all((again.buffers[n] == a).all() for n, a in items.buffers.items())
        assert all((again.params[n] == a).all() for n, a in items.params.items())
        other = replace(kernel, params=kernel.params[:-1])
        assert witness_file.read(other).count == 0
        assert witness_file.listed(kernel.id) == {}
        witness_file.write(kernel.id, witness_file.none(kernel), {"v one_item": ["a goal"]})
        assert witness_file.read(kernel).count == 0
        assert witness_file.listed(kernel.id) == {"v one_item": ["a goal"]}
        assert witness_file.known(kernel.id)
        witness_file.write(kernel.id, witness_file.none(kernel))
        assert witness_file.read(kernel).count == 0
        assert not witness_file.known(kernel.id)
        assert records.kernels() == []
