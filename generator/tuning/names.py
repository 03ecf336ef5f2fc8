# SPDX-License-Identifier: BSD-2-Clause
"""Short names of kernels, by the rule of `daedalus-tune` (runtime/tune/names.c)."""

from collections.abc import Mapping


def named(text: str, kernels: Mapping[str, str]) -> str:
    """The kernel's id of an id, an alias, or a short name.

    A short name is of whole words of a name which every other name with these words extends: "mc"
    is vp9_mc_8h, as the others go on behind it, and "lpf4" the alias vp9_lpf4.

    `kernels`: id of every id and alias. Raises ValueError that says why there is none.
    """
    if text in kernels:
        return kernels[text]
    found = [n for n in kernels if text and f"_{text}_" in f"_{n}_"]
    stems = [n for n in found if all(f"{other}_".startswith(f"{n}_") for other in found)]
    if not found:
        raise ValueError(f"{text!r} is no kernel, and no word of a kernel's name")
    if not stems:
        raise ValueError(f"{text!r} is in the names of several kernels: {', '.join(sorted(found))}")
    return kernels[stems[0]]
