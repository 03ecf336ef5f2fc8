# SPDX-License-Identifier: BSD-2-Clause
"""Random programs, as `./daedalus fuzz` draws them.

For `./daedalus scale` alone, which writes down which ones they are.
"""

import json
from pathlib import Path

from daedalus.dsl.lang import KernelBuilder, kernel
from daedalus.generator.verify.fuzz.as_spec import write

SEED, _PROGRAMS = json.loads(Path(__file__).with_name("drawn.json").read_text())
PROGRAMS = {int(id_): place for id_, place in _PROGRAMS.items()}  # which program, which attempt


@kernel(id="scale_drawn{number}", axes={"number": tuple(PROGRAMS)}, clause="none: a random program")
def scale_drawn(k: KernelBuilder, number: int) -> None:
    """Random program {number}."""
    write(k, SEED, *PROGRAMS[number])
