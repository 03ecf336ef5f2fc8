# SPDX-License-Identifier: BSD-2-Clause
"""Families of programs about memory: sizes, vectors, uniforms, constants, kernels in turn."""

import struct

from daedalus.v3d.corpus.model import Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words


def small_elements(s: Sketch) -> list[Kernel]:
    """Loads and stores of 8 and 16 bits, computed with in 32."""
    rng = s.rng
    bits = rng.choice((8, 16))
    s.extensions.add(f"GL_EXT_shader_{bits}bit_storage")
    s.features.add(f"storage{bits}")
    signed = rng.random() < 0.5
    source = f"{'' if signed else 'u'}int{bits}_t"
    target = f"{'' if rng.random() < 0.5 else 'u'}int{bits}_t"
    per_word = 32 // bits
    s.input("a", random_words(rng, 128), source)
    s.output("wide", per_item=1)
    # One small element an invocation: neighbours share words, which must not disturb each other.
    s.output("r", target, per_item=1)
    s.identity()
    n = 128 * per_word
    for k in range(3):
        text = f"{'int' if signed else 'uint'}(a[(item * {k + 1}u + {k}u) % {n}u])"
        name = s.let("i" if signed else "u", text)
        s.loaded.append(f"uint({name})")
    s.mix(rng.randrange(3, 15))
    order = rng.choice(("item", f"item ^ {'1u' if s.items % 2 == 0 else '0u'}"))
    s.line(f"r[{order}] = {target}({s.let('u', s.digest(4))});")
    s.store("wide", [s.digest(2)])
    return [s.kernel()]


def vectors(s: Sketch) -> list[Kernel]:
    """Buffers of vectors, matrices of them, structures."""
    rng = s.rng
    n = rng.choice((2, 4))
    s.features.add("vectors")
    s.input("a", random_words(rng, 64 * n), f"uvec{n}")
    s.declarations.append("struct Pair { uvec2 both; uint one; };")
    s.output("r", f"uvec{n}", per_item=n)
    s.output("pairs", "Pair", per_item=4)
    s.identity()
    first, second = s.fresh(), s.fresh()
    s.line(f"uvec{n} {first} = a[item % 64u];")
    s.line(f"uvec{n} {second} = a[(item * 7u + {rng.randrange(64)}u) % 64u];")
    swizzle = "".join(rng.choice("xyzw"[:n]) for _ in range(n))
    operator = rng.choice(("+", "*", "^", "-"))
    s.line(f"uvec{n} both = {first} {operator} {second}.{swizzle};")
    s.line(f"both = max(both, {second}) >> {rng.randrange(1, 9)}u;")
    for c in "xyzw"[:n]:
        s.values["u"].append(f"both.{c}")
        s.loaded.append(f"{first}.{c}")
    s.mix(rng.randrange(2, 10))
    s.line(f"r[item] = both + uvec{n}({s.pick('u')});")
    s.line(f"pairs[item].both = {first}.yx;")
    s.line(f"pairs[item].one = {s.digest(3)};")
    return [s.kernel()]


def uniforms(s: Sketch) -> list[Kernel]:
    """A uniform buffer, read at constant places and at computed ones."""
    rng = s.rng
    s.features.add("uniform-buffer")
    s.input("a", random_words(rng, 128))
    s.input("table", random_words(rng, 64), "uvec4", uniform=True)
    s.output("r", per_item=2)
    s.identity()
    s.load("a", 128, count=2)
    for k in rng.sample(range(16), 4):
        s.let("u", f"table[{k}].{rng.choice('xyzw')}")
    s.let("u", f"table[group % 16u].{rng.choice('xyzw')}")
    s.let("u", f"table[{s.pick('u')} & 15u].{rng.choice('xyzw')}")
    s.let("u", f"table[{s.pick('u')} & 15u][{s.pick('u')} & 3u]")
    s.mix(rng.randrange(4, 16))
    s.store("r", [s.digest(), s.pick("u")])
    return [s.kernel()]


def constants(s: Sketch) -> list[Kernel]:
    """Push constants and specialization constants, of the workgroup's size too."""
    rng = s.rng
    s.features.update(("push-constants", "specialization"))
    s.input("a", random_words(rng, 128))
    s.output("r", per_item=2)
    n = rng.choice((1, 4, 8, 32))
    s.push = struct.unpack(f"<{n}I", random_words(rng, n))
    s.declarations.append(f"layout(push_constant) uniform Push {{ uint pushed[{n}]; }};")
    ids = rng.sample(range(100), 4)
    values = [rng.getrandbits(32), rng.randrange(1, 20), rng.randrange(2)]
    s.declarations += [
        f"layout(constant_id = {ids[0]}) const uint word = 1u;",
        f"layout(constant_id = {ids[1]}) const uint turns = 2u;",
        f"layout(constant_id = {ids[2]}) const bool flag = false;",
    ]
    if rng.random() < 0.5:
        s.layout = f"local_size_x_id = {ids[3]}, local_size_y = {s.local[1]}, "
        s.layout += f"local_size_z = {s.local[2]}"
        values.append(s.local[0])
    s.specialization = tuple(zip(ids, values, strict=False))
    s.identity()
    s.load("a", 128, count=2)
    s.values["u"] += ["word", f"pushed[{rng.randrange(n)}]", f"pushed[{rng.randrange(n)}]"]
    s.values["u"].append(f"pushed[gl_WorkGroupID.x % {n}u]")
    s.values["b"].append("flag")
    s.mix(rng.randrange(3, 12))
    s.line("uint sum = 0u;")
    s.open("for (uint k = 0u; k < turns; ++k)")
    s.line(f"sum = sum * 7u + (pushed[k % {n}u] ^ {s.pick('u')});")
    s.close()
    s.open("if (flag)")
    s.line("sum = ~sum;")
    s.close()
    s.store("r", ["sum", s.digest()])
    return [s.kernel()]


def several_kernels(s: Sketch) -> list[Kernel]:
    """Two or three dispatches, each reading what the one before wrote."""
    rng = s.rng
    s.features.add("dependent-dispatches")
    s.input("a", random_words(rng, 256))
    s.output("first", per_item=1)
    s.output("second", per_item=1)
    s.identity()
    s.load("a", 256, count=2)
    s.mix(rng.randrange(2, 8))
    s.store("first", [s.digest()])
    kernels = [s.kernel()]
    total = f"{s.items}u * gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z"
    for source, target in (("first", "second"), ("second", "first"))[: rng.randrange(1, 3)]:
        s.next_kernel()
        s.identity()
        s.line(f"uint total = {total};")
        s.loaded.append(s.let("u", f"{source}[total - 1u - item]"))
        s.let("u", f"{source}[(item * {rng.choice((3, 5, 17))}u + 1u) % total]")
        s.mix(rng.randrange(2, 8))
        s.store(target, [s.digest()])
        kernels.append(s.kernel())
    return kernels


def builtins(s: Sketch) -> list[Kernel]:
    """What an invocation knows of its place in the dispatch."""
    s.features.add("builtins")
    s.output("r", per_item=6)
    s.identity()
    for vector in ("gl_LocalInvocationID", "gl_GlobalInvocationID", "gl_WorkGroupID",
                   "gl_NumWorkGroups", "gl_WorkGroupSize"):  # fmt: skip
        s.let("u", f"{vector}.x + ({vector}.y << 10) + ({vector}.z << 20)")
    values = s.values["u"][-5:]
    s.mix(s.rng.randrange(2, 12))
    s.store("r", [*values, s.digest()])
    return [s.kernel()]
