# SPDX-License-Identifier: BSD-2-Clause
"""The manifest: of the documented form, in step with the files, and with the C tables."""

import copy
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from spec_support import HEAD, in_stage, load_text, spec_text

from daedalus.generator.compile.emit import Generated, generate
from daedalus.generator.options import parse_variant, variant_name

SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "manifest.schema.json").read_text())
SIZES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4, "int32_t": 4}

GUARDS = {"neon": "NEON", "vector": "VECTORS", "glsl": "VULKAN", "qpu": "DRM", "c": ""}


@pytest.fixture(scope="module")
def manifest(generated: Generated) -> dict:
    return json.loads(generated.files["manifest.json"])


def valid(document: dict) -> None:
    jsonschema.validate(document, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_schema_itself_and_the_manifest_are_valid(manifest: dict) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    valid(manifest)


SPOILT: dict[str, Callable[[dict], object]] = {
    "no version": lambda m: m.pop("version"),
    "another version": lambda m: m.update(version=2),
    "an extra key": lambda m: m.update(date="today"),
    "no kernels": lambda m: m.update(kernels=[]),
    "an absolute path": lambda m: m["kernels"][0].update(spec="/home/x/spec.py"),
    "a path upwards": lambda m: m["files"].update({"../x.c": "0" * 64}),
    "a short hash": lambda m: m["files"].update({"x.c": "0"}),
    "a meta of odd size": lambda m: m["kernels"][0].update(meta_size=7),
    "an unknown target": lambda m: m["kernels"][0]["variants"][0].update(target="sse"),
    "three items": lambda m: m["kernels"][0]["variants"][0].update(items=3),
    "half a range": lambda m: m["kernels"][0]["classes"][0]["when"].update(eob=[1]),
    "a source twice": lambda m: m["sources"]["prod"]["any"].extend(["src/a.c", "src/a.c"]),
    "a header as a source": lambda m: m["sources"]["prod"]["any"].append("src/a.h"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_the_schema_refuses(case: str, manifest: dict) -> None:
    spoilt = copy.deepcopy(manifest)
    SPOILT[case](spoilt)
    with pytest.raises(jsonschema.ValidationError):
        valid(spoilt)


def test_files_and_their_hashes(generated: Generated, manifest: dict) -> None:
    others = {p: t for p, t in generated.files.items() if p != "manifest.json"}
    assert manifest["files"] == {
        p: hashlib.sha256(t.encode()).hexdigest() for p, t in others.items()
    }


def test_files_are_sorted(manifest: dict) -> None:
    assert list(manifest["files"]) == sorted(manifest["files"])
    assert [k["id"] for k in manifest["kernels"]] == sorted(k["id"] for k in manifest["kernels"])


def test_every_source_is_listed_once_a_library(manifest: dict) -> None:
    sources = {p for p in manifest["files"] if p.endswith(".c")}
    listed = {}
    for half, parts in manifest["sources"].items():
        both = [path for part in parts.values() for path in part]
        assert len(set(both)) == len(both) and set(both) <= sources
        listed[half] = set(both)
    assert listed["prod"] | listed["others"] == sources
    assert "src/table.c" in listed["prod"] & listed["others"]


def test_variants_are_in_step(manifest: dict) -> None:
    for k in manifest["kernels"]:
        classes = [c["name"] for c in k["classes"]]
        assert classes[-1] == "full" and k["classes"][-1]["when"] == {}
        names = [v["name"] for v in k["variants"]]
        assert len(set(names)) == len(names)
        for v in k["variants"]:
            kernel_id, options = parse_variant(v["name"])
            assert kernel_id == k["id"]
            assert (options.target, options.class_name) == (v["target"], v["class"])
            assert list(options.assume) == v["assume"]
            for number in ("items", "rows", "points"):
                assert options.choice(number) == v[number]
            assert v["name"] == variant_name(k["id"], options)
            assert v["class"] in classes
            part = "any" if v["target"] == "c" else "_".join([v["target"], *v["needs"]])
            kind = "" if part == "any" else f".{part}"
            assert v["file"] == f"src/{k['codec']}/{k['id']}{kind}.c"
            assert v["file"] in manifest["files"]
            assert v["file"] in manifest["sources"]["prod" if v["prod"] else "others"][part]
        for name in classes:  # something for every item, on every machine
            assert any(v["class"] == name and v["target"] == "c" and v["prod"]
                       for v in k["variants"])  # fmt: skip
        ranks = [v["rank"] for v in k["variants"]]
        assert len(set(ranks)) == len(ranks)
        targets = ("neon", "vector", "c", "glsl", "qpu")
        order = [(targets.index(v["target"]), not v["prod"]) for v in sorted(
            k["variants"], key=lambda v: v["rank"])]  # fmt: skip
        assert order == sorted(order)  # NEON before C, in each prod before the others


def test_meta_has_no_gaps(manifest: dict) -> None:
    for k in manifest["kernels"]:
        at = 0
        for field in k["meta"]:
            size = SIZES[field["type"]]
            assert field["offset"] == at and at % size == 0, field
            at += size * field.get("count", 1)
        assert at == k["meta_size"] and k["meta_size"] % 4 == 0


def test_meta_of_mixed_types(tmp_path: Path) -> None:
    """Natural alignment with explicit padding, in declaration order."""
    body = 'k.param("a", u32, 0, 1)\nk.param("b", u16, 0, 1)\nk.param("d", u8, 0, 1)\n'
    text = spec_text(body + in_stage("pass"))
    (kernel,) = generate(load_text(tmp_path, text)).manifest["kernels"]  # type: ignore[misc]
    fields = [(f["name"], f["offset"], f.get("count", 0)) for f in kernel["meta"]]
    assert fields == [("px_off", 0, 0), ("p", 4, 0), ("reserved1", 5, 3), ("a", 8, 0),
                      ("b", 12, 0), ("d", 14, 0), ("reserved", 15, 1)]  # fmt: skip
    assert kernel["meta_size"] == 16


def test_the_table_contains_the_variants(generated: Generated, manifest: dict) -> None:
    text = generated.files["src/table.c"]
    rows = re.findall(r"^  (\w+)\((daedalus_\w+), (\w+), (\d+), (\d+)\)$", text, re.MULTILINE)
    want = [
        (
            v["target"].upper() + ("" if v["prod"] else "_OTHER"), v["name"],
            "".join(f"DAEDALUS_NEEDS_{n.upper()}" for n in v["needs"]) or "0",
            str([c["name"] for c in k["classes"]].index(v["class"])), str(v["rank"]),
        )
        for k in manifest["kernels"] for v in k["variants"]
    ]  # fmt: skip
    assert rows == want
    for macro in {row[0] for row in rows}:
        target, _, other = macro.lower().partition("_")
        before, _, rest = text.partition(f"#define {macro}(n, f, c, r) {{")
        guards = re.findall(r"^#(?:if (.+)|endif|else)$", before, re.MULTILINE)
        guard = GUARDS[target] and f"DAEDALUS_HAVE_{GUARDS[target]}"
        wanted = [g for g in (guard, other and "defined(DAEDALUS_OTHERS)") if g]
        assert (guards[-1] if guards else "") == " && ".join(wanted), macro
        entry = rest.partition("}")[0]
        assert f'.target = "{target}"' in entry
        assert f".prod = {'false' if other else 'true'}," in entry


def test_functions_are_defined_and_declared(generated: Generated) -> None:
    for v in generated.variants:
        header = generated.files[f"src/{v.kernel.codec}/variants.h"]
        if v.is_gpu:
            kind = "gpu" if v.shader is not None else "qpu"
            text = " ".join(generated.files[v.file].split())
            assert f"const daedalus_{kind}_code {v.name} = {{" in text
            assert re.search(rf"extern const daedalus_{kind}_code [^;]*\b{v.name}\b", header)
            continue
        for name in (v.name, v.item_name):
            assert re.search(rf"\b{name}\(", generated.files[v.file]), name
            assert name in header


def test_aliases_and_every_dispatch_function(generated: Generated, manifest: dict) -> None:
    for k in manifest["kernels"]:
        header = generated.files[f"include/daedalus/{k['codec']}.h"]
        source = generated.files[f"src/{k['codec']}/dispatch.c"]
        for what in ("dispatch", "recipe_dispatch", "append"):
            assert f"daedalus_{what}_{k['id']}(" in header
            assert f"daedalus_{what}_{k['id']}(" in source
        for alias in k["aliases"]:
            assert f'"{alias}"' in generated.files["src/table.c"]
    assert "vp9_lpf4" in {a for k in manifest["kernels"] for a in k["aliases"]}


def test_another_specs_manifest_is_of_the_same_form(tmp_path: Path) -> None:
    head = HEAD.replace('"a test"', '"a test", decoders={"dec": "px px.stride c! p"}')
    text = spec_text(in_stage("pass")).replace(HEAD, head)
    made = generate(load_text(tmp_path, text))
    valid(json.loads(made.files["manifest.json"]))
    assert "src/decoder_dec.c" in made.manifest["sources"]["prod"]["any"]  # type: ignore[index]
