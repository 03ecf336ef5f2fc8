# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus gen`: writes generated/, or checks that it is what the specs give."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import click

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import never_binding
from daedalus.dsl.show import show
from daedalus.generator.base import records
from daedalus.generator.base.console import console, out, tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.compile import kept, qpu_choices, unchanged
from daedalus.generator.compile.emit import Generated
from daedalus.generator.compile.folder import REPAIR, different, generate_or_explain, write
from daedalus.generator.compile.kernels import one
from daedalus.generator.compile.making import Settled, settle
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.compile.variants import selected_programs
from daedalus.generator.options import QPU, Options, variant_name
from daedalus.generator.passes.pipeline import lower, passes
from daedalus.generator.targets.glsl.spirv import PINNED, toolchain


@click.command("gen")
@click.argument("kernels", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if generated/ differs.")
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Where to write.")
@click.option("--dump-after", "dump", metavar="PASS",
              help="Print the lane programs after a pass; write nothing.")  # fmt: skip
@click.option("--specs", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="A folder of specs instead of the built-in ones.")  # fmt: skip
@click.option("--search-qpu", "search", is_flag=True,
              help="Before, search the best schedules of QPU variants that have none.")  # fmt: skip
@click.option("--anew", is_flag=True, help="With --search-qpu, of all of them.")
def command(
    kernels: tuple[str, ...], check: bool, folder: Path | None, dump: str | None,
    specs: Path | None, search: bool, anew: bool,
) -> None:  # fmt: skip
    """Generates C, headers and tables from the specs: with KERNELS, what changed in these alone.

    Variants for the QPU are scheduled as generated/records/ says; where that is of another
    program, by few attempts, and --check fails. --search-qpu finds the best, which takes minutes.
    """
    if (search and (check or dump)) or (anew and not search):
        raise UserError(
            "--search-qpu records schedules", "leave out --check and --dump-after; --anew needs it"
        )
    if dump is not None:
        dump_after(dump, specs, kernels)
        return
    if specs is not None and folder is None:
        raise UserError("--specs needs --out", "generated/ holds what the built-in specs give")
    target = folder or repo_root() / "generated"
    own = specs is None and folder is None
    before = None
    if own and not (kernels or check or search):
        before = unchanged.inputs(target)
        said = unchanged.said(before, target)
        if said is not None:
            _tell(said[0], 0, 0, said[1:])
            return
    with records.kept_in(None if specs is None else target):
        if search:
            _search(specs, anew, kernels)
        with _without_collector():
            generated = generate_or_explain(specs, kernels, target)
        asked = _asked(specs, kernels)
        if check:
            _check(generated, target, asked if kernels else None, folder)
            for remark in (*_refused(generated, asked), *_taken(generated)):
                tell(remark)
            return
        written, removed = write(generated, target)
        load.cache_clear()  # which variants there are may be on record only now
        if own:
            kept.keep_last(generated.variants)
        there = f"{len(generated.variants)} variants, {len(generated.files)} files"
        remarks = [
            *_remarks(generated, asked),
            *_refused(generated, asked),
            *_taken(generated),
        ]
    _tell(there, written, removed, remarks)
    if before is not None:
        unchanged.remember(before, target, generated.files, generated.chosen, [there, *remarks])


def _check(
    generated: Generated, target: Path, asked: list[Entry] | None, folder: Path | None
) -> None:
    """Says what differs from the specs, of the kernels that are asked for or of all."""
    found = different(generated, target)
    of = {v.file: v.kernel.id for v in generated.variants}
    wrong = [f"{what}: {path}" for what, path in found if asked is None or _is_of(path, asked, of)]
    looked_at = [p for p in generated.files if asked is None or _is_of(p, asked, of)]
    if wrong:
        for line in wrong:
            out.print(line, markup=False)
        # Without the search, what `gen` writes would be right and longer than it need be.
        repair = qpu_choices.REPAIR if generated.unrecorded else REPAIR
        raise UserError(
            f"{target.name}/ is not what the specs give ({len(wrong)} files)",
            f"run {repair}{f' --out {folder}' if folder else ''} and look at the difference",
            EXIT_FAILED,
        )
    if generated.unrecorded:
        raise UserError(
            f"the best schedules of {len(generated.unrecorded)} QPU variants are not known:"
            f" {', '.join(generated.unrecorded)}",
            f"run {qpu_choices.REPAIR}",
            EXIT_FAILED,
        )
    out.print(f"{len(looked_at)} files are what the specs give", markup=False)


def _tell(there: str, written: int, removed: int, remarks: Iterable[str]) -> None:
    console.print(f"{there}: {written} written, {removed} removed, the others unchanged")
    for remark in remarks:
        tell(remark)


def _remarks(generated: Generated, asked: list[Entry]) -> Iterator[str]:
    """What their author may want to know."""
    for e in asked:
        for _, remark in never_binding(e.kernel):
            yield f"remark: {remark}"
    if generated.unrecorded:
        yield (
            f"remark: {', '.join(generated.unrecorded)}: scheduled by few attempts; for the best"
            f" run {qpu_choices.REPAIR}"
        )
    doubted = [n for e in asked if e.by_rule for n in qpu_choices.doubted(e.kernel.id)]
    if doubted:
        yield (
            f"remark: {', '.join(doubted)}: found without a schedule by another scheduler; to try"
            f" again run {qpu_choices.REPAIR}"
        )


def _refused(generated: Generated, asked: list[Entry]) -> Iterator[str]:
    """What targets say that have no variant for a kernel, or for one of its classes."""
    for e in asked:
        for name, why in generated.chosen.get(e.kernel.id, {}).get("refused", {}).items():
            yield f"refused: {e.kernel.id}: {why if name in why else f'{name}: {why}'}"


def _taken(generated: Generated) -> Iterator[str]:
    """What was skipped for lack of the tools that made it."""
    if generated.taken:
        yield (
            f"skipped: {len(generated.taken)} SPIR-V modules are taken as they are: they were made"
            f" by {PINNED}, here is {toolchain() or 'none of these'}"
        )


@contextmanager
def _without_collector() -> Iterator[None]:
    """Without the search for cycles of garbage, of which generating makes few: it would take a
    sixth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _asked(specs: Path | None, names: tuple[str, ...]) -> list[Entry]:
    known = load(specs)
    return [one(n, known) for n in names] if names else list(known)


def _is_of(path: str, entries: list[Entry], of: Mapping[str, str]) -> bool:
    """Whether a file is of one of the kernels or of all, as tables and decoders' entries are; not
    where it has another kernel's variants or record. `of`: whose variants a file has."""
    place = PurePosixPath(path.partition(" ")[0])
    kernels = {e.kernel.id for e in entries}
    if place.parent.name == records.FOLDER:
        return place.stem in kernels
    return of.get(path) in {None, *kernels}


@dataclass(frozen=True)
class _Wanted:
    """A QPU variant whose schedule shall be on record.

    must  it is listed; else rules try it, and what is wanted is also that it has none
    """

    kernel: Kernel
    options: Options
    must: bool


def _search(specs: Path | None, anew: bool, names: tuple[str, ...]) -> None:
    """Records the best schedules of QPU variants: of those that have no record, or of all. Also
    that options have none which rules try, so that `gen` need not try them.

    What rules choose depends on what was found: it is looked at again until nothing new comes.
    """
    found: dict[str, dict[str, Any]] = {}
    looked_at: set[str] = set()
    try:
        asked = _asked(specs, names)
        wanted = _wanted(asked)
        while todo := {n: w for n, w in wanted.items() if n not in looked_at}:
            looked_at |= set(todo)
            with progress(len(todo)) as shown:
                for name, one_of_them in todo.items():
                    found |= _searched(name, one_of_them, anew)
                    shown.advance(1)
            wanted = _wanted(asked)
    except SpecError as e:
        raise UserError(str(e)) from None
    for entry in asked:
        of = entry.kernel.id
        qpu_choices.keep(of, [n for n, w in wanted.items() if w.kernel.id == of])
    for name, record in found.items():
        tell(f"{name}: " + record.get("none", f"{record.get('trip')} instructions a trip"))


def _wanted(asked: list[Entry]) -> dict[str, _Wanted]:
    """By name, by what is on record now; those that are listed come first."""
    out: dict[bool, dict[str, _Wanted]] = {True: {}, False: {}}
    for e in asked:
        # Of a kernel without an entry, what rules choose now: its record may be of an older spec.
        settled = settle(e) if e.by_rule else Settled(e, {}, ())
        for must, tried in ((True, [o for o, _ in settled.entry.listed]), (False, settled.refused)):
            for o in tried:
                if o.target == QPU:
                    out[must][variant_name(e.kernel.id, o)] = _Wanted(e.kernel, o, must)
    return out[True] | out[False]


def _searched(name: str, wanted: _Wanted, anew: bool) -> dict[str, dict[str, Any]]:
    """What a search finds, which is then on record; empty where that is known. Raises UserError
    where it finds no schedule of a listed variant."""
    threads = wanted.options.threads
    try:
        forms = selected_programs(wanted.kernel, wanted.options)
    except SpecError:
        if wanted.must:
            raise
        return {}  # what cannot be selected at all costs no search
    if not anew and qpu_choices.is_known(name, forms, threads):
        return {}
    say(f"{name}: searching")
    record = qpu_choices.searched_or_none(name, forms, threads)
    if wanted.must and "none" in record:
        raise UserError(record["none"], "leave the variant out, by options.toml")
    qpu_choices.record({name: record})
    return {name: record}


def dump_after(wanted: str, specs: Path | None, names: tuple[str, ...] = ()) -> None:
    """Prints the program of every variant as it is after a pass."""
    found = False

    def show_it(name: str, kernel: Kernel) -> None:
        nonlocal found
        if name == wanted:
            found = True
            click.echo(f"# {variant} after {name}\n{show(kernel)}")

    try:
        for e in _asked(specs, names):
            for options, _ in e.listed:
                variant = variant_name(e.kernel.id, options)
                lower(e.kernel, options, show_it)
    except SpecError as e:
        raise UserError(str(e)) from None
    if not found:
        known = dict.fromkeys(
            name for e in load(specs) for s, _ in e.listed for name, _ in passes(e.kernel, s)
        )
        raise UserError(f"no pass {wanted}", f"passes are {', '.join(known)}")
