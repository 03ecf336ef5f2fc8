# SPDX-License-Identifier: BSD-2-Clause
"""Variants in machine code as they are checked in: their text is what their words are, they keep to
the bars, and there is one for every kernel whatever its memory."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from daedalus.generator.base import records
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure.gpu.compare import wishes
from daedalus.generator.options import QPU, variant_name
from daedalus.generator.targets.gpu import packed
from daedalus.v3d import tools

GENERATED = Path(__file__).parents[2] / "generated"
# Instructions an item in the steady state, loop control included, that the best variant may take,
# and of which class that is: of motion compensation at subpel positions 1 to 15, of CDEF inside the
# frame.
BARS = {w.kernel: (w.class_name, w.bar) for w in wishes() if w.bar is not None}
KERNELS = (
    *BARS, "vp9_lpf4_h", "vp9_lpf8_h", "vp9_mc_8h_avg", "sand128_nv12", "sand128_p010",
)  # fmt: skip
NAMES = [variant_name(e.kernel.id, s) for e in load() for s, _ in e.listed if s.target == QPU]


@cache
def _variants() -> dict[str, dict[str, Any]]:
    """By name, what the manifest says of it and of its kernel."""
    manifest = json.loads((GENERATED / "manifest.json").read_text())
    return {
        v["name"]: v
        | {"kernel": k["id"], "spec": k["spec"], "classes": [c["name"] for c in k["classes"]]}
        for k in manifest["kernels"]
        for v in k["variants"]
        if v["target"] == QPU
    }


@cache
def _assembly(kernel: str) -> dict[str, str]:
    """The texts of its variants by name."""
    entry = find(load(), kernel)
    assert entry is not None
    return {v.name: v.text for v in entry_variants(entry, (QPU,))}


def _code(v: dict[str, Any]) -> str:
    """What of its file is the variant's."""
    text = (GENERATED / v["file"]).read_text()
    return re.split(rf"const daedalus_qpu_code\s+{v['name']} =\s+{{\n", text)[1].partition("\n};")[
        0
    ]


def _certain(variants: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [v for v in variants if ".forms = 0," in _code(v)]


def _of(kernel: str) -> list[dict[str, Any]]:
    return [v for v in _variants().values() if v["kernel"] == kernel]


def test_there_are_bars() -> None:
    assert len(BARS) >= 9


@pytest.mark.parametrize("kernel", BARS)
def test_the_best_variant_keeps_to_the_bar(kernel: str) -> None:
    class_name, bar = BARS[kernel]
    prod = [v for v in _of(kernel) if v["prod"] and v["class"] == class_name]
    first = min(prod, key=lambda v: v["rank"])
    assert first["figures"]["an_item"] <= bar
    assert first["figures"]["trip"] >= first["figures"]["bound"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_there_is_a_variant_for_any_item_and_any_memory(kernel: str) -> None:
    full = [v for v in _of(kernel) if v["prod"] and v["class"] == "full"]
    assert any({"word", "unaligned"}.isdisjoint(v["name"].split("_")) for v in full)


@pytest.mark.parametrize("kernel", KERNELS)
def test_there_is_a_variant_of_certain_forms_for_any_item_and_any_memory(kernel: str) -> None:
    full = [v for v in _of(kernel) if v["prod"] and v["class"] == "full"]
    assert any({"word", "unaligned"}.isdisjoint(v["name"].split("_")) for v in _certain(full))


@pytest.mark.parametrize("kernel", KERNELS)
def test_behind_an_uncertain_form_stands_a_variant_without(kernel: str) -> None:
    for v in _of(kernel):
        if v["prod"] and not _certain([v]):
            behind = [w for w in _of(kernel) if w["prod"] and w["rank"] > v["rank"]]
            assert any(w["class"] in (v["class"], "full") for w in _certain(behind)), v["name"]


@pytest.mark.of_many
@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_the_words_are(name: str, tmp_path: Path) -> None:
    """What a person reads, assembled anew, is what the library holds; and it keeps the rules."""
    v = _variants()[name]
    text = tmp_path / "variant.s"
    text.write_text(_assembly(v["kernel"])[name])
    code, program = _code(v), str(tools.program())
    done = subprocess.run([program, "asm", str(text)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = [int(w, 16) for w in done.stdout.split()]
    array = re.search(r"\.packed = \(const char \*const\[\]\)\{([^}]*)NULL,\s*\}", code)
    assert array is not None
    assert array[1].split() == packed.text(packed.of_instructions(words))
    assert f".n_words = {len(words)}," in code
    assert len(words) == v["figures"]["instructions"]
    threads = str(v["figures"]["threads"])
    argv = [program, "check", "--threads", threads, str(text)]
    if "FORM_FLAGS_SWITCH" not in code:
        argv.insert(2, "--flags-lost")
    checked = subprocess.run(argv, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


# What a loop does for itself: it leads to no line of the spec.
OF_THE_LOOP = {
    "the item's record", "next trip", "whether there is a trip more", "the last trip's stores",
    "for later in the trip", "set aside",
}  # fmt: skip
WAITS = ("nop", "thrsw", "tmuwt", "ldunif")
A_LINE = re.compile(r"(s\d+ )?(\w+\.py:)?\d+ \w")


def of_the_spec(text: str) -> list[list[str]]:
    """The remarks of those instructions of the loop that compute or access what the spec asks for:
    not of those that wait, take a uniform or do what is the loop's own."""
    loop = [line for line in text.split("loop:\n")[1].splitlines() if line.strip()]
    (branch,) = [n for n, line in enumerate(loop) if re.match(r"\s+bu?\.\w+ loop", line)]
    found = []
    for line in loop[: branch + 4]:  # three more are executed behind a branch
        code, _, comment = line.partition("#")
        works = [op for op in code.strip().split(" ; ") if not op.startswith(WAITS)]
        remarks = [r for r in comment.strip().split(" | ") if r and not r.startswith("uniform ")]
        if works and not (remarks and OF_THE_LOOP.issuperset(remarks)):
            found.append(remarks)
    return found


# Of the first one 502 of 561, of the others 478 of 553 and more.
FEWER = {"daedalus_vp9_mc_4hv_avg__qpu_sub4_p16_word_unaligned_dot_shuffle": 0.89}
FEWER |= {
    f"daedalus_vp9_intra_vert_{mode}16{end}__qpu_full_p16": 0.86
    for mode in ("left", "right")
    for end in ("", "_high")
}


@pytest.mark.parametrize("name", NAMES)
def test_comments_lead_to_the_spec(name: str) -> None:
    """Of the loop's instructions that are there for the spec nine of ten tell a line of it."""
    text = _assembly(_variants()[name]["kernel"])[name]
    asked = of_the_spec(text)
    told = [remarks for remarks in asked if any(map(A_LINE.match, remarks))]
    assert asked and len(told) >= FEWER.get(name, 0.9) * len(asked)
    assert max(map(len, text.splitlines()[:20])) <= 100


def test_what_computes_without_a_line_is_seen() -> None:
    """And what waits, or is the loop's own, is not asked for one."""
    text = """loop:
    nop ; ldunifrf.rf2                  # uniform value:dst
    umin tmuau, rf3, rf1 ; thrsw        # the item's record | uniform 0xfffffffb (vec3)
    mov rf3, rf4 ; ldtmu.rf9            # next trip | 94 load dst
    and rf7, rf9, rf5                   # 168 rows
    shl rf3, rf3, 4
    add rf7, rf7, rf2                   # uniform 0x00000001
    bu.anyna loop, r:unif               # next trip
    thrsw
    tmuwt - ; sub rf7, rf7, 7
    nop
    shl rf3, rf3, 4
"""
    assert of_the_spec(text) == [["next trip", "94 load dst"], ["168 rows"], [], [], []]


def test_every_variant_has_its_schedule_on_record() -> None:
    """What a search found, for the programs that are selected now."""
    known = records.by_variant(records.SCHEDULES)
    recorded = {n: r["trip"] for n, r in known.items() if "none" not in r}
    assert set(recorded) == set(NAMES), qpu_choices.REPAIR
    assert recorded == {n: v["figures"]["trip"] for n, v in _variants().items() if n in recorded}


@pytest.mark.parametrize("name", [n for n in NAMES if "_lpf" in n or "idct" in n])
def test_every_line_that_stores_is_told(name: str) -> None:
    """Also of stores that wait for the stage's loads: lines of the spec that store, in comments."""
    v = _variants()[name]
    spec = (GENERATED.parent / v["spec"]).read_text().splitlines()
    text = _assembly(v["kernel"])[name]
    told = {int(n) for n in re.findall(r"(?<![:\w])(\d+) store dst", text)}
    assert told and all(re.search(r"\] = ", spec[n - 1]) for n in told)
    assert not re.search(r"tmud, [^#]*# (s\d+ )?\d+ stage$", text, re.MULTILINE)
