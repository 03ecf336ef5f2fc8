# SPDX-License-Identifier: BSD-2-Clause
"""Families of programs with floats.

Operations that the specification wants correctly rounded are exact here: no value is infinite, NaN
or denormal, none is so large that a conversion overflows, and `precise` keeps a product and a sum
from becoming one operation.
"""

import random
import struct

from daedalus.v3d.corpus import precision
from daedalus.v3d.corpus.model import Bounded, ExactFloat, Kernel
from daedalus.v3d.corpus.sketch import Sketch

WORDS = 256
# Text, and by how much it can enlarge; sums of magnitudes and products are tracked in `Floats`.
_SAME = ("abs({0})", "-{0}", "floor({0})", "ceil({0})", "trunc({0})", "min({0}, {1})",
         "max({0}, {1})", "{0} < {1} ? {0} : {1}", "{0} >= {1} ? {1} : {0}",
         "clamp({0}, -100.0, 100.0)", "uintBitsToFloat(floatBitsToUint({0}))",
         "intBitsToFloat(floatBitsToInt({0}) ^ int(0x80000000u))")  # fmt: skip


def grid(rng: random.Random, n: int) -> bytes:
    """Multiples of 2^-10 below 2^10 in magnitude."""
    values = [rng.randrange(-(1 << 20), 1 << 20) / 1024.0 for _ in range(n)]
    for k in range(0, n, 7):
        values[k] = rng.choice((0.0, 1.0, -1.0, 0.5, 255.0, -1023.0, 1.0 / 1024, -0.25, 3.0))
    return struct.pack(f"<{n}f", *values)


class Floats:
    """Values with a bound of their magnitude, as a power of two."""

    def __init__(self, s: Sketch) -> None:
        self.s = s
        self.known: list[tuple[str, int, int]] = []  # name, magnitude < 2^a, lowest bit >= 2^b

    def let(self, text: str, most: int, least: int) -> str:
        name = self.s.fresh("f")
        self.s.line(f"precise float {name} = {text};")
        self.known.append((name, most, least))
        return name

    def mix(self, n: int) -> None:
        rng = self.s.rng
        for _ in range(n):
            (a, am, al), (b, bm, bl) = (rng.choice(self.known[-10:]) for _ in range(2))
            kind = rng.random()
            if kind < 0.3:
                # A sum of floats has no bit below both lowest bits: rounding only removes bits.
                most, least = max(am, bm) + 1, min(al, bl)
                text = f"{a} {rng.choice('+-')} {b}"
            elif kind < 0.5:
                most, least, text = am + bm, al + bl, f"{a} * {b}"
            elif kind < 0.6 and am < 24:
                most, least, text = am, 0, f"float(int({a}))"
            else:
                # The lowest bit may become the other operand's, or a whole number's.
                most, least = max(am, bm, 7), min(al, bl, 0)
                text = rng.choice(_SAME).format(a, b)
            if most < 60 and least > -60:
                self.let(text, most, least)


def exact(s: Sketch) -> list[Kernel]:
    """Correctly rounded operations, comparisons and conversions."""
    s.features.add("float")
    s.input("x", grid(s.rng, WORDS), "float")
    s.output("r", "float", per_item=2, rule=ExactFloat())
    s.output("decided", per_item=1)
    s.identity()
    values = Floats(s)
    for k in range(3):
        values.let(f"x[(item * {k + 1}u + {k}u) % {WORDS}u]", 10, -10)
    values.let(f"float(int(item & 0xffffu) - {s.rng.randrange(500)})", 17, 0)
    values.mix(s.rng.randrange(6, 30))
    names = [name for name, _, _ in values.known]
    s.line("uint bits = 0u;")
    for k in range(s.rng.randrange(2, 8)):
        a, b = s.rng.sample(names, 2)
        s.line(f"bits |= uint({a} {s.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {b}) << {k};")
    small = [name for name, most, _ in values.known if most < 24]
    s.line(f"decided[item] = bits ^ (uint(int({s.rng.choice(small)})) << 8);")
    s.store("r", names[-2:])
    return [s.kernel()]


def loops(s: Sketch) -> list[Kernel]:
    """Loops over small whole numbers and what becomes of their sums, of several forms."""
    s.features.add("float")
    rng = s.rng
    whole = [float(rng.randrange(-64, 65)) for _ in range(WORDS)]
    s.input("x", struct.pack(f"<{WORDS}f", *whole), "float")
    s.output("r", "float", per_item=2, rule=ExactFloat())
    s.identity()
    s.line("precise float sum = 0.0;")
    s.line("precise float power = 1.0;")
    form, turns = rng.randrange(4), rng.randrange(2, 20)
    if form == 0:
        s.open(f"for (uint k = 0u; k < {turns}u + (item & 7u); ++k)")
    elif form == 1:
        s.line(f"uint k = {turns}u + (local & 3u);")
        s.open("while (k != 0u)")
        s.line("--k;")
    elif form == 2:
        s.open(f"for (uint j = item & 1u; j < {rng.randrange(2, 4)}u; ++j)")
        s.open(f"for (uint k = j; k < {turns // 2 + 1}u; k += {rng.randrange(1, 3)}u)")
    else:
        s.line("uint k = 0u;")
        s.open("do")
        s.line("++k;")
    # A turn adds less than 2^13 to a magnitude and doubles none: 30 turns stay far below 2^24.
    other = f"x[(local * {rng.randrange(2, 9)}u + k) % {WORDS}u]"
    s.line(f"sum += x[(item + k) % {WORDS}u] * {other};")
    steps = (
        "if (sum > 4096.0) sum -= 4096.0;", "power = power * 0.5 + sum;",
        f"power = max(power, sum * 0.25) - {other};", "if (power > sum) power = -power;",
        "sum = floor(sum * 0.5);", "power += float(k) * 0.125;", f"if ({other} < 0.0) continue;",
        "if (abs(sum) > 6000.0) break;", "sum = clamp(sum, -5000.0, 5000.0);",
    )  # fmt: skip
    for step in rng.sample(steps, rng.randrange(2, 6)):
        s.line(step)
    s.close(f"}} while (k < {turns}u && sum < 9000.0);" if form == 3 else "}")
    if form == 2:
        s.close()
    s.store("r", ["sum", "power"])
    return [s.kernel()]


def half_storage(s: Sketch) -> list[Kernel]:
    """Floats of 16 bits in memory, and packed in a word."""
    s.features.update(("float", "storage16"))
    s.extensions.add("GL_EXT_shader_16bit_storage")
    rng = s.rng
    values = [rng.randrange(-1024, 1025) / 16.0 for _ in range(WORDS)]
    s.input("x", struct.pack(f"<{WORDS}e", *values), "float16_t")
    s.output("r", "float", per_item=1, rule=ExactFloat())
    s.output("packed", per_item=1)
    s.output("h", "float16_t", per_item=1)
    s.identity()
    s.line(f"precise float a = float(x[item % {WORDS}u]);")
    s.line(f"precise float b = float(x[(item * {rng.choice((3, 5, 7))}u + 1u) % {WORDS}u]);")
    # What becomes a half float is a multiple of 2^-4 below 128 or of 2^-5 below 64, which it holds.
    # No floor(a): Mesa takes a from the half itself then, which its disassembler does not print.
    s.line(f"r[item] = {rng.choice(('a * b', 'a + b', 'a < b ? a * a : b', '-a * abs(b)'))};")
    added, other = (rng.randrange(-63, 64) / 16.0 for _ in range(2))
    pair = rng.choice((f"vec2(a, b) + vec2({added})", "vec2(max(a, b), min(a, b) - 1.0)",
                       "vec2(b, a + 0.0625) * 0.5"))  # fmt: skip
    again = rng.choice(("unpackHalf2x16(packHalf2x16(vec2(b, a)))",
                        "unpackHalf2x16(item * 65537u & 0x03ff03ffu | 0x3c00bc00u)"))  # fmt: skip
    s.line(f"packed[item] = packHalf2x16({pair}) ^ packHalf2x16({again});")
    stored = rng.choice((f"max(a, b) + {other}", f"min(a, b) + {other}", f"abs(a) - {other}",
                         f"(item & 1u) == 0u ? a : b + {other}"))  # fmt: skip
    s.line(f"h[item] = float16_t({stored});")
    return [s.kernel()]


def bounded(s: Sketch) -> list[Kernel]:
    """Functions whose results are correct within some units in the last place."""
    s.features.add("float-bounded")
    rng = s.rng
    operations = tuple(rng.sample(sorted(precision.OPERATIONS), rng.randrange(2, 6)))
    s.input("x", precision.inputs(rng, WORDS), "float")
    s.input("y", precision.inputs(rng, WORDS), "float")
    s.output("r", "float", per_item=len(operations), rule=Bounded(operations, ("x", "y")))
    s.identity()
    s.line(f"float x_item = x[item % {WORDS}u];")
    s.line(f"float y_item = y[item % {WORDS}u];")
    texts = [precision.OPERATIONS[o].glsl.format(x="x_item", y="y_item") for o in operations]
    s.store("r", texts)
    return [s.kernel()]
