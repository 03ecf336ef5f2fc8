# SPDX-License-Identifier: BSD-2-Clause
"""What shaders do for V3D's sake: when invocations wait, windows of words, forms of operations."""

import re
from pathlib import Path

import pytest
from shader_runs import run_text, variant_of
from spec_support import kernel_of, spec_text

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import find, load
from daedalus.generator.targets.glsl.emit import Shader


def shader_of(kernel: Kernel, options: str = "glsl_full") -> Shader:
    shader = variant_of(kernel, options).shader
    assert shader is not None
    return shader


def waits(shader: Shader) -> int:
    return shader.lines.count("barrier();")


FILL = """
t = k.temp("t", (8, 8), init=0)
with k.stage(y=8, x=4{first}) as (y, x):
    t[y, x] = px[y, x]
with k.stage(y=8, x=4{second}) as (y, x):
    t[y, x + {column}] = 3
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = t[x, y]
"""


@pytest.mark.parametrize(
    ("first", "second", "column", "more"),
    [
        ("", "", 4, 0),  # halves of the temp
        ("", "", 3, 1),  # a column of it twice
        (", given=p > 7", ", given=~(p > 7)", 0, 0),  # the one or the other
        (", given=p > 7", ", given=p <= 7", 0, 0),
        (", given=p > 7", ", given=p > 7", 0, 1),
        (", given=p > 7", ", given=p <= 8", 0, 1),  # both where p is 8
    ],
)
def test_waits(first: str, second: str, column: int, more: int, tmp_path: Path) -> None:
    """Invocations wait for first values, and before they read what others wrote; between two
    stages that write, where both write an element."""
    text = spec_text(FILL.format(first=first, second=second, column=column))
    assert waits(shader_of(kernel_of(tmp_path, text))) == 2 + more


def test_padding_is_filled_without_waiting() -> None:
    entry = find(load(), "av1_cdef8")
    assert entry is not None
    shader = shader_of(entry.kernel, "glsl_full_p4_signs")
    assert len(entry.kernel.stages) > 10 and waits(shader) == 1


WINDOWS = """
out = k.plane("out", i16, rows=(0, 8), cols=(0, 8), access="out")
d = k.param("d", u8, 0, 3)
with k.stage(y=8, x=8) as (y, x):
    out[y, x] = {value}
"""


@pytest.mark.parametrize("points", [1, 2, 4, 8])
@pytest.mark.parametrize("taps", [1, 2, 5, 8])
def test_windows(taps: int, points: int, tmp_path: Path) -> None:
    """Rows that begin at any byte, in words: as many as they lie in, and none behind them."""
    value = " + ".join(f"{n + 1} * px[y, x + {n - 3}]" for n in range(taps))
    text = spec_text(WINDOWS.format(value=value)).replace('cols=(0, 8), access="inout"',
        f'cols=(-3, {8 - 3 + taps - 1}), access="in"')  # fmt: skip
    v = run_text(
        tmp_path, text, "glsl_full" + (f"_p{points}" if points > 1 else "") + "_word_unaligned"
    )
    bytes_ = points + taps - 1
    assert len(re.findall(r"px_uint\[", v.text)) - 1 == -(-bytes_ // 4) + 1


@pytest.mark.parametrize("points", [1, 2, 4, 8])
def test_windows_at_places_known_at_run_time(points: int, tmp_path: Path) -> None:
    """So many bytes to the right, and as many to the left: two windows and one move."""
    text = spec_text(WINDOWS.format(value="px[y + d, x + d] - 3 * px[y + d * -1, x + d * -1]"))
    text = text.replace('rows=(0, 8), cols=(0, 8), access="inout"',
        'rows=(-3, 11), cols=(-3, 11), access="in"')  # fmt: skip
    v = run_text(
        tmp_path, text, "glsl_full" + (f"_p{points}" if points > 1 else "") + "_word_unaligned"
    )
    assert len(re.findall(r"px_uint\[", v.text)) - 1 == 2 * (-(-points // 4) + 1)
    assert "u8[" not in v.text and len(re.findall(r"const int px_by\w* = .*px_stride", v.text)) == 1


def test_forms(tmp_path: Path) -> None:
    """V3D adds and subtracts in both of its units, and does all else in one of them."""
    text = spec_text(
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    a, b = px[y, x], c[y, x]\n"
        "    px[y, x] = clip_u8(absdiff(a, b) + 3 * b + 5 * a - max(0 - b, 7))\n"
    )
    text = "\n".join(shader_of(kernel_of(tmp_path, text)).lines)
    assert "abs(" not in text and "max(a - b, b - a)" in text
    assert "b + b + b" in text and "a * 5" in text
    assert "zero - b" in text and text.count("const int zero = ") == 1


LEAST, MOST = -(2**31), 2**31 - 1


@pytest.mark.parametrize("shift", [0, 24])
@pytest.mark.parametrize(
    ("value", "bias", "lo", "hi"),
    [
        ("c[y, x] * 65535", 32768, LEAST, MOST),
        ("c[y, x] * 65535", -32768, -(10**12), 10**12),
        ("c[y, x] * 65535", 32768, -(10**12), LEAST + 5),
        ("c[y, x] * 65535 + 2147450880", 2147450880, -100, 2**32 - 1),
        ("c[y, x] * 65535 + 2147450880", 0, -(10**12), 10**12),
        ("c[y, x] + 0", -(2**31) + 40000, MOST - 100, MOST),
        ("c[y, x] + 0", 77, 3 * 10**9, 4 * 10**9),
    ],
)
def test_bounds_at_the_ends_of_32_bits(
    value: str, bias: int, lo: int, hi: int, shift: int, tmp_path: Path
) -> None:
    """And beyond, where a bias that is taken away late (`swar`) moves them, or a spec has them."""
    text = spec_text(
        f"with k.stage(y=8, x=8) as (y, x):\n"
        f"    px[y, x] = wrap(clip({value} - ({bias}), {lo}, {hi}) >> {shift}, u8)\n"
    ).replace('access="inout"', 'access="out"')
    run_text(tmp_path, text, "glsl_full_p4_word_swar")


FACT = """
big = k.block("big", i32, (8, 8), access="in")
fits = k.assumption("fits", 0, 32767, why="a test")
with k.stage(y=8, x=8) as (y, x):
    low = wrap(fits(abs(big[y, x])), u8)
    px[y, x] = (low >> 1) + (low & 1)
"""


def test_what_is_assumed_of_an_unsigned_value_is_signed(tmp_path: Path) -> None:
    """The magnitude of 32 bits is no int; what is known of it fits one."""
    run_text(tmp_path, spec_text(FACT), "glsl_full")
