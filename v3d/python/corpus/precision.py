# SPDX-License-Identifier: BSD-2-Clause
"""How far results may be from the true value: the Vulkan specification's table of precisions.

"Precision of GLSL.std.450 instructions" and "Precision of core SPIR-V instructions", for 32 bits.
Each operation gives the true value in double precision and the bound as an absolute error; where a
precision is inherited from an expression, the bounds of its steps are combined.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Operation:
    """A function of one or two floats."""

    glsl: str
    true: Callable[[Floats, Floats], Floats]
    error: Callable[[Floats, Floats, Floats], Floats]  # of x, y and the true value


def ulp(value: Floats) -> Floats:
    """The distance of the two floats around a value, or around the nearest normal one."""
    magnitude = np.maximum(np.abs(value), 2.0**-126)
    distance: Floats = np.exp2(np.floor(np.log2(magnitude)) - 23)
    return distance


def _log_error(x: Floats, true: Floats) -> Floats:
    inside = (x >= 0.5) & (x <= 2.0)
    return np.where(inside, 2.0**-21, 3 * ulp(true))


def _inverse_root(v: Floats) -> Floats:
    return 1.0 / np.sqrt(v)


def _square_root_error(v: Floats, true: Floats) -> Floats:
    """Of 1.0 / inversesqrt(v): 2 units for the root, 2.5 for the division."""
    root = _inverse_root(v)
    low = 1.0 / (root + 2 * ulp(root))
    high = 1.0 / (root - 2 * ulp(root))
    error: Floats = np.maximum(true - low, high - true) + 2.5 * ulp(high)
    return error


def _power_error(x: Floats, y: Floats, true: Floats) -> Floats:
    """Of exp2(y * log2(x))."""
    logarithm = np.log2(x)
    product = y * logarithm
    step = np.abs(y) * _log_error(x, logarithm) + ulp(product)
    steps: Floats = true * np.expm1(np.log(2.0) * step)
    return steps + (3 + 2 * (np.abs(product) + step)) * ulp(true + steps)


# The inputs x and y are positive; `signed` makes them of both signs.
_SIGNED = "({x} - 4.0)"
OPERATIONS: dict[str, Operation] = {
    "divide": Operation("{x} / {y}", lambda x, y: x / y, lambda x, y, t: 2.5 * ulp(t)),
    "reciprocal": Operation("1.0 / {x}", lambda x, y: 1.0 / x, lambda x, y, t: 2.5 * ulp(t)),
    "inversesqrt": Operation(
        "inversesqrt({x})", lambda x, y: _inverse_root(x), lambda x, y, t: 2 * ulp(t)
    ),
    "sqrt": Operation(
        "sqrt({x})", lambda x, y: np.sqrt(x), lambda x, y, t: _square_root_error(x, t)
    ),
    "exp2": Operation(
        f"exp2({_SIGNED})",
        lambda x, y: np.exp2(x - 4.0),
        lambda x, y, t: (3 + 2 * np.abs(x - 4.0)) * ulp(t),
    ),
    "exp": Operation(
        f"exp({_SIGNED})",
        lambda x, y: np.exp(x - 4.0),
        lambda x, y, t: (3 + 2 * np.abs(x - 4.0)) * ulp(t),
    ),
    "log2": Operation("log2({x})", lambda x, y: np.log2(x), lambda x, y, t: _log_error(x, t)),
    "log": Operation("log({x})", lambda x, y: np.log(x), lambda x, y, t: _log_error(x, t)),
    "pow": Operation(
        "pow({x}, {y})", lambda x, y: np.power(x, y), lambda x, y, t: _power_error(x, y, t)
    ),
    # The bound holds between -pi and pi.
    "sin": Operation(
        "sin({x} * 0.375)", lambda x, y: np.sin(x * 0.375), lambda x, y, t: 0 * t + 2.0**-11
    ),
    "cos": Operation(
        "cos({x} * -0.375)", lambda x, y: np.cos(x * 0.375), lambda x, y, t: 0 * t + 2.0**-11
    ),
    "atan": Operation(
        f"atan({_SIGNED})", lambda x, y: np.arctan(x - 4.0), lambda x, y, t: 4096 * ulp(t)
    ),
    "atan2": Operation(
        "atan({x}, {y})", lambda x, y: np.arctan2(x, y), lambda x, y, t: 4096 * ulp(t)
    ),
}


def inputs(rng: random.Random, n: int) -> bytes:
    """Positive floats below 8 with at most 16 significant bits: x - 4.0, x * 0.375 are exact."""
    values = [rng.randrange(1, 1 << 16) / 2.0**13 for _ in range(n)]
    for k in range(0, n, 9):
        values[k] = rng.choice((0.5, 1.0, 2.0, 4.0, 7.75, 3.0, 0.25, 1.0 / 8192, 1.5))
    return struct.pack(f"<{n}f", *values)


def outside(
    operation: str, x: NDArray[np.float32], y: NDArray[np.float32], got: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which results are further from the true value than is allowed."""
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    rule = OPERATIONS[operation]
    true = rule.true(wide_x, wide_y)
    allowed = rule.error(wide_x, wide_y, true)
    with np.errstate(invalid="ignore"):
        inside = np.abs(got.astype(np.float64) - true) <= allowed
    wrong: NDArray[np.bool_] = ~inside  # a NaN is outside
    return wrong
