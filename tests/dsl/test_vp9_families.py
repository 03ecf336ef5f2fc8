# SPDX-License-Identifier: BSD-2-Clause
"""The members of VP9's families against the standard's own wording."""

import numpy as np
import pytest
from vp9_small import inverse, predicted

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.dsl.kernels.vp9.filters import SUBPEL_FILTERS
from daedalus.generator.compile.registry import load

KERNELS = {e.kernel.id: e.kernel for e in load() if e.kernel.codec == "vp9"}
TRANSFORMS = sorted(k.id for k in KERNELS.values() if k.family == "vp9_inverse")
FILTERED = sorted(k.id for k in KERNELS.values() if k.family == "vp9_mc")
WHOLE = sorted(k.id for k in KERNELS.values() if k.family == "vp9_whole")
SIZES = (4, 8, 16)  # of both transforms
WIDTHS = (4, 8, 16, 32, 64)


def of_depths(names: set[str], members: list[str]) -> None:
    """Each is there for 8 bits, and for more."""
    assert set(members) == names | {f"{name}_high" for name in names}


def white(kernel: Kernel, items: interp.Items) -> np.ndarray:
    """The largest sample of each item."""
    if "bits" in items.params:
        return (1 << items.params["bits"].astype(np.int64)) - 1
    return np.full(len(items.buffers["dst"]), kernel.buffer("dst").hi)


def test_the_families_have_these_members() -> None:
    mixed = (("dct", "adst"), ("adst", "dct"))
    both = {f"vp9_i{a}{n}_i{b}{n}" for a, b in mixed for n in SIZES}
    alone = {f"vp9_i{t}{n}" for t in ("dct", "adst") for n in SIZES}
    of_depths({*both, *alone, "vp9_idct32", "vp9_iwht4"}, TRANSFORMS)
    ways = [f"{n}{way}" for n in WIDTHS for way in ("h", "v", "hv")]
    of_depths({f"vp9_mc_{w}{end}" for w in ways for end in ("", "_avg")}, FILTERED)
    of_depths({f"vp9_{what}{n}" for what in ("copy", "avg") for n in WIDTHS}, WHOLE)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", ["conformant", "typical", "mixed", "boundary"])
def test_transforms_are_the_standards(name: str, kind: str) -> None:
    """Bit-exact for every input, and conformant exactly where the standard's bounds hold."""
    drawn = "boundary" if kind == "mixed" else kind
    bits = 20 if name.endswith("_high") else 16  # 8 + BitDepth
    items = vectors.make_items(KERNELS[name], 300, 5, drawn)
    if drawn == "boundary":  # what the class promises is not looked at here
        rng = np.random.default_rng(4)
        shape = items.buffers["coeffs"].shape
        coeffs = rng.choice([-32768, 32767, 0, 1, 900, -7000], shape) << (bits - 16)
        if kind == "mixed":  # some leave the bounds
            coeffs = coeffs * rng.choice([0, 1 / 1024, 1], (shape[0], 1, 1))
        items = interp.Items({**items.buffers, "coeffs": coeffs.astype(np.int64)}, items.params)
    got = interp.run(KERNELS[name], items)
    want, overflow = inverse(
        name.removeprefix("vp9_").removesuffix("_high"), items.buffers["coeffs"],
        items.buffers["dst"], white(KERNELS[name], items), bits,
    )  # fmt: skip
    assert (got.buffers["dst"] == want).all()
    assert (got.broken[f"t{bits}"] == overflow).all()
    assert overflow.any() == (drawn == "boundary") or "iwht" in name
    assert kind != "mixed" or not overflow.all()


@pytest.mark.parametrize("name", FILTERED)
def test_filtered_predictions_are_the_standards(name: str) -> None:
    kernel = KERNELS[name]
    items = vectors.make_items(kernel, 200, 5)
    got = interp.run(kernel, items)
    values, p = items.buffers["src"], items.params
    filters = np.array(SUBPEL_FILTERS)
    if "mx" in p:
        values = predicted(values, filters[p["filter"], p["mx"]], 2, white(kernel, items))
    if "my" in p:
        values = predicted(values, filters[p["filter"], p["my"]], 1, white(kernel, items))
    _compare(name, items, got, values)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_samples_are_taken_as_they_are(name: str) -> None:
    items = vectors.make_items(KERNELS[name], 60, 5)
    _compare(name, items, interp.run(KERNELS[name], items), items.buffers["src"])


def _compare(name: str, items: interp.Items, got: interp.Result, want: np.ndarray) -> None:
    if "avg" in name:
        want = (items.buffers["dst"] + want + 1) >> 1
    exists = np.arange(want.shape[1])[None, :] < items.params["rows"][:, None]
    assert (got.written["dst"] == exists[:, :, None]).all()
    assert (got.buffers["dst"] == want)[exists].all()
