# SPDX-License-Identifier: BSD-2-Clause
"""`generated/records/<kernel>.json`: what verbs found out about a kernel, a part each.

    {"version": 1, "kernel": id, "schedules": ..., "verified": ..., "witnesses": ..., ...}

A file a kernel, so that what two people record about two kernels merges. The module that owns a
part says what it means. An empty part is left out, and so is the file of a kernel about which
nothing is known.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.json_text import json_text
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import repo_root

FOLDER = "records"  # below generated/
VERSION = 1
# In the order of the file, with who writes them:
OPTIONS = "options"  # gen: compile/making.py
SCHEDULES = "schedules"  # gen --search-qpu, bench --qpu --choose: compile/qpu_choices.py
VERIFIED = "verified"  # check --record: verify/verified.py
WITNESSES = "witnesses"  # witness: verify/witness/witness_file.py
PROOFS = "proofs"  # witness --prove: verify/proofs/proof_file.py
STATS = "stats"  # stats --record: measure/gpu/statistics.py
PARTS = (OPTIONS, SCHEDULES, VERIFIED, WITNESSES, PROOFS, STATS)

_generated: Path | None = None  # that has the folder; None: the checkout's


def folder(generated: Path | None = None) -> Path:
    """Of the records. Raises UserError where there is no checkout, nor another folder."""
    return (generated or _generated or repo_root() / "generated") / FOLDER


@contextmanager
def kept_in(generated: Path | None) -> Iterator[None]:
    """Has the records in another folder than the checkout's generated/, meanwhile."""
    global _generated
    before, _generated = _generated, generated
    try:
        yield
    finally:
        _generated = before


def path(kernel: str, generated: Path | None = None) -> Path:
    """The file of a kernel, whether there is one or not."""
    return folder(generated) / f"{kernel}.json"


def is_record(name: str) -> bool:
    """Whether a path below generated/ is one of these files."""
    return name.startswith(f"{FOLDER}/") and name.endswith(".json")


def kernels(generated: Path | None = None) -> list[str]:
    """Those that have a file."""
    return sorted(p.stem for p in folder(generated).glob("*.json"))


def read(kernel: str, part: str, generated: Path | None = None) -> dict[str, Any]:
    """A part of a kernel's records; empty where nothing is known."""
    found: dict[str, Any] = _read(path(kernel, generated)).get(part, {})
    return found


def each(part: str, generated: Path | None = None) -> dict[str, dict[str, Any]]:
    """Kernel -> that part of its records, where there is one."""
    found = {k: read(k, part, generated) for k in kernels(generated)}
    return {k: data for k, data in found.items() if data}


def by_variant(part: str, generated: Path | None = None) -> dict[str, dict[str, Any]]:
    """Variant -> its record, of a part that is by variant."""
    return {name: r for data in each(part, generated).values() for name, r in data.items()}


def write(kernel: str, part: str, data: dict[str, Any], generated: Path | None = None) -> None:
    """Puts a part in the place of what is known; the others stay."""
    file = path(kernel, generated)
    if not data and not file.is_file():
        return
    with _alone(file.parent):
        known = _read(file) | {part: data}
        kept = {p: known[p] for p in PARTS if known.get(p)}
        if kept:
            text = json_text({"version": VERSION, "kernel": kernel, **kept})
            if not file.is_file() or file.read_text() != text:
                write_output(file, text)
        else:
            file.unlink(missing_ok=True)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Keeps other programs from writing records in between: each puts its part beside others'."""
    place.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(
            OSError
        ):  # NFS locks no folder: there, two programs at a time may lose a part
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise UserError(f"cannot read {file}: {e.strerror}") from None
    except ValueError as e:
        raise UserError(f"{file}: not valid JSON: {e}", f"git checkout -- {file}") from None
    if found.get("version") != VERSION:
        raise UserError(
            f"{file} has version {found.get('version')}, this program needs {VERSION}",
            f"git checkout -- {file}",
        )
    return found
