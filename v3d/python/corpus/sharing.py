# SPDX-License-Identifier: BSD-2-Clause
"""Families of programs whose invocations work together: shared memory, barriers, atomics.

Between two barriers an element of shared memory is written by one invocation only, or by atomic
operations that commute.
"""

from daedalus.v3d.corpus.model import Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words

# Operation and initial word; all commute with themselves.
_ATOMICS = (("Add", 0), ("And", 0xFFFFFFFF), ("Or", 0), ("Xor", 0), ("Min", 0xFFFFFFFF), ("Max", 0))


def _begin(s: Sketch) -> None:
    s.input("a", random_words(s.rng, 256))
    s.identity()
    s.load("a", 256, count=2)
    s.mix(s.rng.randrange(1, 8))


def exchange(s: Sketch) -> list[Kernel]:
    """Every invocation writes an element and reads others', several times."""
    _begin(s)
    n = s.items
    s.output("r", per_item=2)
    s.declarations.append(f"shared uint pool[{n}];")
    s.line(f"pool[local] = {s.digest()};")
    for _ in range(s.rng.randrange(1, 5)):
        s.line("barrier();")
        stride, offset = s.rng.randrange(1, 64), s.rng.randrange(n)
        read = s.let("u", f"pool[(local * {stride}u + {offset}u) % {n}u]")
        other = s.let("u", f"pool[{n - 1}u - local]")
        scope = s.scope()
        s.mix(s.rng.randrange(1, 5))
        s.line("barrier();")
        s.line(f"pool[local] = {s.digest(4)};")
        s.leave(scope)
        s.values["u"] += [read, other]
    s.line("barrier();")
    s.store("r", [f"pool[(local + 1u) % {n}u]", s.digest(4)])
    return [s.kernel()]


def reduction(s: Sketch) -> list[Kernel]:
    """Sums of a workgroup, one number or one for each invocation, in logarithmic steps."""
    _begin(s)
    n = s.items
    s.output("r", per_item=1)
    s.output("total", per_group=1)
    s.declarations.append(f"shared uint pool[{n}];")
    s.line(f"pool[local] = {s.digest()};")
    s.line("barrier();")
    operator = s.rng.choice(("{} + {}", "{} ^ {}", "max({}, {})", "min({}, {})"))
    if s.rng.random() < 0.5:
        s.open(f"for (uint k = 1u; k < {n}u; k <<= 1)")
        s.line("uint before = local >= k ? pool[local - k] : pool[local];")
        combined = operator.format("pool[local]", "before")
        s.line(f"uint sum = local >= k ? {combined} : pool[local];")
        s.line("barrier();")
        s.line("pool[local] = sum;")
        s.line("barrier();")
        s.close()
    else:
        s.line(f"uint width = {n}u;")
        s.open("while (width > 1u)")
        s.line("uint half_width = (width + 1u) / 2u;")
        s.open("if (local + half_width < width)")
        combined = operator.format("pool[local]", "pool[local + half_width]")
        s.line(f"pool[local] = {combined};")
        s.close()
        s.line("barrier();")
        s.line("width = half_width;")
        s.close()
    s.line("r[item] = pool[local];")
    s.line(f"if (local == 0u) total[group] = pool[{s.rng.choice((0, n - 1))}];")
    return [s.kernel()]


def shared_atomics(s: Sketch) -> list[Kernel]:
    """Atomic operations on shared memory: a histogram, and one word that all work on."""
    s.features.add("atomics")
    _begin(s)
    bins = s.rng.choice((4, 16, 37))
    operation, initial = s.rng.choice(_ATOMICS)
    s.output("r", per_group=bins + 1)
    s.declarations += [f"shared uint bins[{bins}];", "shared uint word;"]
    s.open(f"for (uint k = local; k < {bins}u; k += {s.items}u)")
    s.line("bins[k] = 0u;")
    s.close()
    s.line(f"if (local == 0u) word = {initial}u;")
    s.line("barrier();")
    s.line(f"atomicAdd(bins[({s.digest(2)}) % {bins}u], 1u + (local & 3u));")
    s.open(f"if ({s.operation('b')[1]})")
    s.line(f"atomic{operation}(word, {s.digest(3)});")
    s.close()
    s.line("barrier();")
    s.open(f"for (uint k = local; k < {bins}u; k += {s.items}u)")
    s.line(f"r[group * {bins + 1}u + k] = bins[k];")
    s.close()
    s.line(f"if (local == 0u) r[group * {bins + 1}u + {bins}u] = word;")
    return [s.kernel()]


def buffer_atomics(s: Sketch) -> list[Kernel]:
    """Atomic operations on a buffer, by all invocations of a dispatch."""
    s.features.add("atomics")
    _begin(s)
    words = s.rng.choice((1, 5, 16))
    chosen = s.rng.sample(_ATOMICS, 2)
    for k, (operation, initial) in enumerate(chosen):
        s.output(f"r{k}", fixed=words, initial=initial)
        scope = s.scope()
        s.mix(2)
        # One bit more or less at a time, lest a few invocations settle the result.
        value = s.digest(3)
        value = {"And": f"~(1u << (({value}) & 31u))", "Or": f"1u << (({value}) & 31u)"}.get(
            operation, value
        )
        s.line(f"atomic{operation}(r{k}[{s.loaded[0]} % {words}u], {value});")
        s.leave(scope)
    signed = s.rng.choice(("Min", "Max"))
    s.output("least", "int", fixed=1)
    s.line(f"atomic{signed}(least[0], int({s.pick('u')}));")
    return [s.kernel()]


def tickets(s: Sketch) -> list[Kernel]:
    """What atomic operations return, used so that the order does not show in the results."""
    s.features.add("atomics")
    _begin(s)
    s.output("counter", fixed=2)
    s.output("taken", per_item=1)
    s.output("once", fixed=1, initial=0xFFFFFFFF)
    s.output("winners", fixed=1)
    # Every ticket is drawn once, whoever draws it.
    s.line("uint ticket = atomicAdd(counter[0], 1u);")
    s.line("taken[ticket] += ticket * 3u + 1u;")
    s.line("uint seen = atomicCompSwap(once[0], 0xffffffffu, 77u);")
    s.line("if (seen == 0xffffffffu) atomicAdd(winners[0], 1u);")
    s.line(f"atomicAdd(counter[1], {s.digest(3)});")
    return [s.kernel()]


def ping_pong(s: Sketch) -> list[Kernel]:
    """A two-dimensional exchange: rows become columns, through shared memory."""
    s.local = s.rng.choice(((8, 8, 1), (16, 16, 1), (4, 4, 1), (8, 4, 2)))
    s.layout = "local_size_x = {}, local_size_y = {}, local_size_z = {}".format(*s.local)
    _begin(s)
    x, y, z = s.local
    s.output("r", per_item=1)
    s.declarations.append(f"shared uint tile[{z}][{y}][{x + 1}];")
    s.line("uvec3 at = gl_LocalInvocationID;")
    s.line(f"tile[at.z][at.y][at.x] = {s.digest()};")
    s.line("barrier();")
    s.line(f"uint turned = tile[at.z][at.x % {y}u][(at.y + (at.x / {y}u) * {y}u) % {x}u];")
    s.values["u"].append("turned")
    s.mix(s.rng.randrange(2, 8))
    s.line(f"r[item] = turned ^ (({s.digest(3)}) << 1);")
    return [s.kernel()]
