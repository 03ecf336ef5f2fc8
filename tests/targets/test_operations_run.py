# SPDX-License-Identifier: BSD-2-Clause
"""What `OPS` says an operation computes is what the processor computes.

Every operation of the table, at every width that rules use it, is emitted as the back end emits it
and run, natively or emulated by qemu and through SIMDe, on corners and random bits. The proofs of
the rules stand on these meanings.
"""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.generator import fetch, native
from daedalus.generator.cli.common import repo_root
from daedalus.generator.goals import PLAIN
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import RULES
from daedalus.generator.targets.neon.simulate import operand_widths, read
from daedalus.generator.targets.neon.vectors import (
    ByLane,
    Group,
    Shape,
    ctype,
    low,
    operation,
    suffix,
)  # fmt: skip

ROUNDS = 24  # vectors a case
ARCHITECTURES = ["host"] if native.is_arm() else ["simde", "aarch64"]


@dataclass(frozen=True)
class Case:
    """An operation at a width, on a number of lanes, with its immediate or scalar."""

    op: MachineOp
    width: int
    lanes: int
    imm: int = 0
    scalar: int = 0

    @property
    def vectors(self) -> list[int]:
        """The widths of its vector operands."""
        widths = operand_widths(self.op, self.width)
        return widths[:-1] if self.op.form == "k" else widths

    def __str__(self) -> str:
        return f"{self.op.name} at {self.width}, {self.lanes} lanes, {self.imm}, {self.scalar}"


def widths_of(op: MachineOp) -> list[int]:
    """Where rules use an operation; conversions and negation are not rules."""
    used = {w for r in RULES if r.op == op.name for w in r.widths}
    return sorted(used or ({8, 16} if op.shape == "narrow" else {16, 32}))


def _immediates(op: MachineOp, w: int) -> list[int]:
    lo, hi = (0, w - 1) if op.stem in ("shl", "qshl") else (1, w)
    if op.stem == "shll":
        lo, hi = 0, w // 2 - 1
    return sorted({lo, lo + 1, (lo + hi) // 2, hi - 1, hi})


def _scalars(op: MachineOp, w: int) -> list[int]:
    bits = operand_widths(op, w)[-1]
    lo, hi = (
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if op.signs[0] == "s" else (0, (1 << bits) - 1)
    )
    return [lo, hi, 23170 % hi, 3]


def cases() -> list[Case]:
    found = []
    for op in OPS.values():
        for w in widths_of(op):
            for lanes in (4, 8, 16):
                if op.form == "m":
                    found += [Case(op, w, lanes, imm=n) for n in (0, 1, (1 << (w - 1)) - 1)]
                elif op.form == "n":
                    found += [Case(op, w, lanes, imm=n) for n in _immediates(op, w)]
                elif op.form == "k":
                    found += [Case(op, w, lanes, scalar=c) for c in _scalars(op, w)]
                else:
                    found.append(Case(op, w, lanes))
    return found


CASES = cases()


def function(n: int, case: Case) -> str:
    """C for one case: from the operands' bytes, one after the other, to the result's."""
    shape, lines, at = Shape(case.lanes), [], 0
    signs = case.op.signs.replace("=", "u")
    operands = []
    for k, (w, s) in enumerate(zip(case.vectors, signs, strict=False)):
        bits, names = shape.bits(w), []
        for r in range(shape.count(w)):
            q = "q" if bits == 128 else ""
            name = f"a{k}_{r}"
            element = f"{'u' if s == 'u' else ''}int{w}_t"
            text = f"vld1{q}_{suffix(s, w)}((const {element} *)(in + {at}))"
            lines.append(f"const {ctype(s, w, bits)} {name} = {text};")
            names.append(name)
            at += bits // 8
        operands.append(Group(tuple(names), w, s))
    scalar = None
    if case.op.form == "k":
        bits = operand_widths(case.op, case.width)[-1]
        s = signs[0]
        element = f"{'u' if s == 'u' else ''}int{bits}_t"
        values = ", ".join([str(case.scalar)] * (128 // bits))
        lines.append(f"static const {element} values[{128 // bits}] = {{{values}}};")
        lines.append(f"const {ctype(s, bits, 128)} k = vld1q_{suffix(s, bits)}(values);")
        scalar = ByLane("k", 1)
    texts, sign = operation(case.op.name, shape, case.width, operands, scalar, case.imm)
    bits = shape.bits(case.width)
    if case.op.shape in ("long", "wide") and bits == 64:
        texts = [low(text, sign, case.width) for text in texts]
    element = f"{'u' if sign == 'u' else ''}int{case.width}_t"
    for r, text in enumerate(texts):
        q = "q" if bits == 128 else ""
        to = f"({element} *)(out + {r * bits // 8})"
        lines.append(f"vst1{q}_{suffix(sign, case.width)}({to}, {text});")
    body = "\n  ".join(lines)
    return f"static void case_{n}(const uint8_t *in, uint8_t *out) {{\n  {body}\n}}\n"


def sizes(case: Case) -> tuple[int, int]:
    """Bytes of the operands, and of the result."""
    shape = Shape(case.lanes)
    held = [shape.count(w) * shape.bits(w) // 8 for w in (*case.vectors, case.width)]
    return sum(held[:-1]), held[-1]


def source() -> str:
    table = ",\n".join(f"  {{case_{n}, {a}, {b}}}" for n, (a, b) in enumerate(map(sizes, CASES)))
    return (
        "#include <daedalus/neon.h>\n#include <stdint.h>\n#include <stdio.h>\n"
        + "".join(function(n, c) for n, c in enumerate(CASES))
        + "static const struct {\n  void (*run)(const uint8_t *, uint8_t *);\n  size_t in, out;\n}"
        f" cases[] = {{\n{table}\n}};\n"
        "int main(void) {\n"
        "  static uint8_t in[512], out[256];\n"
        f"  for (size_t n = 0; n < {len(CASES)}; n++) {{\n"
        f"    for (int k = 0; k < {ROUNDS}; k++) {{\n"
        "      if (fread(in, 1, cases[n].in, stdin) != cases[n].in) return 1;\n"
        "      cases[n].run(in, out);\n"
        "      if (fwrite(out, 1, cases[n].out, stdout) != cases[n].out) return 1;\n"
        "    }\n  }\n  return 0;\n}\n"
    )


def drawn(case: Case, rng: np.random.Generator) -> list[np.ndarray]:
    """Bit patterns of every vector operand: [rounds, lanes], corners and noise."""
    found = []
    for w in case.vectors:
        half, top = 1 << (w - 1), (1 << w) - 1
        corners = [0, 1, 2, half - 1, half, half + 1, top - 1, top, top >> (w // 2)]
        shape = (ROUNDS, case.lanes)
        noise = rng.integers(0, top + 1, shape) >> rng.integers(0, w, shape)
        found.append(np.where(rng.random(shape) < 0.5, rng.choice(corners, shape), noise))
    return found


def as_bytes(case: Case, operands: list[np.ndarray]) -> bytes:
    parts = []
    for k in range(ROUNDS):
        for w, values in zip(case.vectors, operands, strict=True):
            raw = values[k].astype(f"<u{w // 8}").tobytes()
            shape = Shape(case.lanes)
            parts.append(raw.ljust(shape.count(w) * shape.bits(w) // 8, b"\0"))
    return b"".join(parts)


def expected(case: Case, operands: list[np.ndarray]) -> np.ndarray:
    """By the table, [rounds, lanes]."""
    widths = operand_widths(case.op, case.width)
    args = [*operands, *([np.int64(case.scalar)] if case.op.form == "k" else [])]
    found = set()
    for free in "us" if "=" in case.op.signs[:-1] else "u":
        signs = case.op.signs.replace("=", free)
        lanes = tuple(
            read(np.asarray(a), w, s).astype(object)
            for a, w, s in zip(args, widths, signs, strict=False)
        )
        got = np.asarray(case.op.meaning(case.width, lanes, case.imm)) % (1 << case.width)
        found.add(got.astype(np.int64).tobytes())
    assert len(found) == 1, f"{case}: it depends on the sign it is read with"
    return np.frombuffer(found.pop(), np.int64).reshape(ROUNDS, case.lanes)


@pytest.fixture(scope="module")
def c_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("operations") / "operations.c"
    file.write_text(source())
    return file


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_operations_compute_what_the_table_says(arch: str, c_file: Path) -> None:
    system = [] if arch != "simde" else [
        repo_root() / "tools" / "simde", fetch.ensure("simde", "all") / "usr" / "include",
    ]  # fmt: skip
    program = native.compile_program(
        arch, c_file.with_name(arch), [c_file], includes=native.library_includes(),
        system_includes=system,
        flags=("-O0", "-fwrapv", "-Wno-pedantic"),
    )  # fmt: skip
    rng = np.random.default_rng(7)
    inputs = [drawn(c, rng) for c in CASES]
    done = subprocess.run(
        [*native.runner(arch), str(program)], capture_output=True, check=True,
        input=b"".join(as_bytes(c, i) for c, i in zip(CASES, inputs, strict=True)),
    )  # fmt: skip
    at = 0
    for case, operands in zip(CASES, inputs, strict=True):
        size = sizes(case)[1]
        raw = np.frombuffer(done.stdout, np.uint8, ROUNDS * size, at).reshape(ROUNDS, size)
        at += ROUNDS * size
        got = np.ascontiguousarray(raw).view(f"<u{case.width // 8}")[:, : case.lanes]
        wrong = got.astype(np.int64) != expected(case, operands)
        if wrong.any():
            k, lane = np.argwhere(wrong)[0]
            shown = [int(o[k, lane]) for o in operands]
            raise AssertionError(
                f"{case}: of {shown} {arch} makes {got[k, lane]},"
                f" the table {expected(case, operands)[k, lane]}"
            )
    assert at == len(done.stdout)


@pytest.mark.parametrize("name", PLAIN)
def test_the_inputs_tell_operations_apart(name: str) -> None:
    """With the plainer operation's meaning in the table, the test above would fail."""
    rng = np.random.default_rng(7)
    told = False
    for case in CASES:
        operands = drawn(case, rng)
        if case.op.name == name:
            other = replace(case, op=replace(case.op, meaning=OPS[PLAIN[name]].meaning))
            told |= bool((expected(case, operands) != expected(other, operands)).any())
    assert told


def test_every_operation_runs() -> None:
    assert {c.op.name for c in CASES} == set(OPS)
