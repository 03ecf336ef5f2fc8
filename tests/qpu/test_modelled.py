# SPDX-License-Identifier: BSD-2-Clause
"""The comparison of `bench --qpu`: its figures by hand, and a run of both routes on few items."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import bench as bench_verb
from daedalus.generator.cli import bench_qpu
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure.gpu import bench, choose, compare, glsl, qpu
from daedalus.generator.measure.gpu.compare import Interval, Report, Result, Wish, ratio
from daedalus.generator.measure.gpu.taken import DEFAULT, Taken, Times
from daedalus.generator.targets.qpu.best import compile_again
from daedalus.generator.targets.qpu.text import Assembly, assembly
from daedalus.generator.targets.qpu.words import Run
from daedalus.v3d import driver

ITEMS = 128
WISH = Wish("some", "full", ("full",), bar=40, neon=(240.0, 216.0), spread=0.1)


def times(clocks: int, *, issue: int = 10, tmu: int = 20, memory: int = 30) -> Times:
    return Times(clocks, issue, tmu, memory, clocks, clocks)


def taken(default: Times, other: Times, instructions: int = 400) -> Taken:
    return Taken("some", 10, 16, instructions, 0, 0, 0, {DEFAULT: default, "other": other})


def test_ratios_go_profile_by_profile() -> None:
    """Both routes run on one board: 0.5 and 0.8, never the least of one by the most of another."""
    mine = taken(times(50), times(80))
    other = taken(times(100), times(100, issue=40))
    result = Result(WISH, 0, mine, other, 40.0)
    assert result.total == Interval(0.5, 0.5, 0.8)
    assert result.issue == Interval(0.25, 1.0, 1.0)
    assert result.total_met
    assert Report(10, [result, result]).issue == Interval(0.25, 1.0, 1.0)


def test_records_are_in_the_runtimes_order() -> None:
    """As tests/c/drm/test_drm_records.c has it of runtime/gpu/records.c."""
    order = qpu.in_order(1000, 16, 24)
    trip, group = np.arange(768) // 384, np.arange(768) % 384 // 64
    assert np.array_equal(order[:768], (2 * group + trip) * 64 + np.arange(768) % 64)
    assert np.array_equal(order[768:], np.arange(768, 1000))
    for items, threads in ((767, 24), (1000, 23), (1000, 4), (1535, 48)):
        assert np.array_equal(qpu.in_order(items, 16, threads), np.arange(items))
    assert qpu.in_order(1536, 16, 48)[64] == 128  # twelve groups of four threads, two trips each


def test_total_is_met_below_its_bar_or_where_both_are_at_one_bound() -> None:
    slow, near = times(100, tmu=60), times(95, tmu=92)
    at_tmu, at_memory = times(100, tmu=96), times(100, tmu=0, memory=99)

    def met(mine: Times, other: Times) -> bool:
        return Result(WISH, 0, taken(mine, mine), taken(other, other), 40.0).total_met

    assert not met(near, slow)
    assert met(near, at_tmu)
    assert not met(near, at_memory)
    assert met(times(90), times(100)) and not met(times(91), times(100))


def test_missed_bars_are_named() -> None:
    other = times(100, issue=20)
    good = Result(WISH, 0, taken(times(50), times(50)), taken(other, other), 40.0)
    assert Report(10, [good]).missed() == []
    long = replace(good, trip=41.0)
    assert "41.0 instructions an item" in Report(10, [long]).missed()[0]
    slow = replace(good, glsl=taken(times(51, issue=20), times(51)))
    assert "0.98 of the GLSL route's clocks" in Report(10, [slow]).missed()[0]
    issuing = replace(good, glsl=taken(times(100), times(100)))
    assert "issue" in Report(10, [issuing]).missed()[0]
    assert Report(10, [replace(long, wish=replace(WISH, bar=None))]).missed() == []


def test_bars_of_means_are_those_of_all_kernels() -> None:
    """One kernel alone may lie above them."""
    result = Result(replace(WISH, mesa=60.0), 0, taken(times(50), times(50)),
                    taken(times(100), times(100)), 40.0)  # fmt: skip
    assert len(Report(10, [result]).missed()) == 2
    assert Report(10, [result], whole=False).missed() == []


@pytest.mark.parametrize("options", [[], ["--choose"]])
def test_a_kernel_that_is_not_there_is_refused(options: list[str]) -> None:
    done = CliRunner().invoke(bench_verb.command, ["nothing", "--qpu", *options])
    assert isinstance(done.exception, UserError)
    assert "nothing in its id" in str(done.exception)
    assert done.exception.hint and "vp9_idct8" in done.exception.hint


def test_r_is_undecided_where_its_interval_reaches_over_a_threshold() -> None:
    """100 ns of NEON an item, 90 to 100 at four a clock, and 10 % either way."""
    found = ratio(WISH, taken(times(400), times(400)))
    assert found is not None
    assert found.value == Interval(pytest.approx(90 / 40 / 1.1), 2.5, pytest.approx(2.75))
    assert found.band == "GREEN"
    found = ratio(WISH, taken(times(1000), times(400)))
    assert found is not None and found.value.mid == 1.0
    assert found.band == "undecided"
    found = ratio(WISH, taken(times(5000), times(5000)))
    assert found is not None and found.band == "ORANGE"
    assert ratio(replace(WISH, neon=None), taken(times(1), times(1))) is None


def test_the_table_names_kernels_and_classes_that_there_are() -> None:
    wishes = compare.wishes()
    assert len([w for w in wishes if w.bar is not None]) == 9
    for w in wishes:
        entry = find(load(), w.kernel)
        assert entry is not None and w.class_name in entry.kernel.class_names
        names = {s.name for s, _ in entry.listed}
        assert {f"qpu_{m}" for m in w.mappings} <= names


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entry = find(load(), "h264_idct4")
    assert entry is not None
    path = tmp_path_factory.mktemp("modelled") / "items"
    bench.write_data(path, [entry], 32)
    return path


@pytest.mark.campaign
def test_qpu_code_is_modelled_on_the_items_of_bench(tmp_path: Path, items: Path) -> None:
    laid_out = qpu.layout("h264_idct4", "full", items, ITEMS, tmp_path)
    name = "h264_idct4__qpu_full_p4_word"
    s = compare.program("h264_idct4", name)
    code = assembly(qpu_choices.schedule(f"daedalus_{name}", s.programs).code)
    found = qpu.model(name, s, code, laid_out)
    # A trip has 16 blocks: eight threads have one; the record, two lookups of coefficients, four
    # of pixels and four stores, and the lookups for a batch that there is not, which vary.
    assert len(found.by) == 8
    assert found.stores == 4 * ITEMS / 16
    assert found.loads >= 7 * ITEMS / 16
    assert found.base.clocks == qpu.clocks(name, s, code, laid_out)
    assert all(t.bound <= t.clocks and t.ns < t.dispatch_ns for t in found.by.values())
    wrong = [b if b.expected is None else replace(b, expected=b.expected ^ np.uint8(1))
             for b in laid_out.buffers]  # fmt: skip
    with pytest.raises(UserError, match="byte 0 of dst"):
        qpu.clocks(name, s, code, replace(laid_out, buffers=tuple(wrong)))


def test_both_routes_are_compared(tmp_path: Path, items: Path) -> None:
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    found = glsl.best("h264_idct4", "full", items, ITEMS, tmp_path)
    assert found.variant == "h264_idct4__glsl_full_p4_word"
    assert found.stores >= 4 * ITEMS / 16
    assert len(found.by) == 8
    report = Report(ITEMS, [Result(compare.wishes()[5], 0, found, found, 7.0)])
    assert any("R of GLSL" in line for line in bench_qpu.lines(report))
    (data,) = bench_qpu.as_data(report)["kernels"]
    assert data["glsl"]["by"][DEFAULT]["clocks"] == found.base.clocks
    assert data["total"] == {"low": 1.0, "mid": 1.0, "high": 1.0}


@pytest.mark.parametrize(("mapping", "most"), [("full_p4_word", 24), ("full_p4_word_threads4", 48)])
def test_all_threads_that_a_board_has_are_run(
    mapping: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of as many QPUs; a code is for the threads that its name says."""
    name = f"h264_idct4__qpu_{mapping}"
    s = compare.program("h264_idct4", name)
    code = qpu_choices.schedule(f"daedalus_{name}", s.programs, most // 12)
    started = []

    def execute(
        made: Assembly, _memory: object, _uniforms: object, threads: int, **_: object
    ) -> Run:
        started.append((made.threads, threads))
        return Run(1, 1)

    monkeypatch.setattr(qpu, "execute", execute)
    for items in (16 * most + 1, 16 * most - 16):
        meta = np.zeros((items, 8), np.uint32)
        buffers = [qpu.Buffer(n, np.zeros(16, np.uint8), None, 0, 16) for n in ("coeffs", "dst")]
        laid_out = qpu.Layout("h264_idct4", "full", items, 0, meta, tuple(buffers))
        assert qpu.clocks(name, s, assembly(code.code), laid_out) == 1
    assert code.recorded and started == [(most // 12, most), (most // 12, most - 1)]


def test_any_mapping_may_ask_for_four_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variant of 32 registers is searched, timed and recorded."""
    wish = Wish("h264_qpel_mc20", "full", ("full_p8", "full_p8_threads4"))
    recorded: dict[str, dict[str, object]] = {}
    timed = []

    def clocks(_name: str, _s: object, code: Assembly, _items: object) -> int:
        timed.append((code.threads, code.live))
        return 1000

    monkeypatch.setattr(qpu, "layout", lambda *_: None)
    monkeypatch.setattr(qpu, "clocks", clocks)
    monkeypatch.setattr(choose, "TRIED", 2)
    monkeypatch.setattr(choose, "HEURISTICS", choose.HEURISTICS[:1])
    monkeypatch.setattr(qpu_choices, "record", lambda found: recorded.update(found))
    found = choose.choose([wish], tmp_path, ITEMS, tmp_path, lambda _: None)
    names = [f"daedalus_h264_qpel_mc20__qpu_{m}" for m in wish.mappings]
    assert list(found) == list(recorded) == names
    assert {threads for threads, _ in timed} == {2, 4}
    assert all(live <= 128 // threads for threads, live in timed)
    s = compare.program("h264_qpel_mc20", "h264_qpel_mc20__qpu_full_p8")
    digests = [qpu_choices.digest(s.programs), recorded[names[0]]["programs"]]
    assert digests[0] == digests[1] != recorded[names[1]]["programs"]


def test_options_that_need_another_are_refused() -> None:
    done = CliRunner().invoke(bench_verb.command, ["--choose"])
    assert isinstance(done.exception, UserError) and "--qpu" in done.exception.hint
    done = CliRunner().invoke(bench_verb.command, ["nothing", "--qpu"])
    assert isinstance(done.exception, UserError) and "nothing" in str(done.exception)


def test_the_fastest_schedule_within_the_bar_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a recorded schedule and of the same cut by two other heuristics, by made-up clocks."""
    name = "h264_idct4__qpu_full_p4_word"
    s = compare.program("h264_idct4", name)
    known = qpu_choices.schedule(f"daedalus_{name}", s.programs).code
    monkeypatch.setattr(choose, "candidates", lambda *_: iter([known]))
    others = choose.HEURISTICS[:2]
    monkeypatch.setattr(choose, "HEURISTICS", others)
    assert known.choice is not None
    made = [compile_again(s.programs, replace(known.choice, heuristic=h)) for h in others]
    trips = {assembly(c).text: qpu_choices.trip(c) for c in (known, *made)}
    assert len(trips) > 1
    longest = max(trips.values())
    laid_out = qpu.Layout("h264_idct4", "full", ITEMS, 0, np.zeros((0, 0)), ())

    def clocks(_name: str, _s: object, code: Assembly, _items: object) -> int:
        return 1000 - trips[code.text]

    monkeypatch.setattr(qpu, "clocks", clocks)
    monkeypatch.setattr(choose, "LONGER", 2.0)
    found, code = choose.fastest(name, s, laid_out, None)
    assert (found, qpu_choices.trip(code)) == (1000 - longest, longest)
    bar = (longest - 1) / s.items
    found, code = choose.fastest(name, s, laid_out, bar)
    assert qpu_choices.trip(code) == max(t for t in trips.values() if t < longest)
    # Where no candidate is within the bar, one that is made again and is, though it takes longer.
    far = max((known, *made), key=qpu_choices.trip)
    monkeypatch.setattr(choose, "candidates", lambda *_: iter([far]))
    found, code = choose.fastest(name, s, laid_out, bar)
    assert qpu_choices.trip(code) == max(t for t in trips.values() if t < longest)


def test_a_schedule_on_record_is_kept_where_another_is_hardly_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By made-up clocks and lengths: a tie below a hundredth, and a gain above it; in a tie the
    shorter one."""
    wish = Wish("h264_idct4", "full", ("full_p4_word",))
    name = "daedalus_h264_idct4__qpu_full_p4_word"
    s = compare.program("h264_idct4", name.removeprefix("daedalus_"))
    known = qpu_choices.schedule(name, s.programs).code
    assert known.choice is not None
    length = qpu_choices.trip(known)
    other = replace(known.choice, heuristic=choose.HEURISTICS[0])
    monkeypatch.setattr(choose, "candidates", lambda *_: iter([compile_again(s.programs, other)]))
    monkeypatch.setattr(choose, "HEURISTICS", ())
    monkeypatch.setattr(choose, "LONGER", 2.0)
    monkeypatch.setattr(qpu, "layout", lambda *_: None)
    for slower, longer, kept in ((1009, 0, True), (1011, 0, False), (1009, 1, False)):
        monkeypatch.setattr(
            qpu, "clocks",
            lambda _name, _s, code, _items, slower=slower:
            slower if code.text == assembly(known).text else 1000,
        )  # fmt: skip
        monkeypatch.setattr(
            qpu_choices, "trip",
            lambda code, longer=longer:
            length - (0 if assembly(code).text == assembly(known).text else longer),
        )  # fmt: skip
        recorded: dict[str, dict[str, object]] = {}
        monkeypatch.setattr(qpu_choices, "record", lambda found, to=recorded: to.update(found))
        found = choose.choose([wish], tmp_path, ITEMS, tmp_path, lambda _: None)
        assert found == {name: slower if kept else 1000}
        assert (recorded[name] == qpu_choices.as_record(s.programs, known)) == kept
