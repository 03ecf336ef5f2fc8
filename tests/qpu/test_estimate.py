# SPDX-License-Identifier: BSD-2-Clause
"""Estimates of what an item takes: by hand, and beside the timing model on items of tools/bench."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure.gpu import bench, compare, qpu
from daedalus.generator.options import QPU, options_of, parse_variant, variant_name
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.estimate import clocks
from daedalus.generator.targets.qpu.temps import SPACE as SCRATCH
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.verify.qpu_trial import selected

GENERATED = repo_root() / "generated"
ITEMS = 3840  # ten trips of all threads, where a trip has sixteen
# Every lookup counts as if caches held nothing. A line that items side by side share counts for
# each of them (loop filters, 4.3), and one that single elements of an item share counts for each
# of these (MC of 16 columns, 3.7). What takes long, and so is divided, is known better where it
# has words (MC of 64 columns both ways, 2.9).
AT_MOST, OF_THE_SLOW, SLOW = 4.5, 3.0, 300
PROD = [
    variant_name(e.kernel.id, s) for e in load() for s, prod in e.listed if s.target == QPU and prod
]
# One a way in which they look things up: elements of bytes and of vectors, one element an item and
# all, records by unifa. (Scratch memory is among the others: it takes the simulator longest.)
SOME = [
    "daedalus_av1_cdef8__qpu_inpri_p16_word",
    "daedalus_h264_idct4__qpu_full_p4_word", "daedalus_h264_idct8__qpu_full",
    "daedalus_sand128_nv12__qpu_full_p16_word", "daedalus_sand128_p010__qpu_full_p4",
    "daedalus_vp9_lpf4_v__qpu_full_p4_word", "daedalus_vp9_lpf8_h__qpu_full",
    "daedalus_vp9_mc_8h__qpu_full_p8",
]  # fmt: skip


@cache
def _stated(name: str) -> int:
    """Clocks of an item, as the runtime gets them."""
    kernel_id = parse_variant(name)[0]
    (codec,) = {e.kernel.codec for e in load() if e.kernel.id == kernel_id}
    text = (GENERATED / "src" / codec / f"{kernel_id}.qpu.c").read_text()
    own = re.split(rf"const daedalus_qpu_code\s+{name} =\s+\{{", text)[1]
    found = re.search(r"\.clocks = (\d+),", own)
    assert found is not None
    return int(found[1])


def _check(name: str, data: Path, folder: Path) -> None:
    kernel_id, options = name.removeprefix("daedalus_").split("__")
    entry = find(load(), kernel_id)
    assert entry is not None
    (class_name,) = {s.class_name for s, _ in entry.listed if s.name == options}
    laid_out = qpu.layout(kernel_id, class_name, data, ITEMS, folder)
    s = compare.program(kernel_id, name.removeprefix("daedalus_"))
    code = assembly(qpu_choices.schedule(name, s.programs).code)
    modelled = qpu.clocks(name, s, code, laid_out) / ITEMS
    ratio = _stated(name) / modelled
    most = OF_THE_SLOW if modelled >= SLOW and "_word" in name else AT_MOST
    assert 1 <= ratio <= most, f"{_stated(name)} clocks are stated, {modelled:.1f} modelled"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("estimate") / "items"
    kernels = {_kernel(name) for name in PROD}
    bench.write_data(path, [e for e in load() if e.kernel.id in kernels], 32)
    return path


@pytest.mark.parametrize("name", SOME)
def test_an_estimate_is_above_what_is_modelled(name: str, data: Path, tmp_path: Path) -> None:
    _check(name, data, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("name", [name for name in PROD if name not in SOME])
def test_all_estimates_are(name: str, data: Path, tmp_path: Path) -> None:
    _check(name, data, tmp_path)


# Of a frame, as they have no demand on alignment and read bytes one by one; and of scaled
# references, where each pixel has its own eight samples to read.
TWO_SUBMISSIONS = {"daedalus_av1_cdef_dir__qpu_full_p4"}
SCALED = "daedalus_vp9_scaled_"


def test_a_frame_is_one_submission() -> None:
    """1920x1088: 32,640 items, more of what does 4x4 pixels, fewer of what does wide blocks
    (runtime/gpu/bound.h)."""
    text = (repo_root() / "runtime" / "gpu" / "bound.h").read_text()
    found = re.search(r"CLOCKS_A_SUBMISSION \(UINT64_C\((\d+)\) << (\d+)\)", text)
    assert found is not None
    most = (int(found[1]) << int(found[2])) - 40_000
    a_trip = 24 * 16  # items at most
    pixels = {e.kernel.id: _pixels(e.kernel) for e in load()}
    pixels |= {name: 16 for name in pixels if name.endswith("_idct4")}
    longer = {
        name
        for name in PROD
        if _stated(name) * (1920 * 1088 // pixels[_kernel(name)] + a_trip) > most
    }
    assert {n for n in longer if not n.startswith(SCALED)} == TWO_SUBMISSIONS
    assert any(n.startswith(SCALED) for n in longer)


def _kernel(name: str) -> str:
    return name.removeprefix("daedalus_").split("__")[0]


def _pixels(kernel: Kernel) -> int:
    """Of what an item predicts; of edges there is one for each 8x8 pixels."""
    member = dict(kernel.member)
    size = int(member.get("size", "0"))
    return size * size or 8 * max(8, int(member.get("width", "8")))


def test_the_manifest_says_the_same() -> None:
    manifest = json.loads((GENERATED / "manifest.json").read_text())
    figures = {v["name"]: v.get("figures") for k in manifest["kernels"] for v in k["variants"]}
    assert all(figures[name]["clocks"] == _stated(name) for name in PROD)


@pytest.mark.parametrize(
    ("type_", "shift", "offset", "align", "items", "space", "expected"),
    [
        ("u32", 2, 0, 64, 1, "src", 9),  # 16 words in a line: 16 clocks
        ("vec4", 4, 0, 64, 1, "src", 25),  # 64 words in 4 lines: 64
        ("u32", 6, 0, 64, 1, "src", 25),  # 16 lines: 64
        ("u8", 6, 0, 4, 1, "src", 25),  # a byte is in one line, wherever it lies
        ("vec4", 6, 0, 4, 1, "src", 26),  # 17 lines, as each element is in two: 68
        ("vec4", 6, 4, 4, 1, "src", 26),  # wherever the first element lies
        ("vec4", 6, 0, 16, 1, "src", 25),  # 16 lines, as it never is
        ("u32", 2, 0, 64, 16, "src", 2),  # a line for each of the items: 64
        ("u32", 2, 0, 64, 16, SCRATCH, 1),  # which lie together: 16
        ("u8", 0, 0, 4, 4, "src", 3),  # a line for each of the items: 16
        ("u8", 0, 0, 1, 4, "src", 4),  # four bytes in two lines, for each of the items: 32
        ("u8", 0, 0, 1, 4, "src 0 0 1", 4),  # also where each place has a space of its own
    ],
)
def test_a_lookup_by_hand(
    type_: str, shift: int, offset: int, align: int, items: int, space: str, expected: int
) -> None:
    """Beside nine instructions, which are three clocks an item where there is one."""
    b = Builder("one")
    base = b.op("add", b.uniform(space.split()[0]), offset)
    with b.loop(ahead=True) as loop:
        item = loop.carried(0)
        b.load(b.op("add", base, b.op("shl", b.element(), shift)), type_, space=space)
        after = b.op("add", item, 1)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, b.uniform("items")), "a0")
    assert clocks(b.program(), {"src": align}, items, 9) == expected


@pytest.mark.parametrize("rows", [40, 48])
def test_bytes_of_a_large_stage_are_aligned_no_better(tmp_path: Path, rows: int) -> None:
    """By hand, without issuing: of the four items of a trip each reads and writes four bytes of a
    row, in two lines. That takes the TMU 32 clocks and 16, and a trip's records 16 once: divided
    by three slices and four items, and rounded up, 4 a row and 2."""
    plane = '    d = k.plane("d", u8, rows=(0, 48), cols=(0, 4), access="inout")\n'
    stage = f"    with k.stage(x=4) as x:\n        for y in range({rows}):\n"
    does = "            d[y, x] = d[y, x] ^ 85\n"
    s = selected(kernel_of(tmp_path, HEAD + plane + stage + does), options_of("qpu"))
    assert clocks(s.programs[0], {"d": s.align[0]}, s.items, 0) == 4 * rows + 2


def test_a_store_by_hand() -> None:
    """Of 16 words in as many lines: the words' 16 clocks, as no line has to come in."""
    b = Builder("one")
    base = b.uniform("dst")
    with b.loop(ahead=True) as loop:
        item = loop.carried(0)
        b.store(b.op("add", base, b.op("shl", b.element(), 6)), [item], "u32", space="dst")
        after = b.op("add", item, 1)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, b.uniform("items")), "a0")
    assert clocks(b.program(), {"dst": 64}, 1, 9) == 9


def test_the_special_function_unit_by_hand() -> None:
    """Four of a slice's QPUs share it: six operations of 4 clocks are 8 clocks, beside three."""
    b = Builder("one")
    with b.loop(ahead=True) as loop:
        item = loop.carried(0)
        value = b.op("add", item, b.element())
        for _ in range(6):
            value = b.op("rot", value, 1)
        after = b.op("add", item, 1)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, b.uniform("items")), "a0")
    assert clocks(b.program(), {}, 1, 9) == 11
