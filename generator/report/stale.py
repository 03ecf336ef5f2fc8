# SPDX-License-Identifier: BSD-2-Clause
"""Which inputs of a report are of other generated code than generated/ has, by their hashes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from daedalus.generator.report.decided import recipe_file
from daedalus.generator.report.sources import Sources, named
from daedalus.generator.tuning.compare import Side


def stale(sources: Sources, sides: Iterable[Side]) -> tuple[str, ...]:
    """A sentence an input, with the command that brings it up to date."""
    found = []
    for given, what, verb in (
        (sources.modelled, "timing model", "bench --qpu"),
        (sources.neon, "NEON model", "bench --model"),
    ):
        if given is not None:
            found.append(_record(given, what, verb, sources))
    generator = sources.manifest["generator"]
    if sources.recipe is not None and not recipe_file(sources.recipe[1], generator).of_this_code:
        found.append(
            f"The recipe {_name(sources.recipe[0], sources)} is not for generated code {generator}:"
            " ./daedalus recipe writes another one."
        )
    for side in sides:
        if side.described is not None and side.described.generator != generator:
            found.append(
                f"The {len(side.results)} results under {side.fingerprint} are of generated code"
                f" {side.described.generator}: ./daedalus tune goes on."
            )
    return tuple(f for f in found if f)


def _record(given: tuple[Path, Mapping[str, Any]], what: str, verb: str, sources: Sources) -> str:
    """Empty where the record is of the code at hand."""
    path, record = given
    of, own = record.get("generator"), sources.manifest["generator"]
    if of == own:
        return ""
    whose = f"is of generated code {of}" if of else "does not say of which code it is"
    return (
        f"The record of the {what}, {_name(path, sources)}, {whose}; generated/ has {own}:"
        f" ./daedalus {verb} --json prints another one."
    )


def _name(path: Path, sources: Sources) -> str:
    return named(path, sources.root)
