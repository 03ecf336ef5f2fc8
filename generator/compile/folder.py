# SPDX-License-Identifier: BSD-2-Clause
"""generated/ as a folder: what the specs give, what differs there, and writing it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from daedalus.dsl.errors import SpecError
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.emit import Generated, generate
from daedalus.generator.compile.kernels import one
from daedalus.generator.compile.making import make
from daedalus.generator.compile.registry import load

REPAIR = "./daedalus gen"
MANIFEST = "manifest.json"


def generate_or_explain(
    specs: Path | None = None, names: Sequence[str] = (), target: Path | None = None
) -> Generated:
    """Generates everything; a spec's error becomes the command's.

    Of kernels that are not among the `names`, if there are any, the code is what `gen` wrote last,
    if that is what lies in `target`; else it is made anew.
    """
    try:
        entries = load(specs)
        if not entries:
            raise UserError(f"no kernel is declared below {specs}", "see docs/language.md")
        made = make(entries, [one(n, entries) for n in names] if names else None, target)
        found = generate(made.entries, made.variants, _checked_in())
        return replace(found, chosen=made.chosen)
    except SpecError as e:
        raise UserError(str(e)) from None


def _checked_in() -> Path | None:
    """The generated code of the checkout; None where the package is installed without one."""
    try:
        return repo_root() / "generated"
    except UserError:
        return None


def _present(target: Path) -> set[str]:
    """Files below the folder that `gen` answers for: all of a folder it wrote to before, but
    records, which other verbs write."""
    if not target.is_dir():
        return set()
    found = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
    return {f for f in found if not records.is_record(f)}


def _written_before(target: Path) -> set[str]:
    """What an earlier run says, in its manifest, that it wrote there."""
    try:
        manifest = json.loads((target / MANIFEST).read_text())
        return {*manifest["files"], MANIFEST}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _records_of_others(generated: Generated, target: Path) -> list[str]:
    """Records of kernels that there are no more."""
    gone = set(records.kernels(target)) - {v.kernel.id for v in generated.variants}
    return [f"{records.FOLDER}/{kernel}.json" for kernel in sorted(gone)]


def differences(generated: Generated, target: Path) -> list[str]:
    """A line for each file that is missing, different, or does not belong there."""
    return [f"{what}: {path}" for what, path in different(generated, target)]


def different(generated: Generated, target: Path) -> list[tuple[str, str]]:
    """What is wrong with a file, and which it is."""
    present = _present(target)
    found = [("missing", p) for p in generated.files if p not in present]
    found += [("not generated", p) for p in sorted(present - set(generated.files))]
    for path in sorted(present & set(generated.files)):
        if (target / path).read_text() != generated.files[path]:
            found.append(("different", path))
    found += [("not generated", path) for path in _records_of_others(generated, target)]
    return found + [
        ("different", f"{records.FOLDER}/{kernel}.json ({records.OPTIONS})")
        for kernel, wanted in generated.chosen.items()
        if records.read(kernel, records.OPTIONS, target) != wanted
    ]


def write(generated: Generated, target: Path) -> tuple[int, int]:
    """Brings the folder up to date; a file is replaced whole or not at all.

    Removes only what an earlier run wrote. Refuses a folder that holds anything else.
    """
    before = _written_before(target)
    present = _present(target)
    if present and not before:
        raise UserError(
            f"{target} holds files that were not generated",
            "name an empty folder, or one that gen wrote to before",
        )
    written = 0
    try:
        for kernel, data in generated.chosen.items():
            records.write(kernel, records.OPTIONS, dict(data), target)
        for path, text in generated.files.items():
            file = target / path
            if path in present and file.read_text() == text:
                continue
            write_output(file, text)
            written += 1
        stale = [*((before & present) - set(generated.files))]
        stale += _records_of_others(generated, target)
        for path in stale:
            (target / path).unlink()
    except OSError as e:
        raise UserError(f"cannot write to {target}: {e.strerror}", "name another folder") from None
    return written, len(stale)
