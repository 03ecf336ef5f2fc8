# SPDX-License-Identifier: BSD-2-Clause
"""Makes the variants of many kernels: several at once, each once, with all that is wrong told."""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from daedalus.dsl.errors import SpecError
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.compile import kept
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant

_todo: list[Entry] = []  # what processes make; they have it from their parent's memory


@dataclass(frozen=True)
class Made:
    """Kernels with their variants, and those of them that were taken as they were made last."""

    entries: tuple[Entry, ...]
    variants: tuple[Variant, ...]
    as_before: tuple[str, ...] = ()


def make(entries: Sequence[Entry], wanted: Sequence[Entry] | None = None) -> Made:
    """The variants of the kernels, in their order.

    Those that are not `wanted` (None: all are) are taken as they were written last, whatever has
    changed since. Raises UserError with everything that is wrong.
    """
    before: dict[str, list[Variant]] = {}
    for e in entries if wanted is not None else ():
        known = None if e in (wanted or ()) else kept.last(e.kernel)
        if known is not None:
            before[e.kernel.id] = known
    todo = [e for e in entries if e.kernel.id not in before]
    _beside_each_other([e for e in todo if not _known(e)])
    variants: list[Variant] = []
    wrong: list[SpecError] = []
    for e in entries:
        try:
            variants += before[e.kernel.id] if e.kernel.id in before else entry_variants(e)
        except SpecError as error:
            wrong.append(error)
    if wrong:
        raise UserError("\n".join(map(str, wrong)))
    return Made(tuple(entries), tuple(variants), tuple(before))


def _known(e: Entry) -> bool:
    keys = kept.Keys(e.kernel, e.spec)
    return all(kept.is_kept(keys.of(o, prod)) for o, prod in e.listed)


def _beside_each_other(entries: list[Entry]) -> None:
    """Has several processes make what is then kept; where nothing can be, nothing is made here."""
    jobs = min(os.cpu_count() or 1, len(entries))
    if jobs < 2 or not kept.can_keep():
        return
    global _todo
    _todo = sorted(entries, key=lambda e: -len(e.listed))
    context = multiprocessing.get_context("fork")
    with progress(len(_todo)) as shown, ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for name in pool.map(_make, range(len(_todo))):
            say(f"{name}: made")
            shown.advance(1)
    _todo = []


def _make(number: int) -> str:
    entry = _todo[number]
    with suppress(SpecError):  # kept as well, and told by who asks for it
        entry_variants(entry)
    return entry.kernel.id
