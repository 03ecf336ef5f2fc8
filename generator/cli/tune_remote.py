# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus tune --host`: a board measures by itself; its journal and a recipe come back."""

import shlex
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_INTERRUPTED, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import progress, say
from daedalus.generator.cli import tune_mixed, tune_print
from daedalus.generator.cli.recipe import generated_library, print_recipe, write_recipe
from daedalus.generator.cli.tune_mixed import Asked
from daedalus.generator.cli.tune_store import tell_problems
from daedalus.generator.compile.registry import Entry
from daedalus.generator.tuning import compare, cpu_spills, journal, kit, overnight, recipe
from daedalus.generator.tuning.engine_device import ITEMS, unmeasured
from daedalus.generator.tuning.entries import Entry as Line
from daedalus.generator.tuning.entries import Mixed, Result, Run
from daedalus.generator.tuning.merge import merge
from daedalus.generator.tuning.overnight import Settings
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.remote import Job, Remote
from daedalus.generator.tuning.ssh import Ssh

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Wish:
    """What is asked for.

    host, ssh, wrapper  where, by which client, and what stands before programs there
    journal             where lines are kept here
    mixed               whether to measure M4 as well
    pair                M4 of one pair, and nothing else
    """

    host: str
    entries: Sequence[Entry]
    targets: Sequence[str]
    journal: Path
    ssh: str = "ssh"
    wrapper: str = ""
    settings: Settings = field(default_factory=Settings)
    mixed: bool = True
    stop: bool = False
    pair: Job | None = None


def options(command: F) -> F:
    """Adds the options of --host to a command."""
    all_of_them = (
        click.option("--host", metavar="USER@HOST",
                     help="Measure there, on a board that ssh reaches, what is in generated/, and"
                     " make a recipe of it: docs/pi-guide.md."),
        click.option("--ssh", default="ssh", show_default=True, metavar="COMMAND",
                     help="With --host: the client, with its options."),
        click.option("--remote-wrapper", "wrapper", default="", metavar="COMMAND",
                     help="With --host: what stands before programs there, as qemu-aarch64."),
        click.option("--items", default=0, metavar="N", type=click.IntRange(0),
                     help="Measured: of a sample; 0: what daedalus-tune does."),
        click.option("--stop", is_flag=True, help="With --host: end what is under way there."),
    )  # fmt: skip
    for option in reversed(all_of_them):
        command = option(command)
    return command


_ITS_OWN = ("ssh", "wrapper", "stop")  # parameters that --host alone has,
_NOT_ITS = (  # or has not
    "dry_run", "device", "vulkan", "points", "exhaustive", "jobs", "applies",
    "forget", "as_json",
)  # fmt: skip


def check_options(context: click.Context, host: str | None) -> None:
    """Raises UserError where options were given that do not go with --host, or need it."""
    given = tune_mixed.options_given(context, _NOT_ITS if host else _ITS_OWN)
    if given and host:
        raise UserError(
            f"{', '.join(given)}: not with --host, which measures on the board what generated/ has",
            "leave out one or the other: docs/pi-guide.md has what goes with --host",
        )
    if given:
        raise UserError(f"{', '.join(given)}: only with --host", "give --host USER@HOST")


def tune(
    entries: Sequence[Entry], targets: Sequence[str], path: Path, budget: float, asked: Asked,
    *, quick: bool, host: str, ssh: str, wrapper: str, items: int, mixed: bool, stop: bool,
) -> int:  # fmt: skip
    """What the options ask for; an exit code."""
    settings = asked.settings(Settings(items=items, budget=budget), quick=quick)
    if quick:
        settings = replace(settings, point_seconds=0.3)
    pair = asked.job(settings) if asked.pair else None
    return measure(
        Wish(
            host, entries, targets, path, ssh, wrapper, settings, mixed=mixed, stop=stop, pair=pair
        )
    )


def measure(wish: Wish) -> int:
    """Measures on the host, brings the journal back and makes a recipe of it; an exit code."""
    remote = Remote(Ssh(wish.host, wish.ssh), shlex.split(wish.wrapper), say)
    with progress():
        board = remote.probe()
        say(f"{wish.host}: {board.arch}, {board.cores} cores")
        tune_mixed.check_cores(wish.settings, range(board.cores), wish.host)
        made = kit.make(board.arch, wish.entries)
        remote.deploy(made, _folder(wish) / f"journal-{made.id}.jsonl")
        if wish.stop:
            remote.stop()
            return 0
        if wish.pair is not None:
            return _run(wish, remote, overnight.bounded([wish.pair], wish.settings.budget), ())
        kernels = [e.kernel.id for e in wish.entries]
        points = overnight.wanted_points(remote.points(), kernels, wish.targets)
        spilling = _spilling(made, points)
    if not points:
        raise UserError(f"{wish.host} can measure no point of these kernels and targets")
    try:
        return _measure(wish, remote, points, spilling)
    except KeyboardInterrupt:
        tell(
            f"{wish.host} goes on measuring; the same command follows it again, with --stop it"
            " ends there"
        )
        return EXIT_INTERRUPTED


def _folder(wish: Wish) -> Path:
    """What is kept of a host here."""
    name = "".join(c if c.isalnum() or c in "-._@" else "_" for c in wish.host)
    return build_dir() / "tune" / name


def _spilling(made: kit.Kit, points: Sequence[str]) -> dict[str, str]:
    """Points that are not measured as they spill, and what of them goes to the stack."""
    if made.built is None:
        return {}
    say("looking at what goes to the stack")
    spills = cpu_spills.Spills(made.built)
    reasons = {p: spills.reason(parse_point(p).variant) for p in points if parse_point(p).compiler}
    return {p: why for p, why in reasons.items() if why}


def _measure(
    wish: Wish, remote: Remote, points: Sequence[str], spilling: Mapping[str, str]
) -> int:  # fmt: skip
    measured = [p for p in points if p not in spilling]
    status = _run(wish, remote, overnight.alone(wish.settings, mixed=wish.mixed), measured)
    _keep_spilling(wish, remote, spilling)
    made = _recipe(remote, spilling)
    target = _folder(wish) / "daedalus.recipe"
    if made is not None and wish.mixed:
        write_recipe(made, target)  # so that there is one however M4 ends
        _, seconds = overnight.shares(wish.settings.budget, mixed=True)
        mixed = overnight.bounded(overnight.together(made, wish.settings), seconds)
        if mixed:
            say(f"M4 of {len(mixed)} pairs of kernels that R does not decide about")
            status = max(status, _run(wish, remote, mixed, ()))
            made = _recipe(remote, spilling)
    if made is None:
        raise UserError(
            f"{wish.host}: no recipe: nothing has a time on the CPU",
            f"./daedalus tune show --journal {wish.journal}", EXIT_FAILED,
        )  # fmt: skip
    write_recipe(made, target)
    print_recipe(made, target)
    return status


def _run(wish: Wish, remote: Remote, jobs: Sequence[Job], points: Sequence[str]) -> int:
    """Follows a run to its end; its exit status. However it ends, what came is in the journal."""
    try:
        status = _followed(remote, jobs, points)
    finally:
        _merge(wish, remote)
    if status > 1:
        raise UserError(
            f"daedalus-tune on {wish.host}: exit status {status}\n{remote.log(jobs, points)}",
            "what was measured is kept; the same command goes on",
            status if status == EXIT_INTERRUPTED else EXIT_FAILED,
        )
    return status


def _followed(remote: Remote, jobs: Sequence[Job], points: Sequence[str]) -> int:
    cut = 0
    with progress(len(points) or len(jobs)) as shown:

        def news(line: bytes, *, own: bool = True) -> None:
            nonlocal cut
            try:
                entry = journal.parse_line(line)
            except ValueError:
                return  # it is told when the journal is read
            if isinstance(entry, Result | Mixed):
                say(tune_print.told(entry) if isinstance(entry, Result) else tune_mixed.told(entry))
                shown.advance(own)
            cut += own and isinstance(entry, Run) and entry.ended == "budget"

        status = remote.run(jobs, points, news, partial(news, own=False))
    if cut:
        what = "M2 and M3" if points else f"M4: {cut} of {len(jobs)} pairs"
        tell(f"the budget ended before all was done of {what}")
    return status


def _merge(wish: Wish, remote: Remote) -> None:
    """Adds what has come to the journal here."""
    if remote.mirror.is_file():
        wish.journal.parent.mkdir(parents=True, exist_ok=True)
        done = merge(wish.journal, [remote.mirror])
        tell_problems(done.problems)
        tell(f"{wish.journal}: {done.added} lines added")


def _keep_spilling(wish: Wish, remote: Remote, spilling: Mapping[str, str]) -> None:
    """Adds results of points that spill to the journal here, unless it has them."""
    machine = _machine(journal.read(remote.mirror).entries)
    if not machine:
        return
    items = wish.settings.items or ITEMS
    variants = generated_library().variants
    results = [
        unmeasured(
            point, machine, f"m3 items={items}", variants[parse_point(point).variant].input_hash,
            why, items, "spills",
        )
        for point, why in spilling.items()
    ]  # fmt: skip
    kept = [e for e in journal.read(wish.journal).entries if isinstance(e, Result)]
    known = {(e.fingerprint, e.key) for e in journal.latest(kept) if e.verdict == "spills"}
    fresh = [r for r in results if (r.fingerprint, r.key) not in known]
    journal.append(wish.journal, *fresh)
    for r in fresh:
        say(tune_print.told(r))


def _machine(entries: Sequence[Line]) -> str:
    """Fingerprint of the machine that the board's last lines are of; "" where there are none."""
    return next((e.fingerprint for e in reversed(entries) if isinstance(e, Result | Run)), "")


def _recipe(remote: Remote, spilling: Container[str]) -> recipe.Recipe | None:
    """Of the machine that the board's last lines are of; None where nothing has a time.

    What the board has of points that spill, from before they were looked at, does not count.
    """
    entries = [
        e for e in journal.read(remote.mirror).entries
        if not (isinstance(e, Result) and e.point in spilling)
    ]  # fmt: skip
    last = _machine(entries)
    sides = compare.sides(entries)
    if last not in sides:
        return None
    mixed = [e for e in entries if isinstance(e, Mixed)]
    made = recipe.make(sides[last], mixed, generated_library())
    return made if made.decisions else None
