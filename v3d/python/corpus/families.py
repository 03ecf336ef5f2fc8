# SPDX-License-Identifier: BSD-2-Clause
"""The list of families, and the program of a seed."""

import random
from collections.abc import Callable, Iterable, Iterator

from daedalus.v3d.corpus import floats, integers, memory, sharing, subgroups
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
_OF_SUBGROUPS = ("vote", "ballot", "shuffle", "quads")


def program(seed: int) -> Program:
    """The program of a seed, from 1 on."""
    family = list(FAMILIES)[(seed - 1) % len(FAMILIES)]
    rng = random.Random(seed)
    sketch = Sketch(rng, rng.choice(LOCAL_SIZES), {family})
    kernels = FAMILIES[family](sketch)
    subgroup = subgroups.SIZE if family in _OF_SUBGROUPS else 0
    limit = 512 if family in ("spilling", "arrays") else 2048
    name = f"{seed:04d}-{family}"
    return sketch.program(name, seed, kernels, limit=limit, subgroup=subgroup)


def programs(seeds: Iterable[int]) -> Iterator[Program]:
    """The programs of seeds."""
    return (program(seed) for seed in seeds)
