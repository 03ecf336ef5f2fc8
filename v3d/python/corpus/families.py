# SPDX-License-Identifier: BSD-2-Clause
"""The list of families, and the program of a seed."""

import random
from collections.abc import Callable, Iterable, Iterator

from daedalus.v3d.corpus import corners, floats, free, integers, memory, sharing, subgroups
from daedalus.v3d.corpus.model import Kernel, Program
from daedalus.v3d.corpus.sketch import LOCAL_SIZES, Sketch

# Seeds take the families in turn, so that any run of len(FAMILIES) seeds has one program of each.
FAMILIES: dict[str, Callable[[Sketch], list[Kernel]]] = {
    "integer": integers.arithmetic,
    "float": floats.exact,
    "shared": sharing.exchange,
    "loops": integers.loops,
    "divergence": integers.divergence,
    "small": memory.small_elements,
    "atomics": sharing.buffer_atomics,
    "vote": subgroups.vote,
    "ballot": subgroups.ballot,
    "shuffle": subgroups.shuffle,
    "spilling": integers.spilling,
    "constants": memory.constants,
    "reduction": sharing.reduction,
    "bounded": floats.bounded,
    "histogram": sharing.shared_atomics,
    "arrays": integers.private_arrays,
    "vectors": memory.vectors,
    "uniforms": memory.uniforms,
    "dependent": memory.several_kernels,
    "quads": subgroups.quads,
    "tickets": sharing.tickets,
    "transpose": sharing.ping_pong,
    "halves": floats.half_storage,
    "tallies": subgroups.tallies,
    "floatloops": floats.loops,
    "places": memory.builtins,
}
# Drivers err in some programs of these, so that they are the campaign's alone.
CORNERS: dict[str, Callable[[Sketch], list[Kernel]]] = {
    "somegroups": corners.partial_barriers,
    "lastgroup": corners.last_group,
    "zeros": corners.signed_zeros,
    "indirect": corners.indirect_sharing,
    "converted": corners.chained_conversions,
    "pushed": corners.pushed_indices,
}
FREE = "free"
_OF_SUBGROUPS = ("vote", "ballot", "shuffle", "quads")


def program(seed: int) -> Program:
    """The program of a seed of the corpus, from 1 on."""
    family = list(FAMILIES)[(seed - 1) % len(FAMILIES)]
    return _made(f"{seed:04d}-{family}", family, FAMILIES[family], seed)


def random_program(seed: int) -> Program:
    """The program of a seed of the campaign, from 1 on: every second is free.

    The others take the families in turn, so that any two times as many seeds have one of each.
    """
    table = {**FAMILIES, **CORNERS}
    family = FREE if seed % 2 == 0 else list(table)[seed // 2 % len(table)]
    make = free.anything if family == FREE else table[family]
    return _made(f"r{seed:05d}-{family}", family, make, f"random {seed}")


def _made(
    name: str, family: str, make: Callable[[Sketch], list[Kernel]], seed: int | str
) -> Program:
    rng = random.Random(seed)
    sketch = Sketch(rng, rng.choice(LOCAL_SIZES), {family})
    kernels = make(sketch)
    if any(d.startswith("shared ") for d in sketch.declarations):
        sketch.features.add(corners.SHARED_MEMORY)
    by_size = family in _OF_SUBGROUPS or sketch.subgroups
    limit = 512 if family in ("spilling", "arrays") else 2048
    return sketch.program(
        name, kernels, limit=limit, subgroup=subgroups.SIZE if by_size else 0,
        indirect=corners.INDIRECT_SHARED in sketch.features,
    )  # fmt: skip


def programs(seeds: Iterable[int]) -> Iterator[Program]:
    """The programs of seeds."""
    return (program(seed) for seed in seeds)
