# SPDX-License-Identifier: BSD-2-Clause
"""Variants that were made before: `build/variants/`, by the hash of all that they are made of.

That is the kernel, every line number included; the options; of machine code its recorded schedule;
and the text of all programs that can have a say: the language, the generator up to `compile/`, the
templates, the headers that generated code includes, the toolkit. What is kept is so never of
another state than the one at hand. It holds no kernel: that is put back when it is read.

`build/variants/last/` has what `gen` made last of a kernel: `gen KERNEL` takes it for the others,
and so need not make them anew after a change that concerns them all.
"""

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile.described import digest
from daedalus.generator.compile.variants import Variant
from daedalus.generator.options import QPU, Options, variant_name

_MOST = 20000  # files; the older half goes when there are more
_PARTS = ("base", "compile", "devices", "host", "options", "passes", "targets")  # of generator/
_KINDS = {".py", ".toml", ".json", ".j2", ".h", ".c"}
_HASH = re.compile(r", input hash (\w+)")  # as the files of variants tell it
T = TypeVar("T")
_FIELDS = tuple(f.name for f in fields(Variant) if f.name != "kernel")


@cache
def code() -> str:
    """The hash of the programs that make variants; specs are not among them."""
    digest = hashlib.sha256(f"{sys.version} {version('jinja2')} {version('numpy')}".encode())
    for name, file in programs():
        digest.update(f"{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def programs() -> list[tuple[str, Path]]:
    """Their files, with names that are the same wherever they lie."""
    package = Path(str(files("daedalus")))
    folders = [package / n for n in ("codecs", "dsl", "templates", "v3d", "include", "support")]
    folders += [package / "generator" / n for n in _PARTS]
    with suppress(UserError):  # of the toolkit, where it can be built
        folders.append(repo_root() / "v3d")
    found = []
    for folder in folders:
        root = folder.resolve()
        for file in sorted(root.rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix in _KINDS and not (folder.name == "dsl" and name[:8] == "kernels/"):
                found.append((f"{folder.name}/{name}", file))
    return found


class Keys:
    """Of the variants of a kernel, whose spec has that name."""

    def __init__(self, kernel: Kernel, spec: str) -> None:
        self._id, self._what = kernel.id, (code(), digest(kernel), spec)

    def of(self, options: Options, prod: bool) -> str:
        """Of one of them."""
        schedule = None
        if options.target == QPU:
            schedule = _schedules(self._id).get(variant_name(self._id, options))
        return hashlib.sha256(repr((*self._what, options, prod, schedule)).encode()).hexdigest()


def _schedules(kernel: str) -> dict[str, Any]:
    try:
        return records.read(kernel, records.SCHEDULES)
    except UserError:  # no checkout, no records
        return {}


def _folder() -> Path | None:
    try:
        return build_dir() / "variants"
    except UserError:  # the package is installed, and nothing is kept
        return None


def once(kernel: Kernel, what: str, make: Callable[[], T]) -> T:
    """Something small that is made of a kernel and of what its name says: what is kept of it,
    else what is made now."""
    folder = _folder()
    if folder is None:
        return make()
    words = (code(), digest(kernel), what)
    file = folder / f"{hashlib.sha256(repr(words).encode()).hexdigest()}.pickle"
    found: T | None = _load(file)
    if found is not None:
        with suppress(OSError):
            os.utime(file)  # what is in use is not what is dropped
    else:
        found = make()
        _store(file, found)
    return found


def recall(wanted: str, kernel: Kernel, rank: int) -> Variant | None:
    """A variant, or None where none is kept. Raises SpecError where what is kept is a refusal."""
    folder = _folder()
    found = None if folder is None else _load(folder / f"{wanted}.pickle")
    if folder is not None and found is not None:
        with suppress(OSError):  # in use: the oldest are dropped
            os.utime(folder / f"{wanted}.pickle")
    if isinstance(found, SpecError):
        raise found
    return None if found is None else replace(Variant(kernel=kernel, **found), rank=rank)


def keep(wanted: str, made: Variant | SpecError) -> None:
    """Keeps what was made, or why nothing was."""
    folder = _folder()
    if folder is not None:
        _store(folder / f"{wanted}.pickle", made if isinstance(made, SpecError) else _data(made))


def last(kernel: Kernel, target: Path) -> list[Variant] | None:
    """What was made of a kernel when its code was written last, if that is what lies in the folder:
    a checkout of another state has other files."""
    folder = _folder()
    found = None if folder is None else _load(folder / "last" / f"{kernel.id}.pickle")
    try:
        made = [Variant(kernel=kernel, **v) for v in found or ()]
        texts = {f: (target / f).read_text() for f in {v.file for v in made}}
        hashes = [h for text in texts.values() for h in _HASH.findall(text)]
        same = sorted(hashes) == sorted(v.input_hash for v in made) and all(
            v.is_gpu or v.text in texts[v.file] for v in made
        )
    except (OSError, TypeError):  # TypeError: kept by a program with other fields
        return None
    return made if made and same else None


def keep_last(variants: Iterable[Variant]) -> None:
    """Keeps what is written now of these kernels; drops what was made too long ago."""
    folder = _folder()
    if folder is None:
        return
    by_kernel: dict[str, list[Variant]] = {}
    for v in variants:
        by_kernel.setdefault(v.kernel.id, []).append(v)
    for kernel, mine in by_kernel.items():
        _store(folder / "last" / f"{kernel}.pickle", [_data(v) for v in mine])
    _drop_old(folder, _MOST)


def _drop_old(folder: Path, most: int) -> None:
    ages: dict[Path, int] = {}
    for file in folder.glob("*.pickle"):
        with suppress(OSError):  # another process drops it
            ages[file] = file.stat().st_mtime_ns
    if len(ages) > most:
        for file in sorted(ages, key=ages.__getitem__)[: len(ages) - most // 2]:
            file.unlink(missing_ok=True)


def is_kept(wanted: str) -> bool:
    """Whether it is known what becomes of a variant."""
    folder = _folder()
    return folder is not None and (folder / f"{wanted}.pickle").is_file()


def _data(v: Variant) -> dict[str, Any]:
    return {name: getattr(v, name) for name in _FIELDS}


def _load(file: Path) -> Any:
    try:
        return pickle.loads(file.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError,
            TypeError, ValueError):  # fmt: skip
        return None


def _store(file: Path, data: Any) -> None:
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):  # a folder that cannot be written to is no error
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(pickle.dumps(data))
        partial.replace(file)
