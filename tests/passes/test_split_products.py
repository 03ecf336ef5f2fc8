# SPDX-License-Identifier: BSD-2-Clause
"""Products of sums that fold on the way."""

from spec_support import kernel_of, spec_text

from daedalus.dsl import interp, vectors
from daedalus.generator.passes.split_products import split_products


def test_products_of_merged_sums_stay_right(tmp_path):
    """A difference that folds away while its product is split (split_products)."""
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            with k.stage(i=8) as i:
                a, b = c[0, i], c[1, i]
                s, t = ((a + b) * 3) >> 3, (a * 3 + b * 3) >> 3
                y = (s - t) >> 1
                o = ((c[2, i] + c[3, i]) - y) * 5
                px[0, i] = clip_u8(o >> 8)
            """
        ),
    )
    items = vectors.make_items(kernel, 200, 1)
    split = split_products(kernel)
    assert (interp.run(split, items).buffers["px"] == interp.run(kernel, items).buffers["px"]).all()
