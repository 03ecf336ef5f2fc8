# SPDX-License-Identifier: BSD-2-Clause
"""Makes the variants of many kernels: several at once, each once, with all that is wrong told."""

import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Kernel
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import can_keep
from daedalus.generator.base.progress import progress, say
from daedalus.generator.compile import kept
from daedalus.generator.compile.by_rule import Slot, slots
from daedalus.generator.compile.emit import entry_variants, one_variant
from daedalus.generator.compile.registry import Entry, Listing, legal_options, meaning, ranked
from daedalus.generator.compile.variants import Variant
from daedalus.generator.options import CPU_TARGETS, GPU_TARGETS, Options

_todo: list[Entry] = []  # what processes make; they have it from their parent's memory


@dataclass(frozen=True)
class Made:
    """Kernels with their variants.

    chosen  what is to be on record of the variants of each kernel that was made anew: where they
            were chosen by rule, them, and what a target said that refused
    """

    entries: tuple[Entry, ...]
    variants: tuple[Variant, ...]
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Settled:
    """A kernel with the variants that rules choose and back ends make.

    record   what is to be on record of that
    refused  options that rules tried and a back end refused
    """

    entry: Entry
    record: Mapping[str, Any]
    refused: tuple[Options, ...]


def make(
    entries: Sequence[Entry], wanted: Sequence[Entry] | None = None, target: Path | None = None
) -> Made:
    """The variants of the kernels, in their order.

    Those that are not `wanted` (None: all are) are taken as they were written last, whatever has
    changed since, where that is what lies in `target`. Raises UserError with everything that is
    wrong.
    """
    before: dict[str, list[Variant]] = {}
    for e in entries if wanted is not None else ():
        known = None if e in (wanted or ()) or not target else kept.last(e.kernel, target)
        if known is not None:
            before[e.kernel.id] = known
    todo = [e for e in entries if e.kernel.id not in before]
    _beside_each_other([e for e in todo if not _known(e)])
    settled: list[Entry] = []
    variants: list[Variant] = []
    chosen: dict[str, Mapping[str, Any]] = {}
    wrong: list[SpecError] = []
    for e in entries:
        if e.kernel.id in before:
            variants += before[e.kernel.id]
        else:
            try:
                found = settle(e) if e.by_rule else Settled(e, {}, ())
                e, chosen[e.kernel.id] = found.entry, found.record
                variants += entry_variants(e)
            except SpecError as error:
                wrong.append(error)
        settled.append(e)
    if wrong:
        raise UserError("\n".join(map(str, wrong)))
    return Made(tuple(settled), tuple(variants), chosen)


def settle(entry: Entry) -> Settled:
    """Makes what rules choose, slot by slot, until a back end makes it."""
    kernel, known, keys = entry.kernel, {}, kept.Keys(entry.kernel, entry.spec)  # type: ignore[var-annotated]
    taken: dict[Options, bool] = {}
    programs: dict[tuple[str, str], Options] = {}
    over: list[Options] = []  # refused
    passed: dict[str, dict[str, str]] = {}  # by place, what was refused before the last choice
    recorded, left, refused = _tuned(kernel)
    by_rule = [s for s in kept.once(kernel, "slots", lambda: slots(kernel)) if s.choices]
    places = {_place(s.choices[0]) for s in by_rule}
    apart = [Slot(o.target, True, (o,)) for place, o in left.items() if place not in places]
    for slot in (*by_rule, *apart):
        said: dict[str, str] = {}
        best = left.pop(_place(slot.choices[0]), None)
        for options in (o for o in (best, *slot.choices) if o is not None and o not in taken):
            try:
                made = one_variant(entry, options, slot.prod, 0, keys, known)
            except SpecError as e:
                if options.target == CPU_TARGETS[0]:  # what all others fall back on
                    raise
                said[options.name] = e.message
                over.append(options)
                continue
            except UserError as e:
                if can_keep():  # something is missing that can be installed
                    raise
                said[options.name] = e.message  # no checkout: there is no assembler
                continue
            program = (options.class_name, made.program)
            prod, same = slot.prod, programs.get(program) if made.program else None
            if same is not None:  # the same machine code by another name
                if same.reads_anything or not options.reads_anything:
                    continue
                prod |= taken.pop(same)  # this name says that it does any memory
                refused |= passed.get(_place(same), {})  # why the class has no other program
            programs[program] = options
            taken[options] = prod
            passed[_place(options)] = dict(list(said.items())[:1])
            said = {n: why for n, why in said.items() if best is not None and n == best.name}
            break
        refused |= dict(list(said.items())[:1])
    for target in GPU_TARGETS:
        own = [o for o in taken if o.target == target]
        if not any(o.class_name == FULL and o.reads_anything for o in own):
            for o in own:  # without one that does any memory there can be none
                del taken[o]
    listed = ranked(taken.items())
    chosen = {"of": meaning(kernel)} | {
        kind: [o.name for o, prod in listed if prod == (kind == "prod")] for kind in Listing.KINDS
    }
    more = {"tuned": recorded, "refused": refused}
    record = chosen | {what: data for what, data in more.items() if data}
    return Settled(replace(entry, listed=listed), record, tuple(over))


def _place(options: Options) -> str:
    """Where `tune --apply` records a choice."""
    return f"{options.target} {options.class_name}"


def _tuned(kernel: Kernel) -> tuple[dict[str, Any], dict[str, Options], dict[str, str]]:
    """What `tune --apply` recorded of a kernel as it is, by target and class; the options that it
    named; and what is said of the names that mean nothing now."""
    try:
        known = records.read(kernel.id, records.OPTIONS)
    except UserError:  # no checkout
        return {}, {}, {}
    if known.get("of") != meaning(kernel):
        return {}, {}, {}
    found, unknown = {}, {}
    for where, tuned in known.get("tuned", {}).items():
        try:
            found[where] = legal_options(kernel, tuned["name"])
        except ValueError:
            unknown[tuned["name"]] = "tune --apply recorded it, by words of another version: again"
    return known.get("tuned", {}), found, unknown


def _known(e: Entry) -> bool:
    keys = kept.Keys(e.kernel, e.spec)
    return not e.by_rule and all(kept.is_kept(keys.of(o, prod)) for o, prod in e.listed)


def _beside_each_other(entries: list[Entry]) -> None:
    """Has several processes make what is then kept; where nothing can be, nothing is made here."""
    jobs = min(os.cpu_count() or 1, len(entries))
    if jobs < 2 or not can_keep():
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
        if entry.by_rule:
            entry = settle(entry).entry
        entry_variants(entry)
    return entry.kernel.id
