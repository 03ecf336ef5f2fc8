# SPDX-License-Identifier: BSD-2-Clause
"""Counting instructions: the method on functions of known length, the cases, and what fails."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.cli import count as verb
from daedalus.generator.host import native
from daedalus.generator.measure import count, count_cases, count_items, count_shapes, trace
from daedalus.generator.measure.count_cases import Case, Work

# Functions of known length; the last one is shorter from its third call on.
SHAPES = """
#include "count.h"

__asm__(".text\\n.global two, writes, shorter\\n"
        "two: nop\\n ret\\n"
        "writes: mov w1, #9\\n strb w1, [x0, #64]\\n ret\\n"
        "shorter: ldr x2, [x1]\\n add x2, x2, #1\\n str x2, [x1]\\n cmp x2, #2\\n b.hi 1f\\n"
        "nop\\n1: ret\\n");

static void call(any_fn *fn, work *w) {
  static uint64_t state;
  ((void (*)(uint8_t *, uint64_t *))fn)(w->pixels + MIDDLE, &state);
}

static void call_twice(any_fn *fn, work *w) {
  call(fn, w);
  call(fn, w);
}

const shape shapes[] = {
    {"plain", 1, NULL, call, NULL},
    {"twice", 1, NULL, call_twice, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

any_fn *function_of_table(const char *name) {
  (void)name;
  return NULL;
}
"""

CASE = Case("k", "ffmpeg", "plain", "writes", "work", 1.25, {"p": 0}, entry="two", anchor=3)


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> count.Counter:
    folder = tmp_path_factory.mktemp("count")
    (folder / "functions.h").write_text("FUNCTION(two)\nFUNCTION(writes)\nFUNCTION(shorter)\n")
    (folder / "shapes.c").write_text(SHAPES)
    tools = native.repo_root() / "tools" / "count"
    return count.Counter(
        native.compile_program(
            "aarch64",
            folder / "program",
            [tools / "main.c", tools / "measure.c", folder / "shapes.c"],
            includes=[folder, tools],
            flags=trace.FLAGS,
        )
    )


def _without_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_plugin", lambda: None)


@pytest.mark.parametrize("by_log", [False, True])
def test_a_call_is_counted_exactly(
    counter: count.Counter, by_log: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_log:
        _without_plugin(monkeypatch)
    two = counter.trace(Work(CASE, "two", "entry"))
    assert two.executed == 2
    assert [call.words for call in two.calls] == [(0xD503201F, 0xD65F03C0)]  # nop, ret
    writes = counter.trace(Work(CASE, "writes", "theirs"))
    assert writes.executed == 3
    assert count.Count(writes, writes).difference == ""
    assert count.Count(writes, two).difference.startswith("row 0, column 64: 9 and ")


def test_a_piece_of_work_may_be_several_calls(counter: count.Counter) -> None:
    twice = counter.trace(Work(replace(CASE, shape="twice"), "two", "entry"))
    assert [len(call.words) for call in twice.calls] == [2, 2]


def test_a_path_that_changes_is_refused(counter: count.Counter) -> None:
    with pytest.raises(UserError, match="does not always execute the same instructions"):
        counter.trace(Work(CASE, "shorter", "entry"))


def test_an_unknown_picture_is_named(counter: count.Counter) -> None:
    with pytest.raises(UserError, match="no such picture: sunset"):
        counter.trace(Work(replace(CASE, picture="sunset"), "two", "entry"))


# ------------------------------------------------------------------------------------- the cases


def test_cases_name_what_there_is() -> None:
    manifest = json.loads((native.repo_root() / "generated" / "manifest.json").read_text())
    kernels = {k["id"]: k for k in manifest["kernels"]}
    tools = native.repo_root() / "tools" / "count"
    for case in count_cases.cases():
        entries = {e for d in kernels[case.kernel]["decoders"].values() for e in d}
        assert not case.entry or case.entry in entries
        if case.oracle == "copy":
            shapes = (tools / "copy.c").read_text()
        else:
            shapes = count._shapes(case.oracle, [Work(case, case.theirs, "theirs")])
        for whose in ("theirs", "entry", "variant"):
            assert f'{{"{Work(case, case.theirs, whose).shape}", ' in shapes
        assert f'{{"{case.picture}", ' in (tools / "main.c").read_text()
        assert case.anchor is None or case.anchor > 0
        assert case.bar is None or 1 <= case.bar <= 1.25
        assert case.bar is not None or case.written or case.family


def test_every_kernel_that_decoders_call_has_a_case() -> None:
    manifest = json.loads((native.repo_root() / "generated" / "manifest.json").read_text())
    called = {k["id"] for k in manifest["kernels"] if k["decoders"]}
    assert called == {c.kernel for c in count_cases.cases() if c.oracle != "copy"}


def test_a_table_of_several_kernels_has_a_case_for_each() -> None:
    assert count_cases._nth({"name": "work", "anchor": [5, 6]}, 1) == {"name": "work", "anchor": 6}
    found = [c for c in count_cases.cases() if c.name == "4 rows" and c.family == "copy"]
    assert [c.kernel for c in found] == ["vp9_copy4", "vp9_avg4", "vp9_copy8", "vp9_avg8"]
    assert {f.of for f in count_cases.families()} == {c.family for c in count_cases.cases()} - {""}


def test_theirs_and_our_entry_follow_from_spec_and_description() -> None:
    found = {(c.kernel, c.name): c for c in count_cases.cases() if not c.shape}
    smooth = found["vp9_mc_8h", "smooth, mx 3"]
    assert smooth.theirs == "ff_vp9_put_smooth8_h_neon"
    assert smooth.entry == "daedalus_ffmpeg_vp9_mc_8h_smooth"
    cdef = found["av1_cdef8", "pri and sec"]
    assert cdef.theirs == "cdef.fb[8x8]"  # no name leads to it
    text = count._shapes("dav1d", [Work(cdef, cdef.theirs, "theirs")])
    assert 'strcmp(name, "cdef.fb[8x8]") == 0' in text and "return table[1];" in text


def test_a_case_without_a_function_of_the_decoder_is_refused_with_its_file() -> None:
    case = Case("av1_cdef8", "ffmpeg", "", "", "work", None, {}, file="tools/count/cases_x.toml")
    with pytest.raises(UserError, match="^tools/count/cases_x.toml: .*no function of ffmpeg"):
        count_cases._named(case)


def test_a_case_knows_its_file() -> None:
    files = {c.kernel: c.file for c in count_cases.cases()}
    assert files["av1_cdef8"] == "tools/count/cases.toml"
    assert files["vp9_scaled_8"] == "tools/count/cases_vp9.toml"
    assert files["vp9_scaled_8_high"] == "tools/count/cases_vp9_high.toml"


def test_each_element_of_a_parameter_gets_the_value() -> None:
    text = count_shapes.source("ffmpeg", ["h264_deblock_luma_v"], [], [])
    assert "int8_t tc0[4];" in text and "memcpy(tc0, &packed_tc0, sizeof(tc0));" in text
    assert text.count("(uint32_t)(uint8_t)parameters[2] << ") == 2 * 4  # our item, and the entry


def test_functions_of_several_tables_are_taken_from_theirs() -> None:
    places = ["vp9dsp.mc[8][bilinear][put][1][0]", "qpel.put_h264_qpel_pixels_tab[8][mc20]"]
    text = count_shapes.source("ffmpeg", [], [], places)
    assert "static any_fn *vp9dsp[296];" in text and "static any_fn *qpel[" in text


def test_coefficients_are_those_of_the_class() -> None:
    text = count_shapes.source("ffmpeg", ["vp9_idct8"], [], [])
    assert "if (parameters[0] == 1) {\n    make_coefficients(64, 8, 1, 1, 2);" in text
    assert (
        "make_coefficients(64, 8, 4, 4, 2);" in text
        and "make_coefficients(64, 8, 8, 8, 2);" in text
    )


def test_kernels_are_chosen_by_name_or_alias() -> None:
    assert {c.kernel for c in count_cases.chosen(("vp9_lpf8",))} == {"vp9_lpf8_h"}
    assert {c.kernel for c in count_cases.chosen(("vp9_lpf8_v",))} == {"vp9_lpf8_v"}
    with pytest.raises(UserError, match="nothing to count for av1_sgr8"):
        count_cases.chosen(("vp9_lpf8_v", "av1_sgr8"))


def test_without_an_entry_the_bar_is_for_the_item_function_that_entries_call() -> None:
    case = next(c for c in count_cases.cases() if c.shape == "cdef8_filter")
    every = {f"daedalus_item_av1_cdef8__neon_{s}" for s in ("inside", "inside_r2", "full")}
    barred = [w.function for w in count_cases.work(case, every) if w.barred]
    entries = (native.repo_root() / "generated" / "src" / "decoder_dav1d.c").read_text()
    assert len(barred) == 1
    assert re.search(rf"\b{barred[0]}\b", entries)


# ------------------------------------------------------------------------------------- the verb


def _count(whose: str, executed: int, *, different: bool = False) -> count.Count:
    name = CASE.theirs if whose == "theirs" else CASE.entry
    work = Work(CASE, name, whose, whose == "entry")
    return count.Count(_traced(work, executed, b"b" if different else b"a"), HUNDRED)


def _traced(work: Work, executed: int, pixels: bytes = b"a") -> count.Traced:
    return count.Traced(work, (trace.Call((0,) * executed, (0,) * executed),), pixels)


def _invoke(monkeypatch: pytest.MonkeyPatch, counts: list[count.Count], *args: str) -> Result:
    made_by = count.Compiler("some compiler 1.0", "-O2")
    monkeypatch.setattr(count, "count_all", lambda kernels, *, clang: (made_by, counts))
    return CliRunner().invoke(verb.command, ["k", *args], catch_exceptions=False)


HUNDRED = _traced(Work(replace(CASE, anchor=100), CASE.theirs, "theirs"), 100)
THEIRS = count.Count(HUNDRED, HUNDRED)


@pytest.mark.parametrize(
    ("counts", "failure"),
    [
        ([_count("entry", 125), THEIRS], ""),
        ([_count("entry", 126), THEIRS], "126 executed, more than 1.25 x 100"),
        ([_count("variant", 900), THEIRS], ""),
        (
            [_count("variant", 90, different=True), THEIRS],
            "other pixels than writes: row -16, column -16: 98 and 97",
        ),
        ([_count("entry", 90), _count("theirs", 100)], "100 executed, 3 recorded in tools/count"),
    ],
)
def test_what_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    counts: list[count.Count],
    failure: str,
) -> None:
    result = _invoke(monkeypatch, counts)
    assert result.exit_code == (1 if failure else 0)
    said = capsys.readouterr().err + result.output
    assert ("failed: " in said) == bool(failure)
    assert failure in said
    assert "ours compiled by some compiler 1.0: -O2" in said


def test_json_holds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _invoke(monkeypatch, [_count("entry", 90), THEIRS], "--json")
    text = result.stdout
    data = json.loads(text[: text.rindex("}") + 1])
    assert data["compiler"] == {"version": "some compiler 1.0", "flags": "-O2"}
    assert data["counts"][0] == {
        "kernel": "k",
        "case": "work",
        "function": "two",
        "whose": "entry",
        "executed": 90,
        "ratio": 0.9,
        "bar": 1.25,
        "above_bar": False,
        "same_pixels": True,
    }
    assert data["counts"][1]["bar"] is None


# ------------------------------------------------------------------------------------- many items


def test_cases_of_items_name_what_there_is() -> None:
    manifest = json.loads((native.repo_root() / "generated" / "manifest.json").read_text())
    kernels = {k["id"]: k for k in manifest["kernels"]}
    listed = count_cases.items_cases()
    assert listed["counts"] == sorted(listed["counts"])
    assert listed["counts"][0] == 1
    for line in listed["cases"]:
        kernel = kernels[line["kernel"]]
        offsets = [m["name"] for m in kernel["meta"] if m["name"].endswith("_off")]
        others = [m["name"] for m in kernel["meta"] if not m["name"].startswith("reserved")]
        assert list(line["params"]) == [n for n in others if n not in offsets]
        # The batch function of the class is counted beside what sorts: the first class that fits.
        fits = (
            c["name"]
            for c in kernel["classes"]
            if all(lo <= line["params"][p] <= hi for p, (lo, hi) in c["when"].items())
        )
        assert line["class"] == next(fits)


def test_what_an_item_more_and_a_call_cost() -> None:
    counted = count_items.ItemsCount("k", "full", "items", {1: 30, 2: 50, 100: 2010, 1000: 20010})
    assert (counted.an_item, counted.a_call) == (20, 10)


def test_many_items_are_counted_by_every_way() -> None:
    compiler, found = count_items.count_items(("h264_idct4",), clang=False)
    assert "gcc" in compiler.version
    by_way = {c.way: c for c in found}
    assert set(by_way) == {"clearing items", "batch", "dispatch"}
    many, batch, dispatch = (by_way[w] for w in ("clearing items", "batch", "dispatch"))
    assert many.an_item < batch.an_item < dispatch.an_item
    assert many.executed[2] < 2 * many.executed[1]  # two in a vector
    assert many.a_call < dispatch.a_call


def test_items_of_a_kernel_without_a_case_are_refused() -> None:
    result = CliRunner().invoke(verb.command, ["--items", "nosuch"])
    assert isinstance(result.exception, UserError)
    assert "no items are counted of nosuch" in result.exception.message


def test_a_missing_clang_is_a_missing_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = shutil.which
    monkeypatch.setattr(
        native.shutil, "which", lambda name: None if name == native.CLANG else found(name)
    )
    monkeypatch.setattr(native, "build_dir", lambda: tmp_path)
    with pytest.raises(UserError, match="clang-19 is not installed") as e:
        native.build_library("aarch64", clang=True)
    assert e.value.exit_code == EXIT_MISSING


def test_the_picture_is_as_large_as_the_program_has_it() -> None:
    text = (native.repo_root() / "tools" / "count" / "count.h").read_text()
    found = {name: int(n) for name, n in re.findall(r"(STRIDE|ROWS|ORIGIN) = (\d+)", text)}
    assert found == {"STRIDE": count._STRIDE, "ROWS": count._ROWS, "ORIGIN": count._ORIGIN}
    assert found["STRIDE"] * found["ROWS"] == count.PICTURE
