# SPDX-License-Identifier: BSD-2-Clause
"""Values that do not fit: the message shows where they became wide, and what would mend it."""

from pathlib import Path

import pytest
from spec_support import MARK, kernel_of, marked_line, refusal, spec_text

from daedalus.dsl.errors import RangeError
from daedalus.dsl.ranges import Ranges, never_binding
from daedalus.generator.compile.registry import load

U8_HINT = "clip() or wrap() the value, or state by k.assumption(...) that it lies within [0, 255]"

# the body of a spec -> message, chain (without its lines), hint
CASES = {
    "store too wide": (
        "with k.stage(i=8) as i:\n    px[0, i] = px[0, i] + 1  # <-",
        "stores [1, 256] into px of u8",
        ["add is in [1, 256]", "load px is in [0, 255]"], U8_HINT,
    ),
    "store negative": (
        "with k.stage(i=8) as i:\n    step = px[0, i] - p\n    px[0, i] = step  # <-",
        "stores [-100, 255] into px of u8",
        ["sub step is in [-100, 255]", "load px is in [0, 255]"], U8_HINT,
    ),
    "signed element": (
        'q = k.block("q", i16, (8,), access="out")\n'
        "with k.stage(i=8) as i:\n    px[0, i] = 1\n    q[i] = c[0, i] - c[1, i]  # <-",
        "stores [-65535, 65535] into q of i16",
        ["sub is in [-65535, 65535]", "load c is in [-32768, 32767]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within"
        " [-32768, 32767]",
    ),
    "more than 32 bits": (
        "with k.stage(i=8) as i:\n    a = c[0, i] * c[1, i]\n    b = a * 3  # <-\n"
        "    px[0, i] = clip_u8(b)",
        "mul b can be [-3221127168, 3221225472]: more than 32 bits",
        ["mul b is in [-3221127168, 3221225472]", "mul a is in [-1073709056, 1073741824]",
         "load c is in [-32768, 32767]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within"
        " [-2147483648, 2147483647]",
    ),
    "unsigned 32 bits": (
        "with k.stage(i=8) as i:\n    a = abs(c[0, i]) * abs(c[1, i]) * 4  # <-\n"
        "    px[0, i] = clip_u8(a)",
        "mul a can be [0, 4294967296]: more than 32 bits", None,
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within"
        " [0, 4294967295]",
    ),
    "through a temp": (
        't = k.temp("t", (8,))\nwith k.stage(i=8) as i:\n    wide = c[0, i] * 2\n    t[i] = wide\n'
        "with k.stage(i=8) as i:\n    px[0, i] = t[i]  # <-",
        "stores [-65536, 65534] into px of u8",
        ["load t is in [-65536, 65534]", "mul wide is in [-65536, 65534]",
         "load c is in [-32768, 32767]"], U8_HINT,
    ),
    "a temp that feeds itself": (
        't = k.temp("t", (8,))\nwith k.stage(i=8) as i:\n    t[i] = c[0, i]\n'
        "with k.stage(i=8) as i:\n    t[i] = t[i] + 100\n"
        "with k.stage(i=8) as i:\n    px[0, i] = t[i]  # <-",
        "stores [-32768, 32867] into px of u8",
        ["load t is in [-32768, 32867]", "add is in [-32668, 32867]",
         "load t is in [-32768, 32767]", "load c is in [-32768, 32767]"], U8_HINT,
    ),
    "constants are not the origin": (
        "with k.stage(i=8) as i:\n    px[0, i] = p * 1000  # <-",
        "stores [0, 100000] into px of u8",
        ["mul is in [0, 100000]", "param p is in [0, 100]"], U8_HINT,
    ),
    "shift amount to the left": (
        "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] << p)  # <-",
        "a shift amount can be [0, 100]", ["param p is in [0, 100]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within [0, 31]",
    ),
    "shifted too far": (
        "with k.stage(i=8) as i:\n    v = c[0, i] << clip(p, 0, 20)  # <-\n"
        "    px[0, i] = clip_u8(v)",
        "shlv v can be [-34359738368, 34358689792]: more than 32 bits",
        ["shlv v is in [-34359738368, 34358689792]", "load c is in [-32768, 32767]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within"
        " [-2147483648, 2147483647]",
    ),
    "bit of any place": (
        "with k.stage(i=8) as i:\n    px[0, i] = bit(px[0, i], p)  # <-",
        "a shift amount can be [0, 100]", ["param p is in [0, 100]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within [0, 31]",
    ),
    "bits of wide values": (
        "with k.stage(i=8) as i:\n    px[0, i] = px[0, i] | (p << 4)  # <-",
        "stores [0, 1791] into px of u8",
        ["bitor is in [0, 1791]", "mul is in [0, 1600]", "param p is in [0, 100]"], U8_HINT,
    ),
    "shift amount": (
        "with k.stage(i=8) as i:\n    px[0, i] = px[0, i] >> p  # <-",
        "a shift amount can be [0, 100]", ["param p is in [0, 100]"],
        "clip() or wrap() the value, or state by k.assumption(...) that it lies within [0, 31]",
    ),
    "temp of no type": (
        't = k.temp("t", (2, 8))  # <-\nwith k.stage(i=8) as i:\n'
        "    t[0, i] = abs(c[0, i]) * abs(c[1, i]) * 2\n    t[1, i] = c[0, i]\n"
        "with k.stage(i=8) as i:\n    px[0, i] = 1",
        "temp t holds [-32768, 2147483648]: no element type does", None,
        "use two temps, or clip() what is stored",
    ),
    "off assumption": (
        'a = k.assumption("a", 0, 255, why="a test", default=False)\n'
        "with k.stage(i=8) as i:\n    px[0, i] = a(c[0, i])  # <-",
        "stores [-32768, 32767] into px of u8",
        ["assume is in [-32768, 32767]", "load c is in [-32768, 32767]"], U8_HINT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_value_is_refused(case: str, tmp_path: Path) -> None:
    body, message, chain, hint = CASES[case]
    error = refusal(tmp_path, spec_text(body))
    assert type(error) is RangeError
    assert (error.rule, error.kernel) == ("range", "test_it")
    assert error.message == message
    assert error.hint == hint
    if chain is not None:
        assert [step.split(": ", 1)[1] for step in error.chain] == chain
        assert all(f"\n    {step}" in str(error) for step in error.chain)


def test_the_chain_names_lines(tmp_path: Path) -> None:
    text = spec_text(CASES["store negative"][0])
    line = marked_line(text)
    error = refusal(tmp_path, text)
    assert [step.split(": ")[0] for step in error.chain] == [f"spec.py:{line - 1}"] * 2


MENDED = {
    "clip": "px[0, i] = clip_u8(px[0, i] + 1)",
    "wrap": "px[0, i] = wrap(px[0, i] + 1, u8)",
    "assumption": "px[0, i] = fits(px[0, i] + 1)",
}


@pytest.mark.parametrize("way", MENDED)
def test_what_the_hint_says_mends_it(way: str, tmp_path: Path) -> None:
    body = 'fits = k.assumption("fits", 0, 255, why="a test")\n'
    body += f"with k.stage(i=8) as i:\n    {MENDED[way]}"
    assert MARK not in body
    kernel = kernel_of(tmp_path, spec_text(body))
    stored = Ranges(kernel).of(kernel.stages[0].stores[0].value)
    assert stored.within(0, 255)


def test_never_binding_assumption(tmp_path: Path) -> None:
    body = """\
tight = k.assumption("tight", 0, 254, why="a test")
loose = k.assumption("loose", 0, 255, why="a test")
idle = k.assumption("idle", 0, 1, why="a test")
with k.stage(y=8, x=8) as (y, x):
    px[y, x] = clip_u8(tight(px[y, x]) + loose(px[y, x]))
"""
    text = spec_text(body)
    remarks = dict(never_binding(kernel_of(tmp_path, text)))
    assert set(remarks) == {"loose", "idle"}
    line = next(n for n, t in enumerate(text.splitlines(), 1) if "loose = " in t)
    assert remarks["loose"] == f"spec.py:{line}: assumption loose never binds: it can go"


def test_no_assumption_of_the_builtin_kernels_is_idle() -> None:
    assert [r for e in load() for r in never_binding(e.kernel)] == []
