# SPDX-License-Identifier: BSD-2-Clause
"""Random programs that a spec can write: those without an orientation and without additions."""

import random
from collections.abc import Iterator
from itertools import count

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.vectors import make_items
from daedalus.dsl.verify import verify
from daedalus.generator.verify.fuzz.programs import (
    ATTEMPTS,
    AXES,
    Unlucky,
    Writer,
    drawn_kernel,
)


def drawn(seed: int) -> Iterator[tuple[int, int, Kernel]]:
    """A seed's legal programs, without end: number, attempt, kernel."""
    for number in count():
        for attempt in range(ATTEMPTS):
            made = _made(seed, number, attempt)
            if made is not None:
                yield number, attempt, made
                break


def write(k: KernelBuilder, seed: int, number: int, attempt: int) -> None:
    """Writes a program as drawn() gave it."""
    rng = _dice(seed, number, attempt)
    axis = rng.choice(AXES)
    Writer(k, rng, axis, later=False).write()


def _made(seed: int, number: int, attempt: int) -> Kernel | None:
    """The program, if it is one that a spec can write, legal, and has conformant items."""
    if _dice(seed, number, attempt).choice(AXES):
        return None
    try:
        made = drawn_kernel(_dice(seed, number, attempt), number, later=False)
        verify(made)
        make_items(made, 16, 1)
    except Unlucky:
        return None
    except SpecError as e:
        if e.rule != "assumption":  # its assumptions exclude every item
            raise
        return None
    return made


def _dice(seed: int, number: int, attempt: int) -> random.Random:
    return random.Random(f"{seed}/{number}/{attempt}")
