# SPDX-License-Identifier: BSD-2-Clause
"""What `OPS` says an operation computes is what the processor computes.

Every operation of a target's table, at every width that rules use it, is emitted as the back end
emits it and run on corners and random bits: NEON natively or emulated by qemu and through SIMDe,
vectors natively, by two compilers and at two levels. The proofs of the rules stand on these
meanings.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import fetch, native
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.simulate import operand_widths, read
from daedalus.generator.targets.neon.target import NEON, Target
from daedalus.generator.targets.neon.vectors import (  # fmt: skip
    ByLane,
    ByScalar,
    Group,
    Shape,
    ctype,
    low,
    operation,
    suffix,
)
from daedalus.generator.targets.vector.target import VECTOR
from daedalus.generator.verify.goals import PLAIN

ROUNDS = 24  # vectors a case
NEON_BUILDS = ["host"] if native.is_arm() else ["simde", "aarch64"]
# Where it is built, for whom, by clang, with what besides.
BUILDS = [(arch, NEON, False, ("-O0", "-fwrapv")) for arch in NEON_BUILDS] + [
    ("portable", VECTOR, clang, flags)
    for clang, *flags in (
        (False, "-O0"),
        (False, "-O2"),
        (True, "-O2"),
        *([] if native.is_arm() else [(False, "-O3", "-march=x86-64-v3")]),
    )
]


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


def widths_of(op: MachineOp, target: Target) -> list[int]:
    """Where rules use an operation; conversions and negation are not rules."""
    used = {w for r in target.rules if r.op == op.name for w in r.widths}
    return sorted(used or ({8, 16} if op.shape == "narrow" else {16, 32}))


def _immediates(op: MachineOp, w: int) -> list[int]:
    lo, hi = (0, w - 1) if op.stem in ("shl", "qshl") else (1, w)
    if op.stem == "shll":
        lo, hi = 0, w // 2 - 1
    return sorted({lo, lo + 1, (lo + hi) // 2, hi - 1, hi})


def _scalars(op: MachineOp, w: int) -> list[int]:
    if op.stem in ("shrv", "shlv"):
        return [0, 1, w - 1, min(w, 31), 31]
    bits = operand_widths(op, w)[-1]
    lo, hi = (
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if op.signs[0] == "s" else (0, (1 << bits) - 1)
    )
    return [lo, hi, 23170 % hi, 3]


def cases(target: Target) -> list[Case]:
    found = []
    for op in target.ops.values():
        for w in widths_of(op, target):
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


CASES = {t.name: cases(t) for t in (NEON, VECTOR)}


def function(n: int, case: Case, target: Target) -> str:
    """C for one case: from the operands' bytes, one after the other, to the result's."""
    shape, lines, at = Shape(case.lanes, target), [], 0
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
    scalar: ByLane | ByScalar | None = None
    if case.op.stem in ("shrv", "shlv"):
        scalar = ByScalar(str(case.scalar))
    elif case.op.form == "k":
        bits = operand_widths(case.op, case.width)[-1]
        s = signs[0]
        element = f"{'u' if s == 'u' else ''}int{bits}_t"
        values = ", ".join([str(case.scalar)] * (128 // bits))
        lines.append(f"static const {element} values[{128 // bits}] = {{{values}}};")
        lines.append(f"const {ctype(s, bits, 128)} k = vld1q_{suffix(s, bits)}(values);")
        scalar = ByLane("k", 1)
    texts, sign = operation(case.op, shape, case.width, operands, scalar, case.imm)
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


def source(target: Target) -> str:
    own = CASES[target.name]
    table = ",\n".join(f"  {{case_{n}, {a}, {b}}}" for n, (a, b) in enumerate(map(sizes, own)))
    return (
        "".join(f"#include <daedalus/{h}>\n" for h in (target.header, *target.beside.values()))
        + "#include <stdint.h>\n#include <stdio.h>\n"
        + "".join(function(n, c, target) for n, c in enumerate(own))
        + "static const struct {\n  void (*run)(const uint8_t *, uint8_t *);\n  size_t in, out;\n}"
        f" cases[] = {{\n{table}\n}};\n"
        "int main(void) {\n"
        "  static uint8_t in[512], out[256];\n"
        f"  for (size_t n = 0; n < {len(own)}; n++) {{\n"
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
        ends = [0, 1, 2, half - 1, half, half + 1, top - 1, top, top >> (w // 2)]
        corners = np.array(ends, np.uint64)
        shape = (ROUNDS, case.lanes)
        noise = rng.integers(0, top, shape, np.uint64, endpoint=True)
        noise >>= rng.integers(0, w, shape, np.uint64)
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
        found.add(got.astype(np.uint64).tobytes())
    assert len(found) == 1, f"{case}: it depends on the sign it is read with"
    return np.frombuffer(found.pop(), np.uint64).reshape(ROUNDS, case.lanes)


@pytest.mark.parametrize(
    ("arch", "target", "clang", "flags"), BUILDS,
    ids=[f"{t.name}-{a}{'-clang' * c}{''.join(f)}" for a, t, c, f in BUILDS],
)  # fmt: skip
def test_operations_compute_what_the_table_says(
    arch: str, target: Target, clang: bool, flags: Sequence[str], tmp_path: Path
) -> None:
    c_file, own = tmp_path / "operations.c", CASES[target.name]
    c_file.write_text(source(target))
    system = [] if arch != "simde" else [
        repo_root() / "tools" / "simde", fetch.ensure("simde", "all") / "usr" / "include",
    ]  # fmt: skip
    program = native.compile_program(
        arch, c_file.with_name(arch), [c_file], includes=native.library_includes(),
        system_includes=system,
        flags=(*flags, "-Wno-pedantic"), clang=clang,
    )  # fmt: skip
    rng = np.random.default_rng(7)
    inputs = [drawn(c, rng) for c in own]
    done = subprocess.run(
        [*native.runner(arch), str(program)], capture_output=True, check=True,
        input=b"".join(as_bytes(c, i) for c, i in zip(own, inputs, strict=True)),
    )  # fmt: skip
    at = 0
    for case, operands in zip(own, inputs, strict=True):
        size = sizes(case)[1]
        raw = np.frombuffer(done.stdout, np.uint8, ROUNDS * size, at).reshape(ROUNDS, size)
        at += ROUNDS * size
        got = np.ascontiguousarray(raw).view(f"<u{case.width // 8}")[:, : case.lanes]
        wrong = got.astype(np.uint64) != expected(case, operands)
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
    for case in CASES["neon"]:
        operands = drawn(case, rng)
        if case.op.name == name:
            other = replace(case, op=replace(case.op, meaning=OPS[PLAIN[name]].meaning))
            told |= bool((expected(case, operands) != expected(other, operands)).any())
    assert told


@pytest.mark.parametrize("target", [NEON, VECTOR], ids=lambda t: t.name)
def test_every_operation_runs(target: Target) -> None:
    assert {c.op.name for c in CASES[target.name]} == set(target.ops)
