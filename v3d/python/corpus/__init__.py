# SPDX-License-Identifier: BSD-2-Clause
"""Compute shaders made from a seed, to compare Vulkan drivers with.

Every program is free of races and of undefined behaviour, so that its results are the same on any
correct device; what the specification leaves open is compared within the specification's bounds.
`program(seed)` is a pure function: the same text and the same input data on any machine.
"""

from daedalus.v3d.corpus.commands import Commands, commands
from daedalus.v3d.corpus.families import CORNERS, FAMILIES, program, programs, random_program
from daedalus.v3d.corpus.model import Program

__all__ = [
    "CORNERS",
    "FAMILIES",
    "Commands",
    "Program",
    "commands",
    "program",
    "programs",
    "random_program",
]
