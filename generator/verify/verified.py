# SPDX-License-Identifier: BSD-2-Clause
"""Records of what was compared with the interpreter, by the hash of its input.

{variant: {"input_hash": ..., "runs": [{"device": ..., "items": ..., ...}, ...]}}
"""

from typing import Any

from daedalus.generator.base import records
from daedalus.generator.base.console import console
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.folder import differences, generate_or_explain
from daedalus.generator.compile.variants import Variant
from daedalus.generator.verify.crosscheck import Outcome

_FIELDS = ("device", "items", "conformant", "mismatches", "out_of_bounds")


def record_verified(outcomes: list[Outcome]) -> None:
    """Notes what was compared, by the hash of what it was generated from.

    Only for code that is what the specs give: anything else was not compared. Of a variant that
    failed nothing stays; else what is known of it from other devices does, if it is the same code.
    """
    generated = generate_or_explain()
    if differences(generated, repo_root() / "generated"):
        raise UserError(
            "generated/ is not what the specs give, so nothing is recorded",
            "run ./daedalus gen, then check again",
        )
    by_kernel: dict[str, dict[str, Variant]] = {}
    for v in generated.variants:
        by_kernel.setdefault(v.kernel.id, {})[v.name] = v
    count = 0
    for kernel, variants in by_kernel.items():
        entries = merged(records.read(kernel, records.VERIFIED), variants, outcomes)
        records.write(kernel, records.VERIFIED, entries)
        count += len(entries)
    console.print(f"{count} of {len(generated.variants)} variants are on record as compared")


def merged(
    known: dict[str, Any], variants: dict[str, Variant], outcomes: list[Outcome]
) -> dict[str, Any]:
    """The entries after these outcomes."""
    entries: dict[str, Any] = {}
    for name, variant in sorted(variants.items()):
        fresh = [o for o in outcomes if o.variant == name]
        old = known.get(name, {})
        if not all(o.good for o in fresh):
            continue
        same = old.get("input_hash") == variant.input_hash
        runs = {r["device"]: r for r in old.get("runs", ())} if same else {}
        runs |= {o.device: _run(o) for o in fresh}
        if runs:
            entries[name] = {"input_hash": variant.input_hash, "runs": list(runs.values())}
    return entries


def _run(outcome: Outcome) -> dict[str, Any]:
    record = outcome.record()
    compiler = {"compiler": outcome.compiler} if outcome.compiler else {}
    return {**{f: record[f] for f in _FIELDS}, **compiler}


def compilers() -> set[str]:
    """The version lines of the compilers that the records are of."""
    entries = records.by_variant(records.VERIFIED).values()
    return {r["compiler"] for e in entries for r in e["runs"] if "compiler" in r}
