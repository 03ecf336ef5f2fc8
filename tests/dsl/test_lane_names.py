# SPDX-License-Identifier: BSD-2-Clause
"""Lanes are C variables beside what is declared."""

import pytest
from spec_support import kernel_of, spec_text

from daedalus.dsl.errors import SpecError


@pytest.mark.parametrize("taken", ["px", "c", "p", "px_stride"])
def test_a_lane_cannot_hide_a_declared_name(tmp_path, taken):
    """In C, lanes are variables beside parameters, buffers and strides."""
    with pytest.raises(SpecError, match=f"{taken} is declared twice"):
        kernel_of(tmp_path, spec_text(f"with k.stage({taken}=8) as i:\n    px[0, i] = 1"))
