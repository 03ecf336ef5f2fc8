# SPDX-License-Identifier: BSD-2-Clause
"""Identifiers of GLSL."""

from daedalus.dsl.words import OF_SHADERS
from daedalus.generator.targets.c.scalar import Names

# Words that GLSL reserves, or that a generated shader uses itself.
RESERVED = (
    *sorted(OF_SHADERS),
    *"first n_items live slot lane record push zero WORKGROUP ITEMS".split(),
)


def names(taken: tuple[str, ...] = ()) -> Names:
    """Fresh identifiers that no word of the language takes."""
    return Names((*RESERVED, *taken))
