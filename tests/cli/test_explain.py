# SPDX-License-Identifier: BSD-2-Clause
"""`explain`: every value with its range and line, what NEON makes of it, and refusals."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from spec_support import load_text, marked_line, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ranges import Ranges
from daedalus.generator import explain
from daedalus.generator.cli import explain as explain_verb
from daedalus.generator.cli.common import UserError
from daedalus.generator.registry import find, load
from daedalus.generator.schedule import Schedule

SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "explain.schema.json").read_text())
KERNELS = [e.kernel.id for e in load()]


def as_json(*words: str) -> dict:
    result = CliRunner().invoke(explain_verb.command, [*words, "--json"])
    assert result.exit_code == 0, result.exception
    data = json.loads(result.stdout)
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    return data


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


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


def test_a_variant_of_c_has_types() -> None:
    values = as_json("vp9_idct8", "--variant", "c_full")["stages"][0]["values"]
    assert {v["c_type"] for v in values if v["op"] == "mul"} == {"int32_t"}
    assert all((v["c_type"] == "") == (v["op"] == "const") for v in values)


def test_a_refusal_names_reason_line_and_remedy(tmp_path: Path) -> None:
    """NEON has no lookup by data, and the kernel therefore only its C variant."""
    text = spec_text(
        't = k.table("t", u8, [1, 2, 3])\n'
        "with k.stage(i=8) as i:\n    entry = t[px[0, i]]  # <-\n    px[0, i] = entry\n"
    )
    (entry,) = load_text(tmp_path, text)
    (refusal,) = explain.refusals(entry)
    where = f"spec.py:{marked_line(text)}"
    assert (refusal.target, str(refusal.error.loc)) == ("neon", where)
    shown = explain.view(entry)
    lines = explain_verb.text_of(entry, shown, [refusal])
    message = "table entry, in [1, 3], has no NEON form"
    assert f"neon has no form of it: {where}: {message}" in lines
    assert lines[-1].startswith("  hint: NEON lanes are at most 32 bits")
    data = explain.record(entry, shown, [refusal])
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert [(r["target"], r["message"], r["at"]) for r in data["refused"]] == [
        ("neon", message, where)
    ]
    with pytest.raises(SpecError, match="has no NEON form"):
        explain.view(entry, Schedule("neon"))


WRONG = {
    "neon_dc": ("neon_dc: no class dc", "its classes are full"),
    "neon_full_givenx": ("neon_full_givenx: no assumption x", "its assumptions are range16"),
    "neon_full_givenrange16": ("neon_full_givenrange16: range16 holds for every variant", "listed"),
    "sse_full": ("'daedalus_h264_idct4__sse_full': the schedule begins with a target", "listed"),
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
