# SPDX-License-Identifier: BSD-2-Clause
"""What operations compute, on numpy arrays of uint32: the integer operations, those on two f16, and
the exact ones on f32. docs/v3d-arithmetic.md says the same of the simulator; the tests compare.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.uint32]  # 16 elements


def _signed(x: Vector) -> NDArray[np.int32]:
    return x.view(np.int32)


def _bits(x: NDArray[np.int32] | NDArray[np.float32]) -> Vector:
    return np.ascontiguousarray(x).view(np.uint32)


def _sext24(x: Vector) -> Vector:
    return _bits(_signed(x << np.uint32(8)) >> np.int32(8))


def _by_halves(x: Vector, y: Vector, sign: int) -> Vector:
    low = (x + y if sign > 0 else x - y) & np.uint32(0xFFFF)
    high = np.uint32(0xFFFF0000)
    return low | ((x & high) + (y & high) if sign > 0 else (x & high) - (y & high))


def _f16(x: Vector) -> NDArray[np.float32]:
    """The two halves as f32, as an array of 32."""
    return np.ascontiguousarray(x).view(np.float16).astype(np.float32)


def _of_f16(x: NDArray[np.float32]) -> Vector:
    with np.errstate(over="ignore"):
        return x.astype(np.float16).view(np.uint32)


def _f32(x: Vector) -> NDArray[np.float32]:
    return np.ascontiguousarray(x).view(np.float32)


def _dot(x: Vector, y: Vector, mode: str) -> Vector:
    total = np.zeros(x.shape, np.int64)
    for k in range(4):
        a, b = ((v >> np.uint32(8 * k)) & np.uint32(255) for v in (x, y))
        p = a.astype(np.uint8).astype(np.int8).astype(np.int64) if mode[0] == "s" else a
        q = b.astype(np.uint8).astype(np.int8).astype(np.int64) if mode[1] == "s" else b
        total += p.astype(np.int64) * q.astype(np.int64)
    return (total & 0xFFFFFFFF).astype(np.uint32)


def _clz(x: Vector) -> Vector:
    return np.array([32 - int(v).bit_length() for v in x], np.uint32)


def _shift(y: Vector) -> Vector:
    return y & np.uint32(31)


def _ror(x: Vector, y: Vector) -> Vector:
    n = _shift(y)
    return (x >> n) | (x << ((np.uint32(32) - n) & np.uint32(31)))


_LANES = np.arange(16)

BINARY: dict[str, Callable[[Vector, Vector], Vector]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "min": lambda x, y: _bits(np.minimum(_signed(x), _signed(y))),
    "max": lambda x, y: _bits(np.maximum(_signed(x), _signed(y))),
    "umin": lambda x, y: np.minimum(x, y),
    "umax": lambda x, y: np.maximum(x, y),
    "shl": lambda x, y: x << _shift(y),
    "shr": lambda x, y: x >> _shift(y),
    "asr": lambda x, y: _bits(_signed(x) >> _signed(_shift(y))),
    "ror": _ror,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "vadd": lambda x, y: _by_halves(x, y, 1),
    "vsub": lambda x, y: _by_halves(x, y, -1),
    "vpack": lambda x, y: (x & np.uint32(0xFFFF)) | (y << np.uint32(16)),
    "v8pack": lambda x, y: (
        (x & np.uint32(255))
        | ((x >> np.uint32(8)) & np.uint32(0xFF00))
        | ((y & np.uint32(255)) << np.uint32(16))
        | ((y << np.uint32(8)) & np.uint32(0xFF000000))
    ),
    "smul24": lambda x, y: _sext24(x) * _sext24(y),
    "umul24": lambda x, y: (x & np.uint32(0xFFFFFF)) * (y & np.uint32(0xFFFFFF)),
    "rot": lambda x, y: x[(_LANES + int(y[0])) % 16],
    "rotq": lambda x, y: x[_LANES // 4 * 4 + (_LANES + y[_LANES // 4 * 4].astype(np.int64)) % 4],
    "shuffle": lambda x, y: x[y % np.uint32(16)],
    "vfmin": lambda x, y: _of_f16(np.fmin(_f16(x), _f16(y))),
    "vfmax": lambda x, y: _of_f16(np.fmax(_f16(x), _f16(y))),
    "vfadd": lambda x, y: _of_f16(_f16(x) + _f16(y)),
    "vfsub": lambda x, y: _of_f16(_f16(x) - _f16(y)),
    "vfmul": lambda x, y: _of_f16(_f16(x) * _f16(y)),
    "fadd": lambda x, y: _bits(_f32(x) + _f32(y)),
    "fsub": lambda x, y: _bits(_f32(x) - _f32(y)),
    "fmul": lambda x, y: _bits(_f32(x) * _f32(y)),
    "fmin": lambda x, y: _bits(np.fmin(_f32(x), _f32(y))),
    "fmax": lambda x, y: _bits(np.fmax(_f32(x), _f32(y))),
}

UNARY: dict[str, Callable[[Vector], Vector]] = {
    "mov": lambda x: x.copy(),
    "fmov": lambda x: x.copy(),
    "not": lambda x: ~x,
    "neg": lambda x: np.uint32(0) - x,
    "clz": _clz,
    "ballot": lambda x: np.full(16, sum(1 << i for i in range(16) if x[i]), np.uint32),
    "bcastf": lambda x: np.full(16, x[0], np.uint32),
    "alleq": lambda x: np.full(16, int((x == x[0]).all()), np.uint32),
    "itof": lambda x: _bits(_signed(x).astype(np.float32)),
    "utof": lambda x: _bits(x.astype(np.float32)),
}

# Of an operand on its way in.
UNPACKS: dict[str, Callable[[Vector], Vector]] = {
    "": lambda x: x,
    "ul": lambda x: x & np.uint32(0xFFFF),
    "uh": lambda x: x >> np.uint32(16),
    "il": lambda x: _bits(_signed(x << np.uint32(16)) >> np.int32(16)),
    "ih": lambda x: _bits(_signed(x) >> np.int32(16)),
    "ll": lambda x: (x & np.uint32(0xFFFF)) | (x << np.uint32(16)),
    "hh": lambda x: (x >> np.uint32(16)) | (x & np.uint32(0xFFFF0000)),
    "swp": lambda x: (x >> np.uint32(16)) | (x << np.uint32(16)),
    "abs": lambda x: x & np.uint32(0x7FFFFFFF),
}

_CARRIES: dict[str, Callable[[Vector, Vector, Vector], NDArray[np.bool_]]] = {
    "add": lambda r, x, y: r < x,
    "sub": lambda r, x, y: x < y,
    "min": lambda r, x, y: _signed(x) > _signed(y),
}


def carry(op: str, result: Vector, x: Vector, y: Vector) -> NDArray[np.bool_]:
    """C. Only of operations of which it is known (docs/v3d-arithmetic.md, `carry_elsewhere`)."""
    if op not in _CARRIES:
        raise ValueError(f"nobody knows C of {op}: use add, sub or min")
    return _CARRIES[op](result, x, y)


def dot(x: Vector, y: Vector, mode: str) -> Vector:
    """v8dot; mode is the end of the setnnmode_.. before: the signedness of x and of y."""
    return _dot(x, y, mode)


def known(op: str) -> bool:
    """Whether there are semantics of an operation here."""
    return op in BINARY or op in UNARY or op in ("eidx", "v8dot") or op.startswith("setnnmode_")
