# SPDX-License-Identifier: BSD-2-Clause
"""Bits a sample: kernels for 8, and kernels for 10 and 12, whose parameter says which."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from daedalus.dsl.ir import DType
from daedalus.dsl.lang import KernelBuilder, Value, clip_s8, clip_u8, max, min, u8, u16


@dataclass(frozen=True)
class Depth:
    """The depths of a kernel. `end` ends its id, `says` is for its clause."""

    end: str
    says: str
    most: int

    def __str__(self) -> str:
        return self.says

    @property
    def high(self) -> bool:
        return self.most > 8

    @property
    def type(self) -> DType:
        return u16 if self.high else u8

    @property
    def white(self) -> int:
        """The largest sample."""
        return (1 << self.most) - 1

    @property
    def end_says(self) -> str:
        """For docs; nothing of 8 bits."""
        return f"; {self.says} bits a sample" if self.high else ""

    def entries(self, place: str, functions: Mapping[str, str]) -> dict[str, Any]:
        """FFmpeg's functions in its tables of these depths: of each a name, and what follows
        `place`. The word `bits` is the parameter."""
        if self.high:
            found = {
                f"{name}bits{n}": f"vp9dsp{n}.{place}{text.replace(' bits', f' bits={n}')}"
                for name, text in functions.items()
                for n in (10, 12)
            }
        else:
            found = {
                name: f"vp9dsp.{place}{text.replace(' bits', '')}"
                for name, text in functions.items()
            }
        return {"ffmpeg": found[""] if list(found) == [""] else found}


class Bits:
    """A sample's bits, `bits`: of kernels for several depths a parameter, which this declares; and
    what depends on them."""

    def __init__(self, k: KernelBuilder, depth: Depth) -> None:
        self.high = depth.high
        declared = k.param("bits", u8, 10, 12, why="BitDepth, 10 or 12") if depth.high else 8
        self.bits: Value | int = declared
        self.more = declared - 8
        self.half, self.white = 1 << (declared - 1), (1 << declared) - 1

    def limited(self, _value: Value) -> Value:
        """To a sample. Code of 8 bits gives the argument no name of its own."""
        if not self.high:
            return clip_u8(_value)
        value = _value
        return min(max(value, 0), self.white)

    def signed(self, value: Value) -> Value:
        """To a number with sign of as many bits."""
        return min(max(value, -self.half), self.half - 1) if self.high else clip_s8(value)


DEPTHS = (Depth("", "8", 8), Depth("_high", "10 and 12", 12))
