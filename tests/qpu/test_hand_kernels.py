# SPDX-License-Identifier: BSD-2-Clause
"""Kernels by hand through the scheduler: right on the simulator, and as short as they were."""

import numpy as np
import pytest
from hand_kernels import h264_idct4, h264_idct8
from numpy.typing import NDArray

from daedalus.generator.targets.qpu.compile import NoSchedule, compile_program
from daedalus.generator.targets.qpu.interpret import Memory, interpret
from daedalus.generator.targets.qpu.machine import short_of_registers
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.targets.qpu.virtual import Program, Uniform
from daedalus.generator.targets.qpu.words import execute, words

_DST, _COEFFS, _META = 0x100000, 0x200000, 0x400000
Ints = NDArray[np.int64]


def _transform4(w: Ints) -> Ints:
    """Along axis 0 (H.264 8.5.12.2)."""
    e, f = w[0] + w[2], w[0] - w[2]
    g, h = (w[1] >> 1) - w[3], w[1] + (w[3] >> 1)
    return np.stack([e + h, f + g, f - g, e - h])


def _transform8(w: Ints) -> Ints:
    """Along axis 0 (H.264 8.5.13.2)."""
    a0, a2, a4, a6 = w[0] + w[4], w[0] - w[4], (w[2] >> 1) - w[6], w[2] + (w[6] >> 1)
    a1 = w[5] - w[3] - w[7] - (w[7] >> 1)
    a3 = w[1] + w[7] - w[3] - (w[3] >> 1)
    a5 = w[7] - w[1] + w[5] + (w[5] >> 1)
    a7 = w[3] + w[5] + w[1] + (w[1] >> 1)
    b0, b2, b4, b6 = a0 + a6, a2 + a4, a2 - a4, a0 - a6
    b1, b3, b5, b7 = a1 + (a7 >> 2), a3 + (a5 >> 2), (a3 >> 2) - a5, a7 - (a1 >> 2)
    return np.stack([b0 + b7, b2 + b5, b4 + b3, b6 + b1, b6 - b1, b4 - b3, b2 - b5, b0 - b7])


def _inputs(size: int, items: int, threads: int) -> tuple[Memory, dict[Uniform, int], Ints, int]:
    rng = np.random.default_rng(size)
    per = 16  # items a row of the picture
    stride = per * size
    pixels = rng.integers(0, 256, items // per * size * stride, dtype=np.uint8)
    coeffs = rng.integers(-2000 // size, 2000 // size, (items, size, size))
    coeffs[rng.random(coeffs.shape) < 0.5] = 0
    offsets = [i // per * size * stride + i % per * size for i in range(items)]
    memory = Memory(
        {
            _DST: pixels,
            _COEFFS: coeffs.astype("<i2").reshape(-1).view(np.uint8).copy(),
            _META: np.array(offsets, "<u4").view(np.uint8).copy(),
        }
    )
    values = {"dst": _DST, "coeffs": _COEFFS, "meta": _META, "stride": stride, "items": items}
    values["threads"] = threads
    return memory, {Uniform("value", k): v for k, v in values.items()}, coeffs, stride


def _expected(size: int, memory: Memory, coeffs: Ints, stride: int) -> NDArray[np.uint8]:
    transform = _transform4 if size == 4 else _transform8
    rows = transform(np.moveaxis(coeffs, 1, 0))  # [x][item][v]
    out = transform(np.moveaxis(rows, 2, 0))  # [y][x][item]
    picture = memory.buffers[_DST].astype(np.int64).reshape(-1, stride)
    for i in range(coeffs.shape[0]):
        y, x = i // 16 * size, i % 16 * size
        block = picture[y : y + size, x : x + size]
        block[:] = np.clip(block + ((out[:, :, i] + 32) >> 6), 0, 255)
    return picture.reshape(-1).astype(np.uint8)


# Instructions a trip of 16 items that were reached, and the bound of this body.
@pytest.mark.parametrize(
    ("program", "size", "reached", "bound"),
    [(h264_idct4(), 4, 97, 95), (h264_idct8(), 8, 800, 696)],
    ids=lambda x: x.name if isinstance(x, Program) else str(x),
)
def test_a_kernel(program: Program, size: int, reached: int, bound: int) -> None:
    threads = 3
    memory, uniforms, coeffs, stride = _inputs(size, 16 * 7, threads)
    expected = _expected(size, memory, coeffs, stride)
    interpreted = memory.copy()
    interpret(program, interpreted, uniforms, threads)
    assert np.array_equal(interpreted.buffers[_DST], expected)
    made = assembly(compile_program(program, 2))
    assert len(words(made)) == made.instructions
    execute(made, memory, uniforms, threads)
    assert np.array_equal(memory.buffers[_DST], expected)
    assert (made.bound, made.trip <= reached) == (bound, True), made.trip


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(NoSchedule, match=r"no schedule of its loop does with 32 registers"):
        compile_program(h264_idct4(), 4)
    assert short_of_registers("x", "loop", 4).endswith("or run fewer threads a QPU")
    assert short_of_registers("x", "loop", 2).endswith("keep fewer values alive")


def test_the_same_program_gives_the_same_text() -> None:
    first, second = (assembly(compile_program(h264_idct4(), 2, 2000)) for _ in range(2))
    assert first == second
