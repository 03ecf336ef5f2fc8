# SPDX-License-Identifier: BSD-2-Clause
"""A plane of 8x8 blocks, transformed by a compute shader: the toolkit's end-to-end work.

codecs/plane.toml names the shader and the kernel.  What the shader must leave is what the reference
interpreter makes of the kernel.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile import registry
from daedalus.v3d import shaders

WIDTH, HEIGHT = 1920, 1088  # pixels; the picture is 1080 high
BLOCKS = WIDTH * HEIGHT // 64
CASE = "plane"
_NAMES = Path("codecs", "plane.toml")
_BLOCKS_OF_A_WORKGROUP = 16
_DISTINCT = 1020  # blocks of a kind; each stands in the plane several times


@dataclass(frozen=True)
class Plane:
    """The work, as files in a folder and a case of vkrun's plans, and the picture it must leave."""

    folder: Path
    shader: str
    case: str
    picture: Array  # uint8 [HEIGHT, WIDTH]

    def check(self, device: str) -> None:
        """Compares what a device left in folder/<device> with the picture."""
        data = (self.folder / device / f"{CASE}.bin").read_bytes()
        found = np.frombuffer(data, np.uint8, WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
        wrong = np.argwhere(found != self.picture)
        if len(wrong):
            y, x = wrong[0]
            raise UserError(
                f"{device}: {self.shader} leaves {len(wrong)} of {found.size} pixels wrong; the"
                f" first at x {x}, y {y}: {found[y, x]}, the interpreter has {self.picture[y, x]}",
                "no time counts",
                EXIT_FAILED,
            )


def make(folder: Path, seed: int = 1) -> Plane:
    """Writes the shader, conformant blocks and where they lie to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = tomllib.loads((repo_root() / _NAMES).read_text())
    entry = registry.find(registry.load(), names["kernel"])
    assert entry is not None
    kernel = entry.kernel
    items = vectors.joined(
        *(vectors.make_items(kernel, _DISTINCT, seed, kind) for kind in ("conformant", "typical"))
    )
    order = np.random.default_rng(seed).permutation(BLOCKS) % items.count
    items = items.take(order)
    result = interp.run(kernel, items)
    if not result.conformant(kernel.defaults).all():
        raise AssertionError("a block breaks an assumption")
    shaders.compile_glsl((repo_root() / names["shader"]).read_text(), folder / "shader")
    _write(folder, items)
    lines = [
        f"case {CASE}",
        f"buffer dst {WIDTH * HEIGHT} file dst.bin",
        f"buffer coeffs {BLOCKS * 128} file coeffs.bin",
        f"buffer places {BLOCKS * 4} file places.bin",
        "pipeline p shader.spv",
        *(f"bind p {i} {name}" for i, name in enumerate(("dst", "coeffs", "places"))),
        f"push p 0 {WIDTH // 2}",
        f"dispatch p {BLOCKS // _BLOCKS_OF_A_WORKGROUP} 1 1",
        "end\n",
    ]
    return Plane(folder, names["shader"], "\n".join(lines), _picture(result.buffers["dst"]))


def _picture(blocks: Array) -> Array:
    """Blocks [BLOCKS, 8, 8] in the order of the plane as its pixels."""
    rows = blocks.reshape(HEIGHT // 8, WIDTH // 8, 8, 8).swapaxes(1, 2)
    return rows.reshape(HEIGHT, WIDTH).astype(np.uint8)


def _write(folder: Path, items: Items) -> None:
    """The shader's buffers; places are in pairs of pixels."""
    y, x = np.divmod(np.arange(BLOCKS), WIDTH // 8)
    places = (y * 8 * WIDTH + x * 8) // 2
    (folder / "dst.bin").write_bytes(_picture(items.buffers["dst"]).tobytes())
    (folder / "coeffs.bin").write_bytes(items.buffers["coeffs"].astype("<i2").tobytes())
    (folder / "places.bin").write_bytes(places.astype("<u4").tobytes())
