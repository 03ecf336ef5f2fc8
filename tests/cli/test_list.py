# SPDX-License-Identifier: BSD-2-Clause
"""`list`: complete, of the documented form, and true."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from spec_support import in_stage, load_text, spec_text

from daedalus.dsl.ranges import Interval
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import list as list_verb
from daedalus.generator.compile.inventory import bits_needed, inventory
from daedalus.generator.compile.registry import load
from daedalus.generator.options import variant_name

SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "list.schema.json").read_text())


@pytest.fixture(scope="module")
def everything() -> dict:
    result = CliRunner().invoke(list_verb.command, ["--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_json_is_of_the_documented_form(everything: dict) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(everything, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_json_has_all_kernels_and_variants(everything: dict) -> None:
    entries = {e.kernel.id: e for e in load()}
    assert {k["id"] for k in everything["kernels"]} == set(entries)
    for k in everything["kernels"]:
        e = entries[k["id"]]
        assert [v["name"] for v in k["variants"]] == [variant_name(k["id"], s) for s, _ in e.listed]
        assert [v["prod"] for v in k["variants"]] == [prod for _, prod in e.listed]
        assert len(k["stages"]) == len(e.kernel.stages)


SMALL = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(c[0, i] * 3 + px[1, i] - p)")


def test_operations_and_ranges_of_a_small_kernel(tmp_path: Path) -> None:
    (entry,) = load_text(tmp_path, SMALL)
    (k,) = inventory([entry], tmp_path)["kernels"]
    (stage,) = k["stages"]
    assert stage["lanes"] == {"i": 8} and stage["lane_count"] == 8
    assert stage["operations"] == {"add": 1, "clip": 1, "mul": 1, "sub": 1}
    assert (stage["operation_count"], stage["loads"], stage["stores"]) == (4, 2, 1)
    assert k["operations_an_item"] == 32
    widest = stage["widest"]
    low, high = -32768 * 3 - 100, 32767 * 3 + 255  # p is in [0, 100]
    assert low <= widest["lo"] and widest["hi"] <= high and widest["bits"] == 18
    assert widest["at"].startswith("spec.py:")
    assert [v["verified"] for v in k["variants"]] == [False, False]


def test_a_record_of_other_code_is_none(tmp_path: Path) -> None:
    (entry,) = load_text(tmp_path / "specs", SMALL)
    names = [variant_name(entry.kernel.id, s) for s, _ in entry.listed]
    manifest = {"kernels": [{"variants": [{"name": n, "input_hash": "new"} for n in names]}]}
    run = {"device": "native", "conformant": 10}
    found = {
        names[0]: {"input_hash": "new", "runs": [run]},
        names[1]: {"input_hash": "old", "runs": [run]},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    records.write(entry.kernel.id, records.VERIFIED, found, tmp_path)
    (k,) = inventory([entry], tmp_path)["kernels"]
    assert [(v["verified"], v["conformant"]) for v in k["variants"]] == [(True, 10), (False, 0)]


@pytest.mark.parametrize(
    ("lo", "hi", "bits"),
    [(0, 0, 1), (0, 1, 1), (0, 255, 8), (0, 256, 9), (-1, 0, 1), (-128, 127, 8), (-129, 0, 9),
     (-1, 255, 9), (-(2**31), 2**31 - 1, 32), (0, 2**32 - 1, 32), (5, 6, 3), (-7, -5, 4)],
)  # fmt: skip
def test_bits(lo: int, hi: int, bits: int) -> None:
    assert bits_needed(Interval(lo, hi)) == bits


def test_the_table_names_every_kernel() -> None:
    lines = CliRunner().invoke(list_verb.command, []).stdout.splitlines()
    assert lines[0].split()[:3] == ["kernel", "alias", "family"]
    kernels = sorted((e.kernel for e in load()), key=lambda k: (k.codec, k.family))
    assert [line.split()[0] for line in lines[1:-1]] == [k.id for k in kernels]


def test_a_kernel_in_full_by_its_alias() -> None:
    text = CliRunner().invoke(list_verb.command, ["vp9_lpf4", "vp9_lpf4_h"]).stdout
    assert text.count("vp9_lpf4_h: ") == 1  # named twice, shown once
    assert "daedalus_vp9_lpf4_h__neon_full_x2" in text and "i=8" in text


def test_programs_of_the_qpu_are_counted() -> None:
    """A line a variant, by what the manifest says."""
    result = CliRunner().invoke(list_verb.command, ["h264_idct4"])
    manifest = json.loads((repo_root() / "generated" / "manifest.json").read_text())
    (k,) = [k for k in manifest["kernels"] if k["id"] == "h264_idct4"]
    figures = {v["name"]: v["figures"] for v in k["variants"] if v["target"] == "qpu"}
    assert len(figures) >= 2
    for name, f in figures.items():
        lookups = f["loads"] + f["stores"]
        cells = [name, f["an_item"], f["trip"], f["bound"], f["registers"], lookups]
        assert any(line.split()[:6] == [*map(str, cells)] for line in result.stdout.splitlines())


def test_an_unknown_kernel_is_refused_with_what_is_near() -> None:
    error = CliRunner().invoke(list_verb.command, ["vp9_idct9"]).exception
    assert isinstance(error, UserError) and error.message == "no kernel vp9_idct9"
    assert error.hint.startswith("perhaps vp9_idct8")


def test_an_empty_stage_body_counts_nothing(tmp_path: Path) -> None:
    (entry,) = load_text(tmp_path, spec_text(in_stage("pass")))
    (k,) = inventory([entry], tmp_path)["kernels"]
    assert k["operations_an_item"] == 0 and k["stages"][0]["loads"] == 1
