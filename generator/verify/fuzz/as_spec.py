# SPDX-License-Identifier: BSD-2-Clause
"""Random programs that a spec can write: those without an orientation and without additions."""

import random
from collections.abc import Iterator
from itertools import count

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.spec import kernel
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.vectors import make_items
from daedalus.dsl.verify import verify
from daedalus.generator.verify.fuzz.programs import ATTEMPTS, AXES, Unlucky, Writer


def drawn(seed: int) -> Iterator[tuple[int, int, Kernel]]:
    """A seed's legal programs, without end: number, attempt, kernel."""
    for number in count():
        for attempt in range(ATTEMPTS):
            made = _made(seed, number, attempt)
            if made is not None:
                yield number, attempt, made
                break


def write(k: KernelBuilder, seed: int, number: int, attempt: int) -> bool:
    """Writes a program as drawn() gave it; whether there is one."""
    rng = random.Random(f"{seed}/{number}/{attempt}")
    if rng.choice(AXES):
        return False
    Writer(k, rng, "", later=False).write()
    return True


def _made(seed: int, number: int, attempt: int) -> Kernel | None:
    """The program, if it is legal and has conformant items."""
    written = False

    def program(k: KernelBuilder) -> None:
        nonlocal written
        written = write(k, seed, number, attempt)
        if not written:
            raise Unlucky

    program.__name__, program.__doc__ = f"fuzz_p{number}", "A random program."
    try:
        made = kernel(clause="nothing: a random program")(program).kernels()[0]
        verify(made)
        make_items(made, 16, 1)
    except SpecError as e:
        if e.rule == "assumption" or isinstance(e.__cause__, Unlucky):
            return None
        raise
    except Unlucky:
        return None
    return made
