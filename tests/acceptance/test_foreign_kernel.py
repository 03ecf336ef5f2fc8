# SPDX-License-Identifier: BSD-2-Clause
"""Kernels of a codec that nothing here knows: from `new` to all targets, verified; core untouched.

The finished specs, `hevc_idst4.py` and `hevc_sao8.py` beside this file, are put into a copy of the
tree where `new` has written their beginning. What the copy's git says has changed is the claim that
is tested. Of the built-in kernels the copy has a codec only, so that little is compiled that other
tests compile.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from copied_tree import Tree
from spec_support import write_spec

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native

SPEC = Path(__file__).with_name("hevc_idst4.py").read_text()
GATHER = Path(__file__).with_name("hevc_sao8.py").read_text()
ITEMS = 10_000
# Neither the rounding nor the limit can be told from a plainer operation by any item.
UNTOLD = """# SPDX-License-Identifier: BSD-2-Clause
\"\"\"What looks as if it rounded and limited, and does neither.\"\"\"

from daedalus.dsl.lang import KernelBuilder, clip_u8, kernel, min, u8


@kernel(clause="none: an example")
def hevc_untold(k: KernelBuilder) -> None:
    \"\"\"Subtracts up to three.\"\"\"
    dst = k.plane("dst", u8, rows=(0, 4), cols=(0, 8), access="inout")
    with k.stage(y=4, x=8) as (y, x):
        same = (2 * dst[y, x] + 1) >> 1
        dst[y, x] = clip_u8(same - min(same, 3))
"""
KEPT = "h264"  # the codec


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The copy; what one test puts there the next one finds."""
    return Tree(tmp_path_factory.mktemp("copy") / "tree", KEPT)


def verified(tree: Tree, name: str, text: str, wanted: set[str]) -> None:
    """Goes the page's steps with a finished spec; `wanted` are variants that rules choose."""
    before = tree.changed()
    tree.run("new", f"hevc_{name}")
    spec = tree.folder / "dsl" / "kernels" / "hevc" / f"{name}.py"
    assert spec.read_text() != text
    spec.write_text(text)
    tree.run("gen")
    said = json.loads(tree.run("check", f"hevc_{name}", "--items", str(ITEMS), "--json"))
    results = said["results"]
    variants = [r for r in results if r["variant"] != "dispatch"]
    targets = {("c", "native"), ("vector", "native"), ("neon", "native"), ("qpu", "simulator")}
    if not native.is_arm():
        targets -= {("neon", "native")}
        targets |= {("neon", f"qemu {native.CPU}"), ("neon", "simde")}
    found = {(r["target"], r["device"]) for r in variants}
    assert found >= targets and {t for t, _ in found - targets} <= {"glsl"}
    assert found > targets or said["skipped"]  # without a Vulkan device, which is said
    assert {r["variant"].split("__")[1] for r in variants if "__" in r["variant"]} >= wanted
    for r in results:
        assert r["mismatches"] == 0 and r["out_of_bounds"] == 0, r
        # The public functions for many items get regular rows.
        wanted_items = {"items": 1000}.get(r["variant"], ITEMS)
        assert r["conformant"] >= wanted_items, r
    assert f"daedalus_hevc_{name}__neon_full" in tree.run("witness", f"hevc_{name}")
    own = {"dsl/kernels/hevc/__init__.py", f"dsl/kernels/hevc/{name}.py"}
    changed = tree.changed()
    assert changed >= own
    assert all(p.startswith("generated/") for p in changed - own - before), changed


@pytest.mark.campaign
def test_from_new_to_verified_without_a_change_in_the_core(tree: Tree) -> None:
    wanted = {"neon_full_x2", "vector_full_x2", "c_full", "qpu_full_p4_word_keep", "qpu_full_p2"}
    verified(tree, "idst4", SPEC, wanted)
    tree.run("gen", "--check")

    # Code that is right passes `check` where no item can show what its instructions are for.
    tree.run("new", "hevc_untold")
    (tree.folder / "dsl" / "kernels" / "hevc" / "untold.py").write_text(UNTOLD)
    tree.run("gen")
    checked = json.loads(tree.run("check", "hevc_untold", "--items", "200", "--json"))["results"]
    assert checked and not any(r["mismatches"] or r["out_of_bounds"] for r in checked)


@pytest.mark.campaign
def test_a_kernel_that_gathers_goes_the_same_way(tree: Tree) -> None:
    wanted = {"neon_full", "vector_full", "c_full", "qpu_full_p16_word", "qpu_full_p8"}
    verified(tree, "sao8", GATHER, wanted)
    code = tree.folder / "generated" / "src" / "hevc" / "hevc_sao8.neon.c"
    assert "vqtbl1_u8(" in code.read_text()


# ------------------------------------------------------------------ the standard's own formula

TRANS_MATRIX = np.array(
    [[29, 55, 74, 84], [74, 74, 0, -74], [84, -29, -74, 55], [55, -84, 74, -29]]
)


def transformed(x: list[int]) -> list[int]:
    """8.6.4.2: y[i] is the sum over j of transMatrix[j][i] * x[j]."""
    return [sum(int(TRANS_MATRIX[j][i]) * x[j] for j in range(4)) for i in range(4)]


def reconstructed(pred: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The block that H.265 gives for scaled coefficients d and a prediction, both [y][x], 8 bit.

    8.6.4: columns, rounded by 7 and limited to 16 bits, then rows. 8.6.2: bdShift = 20 - 8.
    """
    out = np.empty((4, 4), dtype=np.int64)
    g = np.empty((4, 4), dtype=np.int64)
    for x in range(4):
        e = transformed([int(d[y][x]) for y in range(4)])
        for y in range(4):
            g[y][x] = min(max((e[y] + 64) // 128, -32768), 32767)
    for y in range(4):
        r = transformed([int(g[y][x]) for x in range(4)])
        for x in range(4):
            residual = (r[x] + 2048) // 4096
            out[y][x] = min(max(int(pred[y][x]) + residual, 0), 255)
    return out


def kernel_of(folder: Path, text: str) -> Kernel:
    write_spec(folder, text)
    (entry,) = load(folder)
    return entry.kernel


def offset(pred: np.ndarray, offsets: np.ndarray, first: int) -> np.ndarray:
    """8.7.3.2: bandTable maps four neighbours of the 32 bands, the first after the last, to 1..4;
    SaoOffsetVal[0] is 0."""
    table = [0] * 32
    for k in range(4):
        table[(k + first) % 32] = k + 1
    values = [0, *(int(v) for v in offsets)]
    flat = [min(max(int(p) + values[table[int(p) // 8]], 0), 255) for p in pred.reshape(-1)]
    return np.array(flat).reshape(pred.shape)


def _formula(items: interp.Items, n: int) -> np.ndarray:
    """What the standard gives for an item of either kernel."""
    buffers = items.buffers
    if "coeffs" in buffers:
        return reconstructed(buffers["dst"][n], buffers["coeffs"][n])
    return offset(buffers["dst"][n], buffers["offsets"][n], int(items.params["first"][n]))


def share_equal(kernel: Kernel, count: int) -> tuple[int, int]:
    """Conformant items of all kinds, and how many of them the formula gives too."""
    compared = equal = 0
    for kind in ("conformant", "boundary"):
        items = vectors.make_items(kernel, count, 1, kind)
        result = interp.run(kernel, items)
        conformant = result.conformant(kernel.defaults)
        for n in np.flatnonzero(conformant):
            compared += 1
            equal += bool((result.buffers["dst"][n] == _formula(items, n)).all())
    return compared, equal


def test_the_interpreter_computes_the_standards_formula(tmp_path: Path) -> None:
    compared, equal = share_equal(kernel_of(tmp_path, SPEC), ITEMS)
    assert compared >= ITEMS and equal == compared


def test_the_gathering_one_computes_its_formula(tmp_path: Path) -> None:
    compared, equal = share_equal(kernel_of(tmp_path, GATHER), 400)
    assert compared >= 400 and equal == compared


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("(29, 55, 74, 84)", "(29, 55, 74, 85)"), ("round_shift(e, 7)", "e >> 7"),
     ("round_shift(r, 12)", "r >> 12"), ("coeffs[:, x]", "coeffs[x, :]")],
)  # fmt: skip
def test_the_formula_tells_a_wrong_spec(right: str, wrong: str, tmp_path: Path) -> None:
    assert SPEC.count(right) == 1
    compared, equal = share_equal(kernel_of(tmp_path, SPEC.replace(right, wrong)), 400)
    assert equal < compared


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("- first, 5", "- first, 4"), ("band <= 3, offset", "band <= 4, offset"),
     (">> 3) - first", ">> 3) + first")],
)  # fmt: skip
def test_the_formula_tells_a_wrong_gather(right: str, wrong: str, tmp_path: Path) -> None:
    assert GATHER.count(right) == 1
    compared, equal = share_equal(kernel_of(tmp_path, GATHER.replace(right, wrong)), 60)
    assert equal < compared
