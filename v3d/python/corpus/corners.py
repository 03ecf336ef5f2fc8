# SPDX-License-Identifier: BSD-2-Clause
"""Families whose programs reach corners where drivers have been seen to err.

Each is as defined as the others: the specification says what comes out.  A feature of the program
names the corner, so that known.py finds it.
"""

import random
import struct

from daedalus.v3d.corpus.floats import grid
from daedalus.v3d.corpus.model import ExactFloat, Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words

PARTIAL_BARRIER = "partial-barrier"
SIGN_OF_ZERO = "sign-of-zero"
INDIRECT_SHARED = "indirect-shared"
HALF_OF_INTEGER = "half-of-integer"
PUSHED_INDEX = "pushed-index"
SHARED_MEMORY = "shared-memory"
LOADED_PLACE = "loaded-place"

WORDS = 256


def _begin(s: Sketch) -> None:
    s.input("a", random_words(s.rng, WORDS))
    s.identity()
    s.load("a", WORDS, count=2)
    s.mix(s.rng.randrange(1, 8))


def _of_group(s: Sketch) -> str:
    """A condition that is the same for all invocations of a workgroup, and not for all groups."""
    bit = 1 << s.rng.randrange(3)
    return s.rng.choice((
        f"(group & {bit}u) == {s.rng.choice(('0u', f'{bit}u'))}",
        f"(gl_WorkGroupID.x & {bit}u) != 0u",
        "group + 1u == gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z",
        f"group % {s.rng.randrange(2, 6)}u == {s.rng.randrange(2)}u",
        f"(a[group % {WORDS}u] & {bit}u) == 0u",
    ))  # fmt: skip


def exchange_of_some(s: Sketch, sum_name: str = "sum") -> None:
    """Statements: some workgroups pass a barrier, once or in a loop, the others do not.

    `pool` is shared memory of a word an invocation, and `sum_name` a variable.
    """
    n = s.items
    s.features.add(PARTIAL_BARRIER)
    scope = s.scope()
    form = s.rng.randrange(3)
    if form == 0:
        s.open(f"if ({_of_group(s)})")
    elif form == 1:
        k = s.fresh("n")
        s.open(f"for (uint {k} = 0u; {k} < (group % {s.rng.randrange(2, 4)}u); ++{k})")
    else:
        s.open(f"switch (group % {s.rng.randrange(2, 5)}u)")
        s.line("case 0u:")
    s.line("barrier();")
    s.line(f"pool[local] = ({s.digest(3)}) + {sum_name};")
    s.line("barrier();")
    other = s.rng.choice((f"(local + {s.rng.randrange(1, 9)}u) % {n}u", f"{n - 1}u - local"))
    s.line(f"{sum_name} = {sum_name} * 31u + pool[{other}];")
    if form == 2:
        s.line("break;")
        s.line("default:")
        s.line(f"{sum_name} ^= {s.pick('u')};")
    s.close()
    s.leave(scope)


def partial_barriers(s: Sketch) -> list[Kernel]:
    """Barriers that a part of the workgroups reach."""
    _begin(s)
    s.output("r", per_item=2)
    s.declarations.append(f"shared uint pool[{s.items}];")
    s.line("uint sum = local;")
    for _ in range(s.rng.randrange(1, 4)):
        exchange_of_some(s)
        s.mix(s.rng.randrange(1, 5))
    s.store("r", ["sum", s.digest()])
    return [s.kernel()]


def last_group(s: Sketch) -> list[Kernel]:
    """The workgroup that is done last puts together what all have stored."""
    s.features.update((PARTIAL_BARRIER, "atomics"))
    _begin(s)
    n = s.items
    s.output("part", per_group=1, qualifier="coherent")
    s.output("total", fixed=2)
    s.output("done", fixed=1)
    s.declarations += [f"shared uint pool[{n}];", "shared uint position;"]
    operator = s.rng.choice(("{} + {}", "{} ^ {}", "max({}, {})", "min({}, {})"))
    s.line(f"pool[local] = {s.digest()};")
    s.line("barrier();")
    s.open("if (local == 0u)")
    s.line("uint own = pool[0];")
    s.line(f"for (uint k = 1u; k < {n}u; ++k) own = {operator.format('own', 'pool[k]')};")
    s.line("part[group] = own;")
    s.line("memoryBarrierBuffer();")
    s.line("position = atomicAdd(done[0], 1u);")
    s.close()
    s.line("barrier();")
    s.line("uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z;")
    s.open("if (position == groups - 1u)")
    s.line("memoryBarrierBuffer();")
    s.line("pool[local] = part[0];")
    s.open(f"for (uint k = local; k < groups; k += {n}u)")
    s.line(f"pool[local] = {operator.format('pool[local]', 'part[k]')};")
    s.close()
    s.line("barrier();")
    s.open("if (local == 0u)")
    # Invocation 0 has part[0] among its own; the others' second time does not show in max or min.
    s.line("uint all = part[0];")
    s.line(f"for (uint k = 1u; k < groups; ++k) all = {operator.format('all', 'part[k]')};")
    s.line("uint seen = 0u;")
    s.line(f"for (uint k = 0u; k < {n}u; ++k) seen = seen * 3u + pool[k];")
    s.line("total[0] = all;")
    s.line("total[1] = seen;")
    s.close()
    s.close()
    return [s.kernel()]


def zeros(rng: random.Random, n: int) -> bytes:
    """Floats of which many are zeros of either sign."""
    values = list(struct.unpack(f"<{n}f", grid(rng, n)))
    for k in range(n):
        if rng.random() < 0.4:
            values[k] = rng.choice((0.0, -0.0))
    return struct.pack(f"<{n}f", *values)


def signed_zeros(s: Sketch) -> list[Kernel]:
    """What operations make of zeros with a sign; the sign of a zero that comes out may be any."""
    s.features.update(("float", "signed-zeros"))
    rng = s.rng
    s.input("x", zeros(rng, WORDS), "float")
    s.output("r", "float", per_item=3, rule=ExactFloat())
    s.output("decided", per_item=1)
    s.identity()
    for k, name in enumerate("abc"):
        s.line(f"precise float {name} = x[(item * {k + 1}u + {rng.randrange(WORDS)}u) % {WORDS}u];")
    pick = rng.choice
    places = {"f": pick("ab"), "g": pick("bc"), "h": pick(("a * b", "-c", "b - b", "c * 0.0", "a"))}
    # Quotients and what may be infinite are left out; `fract` is exact for these.
    texts = ("floor({f})", "ceil({h})", "trunc({f})", "fract({f})", "abs({h})", "-{f} + {g}",
             "{f} - {g}", "min({f}, {h})", "max({g}, {h})", "step({f}, {g})", "step({h}, {f})",
             "clamp({f}, -0.0, 1.0)", "clamp({h}, -1.0, 0.0)", "{f} == 0.0 ? {g} : 1.0",
             "float(int({f}))", "{h} < {f} ? {f} : {g}", "roundEven({f})", "{f} * abs({g})",
             "mix({f}, {g}, {h} == {f})", "{f} != {h} ? -{f} : {g}")  # fmt: skip
    chosen = [t.format(**places) for t in rng.sample(texts, 3)]
    if rng.random() < 0.4:
        s.features.add(SIGN_OF_ZERO)
        chosen[0] = pick(("sign({f})", "sign({h})", "sign({f}) * {g}", "sign({f}) + sign({g})",
                          "{f} == {g} ? sign({h}) : 3.0")).format(**places)  # fmt: skip
    for k, text in enumerate(chosen):
        s.line(f"precise float f{k} = {text};")
    s.line("uint bits = 0u;")
    for k in range(rng.randrange(3, 9)):
        x, y = rng.sample(("a", "b", "c", "f0", "f1", "f2", "0.0", "-0.0"), 2)
        s.line(f"bits |= uint({x} {pick(('<', '<=', '>', '>=', '==', '!='))} {y}) << {k};")
    s.line(f"if (bool({pick('abc')})) bits |= 0x10000u;")
    s.line(f"bits ^= uint(int({pick('abc')})) << 20;")
    s.line("decided[item] = bits;")
    s.store("r", ["f0", "f1", "f2"])
    return [s.kernel()]


def indirect_sharing(s: Sketch) -> list[Kernel]:
    """Shared memory in workgroups whose number the device reads from a buffer."""
    s.features.add(INDIRECT_SHARED)
    _begin(s)
    n = s.items
    words = n * s.rng.choice((1, 1, 2, 4, 8))
    words = min(words, 4096)
    s.output("r", per_item=2)
    s.output("total", per_group=1)
    s.declarations.append(f"shared uint pool[{words}];")
    s.open(f"for (uint k = local; k < {words}u; k += {n}u)")
    s.line(f"pool[k] = ({s.digest(3)}) + k * {s.rng.randrange(1, 1000)}u;")
    s.close()
    s.line("barrier();")
    read = s.let("u", f"pool[(local * {s.rng.randrange(1, 64)}u + group) % {words}u]")
    s.line("barrier();")
    s.mix(2)
    s.line(f"pool[{words - 1}u - local] = {s.digest(3)};")
    s.line("barrier();")
    s.line(f"if (local == 0u) total[group] = pool[{words - 1}u] ^ pool[{words - n}u];")
    s.store("r", [f"pool[{words - n}u + (local + 1u) % {n}u]", read])
    return [s.kernel()]


def chained_conversions(s: Sketch) -> list[Kernel]:
    """Conversions one after the other, by way of floats of 16 bits in memory.

    Whole numbers up to 2048 in magnitude are the same in all of these types.
    """
    rng = s.rng
    s.features.update(("float", "storage16", "conversions"))
    s.extensions.add("GL_EXT_shader_16bit_storage")
    s.input("a", random_words(rng, WORDS))
    values = [float(rng.randrange(-2048, 2049)) for _ in range(WORDS)]
    s.input("x", struct.pack(f"<{WORDS}e", *values), "float16_t")
    s.output("h", "float16_t", per_item=1)
    s.output("r", per_item=2)
    s.output("narrow", rng.choice(("int16_t", "uint16_t")), per_item=1)
    s.identity()
    s.load("a", WORDS, count=2)
    s.let("i", f"int(float(x[item % {WORDS}u]))")
    s.let("i", f"int({s.loaded[0]} & 0xfffu) - 2048")
    whole = list(s.values["i"])
    s.let("u", f"uint(abs({rng.choice(whole)}))")
    small = s.values["u"][-1]
    s.line(f"precise float f = float(x[(item * 3u + {rng.randrange(WORDS)}u) % {WORDS}u]);")
    s.mix(rng.randrange(2, 8))
    kind = rng.randrange(5)
    if kind < 2:
        s.features.add(HALF_OF_INTEGER)
        n = rng.choice((*whole, small, "int(item & 0x7ffu)", "(item * 7u & 0x7ffu)"))
        s.line(f"h[item] = float16_t(float({n}));")
    elif kind == 2:
        s.line(f"h[item] = float16_t(floor(f * {rng.choice(('0.5', '0.25', '-0.5'))}));")
    elif kind == 3:
        s.line(f"h[item] = float16_t(f < {rng.randrange(-99, 99)}.0 ? -f : f);")
    else:
        s.line(f"h[item] = x[({s.pick('u')}) % {WORDS}u];")
    other = rng.choice((f"uint(int(f)) ^ {s.pick('u')}", f"floatBitsToUint(float({whole[0]}))",
                        f"packHalf2x16(vec2(f, f * {rng.choice(('1.0', '0.5'))}))",
                        f"uint(int(float({whole[1]}) * 0.5))",
                        "uint(int(unpackHalf2x16(packHalf2x16(vec2(f * 0.5, f))).y))"))  # fmt: skip
    element = s.outputs[-1].name
    s.line(f"{element}[item] = {'u' if 'uint16_t' in s.declarations[-1] else ''}int16_t(int(f));")
    s.store("r", [other, s.digest()])
    return [s.kernel()]


def pushed_indices(s: Sketch) -> list[Kernel]:
    """Push constants at computed places, and what lies where they point to."""
    rng = s.rng
    s.features.update(("push-constants", PUSHED_INDEX))
    s.input("a", random_words(rng, WORDS))
    s.output("r", per_item=3)
    n = rng.choice((4, 8, 16, 32))
    s.push = tuple(rng.randrange(1 << 16) for _ in range(n))
    s.declarations += pushed(n)
    s.identity()
    s.load("a", WORDS, count=2)
    s.mix(rng.randrange(1, 6))
    for _ in range(rng.randrange(1, 4)):
        place = rng.choice((
            f"local % {n}u", f"item % {n}u", f"({s.pick('u')}) & {n - 1}u", f"group % {n}u",
            f"(item >> {rng.randrange(1, 4)}u) % {n}u",
        ))  # fmt: skip
        k = s.let("u", f"PUSHED({place})")
        s.let("u", rng.choice((f"a[({k}) % {WORDS}u]", f"a[(({k}) ^ item) % {WORDS}u]",
                               f"PUSHED({k} & {n - 1}u)")))  # fmt: skip
        s.mix(rng.randrange(3))
    s.line("uint sum = 0u;")
    s.open(f"for (uint k = 0u; k < (PUSHED(item & {n - 1}u) & 7u); ++k)")
    s.line(f"sum = sum * 5u + a[(PUSHED(k & {n - 1}u) + {s.pick('u')}) % {WORDS}u];")
    s.close()
    s.store("r", ["sum", s.digest(), s.pick("u")])
    return [s.kernel()]


def pushed(n: int) -> list[str]:
    """Declarations of n push constants; PUSHED(k) is one of them."""
    return [f"layout(push_constant) uniform Push {{ uint pushed[{n}]; }};",
            "#define PUSHED(k) pushed[k]"]  # fmt: skip
