# SPDX-License-Identifier: BSD-2-Clause
"""Puts what a run found best on record, for `gen` to take before what its rules would.

    {"of": ..., "prod": ..., "other": ..., "tuned": {"neon full": "neon_full_x2", ...}}

The record is of one kernel as it is: where that changes, what was found counts no more. Kernels
that an options.toml lists have no such choice; what was found is said, and edited in by hand.
"""

from collections.abc import Mapping

from daedalus.generator.base import records
from daedalus.generator.compile.registry import Entry, meaning
from daedalus.generator.options import Options

Found = Mapping[tuple[str, str], Options]  # target and class -> what is best


def apply(entry: Entry, found: Found) -> list[str]:
    """Records it; a line for each choice, and what is to be done."""
    kernel = entry.kernel
    usual = {k: o for k, o in found.items() if not o.assume}  # right for every conformant item
    lines = [f"{kernel.id}: {target} {name}: {o.name}" for (target, name), o in usual.items()]
    if not lines:
        return [f"{kernel.id}: nothing was found"]
    if not entry.by_rule:
        return [*lines, f"{kernel.id}: options.toml lists its variants: edit it"]
    known = records.read(kernel.id, records.OPTIONS)
    if known.get("of") != meaning(kernel):
        return [f"{kernel.id}: gen has made no variants of it as it is: ./daedalus gen {kernel.id}"]
    tuned = known.get("tuned", {}) | {f"{t} {c}": o.name for (t, c), o in usual.items()}
    records.write(kernel.id, records.OPTIONS, known | {"tuned": dict(sorted(tuned.items()))})
    return [*lines, f"{kernel.id}: recorded; ./daedalus gen {kernel.id} takes it"]
