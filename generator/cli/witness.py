# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus witness`: items that tell every chosen NEON lowering from the plainer operation."""

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.compile.registry import Entry
from daedalus.generator.verify import goals, stale
from daedalus.generator.verify.check_runs import Generated, require_generated
from daedalus.generator.verify.proofs import proof_file
from daedalus.generator.verify.witness import shown as witness
from daedalus.generator.verify.witness import witness_file
from daedalus.generator.verify.witness.search import known_or_searched

HINT = (
    "either the value never gets there: state that by k.assumption(...), or clip it; or the"
    " search is too weak: --seed tries another one, and --search lists what it does not find"
)


@click.command("witness")
@click.argument("kernels", nargs=-1)
@click.option(
    "--search",
    "anew",
    is_flag=True,
    help="Search (and prove) anew, whatever is on file; what is not found is listed.",
)
@click.option(
    "--prove", is_flag=True, help="Also let the solver prove what has no witness, and no proof."
)
@click.option("--sample", is_flag=True, help="Without KERNELS, those whose code is another one than"
              " was looked at last, and a part of the others, another one each day.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
def command(kernels: tuple[str, ...], anew: bool, prove: bool, sample: bool, seed: int) -> None:
    """Finds items that tell every chosen NEON lowering of the KERNELS (default: all) from the
    plainer operation, and keeps them in generated/records/.

    The search is limited by work. What it does not find is listed beside the items, on the first
    search of a kernel and with --search, and is told.

    Exits with 1 if a saturating, rounding or wrapping lowering has none, and is neither listed nor
    has a reason in tools/mutants.toml; or if a reason is said to be a proof, and none is on record
    that holds for this code: --prove does these and puts them on record.
    """
    entries = chosen(kernels)
    variants = require_generated(entries, repo_root() / "generated", ("neon",))
    if sample and not kernels:
        todays = stale.sample(entries)
        entries = [e for e in entries if e in todays or not _seen(e, variants)]
    found = {e.kernel.id: known_or_searched(e, anew=anew, seed=seed) for e in entries}
    print_table(
        ("variant", "goals", "met", "lowerings", "items of the kernel"),
        [
            (variant, goals, met, lowerings, f.items.count)
            for f in found.values()
            for variant, (goals, met, lowerings) in f.counts.items()
        ],
    )
    for line in (line for f in found.values() for line in f.wanted):
        tell(f"not found within the search's limit: {line}")
    _fail_on([line for f in found.values() for line in f.missing], "have no witness", HINT)
    if not sample:  # which changes nothing
        for e in entries:
            witness_file.note(e.kernel.id, variants[e.kernel.id])
    if prove:
        _prove(entries, found, anew=anew)
    else:
        unproven = [line for f in found.values() for line in f.unproven]
        _fail_on(unproven, "are only said to have no witness", "let --prove do the proofs")


def _seen(e: Entry, variants: Generated) -> bool:
    """Whether the kernel has witnesses, and all that its code wants."""
    mine = variants[e.kernel.id]
    has = any(v.options.target == "neon" for v in mine) and witness_file.known(e.kernel.id)
    return not has or witness_file.are_of(e.kernel.id, mine)


def _fail_on(lines: list[str], what: str, hint: str) -> None:
    """Prints the lines, and ends with an error if there are any."""
    for line in lines:
        tell(line)
    if lines:
        raise UserError(f"{len(lines)} lowerings {what}", hint, EXIT_FAILED)


def _prove(entries: list[Entry], found: dict[str, witness.Found], *, anew: bool) -> None:
    """The proofs that stand for witnesses, each put on record once it is done."""
    from daedalus.generator.verify.proofs import goal_proofs  # the solver takes a while to load

    rows, failed = [], []
    with progress():
        for e in entries:
            plans = list(goals.plans(e))
            proof_file.keep(e.kernel.id, plans)
            for plan in plans:
                known = frozenset() if anew else proof_file.recorded(plan)
                said = witness.said_to_be_proven(plan, found[e.kernel.id].items)
                proven = [g for g in said if proof_file.key(plan, g) in known]
                before = len(proven)
                proof_file.write(plan, proven)
                for goal in (g for g in said if g not in proven[:before]):
                    say(f"proof for {plan.title}: {goal}")
                    if goal_proofs.impossible(plan, goal):
                        proven.append(goal)
                        proof_file.write(plan, proven)
                    else:
                        failed.append(f"{plan.title}: {goal}: no proof was found")
                if said:
                    rows.append((plan.title, before, len(proven) - before, len(said) - len(proven)))
    print_table(("variant", "proofs on record", "newly proven", "not proven"), rows)
    _fail_on(
        failed, "have no witness, and no proof that there is none",
        "a witness exists (--search), or the reason is none: mend tools/mutants.toml",
    )  # fmt: skip
