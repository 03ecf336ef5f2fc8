# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus check`: every variant against the reference interpreter."""

import json
from pathlib import Path

import click

from daedalus.generator.cli.common import EXIT_FAILED, UserError, console, repo_root
from daedalus.generator.cli.gen import differences, generate_or_explain
from daedalus.generator.cli.kernels import chosen
from daedalus.generator.cli.progress import progress, say
from daedalus.generator.cli.tables import print_table
from daedalus.generator.cli.witness import known_or_searched
from daedalus.generator.crosscheck import (
    WITNESS,
    Outcome,
    check_dispatch,
    check_kernel,
    devices,
    exclusions,
    prepare,
    program,
    replay_command,
)
from daedalus.generator.emit import entry_variants
from daedalus.generator.registry import Entry
from daedalus.generator.schedule import TARGETS, variant_name
from daedalus.generator.variants import Variant
from daedalus.generator.witness import Found

SHOWN_FAILURES = 10
RECORDED_ITEMS = 10000  # what a recorded variant has passed at least


@click.command("check")
@click.argument("kernels", nargs=-1)
@click.option("--target", default=",".join(TARGETS), show_default=True,
              help="Targets, separated by commas.")  # fmt: skip
@click.option("--items", default=10000, show_default=True, type=click.IntRange(16, 10_000_000),
              help="Conformant items a variant; a fifth as many of the other kinds.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--sanitize", is_flag=True, help="Native builds with address and UB sanitizers.")
@click.option("--record", is_flag=True, help="Write what passed to generated/verified.json.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    kernels: tuple[str, ...], target: str, items: int, seed: int, sanitize: bool, record: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compares every variant of the KERNELS (default: all) with the reference interpreter.

    Exits with 1 if a conformant item differs or any item writes outside its rectangle.
    """
    targets = _targets(target)
    entries = chosen(kernels)
    if record and (kernels or sanitize or set(targets) != set(TARGETS) or items < RECORDED_ITEMS):
        raise UserError(
            "--record needs a whole, plain run",
            f"leave out KERNELS, --target and --sanitize; --items at least {RECORDED_ITEMS}",
        )
    outcomes = run_checks(entries, targets, items, seed, sanitize=sanitize, quiet=as_json)
    if record:
        record_verified(outcomes)
    if as_json:
        click.echo(json.dumps({"results": [o.record() for o in outcomes]}, indent=1))
    report(outcomes, items, seed, table=not as_json)


def report(outcomes: list[Outcome], items: int, seed: int, *, table: bool = True) -> None:
    """Prints the outcomes; raises UserError, after the first differences, if any is bad."""
    if table:
        _print(outcomes)
    bad = [o for o in outcomes if not o.good]
    for o in bad:
        for line in o.failures[:SHOWN_FAILURES]:
            console.print(line, markup=False, soft_wrap=True)
        if o.conformant < o.wanted:
            console.print(
                f"{o.variant} on {o.device}: only {o.conformant} conformant items of {o.wanted}"
                " were compared",
                markup=False,
            )
        console.print(f"  replay: {replay_command(o, items, seed)}", markup=False, soft_wrap=True)
    if bad:
        raise UserError(f"{len(bad)} of {len(outcomes)} comparisons failed", exit_code=EXIT_FAILED)


def _targets(text: str) -> tuple[str, ...]:
    names = tuple(t.strip() for t in text.split(",") if t.strip())
    unknown = [t for t in names if t not in TARGETS]
    if unknown or not names:
        raise UserError(
            f"unknown target {', '.join(unknown) or text!r}", f"targets are {', '.join(TARGETS)}"
        )
    return names


def require_generated(entries: list[Entry], folder: Path) -> None:
    """Refuses to compare code that was generated from another state of the specs."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        have = {v["name"]: v["input_hash"] for k in manifest["kernels"] for v in k["variants"]}
    except (OSError, ValueError, KeyError, TypeError):
        have = {}
    for e in entries:
        if any(have.get(v.name) != v.input_hash for v in entry_variants(e)):
            raise UserError(
                f"{folder.name}/ is not what the spec of {e.kernel.id} gives: {e.spec}",
                "run ./daedalus gen, then check again",
            )


def run_checks(
    entries: list[Entry], targets: tuple[str, ...], items: int, seed: int, *,
    sanitize: bool = False, quiet: bool = False,
) -> list[Outcome]:  # fmt: skip
    """Builds what is needed, runs everything, returns an outcome per variant and device."""
    require_generated(entries, repo_root() / "generated")
    found = [d for d in devices(targets) if not (sanitize and d.arch == "aarch64")]
    outcomes: list[Outcome] = []
    with progress(len(entries), quiet=quiet) as shown:
        programs: dict[str, Path] = {d.arch: program(d.arch, sanitize=sanitize) for d in found}
        for e in entries:
            witnesses = None
            if "neon" in targets:
                say(f"{e.kernel.id}: witnesses")
                found_witnesses = known_or_searched(e)
                witnesses = found_witnesses.items
                if found_witnesses.counts:
                    outcomes.append(_witness_outcome(e, found_witnesses))
            say(f"{e.kernel.id}: drawing items")
            batches = prepare(e.kernel, items, seed, witnesses)
            for remark in exclusions(e.kernel, batches):
                console.print(remark, markup=False, soft_wrap=True)
            for d in found:
                say(f"{e.kernel.id}: {d.target} on {d.name}")
                names = [
                    variant_name(e.kernel.id, s) for s, _ in e.schedules if s.target == d.target
                ]
                outcomes += check_kernel(e.kernel, names, d, programs[d.arch], batches, seed)
                outcomes.append(check_dispatch(e.kernel, d, programs[d.arch], batches, seed))
            shown.advance(1)
    for o in outcomes:
        o.wanted = items if o.variant != WITNESS else o.wanted
    return outcomes


def _witness_outcome(entry: Entry, found: Found) -> Outcome:
    """The report's line on whether every lowering is told from the plainer operation."""
    return Outcome(
        entry.kernel.id, "neon", WITNESS, "simulated", items=found.items.count,
        conformant=found.items.count, mismatches=len(found.missing) + len(found.unproven),
        wanted=0, failures=[*found.missing, *found.unproven],
    )  # fmt: skip


def _print(outcomes: list[Outcome]) -> None:
    print_table(
        ("variant", "device", "items", "conformant", "mismatches", "out of bounds"),
        [
            (o.variant, o.device, o.items, o.conformant, o.mismatches, o.out_of_bounds)
            for o in outcomes
        ],
    )
    good = sum(o.good for o in outcomes)
    compared = sum(o.conformant for o in outcomes)
    excluded = sum(o.items - o.conformant for o in outcomes)
    print(
        f"{good} of {len(outcomes)} comparisons are bit-exact: {compared} conformant items;"
        f" {excluded} others were checked for memory safety only"
    )


def record_verified(outcomes: list[Outcome]) -> None:
    """Notes what was compared, by the hash of what it was generated from.

    Only for code that is what the specs give: anything else was not compared.
    """
    generated = generate_or_explain()
    if differences(generated, repo_root() / "generated"):
        raise UserError(
            "generated/ is not what the specs give, so nothing is recorded",
            "run ./daedalus gen, then check again",
        )
    variants: dict[str, Variant] = {v.name: v for v in generated.variants}
    entries: dict[str, dict[str, object]] = {}
    for name, variant in sorted(variants.items()):
        runs = [o for o in outcomes if o.variant == name]
        if runs and all(o.good for o in runs):
            fields = ("device", "items", "conformant", "mismatches", "out_of_bounds")
            entries[name] = {
                "input_hash": variant.input_hash,
                "runs": [{f: o.record()[f] for f in fields} for o in runs],
            }
    path = repo_root() / "generated" / "verified.json"
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps({"version": 1, "variants": entries}, indent=1) + "\n")
    partial.replace(path)
    console.print(f"{len(entries)} of {len(variants)} variants recorded in {path.name}")
