# SPDX-License-Identifier: BSD-2-Clause
"""How large a kernel may be: AV1's inverse DCT of 64 rows, on all targets, and against dav1d.

It is no kernel of the library. `av1_large.py` is its spec, `dav1d_itx.toml` describes dav1d's
table; a copy of the tree gets both.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from copied_tree import Tree
from spec_support import write_spec

from daedalus.dsl import interp
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native
from daedalus.generator.options import TARGETS

HERE = Path(__file__).parent
KERNELS = {"av1_idct16x64": 16, "av1_idct64x64": 64}
ITEMS = 300


@pytest.mark.campaign
def test_all_targets_do_transforms_of_64_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # lavapipe compiles the largest of these shaders for more than the 10 s of a device that hangs.
    monkeypatch.setenv("DAEDALUS_QPU_TIMEOUT_MS", "300000")
    tree = Tree(tmp_path / "tree", "av1")
    shutil.copy(HERE / "av1_large.py", tree.folder / "dsl/kernels/av1/large.py")
    shutil.copy(HERE / "dav1d_itx.toml", tree.folder / "codecs/decoders/dav1d/itx.toml")
    _without_others(tree.folder / "codecs")
    tree.run("gen")
    manifest = json.loads((tree.folder / "generated/manifest.json").read_text())
    targets = {k["id"]: {v["target"] for v in k["variants"]} for k in manifest["kernels"]}
    assert all(targets[kernel] == set(TARGETS) for kernel in KERNELS)
    said = json.loads(tree.run("check", *KERNELS, "--items", str(ITEMS), "--json"))
    own = {("c", "native"), ("vector", "native"), ("qpu", "simulator")}
    own |= {("neon", "native" if native.is_arm() else f"qemu {native.CPU}")}
    for kernel in KERNELS:
        results = [r for r in said["results"] if r["kernel"] == kernel]
        variants = [r for r in results if "__" in r["variant"]]
        found = {(r["target"], r["device"]) for r in variants}
        assert found >= own and ({t for t, _ in found} >= {"glsl"} or said["skipped"])
        for r in results:
            assert r["mismatches"] == 0 and r["out_of_bounds"] == 0 and r["conformant"] > 0, r
    told = json.loads(tree.run("oracle", *KERNELS, "--items", str(ITEMS), "--json"))
    compared = told["comparisons"]
    assert not told["not_compared"] and all(c["good"] for c in compared)
    for kernel in KERNELS:
        assert {c["mode"] for c in compared if c["kernel"] == kernel} >= {"c", "asm"}


def _without_others(codecs: Path) -> None:
    """Takes out what is compared with kernels that the copy has not."""
    compared, plain = codecs / "compared.toml", codecs / "plain.toml"
    text = re.sub(r"\[\[pointer\]\]\nkernel = \"vp9_(?:.+\n)+", "", compared.read_text())
    compared.write_text(f"pointer = []\n{text}")
    plain.write_text(plain.read_text().partition("[[entry]]")[0] + "entry = []\n")


def _exact(coeffs: np.ndarray, width: int) -> np.ndarray:
    """The residual, [y][x], by real numbers; the gain is the standard's: 1/8 of an orthonormal
    transform of these sizes, as far as it goes through rounding by 2 and by 4 bits."""

    def basis(n: int, used: int) -> np.ndarray:
        k, x = np.arange(used), np.arange(n)
        made = np.cos((2 * x[:, None] + 1) * k * np.pi / (2 * n))
        made[:, 0] *= np.sqrt(0.5)
        return made

    rows = basis(width, coeffs.shape[0]) @ coeffs  # [x][v]
    return (basis(64, 32) @ rows.T) / 4 / 16


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_a_cosine_transform(name: str, tmp_path: Path) -> None:
    """One coefficient at a time, within what rounding takes."""
    write_spec(tmp_path, (HERE / "av1_large.py").read_text())
    (entry,) = (e for e in load(tmp_path) if e.kernel.id == name)
    kernel, width = entry.kernel, KERNELS[name]
    wide = min(width, 32)
    places = [(h, v) for h in range(0, wide, 3) for v in range(0, 32, 5)]
    coeffs = np.zeros((len(places), wide, 32), np.int64)
    for n, (h, v) in enumerate(places):
        coeffs[n, h, v] = 4000 if n % 2 else -4000
    items = interp.Items(
        {"coeffs": coeffs, "dst": np.full((len(places), 64, width), 128)},
        {"eob": np.full(len(places), 32 * wide - 1)},
    )
    found = interp.run(kernel, items).buffers["dst"]
    for n in range(len(places)):
        wanted = np.clip(128 + _exact(coeffs[n], width), 0, 255)
        assert np.abs(found[n] - wanted).max() < 2, places[n]
