# SPDX-License-Identifier: BSD-2-Clause
"""Sequences of commands: copies, fills, updates, dependent and indirect dispatches, submissions.

Their results are exact.  What writes and what reads or writes the same memory later is parted by
a barrier.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from daedalus.v3d.corpus.model import Kernel

_LOCAL = 16
# Each invocation replaces a word: every dispatch, and their order, shows in the result.  A row has
# 1024 words, as many as 64 workgroups replace; dispatches have fewer in x.
_STEP = Kernel(
    f"""#version 450
layout(local_size_x = {_LOCAL}) in;
layout(binding = 0, std430) buffer Block_r {{ uint r[]; }};
layout(push_constant) uniform Push {{ uint factor; uint limit; }};
void main() {{
  uint item = gl_GlobalInvocationID.x + 1024u * gl_GlobalInvocationID.y;
  if (item < limit) r[item] = r[item] * factor + gl_WorkGroupID.x + 100u * gl_NumWorkGroups.x;
}}
"""
)
_MOVE = Kernel(
    f"""#version 450
layout(local_size_x = {_LOCAL}) in;
layout(binding = 0, std430) readonly buffer Block_a {{ uint a[]; }};
layout(binding = 1, std430) buffer Block_r {{ uint r[]; }};
void main() {{
  uint item = gl_GlobalInvocationID.x;
  uint total = gl_NumWorkGroups.x * {_LOCAL}u;
  r[item] = a[(item + 1u) % total] * 5u + a[total - 1u - item];
}}
"""
)


@dataclass(frozen=True)
class Commands:
    """A case of commands; its pipelines are k0, k1, ... of its kernels."""

    name: str
    seed: int
    kernels: tuple[Kernel, ...]
    lines: tuple[str, ...]


def _words(rng: random.Random, most: int) -> int:
    return rng.choice((1, 3, 16, 17, 255, 256, 1000, 1024, 4096, rng.randrange(1, most + 1)))


def _buffers(rng: random.Random, n: int) -> tuple[list[str], list[int]]:
    sizes = [4 * _words(rng, 20000) for _ in range(n)]
    lines = [f"buffer b{k} {size} random {rng.randrange(1 << 32)}" for k, size in enumerate(sizes)]
    return lines, sizes


def _copy(rng: random.Random, sizes: list[int], unit: int) -> str:
    source, target = rng.sample(range(len(sizes)), 2)
    size = unit * rng.randrange(1, min(sizes[source], sizes[target]) // unit + 1)
    at = [unit * rng.randrange((sizes[k] - size) // unit + 1) for k in (source, target)]
    return f"copy b{source} {at[0]} b{target} {at[1]} {size}"


def _fill(rng: random.Random, sizes: list[int]) -> str:
    k = rng.randrange(len(sizes))
    size = 4 * rng.randrange(1, sizes[k] // 4 + 1)
    at = 4 * rng.randrange((sizes[k] - size) // 4 + 1)
    return f"fill b{k} {at} {size} 0x{rng.getrandbits(32):08x}"


def _update(rng: random.Random, sizes: list[int]) -> str:
    k = rng.randrange(len(sizes))
    n = rng.randrange(1, min(sizes[k] // 4, 200) + 1)
    at = 4 * rng.randrange(sizes[k] // 4 - n + 1)
    return f"update b{k} {at} {' '.join(str(rng.getrandbits(32)) for _ in range(n))}"


def _transfers(rng: random.Random, *kinds: str) -> list[str]:
    lines, sizes = _buffers(rng, rng.randrange(2, 5))
    for _ in range(rng.randrange(3, 13)):
        kind = rng.choice(kinds)
        if kind == "copy":
            lines.append(_copy(rng, sizes, rng.choice((1, 2, 4, 4))))
        else:
            lines.append(_fill(rng, sizes) if kind == "fill" else _update(rng, sizes))
        lines.append("barrier")
    return lines


def copies(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Copies of any size from any byte to any byte."""
    return [], _transfers(rng, "copy")


def fills(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Fills and updates."""
    return [], _transfers(rng, "fill", "update")


def transfers(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """All three."""
    return [], _transfers(rng, "copy", "fill", "update")


def chained(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Dispatches that read what the one before wrote, with a copy among them."""
    groups = rng.randrange(1, 40)
    size = 4 * _LOCAL * groups
    lines = [f"buffer b{k} {size} random {rng.randrange(1 << 32)}" for k in range(3)]
    lines.append("pipeline k0 @0")
    for k in range(rng.randrange(2, 9)):
        source, target = rng.sample(range(3), 2)
        lines += [f"bind k0 0 b{source}", f"bind k0 1 b{target}", f"dispatch k0 {groups} 1 1"]
        lines.append("barrier")
        if k % 3 == 1:
            lines += [f"copy b{target} 0 b{source} 0 {size}", "barrier"]
        if k % 4 == 2:
            lines += ["submit", "barrier"]
    return [_MOVE], lines


def _step(words: int) -> list[str]:
    return [f"buffer b0 {4 * words} random 7", "pipeline k0 @0", "bind k0 0 b0",
            f"push k0 0 3 {words}"]  # fmt: skip


def base(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Dispatches whose first workgroup is not the first."""
    words = rng.randrange(100, 2000)
    lines = _step(words)
    for _ in range(rng.randrange(1, 6)):
        x, y = rng.randrange(1, 20), rng.randrange(1, 4)
        lines.append(f"dispatch k0 {x} {y} 1 base {rng.randrange(20)} {rng.randrange(4)} 0")
        lines.append("barrier")
    return [_STEP], lines


def pushes(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Push constants that change between the dispatches of a submission."""
    words = rng.randrange(16, 1000)
    lines = _step(words)
    for _ in range(rng.randrange(2, 9)):
        lines.append(f"push k0 0 {rng.getrandbits(16)} {rng.randrange(words)}")
        if rng.random() < 0.3:
            lines.append(f"push k0 4 {words}")
        lines += [f"dispatch k0 {(words + _LOCAL - 1) // _LOCAL} 1 1", "barrier"]
    return [_STEP], lines


def submissions(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Many small submissions, and one that is submitted many times."""
    words = rng.randrange(16, 300)
    lines = _step(words)
    for k in range(rng.randrange(10, 40)):
        lines += ["barrier", f"push k0 0 {k + 2} {rng.randrange(words + 1)}"]
        lines += [f"dispatch k0 {rng.randrange(1, 20)} 1 1", "submit"]
    lines += ["barrier", f"dispatch k0 {rng.randrange(1, 20)} 1 1", "barrier"]
    lines.append(f"submit {rng.randrange(2, 60)}")
    return [_STEP], lines


def indirect(rng: random.Random) -> tuple[list[Kernel], list[str]]:
    """Dispatches whose number of workgroups lies in a buffer; none at all among them."""
    words = rng.randrange(100, 1500)
    lines = _step(words)
    lines += ["buffer counts 64 zero"]
    for _ in range(rng.randrange(1, 5)):
        at = 4 * rng.randrange(13)
        counts = (rng.choice((0, 1, rng.randrange(1, 60))), rng.choice((1, 1, 2)), 1)
        lines += [f"update counts {at} {counts[0]} {counts[1]} {counts[2]}", "barrier"]
        lines += [f"indirect k0 counts {at}", "barrier"]
    return [_STEP], lines


FAMILIES: dict[str, Callable[[random.Random], tuple[list[Kernel], list[str]]]] = {
    f.__name__: f for f in (copies, fills, transfers, chained, base, pushes, submissions, indirect)
}


def commands(seed: int) -> Commands:
    """The sequence of a seed, from 1 on; seeds take the families in turn."""
    family = list(FAMILIES)[(seed - 1) % len(FAMILIES)]
    kernels, lines = FAMILIES[family](random.Random(seed))
    name = f"c{seed:03d}-{family}"
    lines = [line.replace("@", f"{name}.") + ".spv" if "@" in line else line for line in lines]
    return Commands(name, seed, tuple(kernels), (f"case {name}", *lines, "end"))
