# SPDX-License-Identifier: BSD-2-Clause
"""Families of programs with integers in one invocation: operations, control flow, many values."""

import math

from daedalus.v3d.corpus.model import Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words


def _begin(s: Sketch, words: int = 256, loads: int = 3) -> None:
    s.input("a", random_words(s.rng, words))
    s.identity()
    s.load("a", words, count=loads)
    s.let("i", f"int({s.values['u'][-1]})")


def arithmetic(s: Sketch) -> list[Kernel]:
    """A chain of random operations."""
    _begin(s)
    s.output("r", per_item=2)
    s.mix(s.rng.randrange(8, 50))
    s.store("r", [s.digest(), s.pick("u")])
    return [s.kernel()]


def loops(s: Sketch) -> list[Kernel]:
    """Loops whose trip counts differ between invocations, nested, with break and continue."""
    _begin(s)
    s.output("r", per_item=3)
    rng = s.rng
    s.line("uint sum = 0u;")
    s.line("uint state = item * 2654435761u + 1u;")
    form = rng.randrange(5)
    most = rng.choice((3, 7, 16, 31))
    if form == 0:
        s.open(f"for (uint k = 0u; k < ({s.pick('u')} & {most}u); ++k)")
        s.values["u"] += ["k", "sum"]
    elif form == 1:
        s.line(f"uint k = {s.pick('u')} & {most}u;")
        s.open("while (k != 0u)")
        s.line("k = (k - 1u) & k;")
        s.values["u"] += ["k", "sum"]
    elif form == 2:
        s.line("uint k = 0u;")
        s.open("do")
        s.line("++k;")
        s.values["u"] += ["k", "sum"]
    elif form == 3:
        s.open(f"for (int j = 0; j < int(item % {most}u) + 1; ++j)")
        s.open(f"for (uint k = uint(j); k < {rng.randrange(2, 9)}u; k += 1u + (local & 1u))")
        s.values["u"] += ["k", "sum"]
        s.values["i"] += ["j"]
    else:
        s.open(f"for (uint k = {most}u; k > 0u; k >>= 1)")
        s.line(f"if ((state & 0x{rng.choice((7, 15, 3)):x}u) == 0u) continue;")
        s.values["u"] += ["k", "sum"]
    inner = s.scope()
    s.mix(rng.randrange(2, 9))
    s.line(f"sum = sum * 31u + ({s.digest(3)});")
    s.line("state ^= state << 13; state ^= state >> 17; state ^= state << 5;")
    if rng.random() < 0.6:
        s.line(f"if ((sum & 0x{rng.choice((31, 63, 15)):x}u) == 5u) break;")
    s.leave(inner)
    if form == 2:
        s.close(f"}} while (k < 20u && (state % {rng.randrange(3, 12)}u) != 0u);")
        s.values["u"] = [v for v in s.values["u"] if v != "k"]
    else:
        s.close()
        s.values["u"] = [v for v in s.values["u"] if form == 1 or v != "k"]
    if form == 3:
        s.close()
        s.values["i"].remove("j")
    s.store("r", ["sum", "state", s.pick("u")])
    return [s.kernel()]


def divergence(s: Sketch) -> list[Kernel]:
    """Branches that differ between invocations, nested, with switch and early return."""
    _begin(s)
    s.output("r", per_item=2, initial=0xDEADBEEF)
    s.line("uint sum = 1u;")
    if s.rng.random() < 0.5:
        s.line(f"if (({s.loaded[0]} % {s.rng.randrange(3, 9)}u) == 1u) return;")
    s.values["u"].append("sum")
    _branch(s, s.rng.randrange(2, 5))
    _switch(s)
    s.store("r", ["sum", s.digest(2)])
    return [s.kernel()]


def _branch(s: Sketch, depth: int) -> None:
    condition = s.rng.choice(
        (f"({s.pick('u')} & {1 << s.rng.randrange(5)}u) != 0u", s.operation("b")[1],
         f"item % {s.rng.randrange(2, 7)}u == 0u", f"local < {s.rng.randrange(1, 40)}u")
    )  # fmt: skip
    s.open(f"if ({condition})")
    for other in (False, True):
        scope = s.scope()
        s.mix(s.rng.randrange(1, 5))
        s.line(f"sum = sum * {s.rng.randrange(3, 99)}u + ({s.digest(2)});")
        if depth > 1 and s.rng.random() < 0.8:
            _branch(s, depth - 1)
        s.leave(scope)
        if not other:
            s.close("} else {")
    s.close()


def _switch(s: Sketch) -> None:
    s.open(f"switch ({s.pick('u')} & 7u)")
    for label in s.rng.sample(range(8), s.rng.randrange(2, 6)):
        s.line(f"case {label}u:")
        s.line(f"  sum += {s.operation('u')[1]};")
        if s.rng.random() < 0.7:
            s.line("  break;")
    s.line("default:")
    s.line(f"  sum ^= {s.pick('u')};")
    s.close()


def spilling(s: Sketch) -> list[Kernel]:
    """More values alive at once than there are registers: the compiler has to put some aside.

    A barrier, or a loop that uses all values in every turn, keeps it from loading them later.
    """
    rng = s.rng
    s.input("a", random_words(rng, 256))
    s.identity()
    s.output("r", per_item=2)
    n = rng.randrange(62, 130)
    step = rng.choice([k for k in range(3, n) if math.gcd(k, n) == 1])
    names = [f"v{k}" for k in range(n)]
    for k, name in enumerate(names):
        s.line(f"uint {name} = a[(item * {2 * k + 1}u + {k}u) & 255u];")
    s.line("uint sum = item;")
    turned = [names[k * step % n] for k in range(n)]
    if rng.random() < 0.5:
        s.open(f"for (uint k = 0u; k < (item & {rng.choice((1, 3))}u) + 1u; ++k)")
        _use(s, turned)
        s.close()
    else:
        s.line("barrier();")
        s.line("memoryBarrierBuffer();")
        _use(s, turned)
        _use(s, names[::-1])
    s.store("r", ["sum", " ^ ".join(rng.sample(names, 5))])
    return [s.kernel()]


def _use(s: Sketch, names: list[str]) -> None:
    factor = s.rng.choice((31, 33, 37))
    for k, name in enumerate(names):
        s.line(f"sum = sum * {factor}u + ({name} {s.rng.choice('^+-')} (sum >> {k % 31}u));")


def private_arrays(s: Sketch) -> list[Kernel]:
    """Arrays of an invocation, indexed by values that are not known before."""
    _begin(s)
    s.output("r", per_item=2)
    n = s.rng.choice((4, 8, 16, 24))
    s.line(f"uint own[{n}];")
    s.open(f"for (uint k = 0u; k < {n}u; ++k)")
    scope = s.scope()
    s.values["u"].append("k")
    s.mix(3, "u")
    s.line(f"own[k] = {s.digest(2)};")
    s.leave(scope)
    s.close()
    if s.rng.random() < 0.5:
        s.line("// ascending")
        s.open(f"for (uint k = 1u; k < {n}u; ++k)")
        s.open("for (uint j = k; j > 0u && own[j - 1u] > own[j]; --j)")
        s.line("uint swapped = own[j]; own[j] = own[j - 1u]; own[j - 1u] = swapped;")
        s.close()
        s.close()
    else:
        s.open(f"for (uint k = 0u; k < {2 * n}u; ++k)")
        s.line(f"own[(item + k * 5u) % {n}u] += own[(local + k) % {n}u] * 3u + k;")
        s.close()
    s.line("uint sum = 0u;")
    s.line(f"for (uint k = 0u; k < {n}u; ++k) sum = sum * 33u + own[k];")
    s.store("r", ["sum", f"own[{s.pick('u')} % {n}u]"])
    return [s.kernel()]
