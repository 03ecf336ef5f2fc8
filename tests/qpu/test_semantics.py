# SPDX-License-Identifier: BSD-2-Clause
"""The Python statement of what operations compute, against the simulator's."""

import numpy as np
import pytest

from daedalus.generator.targets.qpu import semantics
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.interpret import Memory, interpret
from daedalus.generator.targets.qpu.random_programs import Case
from daedalus.generator.targets.qpu.virtual import Uniform

_IN, _OUT = 0x1000, 0x8000
_WORDS = [0, 1, 2, 31, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x7FFFFFFF,
          0x80000000, 0xFFFF0000, 0x80008000, 0xFFFFFFFF]  # fmt: skip
# Halves are small integers, as f16 patterns that are no NaN; words are numbers as f32.
_HALVES = {"vfmin", "vfmax", "vfadd", "vfsub", "vfmul"}
_FLOATS = {"fadd", "fsub", "fmul", "fmin", "fmax", "fmov"}


def _case(ops: list[tuple[str, str]], mode: str, x: np.ndarray, y: np.ndarray) -> Case:
    """Stores what each operation (with an unpack of its first source) makes of two vectors."""
    b = Builder("semantics")
    b.state(f"setnnmode_{mode}")
    base, out = b.uniform("in"), b.uniform("out")
    at = b.op("add", base, b.op("shl", b.element(), 2))
    first, second = b.load(at, space="in") + b.load(b.op("add", at, 64), space="in")
    place = b.op("add", out, b.op("shl", b.element(), 2))
    for op, unpack in ops:
        source = first.unpacked(unpack) if unpack else first
        two = op in semantics.BINARY or op == "v8dot"
        b.store(place, [b.op(op, source, second) if two else b.op(op, source)], space="out")
        place = b.op("add", place, 64)
    data = np.concatenate([x, y]).astype("<u4").view(np.uint8).copy()
    memory = Memory({_IN: data, _OUT: np.zeros(64 * len(ops), np.uint8)})
    uniforms = {Uniform("value", "in"): _IN, Uniform("value", "out"): _OUT}
    return Case(0, b.program(), memory, uniforms, 1)


def _same(case: Case) -> None:
    verdict = compare(case, 2)
    assert verdict.assembly is not None and verdict.differing == 0


_INTEGER = sorted((set(semantics.BINARY) | set(semantics.UNARY)) - _HALVES - _FLOATS)
_UNPACKED = [("mov", u) for u in ("ul", "uh", "il", "ih")]


@pytest.mark.parametrize("turn", range(6))
def test_integer_operations(turn: int) -> None:
    numbers = np.random.default_rng(turn)
    x = np.array(_WORDS, np.uint32)
    y = np.roll(x, 3 * turn + 1) if turn < 3 else numbers.integers(0, 1 << 32, 16, dtype=np.uint32)
    _same(_case([(op, "") for op in _INTEGER] + _UNPACKED, "uu", x, y))


@pytest.mark.parametrize("mode", ["uu", "su", "us", "ss"])
def test_dot_products(mode: str) -> None:
    numbers = np.random.default_rng(1)
    x, y = numbers.integers(0, 1 << 32, (2, 16), dtype=np.uint32)
    _same(_case([("v8dot", "")], mode, x, y))


def test_halves_and_floats() -> None:
    numbers = np.random.default_rng(2)
    halves = numbers.integers(0, 0x3C00, (2, 32), dtype=np.uint16).view(np.uint32)
    ops = [(op, u) for op in sorted(_HALVES) for u in ("", "ll", "hh", "swp")]
    _same(_case(ops, "uu", halves[0], halves[1]))
    floats = numbers.normal(0, 1e6, (2, 16)).astype(np.float32).view(np.uint32)
    ops = [(op, u) for op in sorted(_FLOATS) for u in ("", "abs")]
    _same(_case(ops, "uu", floats[0], floats[1]))


def test_a_wrong_statement_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(semantics.BINARY, "asr", semantics.BINARY["shr"])
    x = np.array(_WORDS, np.uint32)
    assert compare(_case([("asr", "")], "uu", x, x % 31 + 1), 2).differing > 0


def test_forms_of_one_result_are_equal() -> None:
    b = Builder("forms")
    x = b.element()
    b.store(x, [b.either(("shl", x, 1), ("add", x, 1))], space="out")
    with pytest.raises(ValueError, match="differ"):
        interpret(b.program(), Memory(), {})
