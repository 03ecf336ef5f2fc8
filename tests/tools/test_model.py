# SPDX-License-Identifier: BSD-2-Clause
"""Modelled cycles: corrections, what is read of assembly text, and the figures that follow."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator import count, count_cases, native, trace
from daedalus.generator.cli import bench, bench_model
from daedalus.generator.cli.common import EXIT_FAILED, EXIT_MISSING, UserError, repo_root
from daedalus.generator.count_cases import Case, Work
from daedalus.generator.model import comparison, llvm, measure
from daedalus.generator.model.comparison import Comparison, Row
from daedalus.generator.model.corrections import corrected
from daedalus.generator.model.figures import Figures, figures
from daedalus.generator.model.text import Line, arguments, stack


@pytest.fixture(scope="module")
def tools() -> llvm.Llvm:
    return llvm.find()


# ------------------------------------------------------------------------------ corrections


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("bl\t#-4240", ["b\t#-4240"]),
        ("blr\tx8", ["br\tx8"]),
        ("ret", ["ret"]),
        ("mla\tv0.8h, v1.8h, v2.h[3]", ["mla\tv0.8h, v1.8h, v2.8h"]),
        ("sqrdmulh\tv0.4h, v1.4h, v2.h[3]", ["sqrdmulh\tv0.4h, v1.4h, v2.4h"]),
        ("mul\tv0.4s, v1.4s, v2.s[1]", ["mul\tv0.4s, v1.4s, v2.4s"]),
        ("smull\tv0.4s, v1.4h, v2.h[3]", ["smull\tv0.4s, v1.4h, v2.h[3]"]),
        ("str\tq3, [sp, #16]", ["st1\t{ v3.16b }, [sp]"]),
        ("str\tq3, [x9, x10]", ["st1\t{ v3.16b }, [x9]"]),
        ("str\tq3, [x9], #16", ["st1\t{ v3.16b }, [x9], #16"]),
        ("str\tq3, [sp, #-32]!", ["st1\t{ v3.16b }, [sp], #16"]),
        ("str\td3, [x9]", ["str\td3, [x9]"]),
        ("stp\tq3, q4, [x9, #32]", ["st1\t{ v3.16b }, [x9]", "st1\t{ v4.16b }, [x9]"]),
    ],
)
def test_a_correction(text: str, mended: list[str]) -> None:
    lines = corrected([text])
    assert [line for line in lines if not line.startswith("mov\tx")] == mended


def test_arguments_are_set_anew_from_a_register_that_nothing_uses() -> None:
    lines = ["ld1\t{ v0.8b }, [x1], x3", "mov\tx2, #4", "add\tx28, x0, x2", "str\tw4, [x28]"]
    assert arguments([Line(text) for text in lines]) == [0, 1, 3, 4]
    fresh = ["mov\tx0, x27", "mov\tx1, x27", "mov\tx3, x27", "mov\tx4, x27"]
    assert corrected(lines) == [*fresh, *lines]


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("add\tx0, x1, w2, sxtw", {1, 2}, {0}),
        ("ldp\tx3, x4, [x5], #16", {5}, {3, 4, 5}),
        ("stp\tx3, x4, [x5, #-16]!", {3, 4, 5}, {5}),
        ("ld1\t{ v0.s }[3], [x7], x1", {1, 7}, {7}),
        ("st1\t{ v0.8b }, [x7]", {7}, set()),
        ("cmp\tw3, #1", {3}, set()),
        ("cbz\tx5, #152", {5}, set()),
        ("mov\tx5, v4.d[0]", set(), {5}),
        ("dup\tv0.8b, w2", {2}, set()),
        ("ret\tx10", {10}, set()),
    ],
)
def test_registers_of_a_line(text: str, reads: set[int], writes: set[int]) -> None:
    assert Line(text).general() == (reads, writes)


def test_what_goes_to_the_stack() -> None:
    lines = [
        "stp\td8, d9, [sp, #-64]!",  # saved: the caller's
        "stp\tx29, x30, [sp, #16]",  # no vectors
        "ldr\tq8, [x0]",
        "str\tq8, [sp, #32]",  # spilled, and so is what follows
        "add\tx9, sp, #32",
        "st1\t{ v1.8h }, [x9]",
        "mov\tx9, x0",
        "st1\t{ v1.8h }, [x9]",  # no longer the stack
        "str\tq1, [x0]",
    ]
    found = stack([Line(text) for text in lines])
    assert (found.saved, found.spilled) == (2, 2)


# ------------------------------------------------------------------------------ the model

# add v0.8h, v0.8h, v1.8h; sqrdmulh v0.8h, v1.8h, v2.h[0]; ldr q0, [x0], #16; ret
ADD, BY_LANE, LOAD, RET = 0x4E618400, 0x4F42D020, 0x3CC10400, 0xD65F03C0


def _call(*words: int) -> tuple[trace.Call, ...]:
    return (trace.Call(tuple(range(len(words))), words),)


def test_the_model_is_the_core_s(tools: llvm.Llvm) -> None:
    assert tools.disassemble((ADD, RET)) == ["add\tv0.8h, v0.8h, v1.8h", "ret"]
    chain = figures(tools, _call(*[ADD] * 50))
    assert chain.executed == 50
    assert chain.d3 == pytest.approx(100, abs=1)  # each waits for the one before, 2 cycles
    assert chain.port_bound == pytest.approx(25)  # of two ports
    assert chain.busiest.startswith("V")


def test_a_lane_costs_what_a_vector_does(tools: llvm.Llvm) -> None:
    # Two cycles each on the one port that multiplies; uncorrected, half a cycle on either.
    assert figures(tools, _call(*[BY_LANE] * 20)).d3 >= 40


def test_repeated_calls_do_not_wait_for_pointers(tools: llvm.Llvm) -> None:
    # 20 loads that move x0 along: 20 cycles a call in turn, and calls overlap.
    one = figures(tools, _call(*[LOAD] * 20))
    two = figures(tools, _call(*[LOAD] * 20) * 2)
    assert two.d3 == pytest.approx(2 * one.d3, rel=0.05)
    alone = tools.cycles(tools.disassemble((LOAD,) * 20), dispatch=3, times=100)
    assert one.d3 <= alone.a_time


def test_what_is_no_instruction_is_refused(tools: llvm.Llvm) -> None:
    with pytest.raises(UserError, match="1 of 2 instructions were read"):
        tools.disassemble((ADD, 0xFFFFFFFF))


def test_without_llvm_a_tool_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no LLVM with a model of the Cortex-A76") as e:
        llvm.find()
    assert e.value.exit_code == EXIT_MISSING


def test_a_newer_llvm_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("llvm-mca", "llvm-mca-9", "llvm-mca-19", "llvm-mca-23", "llvm-mca-x"):
        (tmp_path / name).touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert llvm._candidates() == ["llvm-mca-23", "llvm-mca-19", "llvm-mca-9", "llvm-mca"]


# ------------------------------------------------------------------------------ comparison

CASE = Case("k", "ffmpeg", "s", "theirs", "work", 1.25, {}, entry="entry", d3_bar=1.05)
HAND = Figures(100, 50.0, 48.0, 60, 40.0, {"V0": 40.0}, 0, 0)


def _row(
    ratio: float, *, case: Case = CASE, function: str = "entry", variant: str = "",
    whole: bool = True, compiler: str = "gcc",
) -> Row:  # fmt: skip
    work = Work(case, function, "variant" if variant else "entry", False, variant, whole)
    traced = count.Traced(work, _call(RET), b"")
    return Row(compiler, count.Count(traced, traced), replace(HAND, d3=50 * ratio), HAND)


def _comparison(*rows: Row) -> Comparison:
    tools = llvm.Llvm("99.0", "llvm-mc", "llvm-mca", "cortex-a76")
    return Comparison(tools, {"gcc": count.Compiler("some compiler 1.0", "-O2")}, list(rows))


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.89, "ahead"), (0.91, "tie"), (1.09, "tie"), (1.11, "behind")]
)
def test_what_the_model_lets_say(ratio: float, verdict: str) -> None:
    assert _row(ratio).verdict == verdict


def test_the_best_does_the_whole_work_and_assumes_nothing() -> None:
    given = _row(0.5, variant="daedalus_k__neon_full_givenx")
    part, best = _row(0.6, whole=False), _row(0.9, compiler="clang")
    found = _comparison(_row(0.95), part, given, best)
    assert found.best(CASE) is best
    assert found.best(CASE, given=True) is given
    assert part.verdict == "less work"
    assert found.mean() == pytest.approx(0.9)


def test_what_leaves_other_pixels_is_never_the_best() -> None:
    wrong, right = _row(0.5), _row(0.9)
    traced = replace(wrong.counted.traced, pixels=b"1")
    by_hand = replace(wrong.counted.by_hand, pixels=b"2")
    wrong = replace(wrong, counted=count.Count(traced, by_hand))
    found = _comparison(wrong, right)
    assert found.best(CASE) is right
    assert found.mean() == pytest.approx(0.9)
    assert found.rows[0].counted.difference == "row -16, column -16: 49 and 50"
    assert _comparison(wrong).best(CASE) is None


def test_the_mean_takes_each_kernel_once_by_its_lowest_case() -> None:
    other, second = replace(CASE, name="other"), replace(CASE, kernel="l")
    aside = _row(0.1, case=replace(CASE, name="aside", d3_bar=None))
    found = _comparison(_row(0.9), _row(0.5, case=other), _row(0.8, case=second), aside)
    assert found.mean() == pytest.approx((0.5 * 0.8) ** 0.5)
    assert found.mean_of_cases() == pytest.approx((0.9 * 0.5 * 0.8) ** (1 / 3))


def test_the_mean_of_prod_functions_leaves_others_out() -> None:
    other = _row(0.5)
    traced = replace(other.counted.traced, work=replace(other.counted.work, prod=False))
    other = replace(other, counted=count.Count(traced, other.counted.by_hand))
    found = _comparison(_row(0.8), other)
    assert found.mean() == pytest.approx(0.5)
    assert found.mean(prod=True) == pytest.approx(0.8)
    assert _comparison().mean() is None


def test_bars() -> None:
    assert comparison.above_bars(_comparison(_row(0.7)), every=True) == []
    assert comparison.above_bars(_comparison(_row(1.04)), every=False) == []
    (mean,) = comparison.above_bars(_comparison(_row(1.04)), every=True)
    assert mean == "geometric mean of d3: 1.0400 of theirs, the bar is 0.8"
    (above,) = comparison.above_bars(_comparison(_row(1.06)), every=False)
    assert above == "k, work: 1.0600 of theirs in d3, the bar is 1.05"
    (none,) = comparison.above_bars(_comparison(_row(0.5, whole=False)), every=False)
    assert none == "k, work: none of our functions does the whole work, and right"


def test_json_has_the_keys_that_others_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _comparison(_row(1.2, variant="daedalus_k__neon_full", function="daedalus_item_k"))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    result = CliRunner().invoke(bench.command, ["--model", "--json", "idct4"])
    assert result.exit_code == 1
    data = json.loads(result.stdout[: result.stdout.rindex("}") + 1])
    (row,) = data["kernels"]
    assert {k: row[k] for k in ("kernel", "case", "variant", "compiler", "executed")} == {
        "kernel": "k",
        "case": "work",
        "variant": "daedalus_k__neon_full",
        "compiler": "gcc",
        "executed": 100,
    }
    assert (row["d3"], row["d4"], row["hand_d3"], row["hand_d4"]) == (60, 48, 50, 48)
    assert row["hand_executed"] == 100
    assert data["llvm"]["version"] == "99.0"


def test_the_model_s_error_where_theirs_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    known = {c.theirs: c.measured for c in count_cases.cases() if c.measured is not None}
    assert known == {  # nothing else of a single function is published; docs/neon-model.md
        "ff_vp9_put_regular8_h_neon": 133,
        "ff_h264_idct_add_neon": 30,
        "ff_h264_idct8_add_neon": 83,
        "ff_put_h264_qpel8_mc20_neon": 72,
    }
    low = replace(CASE, name="low", measured=60.0)
    high = replace(CASE, name="high", measured=49.0)
    found = _comparison(_row(0.9), _row(0.9, case=low), _row(0.8, case=low), _row(1, case=high))
    bench_model._print_measured(found)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:] if line]
    assert lines == [
        ["theirs", "low", "60.0", "50.0", "-17%"],
        ["theirs", "high", "49.0", "50.0", "+2%"],
    ]
    bench_model._print_measured(_comparison(_row(0.9)))
    assert capsys.readouterr().out == ""


# ------------------------------------------------------------------------------ measuring

SLEEPS = """
#include "count.h"

__asm__(".text\\n.global quick, slow\\n"
        "quick: ret\\n"
        "slow: mov x2, #20000\\n1: subs x2, x2, #1\\n b.ne 1b\\n mov w1, #9\\n"
        "strb w1, [x0]\\n ret\\n"
        ".global same\\n same: b slow\\n"
        ".global other\\n other: udf #0\\n"
        ".global drifts\\n drifts: ldr x2, [x1]\\n add x2, x2, #1\\n str x2, [x1]\\n"
        "strb w2, [x0]\\n ret\\n");

static void call(any_fn *fn, work *w) {
  static uint64_t state;
  ((void (*)(uint8_t *, uint64_t *))fn)(w->pixels, &state);
}

const shape shapes[] = {{"plain", NULL, call, NULL}, {NULL, NULL, NULL, NULL}};

any_fn *function_of_table(const char *name) {
  (void)name;
  return NULL;
}
"""


@pytest.fixture(scope="module")
def sleeps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure")
    (folder / "functions.h").write_text(
        "FUNCTION(quick)\nFUNCTION(slow)\nFUNCTION(same)\nFUNCTION(drifts)\n" "FUNCTION(other)\n"
    )
    (folder / "shapes.c").write_text(SLEEPS)
    tools = repo_root() / "tools" / "count"
    sources = [tools / "main.c", tools / "measure.c", folder / "shapes.c"]
    return native.compile_program(
        "aarch64", folder / "program", sources, includes=[folder, tools], flags=trace.FLAGS
    )


def _words(ours: str, theirs: str) -> list[str]:
    case = replace(CASE, shape="plain", params={})
    return count.measuring_arguments(Work(case, ours, "entry"), Work(case, theirs, "theirs"), 5)


def test_a_call_is_timed_less_what_nothing_takes(sleeps: Path) -> None:
    quick, slow = measure.measured(sleeps, _words("quick", "slow"), runner=native.runner("aarch64"))
    assert quick.unit == slow.unit
    assert quick.unit in ("cycles", "ns")
    assert slow.median > 10 * abs(quick.median)
    assert slow.median > 2000
    assert (quick.pixels[0], slow.pixels[0]) == (100, 9)


def test_rounds_are_longer_than_the_clock_is_coarse(sleeps: Path) -> None:
    argv = [*native.runner("aarch64"), str(sleeps), *_words("same", "quick")]
    done = subprocess.run(argv, capture_output=True, check=True)
    heading, *rounds = done.stdout[2 * 64 * 64 :].decode().splitlines()
    unit, pieces = heading.split()
    if unit == "cycles":
        assert pieces == "8"
        return
    assert int(pieces) % 8 == 0
    assert int(pieces) > 8  # "quick" would be done in less
    # A Pi's clock ticks every 18.5 ns. Half of what is asked for: other work stretches samples.
    assert len(rounds) == 5
    taken = [[int(word) for word in line.split()] for line in rounds]
    assert min(min(ours, theirs) for ours, _, theirs, _ in taken) >= 10000


@pytest.mark.parametrize("both", [("drifts", "quick"), ("quick", "drifts")])
def test_what_leaves_other_pixels_each_time_is_not_timed(
    sleeps: Path, both: tuple[str, str]
) -> None:
    with pytest.raises(UserError, match="a call left other pixels than the first one"):
        measure.measured(sleeps, _words(*both), runner=native.runner("aarch64"))


def test_a_program_that_knows_nothing_of_a_function_says_so(sleeps: Path) -> None:
    with pytest.raises(UserError, match="no such shape or function: plain, fast"):
        measure.measured(sleeps, _words("quick", "fast"), runner=native.runner("aarch64"))


def test_what_leaves_other_pixels_than_theirs_is_no_time_but_a_failure(
    sleeps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = replace(CASE, shape="plain", params={}, theirs="slow")
    ours = ("quick", "drifts", "other", "same")
    work = [Work(case, f, "entry") for f in ours] + [Work(case, "slow", "theirs")]
    dot = Work(case, "same", "variant", variant="daedalus_k__neon_full_dot")
    work.insert(0, dot)
    made = count.Programs(count.Compiler("c", "-O2"), work, {"ffmpeg": count.Counter(sleeps)})
    monkeypatch.setattr(measure.count, "programs", lambda wanted, clang: made)
    run = measure.measured
    monkeypatch.setattr(
        measure, "measured", lambda p, words: run(p, words, runner=native.runner("aarch64"))
    )
    monkeypatch.setattr(measure, "lacking", lambda w: ["dotprod"] if w is dot else [])
    found = measure.compare(("k",), ("gcc",), 5)
    assert found.skipped == ["same by gcc, work: this processor lacks dotprod"]
    (row,) = found.rows
    assert row.work.function == "same"
    assert 0.2 < row.ratio < 5
    pixels, drift, signal = found.wrong
    assert pixels == (
        "quick by gcc, work: not timed, since it left other pixels than slow:"
        " row -16, column -16: 100 and 9"
    )
    assert drift.startswith(
        "drifts by gcc, work: not timed: count: a call left other pixels than the first one; to"
    )
    assert signal.startswith("other by gcc, work: not timed: ")
    assert "SIGILL" in signal or "signal 4" in signal
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: _comparison(_row(0.7)))
    monkeypatch.setattr(bench_model.native, "is_arm", lambda: True)
    monkeypatch.setattr(bench_model.measure, "compare", lambda wanted, compilers: found)
    result = CliRunner().invoke(bench.command, ["--model", "idct4"])
    assert result.exit_code == EXIT_FAILED
    assert f"failed: {pixels}" in result.output
    assert f"failed: {signal}" in result.output
    assert f"skipped: {found.skipped[0]}" in result.output


def test_what_a_processor_lacks_is_read_from_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(measure, "_CPUINFO", tmp_path / "cpuinfo")
    plain, dot = (
        Work(CASE, "f", "variant", variant=f"daedalus_k__neon_full{x}") for x in ("", "_dot")
    )
    pi4 = "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
    (tmp_path / "cpuinfo").write_text(pi4)
    monkeypatch.setattr(native, "is_arm", lambda: False)
    assert measure.lacking(dot) == []
    monkeypatch.setattr(native, "is_arm", lambda: True)
    assert (measure.lacking(plain), measure.lacking(dot)) == ([], ["dotprod"])
    (tmp_path / "cpuinfo").write_text(pi4.replace("crc32", "crc32 asimddp"))
    assert measure.lacking(dot) == []
    assert measure.lacking(Work(CASE, "f", "entry")) == []


def test_emulated_times_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    found = _comparison(_row(0.7))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    monkeypatch.setattr(bench_model.native, "is_arm", lambda: False)
    monkeypatch.setattr(bench_model.measure, "compare", fail)
    result = CliRunner().invoke(bench.command, ["--model", "idct4"], catch_exceptions=False)
    assert "Measured" not in result.output
    assert "modelled by llvm-mca of LLVM 99.0" in result.output


def test_measured_times_stand_in_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _comparison(_row(0.7))
    ours = measure.Time("cycles", 70.0, 1.0, b"")
    row = measure.TimedRow("gcc", found.rows[0].counted.work, ours, replace(ours, median=100.0))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    monkeypatch.setattr(bench_model.native, "is_arm", lambda: True)
    times = measure.Measured([row], [])
    monkeypatch.setattr(bench_model.measure, "compare", lambda wanted, compilers: times)
    result = CliRunner().invoke(bench.command, ["--model", "--json", "idct4"])
    (figures,) = json.loads(result.stdout)["kernels"]
    assert (figures["unit"], figures["measured"], figures["hand_measured"]) == ("cycles", 70, 100)
    assert (figures["d3"], figures["measured_verdict"]) == (35, "ahead")
    text = CliRunner().invoke(bench.command, ["--model", "idct4"]).stdout.splitlines()
    heading, line = (text[n].split() for n in (1, 2))
    assert heading[-4:] == ["measured", "theirs", "of", "theirs"]
    assert line[:6] == ["k", "work", "entry", "gcc", "100", "35.0"]
    assert line[-8:] == ["70.0", "+-", "1.0", "100.0", "+-", "1.0", "0.70", "ahead"]

    # Without the model the same table and the same keys, with what is not modelled left open.
    monkeypatch.setattr(bench.native, "is_arm", lambda: True)
    monkeypatch.setattr(bench, "find", lambda names, program: ([], []))
    monkeypatch.setattr(bench.measure, "compare", lambda wanted, compilers: times)
    result = CliRunner().invoke(bench.command, ["--json", "idct4"], catch_exceptions=False)
    assert result.exit_code == 0
    (bare,) = json.loads(result.stdout)["kernels"]
    assert set(bare) == set(figures) - {"stands_for_kernel"}
    keys = ("executed", "d3", "d4", "hand_executed", "hand_d3", "hand_d4")
    assert [bare[k] for k in keys] == [None] * 6
    same = ("kernel", "case", "variant", "compiler", "unit", "measured", "hand_measured", "spread")
    assert [bare[k] for k in same] == [figures[k] for k in same]
    text = CliRunner().invoke(bench.command, ["idct4"]).stdout.splitlines()
    assert text[0].split() == [*heading[:4], *heading[-4:]]
    assert text[1].split() == [*line[:4], *line[-8:]]


@pytest.mark.parametrize(("ratio", "verdict"), [(0.89, "ahead"), (1.09, "tie"), (1.11, "behind")])
def test_what_times_let_say(ratio: float, verdict: str) -> None:
    ours = measure.Time("ns", 100 * ratio, 1.0, b"")
    row = measure.TimedRow("gcc", _row(1).counted.work, ours, replace(ours, median=100.0))
    assert row.verdict == verdict
    part = replace(row, work=replace(row.work, whole=False))
    assert part.verdict == "less work"


def test_without_an_oracle_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    work = _row(0.7).counted.work
    time = measure.Time("cycles", 70.0, 1.0, b"")

    def compare(wanted: tuple[str, ...], compilers: object) -> measure.Measured:
        if "av1_cdef8" in wanted:
            raise UserError("dav1d is not fetched", "fetch it", EXIT_MISSING)
        if "sand128_nv12" in wanted:
            return measure.Measured()
        return measure.Measured([measure.TimedRow("gcc", work, time, time)])

    monkeypatch.setattr(bench.native, "is_arm", lambda: True)
    monkeypatch.setattr(bench, "find", lambda names, program: ([], []))
    monkeypatch.setattr(bench.measure, "compare", compare)
    result = CliRunner().invoke(bench.command, [])
    assert result.exit_code == 0
    assert "skipped: NEON beside dav1d: dav1d is not fetched: fetch it" in result.output
    assert "entry" in result.stdout
    result = CliRunner().invoke(bench.command, ["av1_cdef8"])
    assert isinstance(result.exception, UserError)
    assert result.exception.exit_code == EXIT_MISSING
    assert "skipped: NEON beside dav1d" in result.output


@pytest.mark.campaign
def test_all_functions_leave_what_theirs_does_when_they_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = measure.measured
    monkeypatch.setattr(
        measure, "measured", lambda p, words: run(p, words, runner=native.runner("aarch64"))
    )
    found = measure.compare((), ("gcc",), rounds=1)
    assert found.wrong == []
    assert {r.work.case.key for r in found.rows} == {c.key for c in count_cases.cases()}
