# SPDX-License-Identifier: BSD-2-Clause
"""Comparisons that ranges decide go, and with them what hangs on them."""

from spec_support import kernel_of, spec_text

from daedalus.dsl import interp, vectors
from daedalus.dsl.build import known_outcome
from daedalus.dsl.ir import BOOLEAN
from daedalus.generator.passes.decide import decide_comparisons


def test_decided_masks_and_selections_go(tmp_path):
    kernel = kernel_of(
        tmp_path,
        spec_text(
            """
            with k.stage(x=8) as x:
                a = px[0, x]
                with k.when((a <= 255) & (a > -1)):
                    px[0, x] = select(a >= 300, 7, select(a <= 500, a, 9))
                with k.when(a > 255):
                    px[1, x] = 3
                with k.when((a > 255) | (c[0, x] > 4)):
                    px[2, x] = 1
            """
        ),
    )
    made = decide_comparisons(kernel)
    (stage,) = made.stages
    assert [s.index[0].const for s in stage.stores] == [0, 2]
    assert stage.stores[0].mask is None and stage.stores[0].value.op == "load"
    assert len([n for n in stage.nodes() if n.op in BOOLEAN]) == 1
    items = vectors.make_items(kernel, 300, 1)
    before, after = interp.run(kernel, items), interp.run(made, items)
    assert (before.buffers["px"] == after.buffers["px"]).all()


def test_a_kernel_that_never_stores_keeps_a_stage(tmp_path):
    """Its masks are decided all the same: compilers warn of comparisons that cannot hold."""
    text = "with k.stage(x=8) as x:\n    with k.when(px[0, x] > 255):\n        px[1, x] = 3\n"
    made = decide_comparisons(kernel_of(tmp_path, spec_text(text)))
    (store,) = made.stages[0].stores
    assert store.mask is not None and known_outcome(store.mask) is False
