# SPDX-License-Identifier: BSD-2-Clause
"""`bench --model --levers`: which variants are made without a lever, checked, and compared."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from daedalus.generator import count
from daedalus.generator.cli import bench, bench_levers
from daedalus.generator.cli.common import EXIT_FAILED
from daedalus.generator.levers import chosen
from daedalus.generator.model import levers, llvm
from daedalus.generator.model.figures import Quick
from daedalus.generator.model.lever_code import Without, affected
from daedalus.generator.model.levers import LeverComparison, LeverRow
from daedalus.generator.registry import Entry, load
from daedalus.generator.targets.neon.windows import Windows


def _entry(kernel: str) -> Entry:
    return next(e for e in load() if e.kernel.id == kernel)


def _affected(kernel: str, *names: str) -> dict[tuple[str, str], Without]:
    found = affected(_entry(kernel), chosen(names))
    return {(w.lever.name, w.schedule.name): w for w in found}


def test_variants_that_a_lever_changes_and_the_cases_they_are_for() -> None:
    found = _affected("vp9_idct8", "dot", "sqrdmulh", "class")
    assert {key: w.case.name for key, w in found.items()} == {
        ("class", "neon_dc"): "dc",
        ("class", "neon_eob12"): "eob 12",
        ("sqrdmulh", "neon_dc"): "dc",
        ("sqrdmulh", "neon_eob12"): "eob 12",
        ("sqrdmulh", "neon_full"): "full",
    }


def test_several_items_are_compared_where_one_call_does_many() -> None:
    (w,) = _affected("h264_idct4", "items").values()
    assert w.case.many == "daedalus_clearing_items_h264_idct4"
    assert "daedalus_h264_idct4__neon_full_x2(" in w.text  # under the variant's own name
    assert "neon_full(" not in w.text
    assert "items_2" not in w.text


def test_what_has_no_hand_written_counterpart_is_left_out() -> None:
    schedules = [s.target for s, prod in _entry("sand128_nv12").schedules if prod]
    assert "neon" in schedules
    assert _affected("sand128_nv12", "widths", "order") == {}


def test_what_only_a_class_makes_possible_is_left_alone() -> None:
    found = _affected("vp9_mc_8h", "class")
    assert sorted(s for _, s in found) == ["neon_rows8", "neon_sub8"]  # not neon_sub8_dot


@pytest.mark.campaign
def test_a_lever_is_checked_and_modelled() -> None:
    found = levers.compare(llvm.find(), ("h264_qpel_mc20",), chosen(("reloads",)), ("gcc",))
    assert found.wrong == []
    (row,) = found.rows
    assert (row.compiler, row.function) == ("gcc", "daedalus_item_h264_qpel_mc20__neon_full")
    # Of each row's six loads four are left out, and five ext done instead.
    assert row.without.executed - row.present.executed == pytest.approx(8, abs=8)
    assert row.ratio < 1


@pytest.mark.campaign
def test_what_is_wrong_without_a_lever_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = Windows._moved

    def by_one_less(self: Windows, *args: object) -> str:
        *some, by, t = args
        return moved(self, *some, by - 1, t)  # type: ignore[arg-type, operator]

    monkeypatch.setattr(Windows, "_moved", by_one_less)
    found = levers.compare(llvm.find(), ("h264_qpel_mc20",), chosen(("reloads",)), ("gcc",))
    assert not any(r.right for r in found.rows)
    checked, pixels = found.wrong
    assert checked.startswith("without reloads: daedalus_h264_qpel_mc20__neon_full on qemu")
    assert pixels.startswith(
        "daedalus_h264_qpel_mc20__neon_full_without_reloads, 8x8: other pixels"
    )


# ------------------------------------------------------------------------------ the command


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> LeverComparison:
    """A variant by two compilers: one is better at it as it is, the other without the lever."""
    (w,) = _affected("h264_qpel_mc20", "reloads").values()
    gcc = LeverRow(w, "gcc", "f", Quick(136, 56.0, 0), Quick(144, 70.0, 1))
    clang = LeverRow(w, "clang", "f", Quick(140, 49.0, 0), Quick(141, 100.0, 0))
    made = {"gcc": count.Compiler("some compiler 1.0", "-O2")}
    found = LeverComparison(made, [gcc, clang], [])
    monkeypatch.setattr(bench_levers.levers, "compare", lambda *_: found)
    return found


def test_the_summary_takes_the_better_compiler_of_each_side(compared: LeverComparison) -> None:
    (best,) = bench_levers.best(compared.rows)
    assert (best.present.compiler, best.without.compiler) == ("clang", "gcc")
    assert best.ratio == pytest.approx(49 / 70)  # neither compiler's own 0.8, 0.49
    assert bench_levers.mean([best, replace(best, present=compared.rows[0])]) == pytest.approx(
        (0.7 * 0.8) ** 0.5
    )
    result = CliRunner().invoke(bench.command, ["--model", "--lever", "reloads", "qpel"])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    row = ["reloads", "h264_qpel_mc20", "neon_full", "8x8", "gcc", "136", "56.0", "0", "144"]
    assert [*row, "70.0", "1", "0.80"] in lines
    assert any(line[:1] == ["reloads"] and "0.700" in line for line in lines)


def test_what_is_wrong_without_a_lever_is_no_measure_of_it(compared: LeverComparison) -> None:
    gcc, clang = compared.rows
    (best,) = bench_levers.best([gcc, replace(clang, right=False)])
    assert (best.present.compiler, best.without.compiler) == ("gcc", "gcc")
    assert bench_levers.best([replace(gcc, right=False)]) == []


def test_wrong_code_is_exit_code_1(
    compared: LeverComparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(compared, wrong=["without reloads: it"])
    monkeypatch.setattr(bench_levers.levers, "compare", lambda *_: wrong)
    result = CliRunner().invoke(bench.command, ["--model", "--levers", "--json", "qpel"])
    assert result.exit_code == EXIT_FAILED
    data = json.loads(result.stdout[: result.stdout.rindex("}") + 1])
    assert data["levers"][0]["without"] == {"executed": 144, "d3": 70.0, "spilled": 1}
    assert data["levers"][0]["ratio"] == 0.8
    (both,) = data["best"]
    assert both["with"] == {"compiler": "clang", "executed": 140, "d3": 49.0, "spilled": 0}
    assert both["without"] == {"compiler": "gcc", "executed": 144, "d3": 70.0, "spilled": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--levers"], "--levers: not without --model"),
        (["--lever", "dot"], "--lever: not without --model"),
        (["--model", "--levers", "--bound"], "--bound and --levers do not go together"),
        (["--model", "--lever", "magic"], "'magic' is no lever"),
    ],
)
def test_what_the_command_refuses(words: list[str], said: str) -> None:
    result = CliRunner().invoke(bench.command, words)
    assert result.exit_code != 0
    assert said in str(result.exception)
