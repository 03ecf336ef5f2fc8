# SPDX-License-Identifier: BSD-2-Clause
"""What the scripts of this folder tell `daedalus v3d programs`: a JSON object a line on stdout."""

import json
from typing import Any

import numpy as np


def compared(what: str, found: Any, expected: Any, bound: float) -> None:
    """Reports how far two arrays are apart: the greatest difference, to be at most `bound`.

    Arrays of other shapes, and NaN on one side, count as infinitely far apart.
    """
    left, right = np.asarray(found), np.asarray(expected)
    if left.shape != right.shape or not left.size:
        error = np.inf
    else:
        error = float(np.abs(left.astype(np.complex128) - right).max())
    told = {"what": what, "values": left.size, "bound": bound}
    # JSON has no infinity: null is a difference without measure.
    print(json.dumps({**told, "error": error if np.isfinite(error) else None}), flush=True)
