# SPDX-License-Identifier: BSD-2-Clause
"""Families of programs with subgroup operations: vote, ballot, shuffle, quads.

The values depend on which invocations share a subgroup, so subgroups are of 16, and so is x of the
workgroups, or a multiple (drivers differ in whether a subgroup has invocations of several rows);
one family is independent of that and takes any workgroup.
"""

from daedalus.v3d.corpus.model import Kernel
from daedalus.v3d.corpus.sketch import Sketch, random_words

SIZE = 16
WHOLE = ((16, 1, 1), (32, 1, 1), (64, 1, 1), (256, 1, 1), (16, 4, 1), (32, 2, 3))


def _begin(s: Sketch, *kinds: str) -> None:
    s.extensions.update(f"GL_KHR_shader_subgroup_{k}" for k in ("basic", *kinds))
    s.features.update(f"subgroup-{k}" for k in kinds)
    s.input("a", random_words(s.rng, 256))
    s.identity()
    s.line("uint lane = gl_SubgroupInvocationID;")
    s.values["u"].append("lane")
    s.load("a", 256, count=2)
    s.mix(s.rng.randrange(1, 6))


def whole(s: Sketch) -> None:
    s.local = s.rng.choice(WHOLE)
    s.layout = "local_size_x = {}, local_size_y = {}, local_size_z = {}".format(*s.local)


def vote(s: Sketch) -> list[Kernel]:
    """Whether all or any invocations agree, also where only some of them are."""
    whole(s)
    _begin(s, "vote")
    s.output("r", per_item=2)
    s.line("uint bits = 0u;")
    for k in range(s.rng.randrange(2, 6)):
        threshold = s.rng.choice((0, 1, 15, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE))
        condition = s.rng.choice(
            (s.operation("b")[1], f"{s.pick('u')} > {threshold}u", f"lane < {s.rng.randrange(18)}u")
        )
        same = f"subgroupAllEqual({s.pick('u')} & {s.rng.randrange(4)}u)"
        text = s.rng.choice((f"subgroupAll({condition})", f"subgroupAny({condition})", same))
        s.line(f"bits |= uint({text}) << {k};")
    s.open(f"if ((lane & {s.rng.randrange(1, 16)}u) != 0u)")
    s.line(f"bits |= uint(subgroupAny({s.pick('u')} > 0x10000u)) << 10;")
    s.line(f"bits |= uint(subgroupAll({s.pick('u')} > 16u)) << 11;")
    s.line("bits |= uint(subgroupElect()) << 12;")
    s.close()
    s.store("r", ["bits", s.digest(2)])
    return [s.kernel()]


def ballot(s: Sketch) -> list[Kernel]:
    """Masks of invocations, and what is counted in them."""
    whole(s)
    _begin(s, "ballot")
    s.output("r", per_item=5)
    condition = s.rng.choice((f"(({s.digest(2)}) & 1u) == 0u", f"{s.loaded[0]} < {s.loaded[1]}"))
    s.line(f"uvec4 mask = subgroupBallot({condition});")
    s.let("u", "mask.x")
    s.let("u", "subgroupBallotBitCount(mask)")
    s.let("u", "subgroupBallotInclusiveBitCount(mask)")
    s.let("u", "subgroupBallotExclusiveBitCount(mask)")
    s.let("u", "uint(subgroupInverseBallot(mask)) + 2u * uint(subgroupBallotBitExtract(mask, 3u))")
    own = s.values["u"][-5:]
    s.let("u", "mask.x == 0u ? 99u : subgroupBallotFindLSB(mask) + 32u * "
               "subgroupBallotFindMSB(mask)")  # fmt: skip
    s.let("u", f"subgroupBroadcast({s.digest(1)}, {s.rng.randrange(SIZE)}u)")
    s.let("u", f"subgroupBroadcastFirst({s.digest(1)})")
    s.let("u", "gl_SubgroupLtMask.x + (gl_SubgroupGeMask.x << 1) + gl_SubgroupEqMask.x")
    s.line("uint inner = 0u;")
    s.open(f"if ((lane % {s.rng.randrange(2, 6)}u) == 1u)")
    s.line("inner = subgroupBallot(true).x;")
    s.close()
    s.store("r", [own[0], f"{own[1]} + 64u * {own[2]} + 4096u * {own[3]}", own[4], s.digest(5),
                  "inner"])  # fmt: skip
    return [s.kernel()]


def shuffle(s: Sketch) -> list[Kernel]:
    """Values of other invocations, by number or by distance."""
    whole(s)
    _begin(s, "shuffle", "shuffle_relative")
    s.output("r", per_item=2)
    for _ in range(s.rng.randrange(2, 7)):
        delta = s.rng.randrange(1, SIZE)
        value = s.digest(1)
        s.let("u", s.rng.choice((
            f"subgroupShuffle({value}, {s.rng.randrange(SIZE)}u)",
            f"subgroupShuffle({value}, ({s.pick('u')}) & 15u)",
            f"subgroupShuffle({value}, 15u - lane)",
            f"subgroupShuffleXor({value}, {delta}u)",
        )))  # fmt: skip
        up = s.let("u", f"subgroupShuffleUp({value}, {delta}u)")
        down = s.let("u", f"subgroupShuffleDown({value}, {delta}u)")
        s.values["u"] = s.values["u"][:-2]  # undefined where there is no such invocation
        s.let("u", f"lane >= {delta}u ? {up} : 0u")
        s.let("u", f"lane + {delta}u < 16u ? {down} : 1u")
        s.mix(s.rng.randrange(3))
    s.store("r", [s.digest(), s.pick("u")])
    return [s.kernel()]


def quads(s: Sketch) -> list[Kernel]:
    """Values of the four invocations of a quad."""
    whole(s)
    _begin(s, "quad")
    s.output("r", per_item=2)
    for _ in range(s.rng.randrange(2, 6)):
        value = s.digest(1)
        s.let("u", s.rng.choice((
            f"subgroupQuadBroadcast({value}, {s.rng.randrange(4)}u)",
            f"subgroupQuadSwapHorizontal({value})",
            f"subgroupQuadSwapVertical({value})",
            f"subgroupQuadSwapDiagonal({value})",
        )))  # fmt: skip
        s.mix(s.rng.randrange(3))
    s.store("r", [s.digest(), s.pick("u")])
    return [s.kernel()]


def tallies(s: Sketch) -> list[Kernel]:
    """Counts over a workgroup by way of its subgroups, however it is divided into them."""
    s.features.add("atomics")
    _begin(s, "ballot", "vote")
    s.values["u"].remove("lane")
    # Some of these may depend on the lane.
    del s.values["u"][2:], s.values["i"][:], s.values["b"][:], s.loaded[:]
    s.load("a", 256)
    s.output("r", per_group=2)
    s.declarations.append("shared uint tally[2];")
    s.line("if (local < 2u) tally[local] = 0u;")
    if s.items == 1:
        s.line("tally[1] = 0u;")
    s.line("barrier();")
    s.mix(2, "u")
    condition = f"(({s.digest(2)}) & {1 << s.rng.randrange(4)}u) != 0u"
    s.line(f"uint count = subgroupBallotBitCount(subgroupBallot({condition}));")
    s.line("if (subgroupElect()) atomicAdd(tally[0], count);")
    s.line(f"if (subgroupAny({condition}) && {condition}) atomicAdd(tally[1], local + 1u);")
    s.line("barrier();")
    s.line("if (local == 0u) { r[group * 2u] = tally[0]; r[group * 2u + 1u] = tally[1]; }")
    return [s.kernel()]
