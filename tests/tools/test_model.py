# SPDX-License-Identifier: BSD-2-Clause
"""Modelled cycles: corrections, what is read of assembly text, and the figures that follow."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from modelled_rows import CASE, comparison_of, row

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.cli import bench, bench_model
from daedalus.generator.measure import count, count_cases, trace
from daedalus.generator.measure.neon import comparison, llvm
from daedalus.generator.measure.neon.corrections import corrected
from daedalus.generator.measure.neon.figures import figures
from daedalus.generator.measure.neon.text import Line, activations, arguments, stack


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


def test_calls_in_a_trace_have_stacks_of_their_own() -> None:
    item = ["stp\td8, d9, [sp, #-16]!", "mov\tv8.16b, v0.16b", "ldp\td8, d9, [sp], #16", "ret"]
    outer = ["stp\tx29, x30, [sp, #-32]!", "bl\t#-40", *item, "str\tq0, [sp, #16]"]
    trace = [Line(text) for text in (*outer, "bl\t#-48", *item, "ret")]
    parts = activations(trace)
    assert [len(p) for p in parts] == [5, 4, 4] and parts[1] == parts[2]
    found = [stack(p) for p in parts]
    assert [(f.saved, f.spilled) for f in found] == [(0, 1), (2, 0), (2, 0)]


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


def test_threads_may_model_the_same_lines(
    tools: llvm.Llvm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What llvm-mca says is kept whole, however many write it at once."""
    monkeypatch.setattr(llvm, "build_dir", lambda: tmp_path)
    written, really = threading.Barrier(2), Path.replace

    def replace_(self: Path, target: Path) -> Path:
        written.wait(60)
        return really(self, target)

    monkeypatch.setattr(Path, "replace", replace_)
    with ThreadPoolExecutor(2) as pool:
        lines = ["add\tx0, x0, x1"]
        both = [pool.submit(tools.cycles, lines, dispatch=3, times=100) for _ in range(2)]
        found = [one.result() for one in both]
    assert found[0] == found[1] and len(list((tmp_path / "model").iterdir())) == 1


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


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.89, "ahead"), (0.91, "tie"), (1.09, "tie"), (1.11, "behind")]
)
def test_what_the_model_lets_say(ratio: float, verdict: str) -> None:
    assert row(ratio).verdict == verdict


def test_the_best_does_the_whole_work_and_assumes_nothing() -> None:
    given = row(0.5, variant="daedalus_k__neon_full_assumex")
    part, best = row(0.6, whole=False), row(0.9, compiler="clang")
    found = comparison_of(row(0.95), part, given, best)
    assert found.best(CASE) is best
    assert found.best(CASE, given=True) is given
    assert part.verdict == "less work"
    assert found.mean() == pytest.approx(0.9)


def test_what_leaves_other_pixels_is_never_the_best() -> None:
    wrong, right = row(0.5), row(0.9)
    traced = replace(wrong.counted.traced, pixels=b"1")
    by_hand = replace(wrong.counted.by_hand, pixels=b"2")
    wrong = replace(wrong, counted=count.Count(traced, by_hand))
    found = comparison_of(wrong, right)
    assert found.best(CASE) is right
    assert found.mean() == pytest.approx(0.9)
    assert found.rows[0].counted.difference == "row -16, column -16: 49 and 50"
    assert comparison_of(wrong).best(CASE) is None


def test_the_mean_takes_each_kernel_once_by_its_lowest_case() -> None:
    other, second = replace(CASE, name="other"), replace(CASE, kernel="l")
    aside = row(0.1, case=replace(CASE, name="aside", d3_bar=None))
    found = comparison_of(row(0.9), row(0.5, case=other), row(0.8, case=second), aside)
    assert found.mean() == pytest.approx((0.5 * 0.8) ** 0.5)
    assert found.mean_of_cases() == pytest.approx((0.9 * 0.5 * 0.8) ** (1 / 3))


def test_the_mean_of_prod_functions_leaves_others_out() -> None:
    other = row(0.5)
    traced = replace(other.counted.traced, work=replace(other.counted.work, prod=False))
    other = replace(other, counted=count.Count(traced, other.counted.by_hand))
    found = comparison_of(row(0.8), other)
    assert found.mean() == pytest.approx(0.5)
    assert found.mean(prod=True) == pytest.approx(0.8)
    assert comparison_of().mean() is None


def test_bars() -> None:
    assert comparison.above_bars(comparison_of(row(0.7)), every=True) == []
    assert comparison.above_bars(comparison_of(row(1.04)), every=False) == []
    (mean,) = comparison.above_bars(comparison_of(row(1.04)), every=True)
    assert mean == "geometric mean of d3: 1.0400 of theirs, the bar is 0.8"
    (above,) = comparison.above_bars(comparison_of(row(1.06)), every=False)
    assert above == "k, work: 1.0600 of theirs in d3, the bar is 1.05"
    (none,) = comparison.above_bars(comparison_of(row(0.5, whole=False)), every=False)
    assert none == "k, work: none of our functions does the whole work, and right"


def test_a_family_s_mean_is_of_the_library_s_variants_by_one_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case, second = replace(CASE, family="f"), replace(CASE, family="f", kernel="l")
    families = [
        count_cases.Family("all", "f", 0.7, 1.1),
        count_cases.Family("plain", "f", 0.7, 1.1, without="dotprod"),
        count_cases.Family("other", "g", 0.7, 1.1),
    ]
    monkeypatch.setattr(count_cases, "families", lambda: families)
    found = comparison_of(
        row(0.1, case=case),  # a decoder's entry
        row(0.2, case=case, variant="daedalus_k__neon_full", compiler="clang"),
        row(0.5, case=case, variant="daedalus_k__neon_full_dot"),
        row(1.2, case=case, variant="daedalus_k__neon_full"),
        row(0.8, case=second, variant="daedalus_l__neon_full"),
    )
    every, plain = found.family_means()
    assert (every.compiler, every.family.name, plain.family.name) == ("gcc", "all", "plain")
    assert every.mean == pytest.approx((0.5 * 0.8) ** 0.5)
    assert plain.mean == pytest.approx((1.2 * 0.8) ** 0.5)
    assert plain.worst.case is case
    assert [line for line in comparison.above_bars(found, every=False) if "plain" in line] == [
        "plain, by gcc: mean of d3 0.9798 of theirs, the bar is 0.7",
        "plain, by gcc: k, work: 1.2000 of theirs in d3, the bar is 1.1",
    ]
    bench_model._print_families(found)


def test_of_work_that_no_variant_does_the_entry_is_in_a_family_s_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As blocks higher than an item are; an entry takes what the processor has, so it is in no mean
    of variants that do without."""
    high = replace(CASE, family="f", items=False)
    families = [
        count_cases.Family("all", "f", 0.7, 1.1),
        count_cases.Family("plain", "f", 0.7, 1.1, without="dotprod"),
    ]
    monkeypatch.setattr(count_cases, "families", lambda: families)
    (mean,) = comparison_of(row(0.6, case=high)).family_means()
    assert (mean.family.name, mean.mean) == ("all", pytest.approx(0.6))


def test_json_has_the_keys_that_others_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = comparison_of(row(1.2, variant="daedalus_k__neon_full", function="daedalus_item_k"))
    monkeypatch.setattr(bench_model, "compare", lambda tools, wanted: found)
    monkeypatch.setattr(bench_model.llvm, "find", lambda: found.llvm)
    result = CliRunner().invoke(bench.command, ["--model", "--json", "idct4"])
    assert result.exit_code == 1
    data = json.loads(result.stdout[: result.stdout.rindex("}") + 1])
    (line,) = data["kernels"]
    assert {k: line[k] for k in ("kernel", "case", "variant", "compiler", "executed")} == {
        "kernel": "k",
        "case": "work",
        "variant": "daedalus_k__neon_full",
        "compiler": "gcc",
        "executed": 100,
    }
    assert (line["d3"], line["d4"], line["hand_d3"], line["hand_d4"]) == (60, 48, 50, 48)
    assert line["hand_executed"] == 100
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
    found = comparison_of(row(0.9), row(0.9, case=low), row(0.8, case=low), row(1, case=high))
    bench_model._print_measured(found)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:] if line]
    assert lines == [
        ["theirs", "low", "60.0", "50.0", "-17%"],
        ["theirs", "high", "49.0", "50.0", "+2%"],
    ]
    bench_model._print_measured(comparison_of(row(0.9)))
    assert capsys.readouterr().out == ""
