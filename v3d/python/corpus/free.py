# SPDX-License-Identifier: BSD-2-Clause
"""Programs of any statements in any order: what the other families do one by one, mixed.

Integers and floats feed one another; branches, loops and switches nest; invocations exchange values
through shared memory, atomic operations and subgroups.  Barriers stand where all invocations of a
workgroup pass, be it in some of the groups only.
"""

import struct

from daedalus.v3d.corpus import corners, subgroups
from daedalus.v3d.corpus.floats import Floats, grid
from daedalus.v3d.corpus.model import ExactFloat, Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words

WORDS = 256
_PARTS = ("floats", "shared", "atomics", "subgroups", "pushed", "arrays", "functions", "uniforms",
          "some groups", "narrow")  # fmt: skip


class _Free:
    """A shader in the making, and what its statements may use."""

    def __init__(self, s: Sketch) -> None:
        self.s = s
        self.rng = s.rng
        self.parts = set(self.rng.sample(_PARTS, self.rng.randrange(2, 7)))
        if "some groups" in self.parts:
            self.parts.add("shared")
        self.floats: Floats | None = None
        self.pushed = 0

    # ---- declarations ----

    def begin(self) -> None:
        s, rng = self.s, self.rng
        if "subgroups" in self.parts:
            subgroups.whole(s)
            s.subgroups = True
            kinds = ("basic", "vote", "ballot", "shuffle", "shuffle_relative", "quad")
            s.extensions.update(f"GL_KHR_shader_subgroup_{k}" for k in kinds)
        s.input("a", random_words(rng, WORDS))
        if "floats" in self.parts:
            s.features.add("float")
            s.input("x", grid(rng, WORDS), "float")
            s.output("f", "float", per_item=2, rule=ExactFloat())
        if "uniforms" in self.parts:
            s.input("table", random_words(rng, 64), "uvec4", uniform=True)
        if "narrow" in self.parts:
            s.extensions.add("GL_EXT_shader_8bit_storage")
            s.input("bytes", random_words(rng, 64), "uint8_t")
        if "pushed" in self.parts:
            self.pushed = rng.choice((4, 8, 16))
            s.push = struct.unpack(f"<{self.pushed}I", random_words(rng, self.pushed))
            s.declarations += corners.pushed(self.pushed)
        s.output("r", per_item=3, initial=0xDEADBEEF)
        if "atomics" in self.parts:
            s.features.add("atomics")
            s.output("sums", fixed=4)
            s.output("most", fixed=2)
        if "shared" in self.parts:
            s.declarations += [f"shared uint pool[{s.items}];", "shared uint tally[4];"]
        s.identity()
        if "shared" in self.parts:
            s.line("for (uint k = local; k < 4u; k += gl_WorkGroupSize.x * gl_WorkGroupSize.y * "
                   "gl_WorkGroupSize.z) tally[k] = 0u;")  # fmt: skip
            s.line("barrier();")
        s.load("a", WORDS, count=3)
        s.let("i", f"int({s.values['u'][-1]})")
        if "subgroups" in self.parts:
            s.line("uint lane = gl_SubgroupInvocationID;")
            s.values["u"].append("lane")
        if "floats" in self.parts:
            self.floats = Floats(s)
            for k in range(3):
                self.floats.let(f"x[(item * {k + 1}u + {k}u) % {WORDS}u]", 10, -10)
        if "functions" in self.parts:
            self._functions()
        if "arrays" in self.parts:
            s.line("uint own[8];")
            s.line("for (uint k = 0u; k < 8u; ++k) own[k] = item * (k + 3u);")
        s.line("uint sum = local;")
        s.values["u"].append("sum")

    def _functions(self) -> None:
        """Two functions, of which the second calls the first and changes an argument."""
        rng = self.rng
        a, b = rng.randrange(1, 1 << 16), rng.randrange(1, 31)
        s = self.s
        s.functions["turn"] = (
            f"uint turn(uint v, int n) {{ if (n > {rng.randrange(100)}) return v * {a}u; "
            f"for (int k = 0; k < (n & 3); ++k) v = (v << 1) ^ (v >> {b}); return v + 1u; }}"
        )
        s.functions["shift"] = (
            f"uint shift(inout uint v, uint w) {{ v ^= turn(w, int(v & 0xffu) - {rng.randrange(9)})"
            f"; return (v & 1u) == 0u ? w : v >> {b}; }}"
        )

    # ---- statements ----

    def statements(self, n: int, depth: int, together: bool) -> None:
        """n statements; `together` where all invocations of the workgroup come by, or none."""
        for _ in range(n):
            choices = [self._mix, self._mix, self._sum, *self._of_parts(together)]
            if depth:
                choices += [self._branch, self._loop, self._switch]
            self.rng.choice(choices)(depth, together)

    def _of_parts(self, together: bool) -> list:  # type: ignore[type-arg]
        found = [f for part, f in (
            ("floats", self._float), ("pushed", self._push), ("arrays", self._array),
            ("functions", self._call), ("uniforms", self._uniform), ("narrow", self._narrow),
            ("atomics", self._atomic)) if part in self.parts]  # fmt: skip
        if together:
            found += [f for part, f in (
                ("shared", self._exchange), ("shared", self._tally),
                ("some groups", self._some_groups), ("subgroups", self._subgroup),
                ("subgroups", self._subgroup)) if part in self.parts]  # fmt: skip
        return found

    def _mix(self, depth: int, together: bool) -> None:
        self.s.mix(self.rng.randrange(1, 5))

    def _sum(self, depth: int, together: bool) -> None:
        self.s.line(f"sum = sum * {self.rng.randrange(3, 99)}u + ({self.s.digest(2)});")

    def _float(self, depth: int, together: bool) -> None:
        """Floats, and what becomes of them as integers; zeros lose their sign on the way."""
        floats, s = self.floats, self.s
        assert floats is not None
        floats.mix(self.rng.randrange(1, 4))
        name, most, _ = self.rng.choice(floats.known[-6:])
        kind = self.rng.randrange(5)
        if kind == 0:
            s.let("u", f"{name} == 0.0 ? 0u : floatBitsToUint({name})")
        elif kind == 1 and most < 30:
            s.let("i", f"int({name})")
        elif kind == 2:
            other = self.rng.choice(floats.known)[0]
            s.let("b", f"{name} {self.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {other}")
        elif kind == 3:
            floats.let(f"float({s.pick('u')} & 0xffffu)", 16, 0)
        elif self.rng.random() < 0.15:
            s.features.add(corners.SIGN_OF_ZERO)
            floats.let(f"sign({name})", 1, 0)

    def _push(self, depth: int, together: bool) -> None:
        k = self.rng.randrange(3)
        if k == 0:
            self.s.let("u", f"PUSHED({self.rng.randrange(self.pushed)})")
            return
        self.s.features.add(corners.PUSHED_INDEX)
        if "arrays" in self.parts:  # with memory of its own, v3dv reads push constants by the TMU
            self.s.features.add(corners.LOADED_PLACE)
        found = self.s.let("u", f"PUSHED(({self.s.pick('u')}) & {self.pushed - 1}u)")
        if k == 1:
            self.s.let("u", f"a[{found} % {WORDS}u]")

    def _array(self, depth: int, together: bool) -> None:
        self.s.line(f"own[({self.s.pick('u')}) & 7u] {self.rng.choice(('=', '+=', '^='))} "
                    f"{self.s.operation('u')[1]};")  # fmt: skip
        self.s.let("u", f"own[({self.s.pick('u')}) & 7u]")

    def _call(self, depth: int, together: bool) -> None:
        s = self.s
        if self.rng.random() < 0.5:
            s.let("u", f"turn({s.pick('u')}, {s.pick('i')})")
        else:
            s.let("u", f"shift(sum, {s.pick('u')})")

    def _uniform(self, depth: int, together: bool) -> None:
        place = self.rng.choice((f"{self.rng.randrange(16)}", "group & 15u",
                                 f"({self.s.pick('u')}) & 15u"))  # fmt: skip
        self.s.let("u", f"table[{place}].{self.rng.choice('xyzw')}")

    def _narrow(self, depth: int, together: bool) -> None:
        self.s.features.add(corners.LOADED_PLACE)
        self.s.let("u", f"uint(bytes[({self.s.pick('u')}) & 255u])")

    def _atomic(self, depth: int, together: bool) -> None:
        s = self.s
        if self.rng.random() < 0.6:
            s.line(f"atomicAdd(sums[({s.pick('u')}) & 3u], {s.pick('u')});")
        else:
            s.line(f"atomicMax(most[({s.pick('u')}) & 1u], {s.pick('u')});")

    def _exchange(self, depth: int, together: bool) -> None:
        s, n = self.s, self.s.items
        s.line("barrier();")
        s.line(f"pool[local] = {s.digest(3)};")
        s.line("barrier();")
        s.let("u", self.rng.choice((f"pool[(local + {self.rng.randrange(1, 99)}u) % {n}u]",
                                    f"pool[{n - 1}u - local]", "pool[0]",
                                    f"pool[({s.pick('u')}) % {n}u]")))  # fmt: skip

    def _tally(self, depth: int, together: bool) -> None:
        s, k = self.s, self.rng.randrange(4)
        s.line(f"if ({s.operation('b')[1]}) atomicAdd(tally[{k}], {s.pick('u')});")
        s.line("barrier();")
        s.let("u", f"tally[{k}]")
        s.line("barrier();")

    def _some_groups(self, depth: int, together: bool) -> None:
        corners.exchange_of_some(self.s)

    def _subgroup(self, depth: int, together: bool) -> None:
        s, value = self.s, self.s.digest(1)
        delta = self.rng.randrange(1, 16)
        s.let("u", self.rng.choice((
            f"subgroupShuffle({value}, ({s.pick('u')}) & 15u)",
            f"subgroupShuffleXor({value}, {delta}u)",
            f"subgroupBroadcast({value}, {delta}u)",
            f"subgroupBroadcastFirst({value})",
            f"subgroupBallot({s.operation('b')[1]}).x",
            f"subgroupBallotBitCount(subgroupBallot({s.operation('b')[1]}))",
            f"uint(subgroupAny({s.operation('b')[1]}))",
            f"uint(subgroupAll({s.pick('u')} > {delta}u))",
            f"uint(subgroupAllEqual({s.pick('u')} & 1u))",
            f"subgroupQuadSwapDiagonal({value})",
            f"subgroupQuadBroadcast({value}, {delta & 3}u)",
        )))  # fmt: skip

    # ---- blocks ----

    def _block(self, depth: int, together: bool, most: int = 4) -> None:
        scope = self.s.scope()
        known = len(self.floats.known) if self.floats else 0
        self.statements(self.rng.randrange(1, most), depth - 1, together)
        self._sum(depth, together)
        self.s.leave(scope)
        if self.floats:
            del self.floats.known[known:]

    def _branch(self, depth: int, together: bool) -> None:
        s = self.s
        s.open(f"if ({s.operation('b')[1]})")
        self._block(depth, False)
        if self.rng.random() < 0.6:
            s.close("} else {")
            self._block(depth, False)
        s.close()

    def _loop(self, depth: int, together: bool) -> None:
        """Of as many turns for all, or of as many as each likes."""
        s, k = self.s, self.s.fresh("k")
        alike = together and self.rng.random() < 0.5
        turns = f"{self.rng.randrange(1, 5)}u" if alike else f"({s.pick('u')} & 7u)"
        bound = s.fresh("n")
        s.line(f"uint {bound} = {turns};")
        s.open(f"for (uint {k} = 0u; {k} < {bound}; ++{k})")
        s.values["u"].append(k)
        self._block(depth, alike)
        if not alike and self.rng.random() < 0.4:
            s.line(f"if ((sum & 31u) == {self.rng.randrange(32)}u) "
                   f"{self.rng.choice(('break', 'continue'))};")  # fmt: skip
        s.values["u"].remove(k)
        s.close()

    def _switch(self, depth: int, together: bool) -> None:
        s = self.s
        s.open(f"switch ({s.pick('u')} & 3u)")
        for label in self.rng.sample(range(4), self.rng.randrange(1, 4)):
            s.line(f"case {label}u: {{")
            self._block(depth, False, 3)
            s.line("}")
            if self.rng.random() < 0.7:
                s.line("break;")
        s.line("default:")
        s.line(f"sum += {s.pick('u')};")
        s.close()

    def end(self) -> None:
        s = self.s
        if "shared" in self.parts:
            s.line("barrier();")
            s.let("u", "tally[local & 3u]")
        if self.floats:
            names = [name for name, _, _ in self.floats.known]
            s.store("f", self.rng.sample(names, 2))
        if "arrays" in self.parts:
            s.let("u", "own[0] ^ own[3] ^ (own[7] << 3)")
        s.store("r", ["sum", s.digest(), s.pick("u")])


def anything(s: Sketch) -> list[Kernel]:
    """Statements of all kinds."""
    made = _Free(s)
    made.begin()
    made.statements(s.rng.randrange(4, 14), s.rng.randrange(1, 4), True)
    made.end()
    return [s.kernel()]
