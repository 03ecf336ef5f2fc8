# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus fuzz --target qpu`: what it shows and prints."""

import json
import time
from collections import Counter
from pathlib import Path

import click

from daedalus.generator.base.console import out, tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.verify.fuzz import qpu as fuzz_qpu

SHOWN_FAILURES = 10


def run(programs: int, seed: int, first: int, items: int, *, as_json: bool) -> None:
    """Runs the programs and prints what came of them. Raises UserError after failures."""
    started = time.monotonic()
    total = fuzz_qpu.Tally()
    with progress(programs, quiet=as_json) as shown:
        say("programs")
        for tally in fuzz_qpu.campaign(seed, first, programs, items):
            total.add(tally)
            if total.failures:
                last = total.failures[-1].number
                say(f"programs, {len(total.failures)} failures, the last is {last}")
            shown.advance(tally.programs)
        where = ""
        if total.failures:
            say("shrinking")
            where = fuzz_qpu.write_failures(seed, total.failures, items)
    if as_json:
        click.echo(json.dumps(_figures(total, seed, first, items), indent=1))
    else:
        for line in _lines(total, time.monotonic() - started):
            out.print(line, markup=False, soft_wrap=True)
    for f in total.failures[:SHOWN_FAILURES]:
        tell(f"program {f.number}, {f.kind}:")
        tell(f.text.strip()[-1500:])
        again = fuzz_qpu.replay_command(seed, f.number, items)
        tell(f"  replay: {again}")
    if total.failures:
        bad = len({f.number for f in total.failures})
        here = Path(where).relative_to(repo_root())
        raise UserError(f"{bad} of {programs} programs failed", f"they are in {here}", EXIT_FAILED)
    if not total.ran:
        raise UserError(
            "no program had a QPU form: nothing was compared", "draw more (--programs)", EXIT_FAILED
        )


def _figures(t: fuzz_qpu.Tally, seed: int, first: int, items: int) -> dict[str, object]:
    return {
        "seed": seed, "first": first, "items": items, "programs": t.programs, "ran": t.ran,
        "operations": t.operations, "at_four_threads": t.at_four,
        "paired": t.paired, "flags_renewed": t.renewed,
        "conformant": t.conformant, "other_items": t.others, "without_conformant": t.vacuous,
        "programs_excluded": t.excluded,
        "programs_without_form": dict(sorted(t.without.items())),
        "forms_refused": dict(sorted(t.refused.items())),
        "failures": [{"program": f.number, "kind": f.kind, "text": f.text} for f in t.failures],
    }  # fmt: skip


def _lines(t: fuzz_qpu.Tally, seconds: float) -> list[str]:
    return [
        f"{t.ran} of {t.programs} programs, of {t.operations / max(t.programs, 1):.1f} operations,"
        f" have a QPU form and were run in {seconds:.0f} s, {t.at_four} of them at 4 threads a QPU,"
        f" {t.paired} with pairs, {t.renewed} with flags renewed at thread switches:"
        f" {t.conformant} conformant items, {t.others} others for memory safety only",
        f"{sum(t.without.values())} programs have none" + _by_reason(t.without),
        f"{sum(t.refused.values())} forms were refused" + _by_reason(t.refused),
        f"{t.excluded} programs exclude all items, {t.vacuous} had no conformant one",
        f"{len(t.failures)} failures",
    ]


def _by_reason(found: Counter[str]) -> str:
    return "".join(f"\n  {n:5}  {why}" for why, n in found.most_common())
