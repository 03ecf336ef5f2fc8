# SPDX-License-Identifier: BSD-2-Clause
"""`explain`: every value with its range and line, what NEON makes of it, and refusals."""

import json
import math
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from spec_support import load_text, marked_line, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ranges import Ranges
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import explain as explain_verb
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.options import VECTOR_TARGETS, Options, options_of, variant_name
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.report import explain

SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "explain.schema.json").read_text())
KERNELS = [e.kernel.id for e in load()]
VARIANTS = [
    pytest.param(e, s, id=variant_name(e.kernel.id, s)) for e in load() for s, _ in e.listed
]


def as_json(*words: str) -> dict:
    result = CliRunner().invoke(explain_verb.command, [*words, "--json"])
    assert result.exit_code == 0, result.exception
    data = json.loads(result.stdout)
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    return data


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.of_many
@pytest.mark.parametrize("name", KERNELS)
def test_every_value_is_there_with_range_and_line(name: str) -> None:
    entry = find(load(), name)
    assert entry is not None
    ranges = Ranges(entry.kernel)
    data = as_json(name)
    for stage, shown in zip(entry.kernel.stages, data["stages"], strict=True):
        for n, (node, v) in enumerate(zip(stage.nodes(), shown["values"], strict=True)):
            r = ranges.of(node)
            assert (v["number"], v["lo"], v["hi"], v["at"]) == (n, r.lo, r.hi, str(node.loc))
            assert v["forms"] == []


def test_what_neon_makes_of_values() -> None:
    data = as_json("vp9_lpf4_v", "--variant", "neon_full")
    (stage,) = data["stages"]
    forms = [(v["op"], f) for v in stage["values"] for f in v["forms"]]
    assert {
        ("absdiff", "bits 8", "abd_u", "vabd"),
        ("add", "sat_u 8", "qadd_parts", "vqadd"),
        ("le", "mask 8", "le_sat0_u", "vcge"),
    } <= {(op, f["demand"], f["rule"], f["instruction"]) for op, f in forms}
    assert stage["cost"] == pytest.approx(sum(f["cost"] for _, f in forms))
    assert data["after"] == "drop_unread" and data["items"] == 1


def test_items_side_by_side() -> None:
    data = as_json("vp9_lpf4_v", "--variant", "daedalus_vp9_lpf4_v__neon_full_x2")
    assert data["items"] == 2 and len(data["stages"]) == 1


@pytest.mark.of_many
@pytest.mark.parametrize(("entry", "options"), VARIANTS)
def test_every_variant_can_be_explained(entry: Entry, options: Options) -> None:
    shown = explain.view(entry, options)
    lowered = lower(entry.kernel, options)
    assert len(shown.stages) == len(lowered.stages)
    for s, stage in zip(shown.stages, lowered.stages, strict=True):
        assert len(s.stores) == len(stage.stores)
        stored = {s.stage.nodes().index(x.value) for x in s.stage.stores}
        if options.target not in VECTOR_TARGETS:
            assert s.vectors is None and s.stage.dims == stage.dims
            continue
        assert all(s.lines[n].forms for n in stored)
        vectors = s.vectors
        assert vectors is not None and s.stage.dims == (*vectors.loops, *vectors.axes)
        points = math.prod(n for _, n in s.stage.dims)
        assert points == stage.lanes and (vectors.strip == "" or vectors.strip in dict(stage.dims))


def test_how_many_invocations_do_an_item() -> None:
    arguments = ["vp9_idct8", "--variant", "glsl_full_p2"]
    lines = CliRunner().invoke(explain_verb.command, arguments).stdout.splitlines()
    assert "  variant glsl_full_p2, 4 invocations an item" in lines


def frame(kernel: str, variant: str) -> list[str]:
    """The lines between a first stage's heading and its table."""
    lines = CliRunner().invoke(explain_verb.command, [kernel, "--variant", variant]).stdout
    _, _, rest = lines.partition("\nstage 1 of ")
    body = rest.splitlines()[1:]
    end = next(n for n, line in enumerate(body) if " value " in line)
    return [line.strip() for line in body[:end]]


def test_what_a_program_of_the_qpu_takes() -> None:
    name = "qpu_full_p4_word"
    data = as_json("h264_idct4", "--variant", name)
    f = data["figures"]
    assert f["trip"] >= f["bound"] and f["an_item"] == round(f["trip"] / 16, 1)
    result = CliRunner().invoke(explain_verb.command, ["h264_idct4", "--variant", name])
    assert "A trip of its loop does 16 items, an element an item" in result.stdout
    assert f"{f['trip']} instructions a trip, {f['an_item']:g} an item" in result.stdout
    assert as_json("h264_idct4")["figures"] is None


def test_how_lanes_are_spread_over_vectors_and_loops() -> None:
    assert frame("vp9_lpf4_v", "neon_full") == []
    assert frame("vp9_mc_8h", "neon_full") == [
        "while y < %2", "across a vector: x; at most 8 vectors, in loops over y",
    ]  # fmt: skip
    assert frame("av1_cdef8", "neon_inside_r2") == ["across a vector: y_in, x"]
    assert frame("sand128_nv12", "neon_full") == [
        "across a vector: x_in; at most 8 vectors, in loops over x",
        "x ends with the last whole vector; scalar C does the points left over",
    ]
    (early,) = frame("vp9_lpf4_v", "neon_full_early")
    assert re.fullmatch(r"leaves the item unless some lane has %\d+", early)


def test_conditions_of_stages() -> None:
    stages = as_json("av1_cdef8", "--variant", "neon_full")["stages"]
    for s in stages:
        for text in s["conditions"]:
            assert text.startswith("given %")
            assert s["values"][int(text.removeprefix("given %"))]["boolean"]
    assert sum(bool(s["conditions"]) for s in stages) == 16


def test_a_multiplier_is_a_lane_or_a_scalar() -> None:
    """Constants are lanes of a vector; what an item's parameters choose is a scalar."""
    for kernel, form in (("vp9_idct8", "vmull_lane"), ("vp9_mc_8h", "vmla_n")):
        stage = as_json(kernel, "--variant", "neon_full")["stages"][0]
        found = {f["instruction"] for v in stage["values"] for f in v["forms"]}
        assert form in found and not {"vmull_n", "vmla_lane"} & (found - {form})


def test_a_dot_product_is_one_value() -> None:
    (stage,) = as_json("vp9_mc_8h", "--variant", "neon_sub8_dot")["stages"]
    dots = [v["forms"][0] for v in stage["values"] if v["op"] == "dot"]
    assert {(f["demand"], f["instruction"]) for f in dots} == {("bits 32", "vdot_lane")}
    assert not any(v["op"] == "mul" and v["forms"] for v in stage["values"])
    text = CliRunner().invoke(explain_verb.command, ["vp9_mc_8h", "--variant", "neon_sub8_dot"])
    assert "  variant neon_sub8_dot, needs dotprod" in text.stdout.splitlines()


def test_a_variant_of_c_has_types() -> None:
    values = as_json("vp9_idct8", "--variant", "c_full")["stages"][0]["values"]
    assert {v["c_type"] for v in values if v["op"] == "mul"} == {"int32_t"}
    assert all((v["c_type"] == "") == (v["op"] == "const") for v in values)


def test_a_refusal_names_reason_line_and_remedy(tmp_path: Path) -> None:
    """NEON has no comparison of so wide values, and the kernel therefore only its C variant."""
    text = spec_text(
        "with k.stage(i=8) as i:\n    far = c[0, i] * 131072 > p  # <-\n"
        "    px[0, i] = select(far, 1, px[0, i])\n"
    ).replace('clause="a test"', 'clause="a test", wide=True')
    (entry,) = load_text(tmp_path, text)
    (refusal,) = explain.refusals(entry)
    where = f"spec.py:{marked_line(text)}"
    assert (refusal.target, str(refusal.error.loc)) == ("neon", where)
    shown = explain.view(entry)
    lines = explain_verb.text_of(entry, shown, [refusal])
    message = "gt far, in [0, 1], has no NEON form"
    assert f"neon has no form of it: {where}: {message}" in lines
    assert lines[-1].startswith("  hint: lanes are at most 32 bits")
    data = explain.record(entry, shown, [refusal])
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert [(r["target"], r["message"], r["at"]) for r in data["refused"]] == [
        ("neon", message, where)
    ]
    with pytest.raises(SpecError, match="has no NEON form"):
        explain.view(entry, options_of("neon"))


WRONG = {
    "neon_dc": ("neon_dc: no class dc", "its classes are full"),
    "neon_full_assumex": ("neon_full_assumex: no assumption x", "its assumptions are range16"),
    "neon_full_assumerange16": (
        "neon_full_assumerange16: range16 holds for every variant",
        "listed",
    ),
    "sse_full": ("'daedalus_h264_idct4__sse_full': options begin with a target", "listed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_impossible_variant_is_refused(name: str) -> None:
    error = CliRunner().invoke(explain_verb.command, ["h264_idct4", "--variant", name]).exception
    assert isinstance(error, UserError)
    message, hint = WRONG[name]
    assert error.message.startswith(message) and error.hint.startswith(hint)


def test_the_text() -> None:
    text = CliRunner().invoke(explain_verb.command, ["h264_idct4"]).stdout
    row = next(line for line in text.splitlines() if "add(%0, %2)" in line)
    number, _, _, name, low, high, bits, where = row.split()
    assert (number, name, low, high, bits) == ("%4", "e", "[-65536,", "65534]", "17")
    assert where.startswith("dsl/kernels/h264/idct.py:")


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("c_full", "static inline void one_item_h264_idct4__c_full("),
        ("glsl_full_p2", "\nvoid main() {\n"),
        ("qpu_full_p4_word", "\nloop:\n"),
    ],
)
def test_the_code_of_a_variant_is_printed(name: str, mark: str) -> None:
    """Of a shader and of machine code, generated/ has only what is made of it."""
    words = ["h264_idct4", "--variant", name, "--code"]
    result = CliRunner().invoke(explain_verb.command, words)
    assert result.exit_code == 0 and mark in result.stdout


@pytest.mark.parametrize("words", [[], ["--variant", "c_full", "--json"]])
def test_code_is_that_of_a_variant_as_text(words: list[str]) -> None:
    result = CliRunner().invoke(explain_verb.command, ["h264_idct4", "--code", *words])
    assert result.exit_code == 2 and "--code" in result.output
