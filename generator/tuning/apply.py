# SPDX-License-Identifier: BSD-2-Clause
"""Puts what a run found best on record, for `gen` to take before what its rules would.

    {"of": ..., "prod": ..., "other": ...,
     "tuned": {"neon full": {"name": "neon_full_x2", "modelled": false, "fingerprint": "..."}}}

The record is of one kernel as it is: where that changes, what was found counts no more. What was
measured is not given up for what a model says. Kernels that an options.toml lists have no such
choice; what was found is said, and edited in by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from daedalus.generator.base import records
from daedalus.generator.compile.registry import Entry, meaning
from daedalus.generator.options import Options
from daedalus.generator.tuning.best import best
from daedalus.generator.tuning.entries import OK, Result
from daedalus.generator.tuning.space import Candidate


@dataclass(frozen=True)
class Winner:
    """The best options of a target and a class. fingerprint: of the machine, or of the model."""

    options: Options
    modelled: bool
    fingerprint: str


Found = Mapping[tuple[str, str], Winner]  # by target and class


def winner(results: Mapping[Candidate, Result]) -> Winner | None:
    """Of a group's results; None where none counts.

    It is right for every conformant item, so options that assume more are left out. Where several
    compilers did it, it is the one whose time is, by the compiler that likes it least, nearest to
    that compiler's best.
    """
    timed = {c: r for c, r in results.items() if r.verdict == OK and not c.options.assume}
    if not timed:
        return None
    compilers = {c.compiler for c in timed}
    taken = {k: best([r for c, r in timed.items() if c.compiler == k]).taken for k in compilers}
    if len(compilers) == 1:
        (compiler,) = compilers
        chosen = next(c for c, r in timed.items() if r is taken[compiler])
    else:
        least: dict[Options, dict[str, float]] = {}
        for c, r in timed.items():
            ratios = least.setdefault(c.options, {})
            ratio = _ns(r) / _ns(taken[c.compiler])
            ratios[c.compiler] = min(ratio, ratios.get(c.compiler, ratio))
        worst = {o: max(of.values()) for o, of in least.items() if len(of) == len(compilers)}
        if not worst:
            return None
        options = min(worst, key=lambda o: (worst[o], o.name))
        chosen = next(c for c in timed if c.options == options)
    return Winner(chosen.options, timed[chosen].modelled, timed[chosen].fingerprint)


def _ns(result: Result) -> float:
    assert result.median is not None  # of what is OK
    return result.median


def apply(entry: Entry, found: Found) -> list[str]:
    """Records it; a line for each choice, and what is to be done."""
    kernel = entry.kernel
    lines = [f"{kernel.id}: {t} {name}: {w.options.name}" for (t, name), w in found.items()]
    if not lines:
        return [f"{kernel.id}: nothing was found"]
    if not entry.by_rule:
        return [*lines, f"{kernel.id}: options.toml lists its variants: edit it"]
    known = records.read(kernel.id, records.OPTIONS)
    if known.get("of") != meaning(kernel):
        return [f"{kernel.id}: gen has made no variants of it as it is: ./daedalus gen {kernel.id}"]
    tuned: dict[str, dict[str, Any]] = dict(known.get("tuned", {}))
    for (target, name), w in found.items():
        before = tuned.get(f"{target} {name}")
        if before is not None and w.modelled and not before["modelled"]:
            lines.append(
                f"{kernel.id}: {target} {name}: {before['name']} was measured and stays;"
                " --forget drops it"
            )
            continue
        tuned[f"{target} {name}"] = {
            "name": w.options.name, "modelled": w.modelled, "fingerprint": w.fingerprint,
        }  # fmt: skip
    _record(kernel.id, known, tuned)
    return [*lines, f"{kernel.id}: recorded; ./daedalus gen {kernel.id} takes it"]


def forget(entry: Entry) -> str:
    """Drops what earlier runs recorded of the kernel; a line about it."""
    kernel = entry.kernel.id
    if not entry.by_rule:
        return f"{kernel}: options.toml lists its variants: nothing is on record"
    known = records.read(kernel, records.OPTIONS)
    tuned = known.get("tuned", {})
    if not tuned:
        return f"{kernel}: nothing was on record"
    _record(kernel, known, {})
    return f"{kernel}: {', '.join(tuned)}: forgotten; ./daedalus gen {kernel} follows the rules"


def _record(kernel: str, known: Mapping[str, Any], tuned: Mapping[str, Any]) -> None:
    left = {part: data for part, data in known.items() if part != "tuned"}
    more = {"tuned": dict(sorted(tuned.items()))} if tuned else {}
    records.write(kernel, records.OPTIONS, left | more)
