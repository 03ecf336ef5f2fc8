# SPDX-License-Identifier: BSD-2-Clause
"""Measured times: the program that takes them, what fails, and the table that they stand in."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from modelled_rows import CASE, comparison_of, row

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import bench, bench_model
from daedalus.generator.host import native
from daedalus.generator.measure import count, count_cases, trace
from daedalus.generator.measure.count_cases import Work
from daedalus.generator.measure.neon import measure

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

const shape shapes[] = {{"plain", 1, NULL, call, NULL}, {NULL, 0, NULL, NULL, NULL}};

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
    """In one of three runs: other work stretches what the number of pieces is found from."""
    argv = [*native.runner("aarch64"), str(sleeps), *_words("same", "quick")]
    for _ in range(3):
        done = subprocess.run(argv, capture_output=True, check=True)
        heading, *rounds = done.stdout[2 * count.PICTURE :].decode().splitlines()
        unit, pieces = heading.split()
        if unit == "cycles":
            assert pieces == "8"
            return
        assert int(pieces) % 8 == 0
        assert int(pieces) > 8  # "quick" would be done in less
        assert len(rounds) == 5
        taken = [[int(word) for word in line.split()] for line in rounds]
        shortest = min(min(ours, theirs) for ours, _, theirs, _ in taken)
        if shortest >= 10000:  # half of what is asked for; a Pi's clock ticks every 18.5 ns
            return
    pytest.fail(f"a sample of three runs each is too short: {shortest} ns")


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
    (timed,) = found.rows
    assert timed.work.function == "same"
    assert 0.2 < timed.ratio < 5
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
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: comparison_of(row(0.7)))
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

    found = comparison_of(row(0.7))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    monkeypatch.setattr(bench_model.native, "is_arm", lambda: False)
    monkeypatch.setattr(bench_model.measure, "compare", fail)
    result = CliRunner().invoke(bench.command, ["--model", "idct4"], catch_exceptions=False)
    assert "Measured" not in result.output
    assert "modelled by llvm-mca of LLVM 99.0" in result.output


def test_measured_times_stand_in_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    found = comparison_of(row(0.7))
    ours = measure.Time("cycles", 70.0, 1.0, b"")
    timed = measure.TimedRow("gcc", found.rows[0].counted.work, ours, replace(ours, median=100.0))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    monkeypatch.setattr(bench_model.native, "is_arm", lambda: True)
    times = measure.Measured([timed])
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
    timed = measure.TimedRow("gcc", row(1).counted.work, ours, replace(ours, median=100.0))
    assert timed.verdict == verdict
    part = replace(timed, work=replace(timed.work, whole=False))
    assert part.verdict == "less work"


def test_without_an_oracle_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    work = row(0.7).counted.work
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


LAZY = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void lazy(uint8_t *to, const uint8_t *from, size_t bytes);
void lazy(uint8_t *to, const uint8_t *from, size_t bytes) {
  static int calls;
  if (calls++ == 0) {
    memcpy(to, from, bytes);
  }
}
"""


def test_what_is_copied_is_looked_at_after_each_round(tmp_path: Path) -> None:
    (tmp_path / "functions.h").write_text("FUNCTION(plain_copy)\nFUNCTION(lazy)\n")
    (tmp_path / "lazy.c").write_text(LAZY)
    tools = repo_root() / "tools"
    sources = [tools / "count" / f"{name}.c" for name in ("main", "measure", "copy")]
    program = native.compile_program(
        "aarch64",
        tmp_path / "program",
        [*sources, tools / "oracle" / "sand.c", tmp_path / "lazy.c"],
        includes=[tmp_path, *native.library_includes()],
        flags=trace.FLAGS,
    )
    case = replace(CASE, shape="copy", params={"width": 128, "tiles": 8, "written": 3072})

    def measured(ours: str) -> tuple[measure.Time, measure.Time]:
        work = (Work(case, ours, "entry"), Work(case, "plain_copy", "theirs"))
        words = count.measuring_arguments(*work, 5)
        return measure.measured(program, words, runner=native.runner("aarch64"))

    ours, theirs = measured("plain_copy")
    assert 0 < ours.median < 5 * theirs.median
    with pytest.raises(UserError, match="left other bytes than a conversion byte by byte"):
        measured("lazy")  # right at first only


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
