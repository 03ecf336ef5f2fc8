# SPDX-License-Identifier: BSD-2-Clause
"""The variants of many points as a folder like generated/, which the C build takes in its place."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from daedalus.dsl.errors import SpecError
from daedalus.generator.base import records
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile import emit
from daedalus.generator.compile.folder import write
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import PLAIN_TARGETS, QPU, Options, variant_name
from daedalus.generator.tuning import made

_RANK = 1000  # of the first variant that is not on record: behind all those that are


@dataclass(frozen=True)
class Made:
    """What was generated.

    hashes   of each variant there is, its input hash
    refused  of each that there is not, why
    """

    folder: Path
    hashes: dict[str, str]
    refused: dict[str, str]


def generate(
    wanted: Sequence[tuple[Entry, Iterable[Options]]], folder: Path, say: Callable[[str], None]
) -> Made:
    """Writes these variants, and what every library has: those for the CPU."""
    variants: list[Variant] = []
    entries: list[Entry] = []
    refused: dict[str, str] = {}
    for entry, listed in wanted:
        say(f"{entry.kernel.id}: making its variants")
        known = emit.entry_variants(entry, PLAIN_TARGETS)
        there = {v.options for v in known}
        for options in dict.fromkeys(listed):
            if options in there:
                continue
            try:
                known.append(_variant(entry, options, _RANK + len(known)))
            except (made.Refused, SpecError) as e:
                name = variant_name(entry.kernel.id, options)
                refused[name] = e.message if isinstance(e, SpecError) else str(e)
        variants += known
        entries.append(replace(entry, listed=tuple((v.options, v.prod) for v in known)))
    say("writing what was made")
    checked_in = repo_root() / "generated"
    generated = emit.generate(tuple(entries), tuple(variants), checked_in)
    write(generated, folder)
    shutil.copytree(checked_in / records.FOLDER, folder / records.FOLDER, dirs_exist_ok=True)
    return Made(folder, {v.name: v.input_hash for v in variants}, refused)


def _variant(entry: Entry, options: Options, rank: int) -> Variant:
    if options.target != QPU:
        return replace(made.text_variant(entry, options), rank=rank)
    made.machine_code(entry, options)  # raises Refused where there is none, or a simpler one
    prod = dict(entry.listed).get(options, False)
    return make_variant(
        emit.environment(), entry.kernel, options, prod=prod, rank=rank, spec=entry.spec
    )
