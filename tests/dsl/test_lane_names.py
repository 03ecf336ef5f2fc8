# SPDX-License-Identifier: BSD-2-Clause
"""Lanes are C variables beside what is declared; values have names, too."""

import pytest
from spec_support import kernel_of, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.registry import load


@pytest.mark.parametrize("taken", ["px", "c", "p", "px_stride"])
def test_a_lane_cannot_hide_a_declared_name(tmp_path, taken):
    """In C, lanes are variables beside parameters, buffers and strides."""
    with pytest.raises(SpecError, match=f"{taken} is declared twice"):
        kernel_of(tmp_path, spec_text(f"with k.stage({taken}=8) as i:\n    px[0, i] = 1"))


def test_values_have_the_names_of_variables_in_modules_beside_the_spec():
    """vp9/small.py holds what transforms of several specs consist of."""
    kernels = {e.kernel.id: e.kernel for e in load()}
    for name in ("vp9_idct8", "vp9_idct8_high"):
        named = {n.name for s in kernels[name].stages for n in s.nodes()}
        assert {"e0", "m5", "o7"} <= named
