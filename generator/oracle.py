# SPDX-License-Identifier: BSD-2-Clause
"""Compares the reference interpreter with the functions of an independent decoder.

Items that a conformant stream can hold are written to a file, a small C program linked with the
decoder's static archive runs them through its functions, once without processor extensions and
once with, and what comes back must be what the interpreter says.  Which function belongs to which
kernel stands in tools/oracle/kernels.toml, the format of the files in tools/oracle/main.c.
"""

import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator import fetch, native
from daedalus.generator.cli.common import (
    EXIT_FAILED,
    UserError,
    build_dir,
    repo_root,
    run,
)
from daedalus.generator.cli.progress import say
from daedalus.generator.registry import load

MODES = ("c", "asm")  # without processor extensions, and with
_TRIES = 8  # batches of vectors until enough of them are conformant

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Entry:
    """A decoder's function and the kernel that it is to be compared with."""

    kernel: str
    entry: str
    plane: str
    params: tuple[str, ...]
    block: str = ""
    clears: bool = False


@dataclass(frozen=True)
class Comparison:
    """One kernel against one build of the decoder's function."""

    kernel: str
    architecture: str
    mode: str
    version: str
    items: int
    mismatches: int
    strayed: int  # items for which the decoder wrote outside the kernel's rectangle
    uncleared: int  # items whose block the decoder did not leave zeroed, though it should
    first: str  # the first mismatch, in words

    @property
    def good(self) -> bool:
        """Whether the two agree in everything."""
        return self.mismatches == self.strayed == self.uncleared == 0


def _folder() -> Path:
    return repo_root() / "tools" / "oracle"


def entries() -> tuple[str, tuple[str, ...], list[Entry]]:
    """Name of the oracle, sources of the program, and the kernels that it knows."""
    data = tomllib.loads((_folder() / "kernels.toml").read_text())
    made = [Entry(**{**e, "params": tuple(e["params"])}) for e in data["entry"]]
    return data["oracle"], tuple(data["sources"]), made


def not_compared() -> list[str]:
    """Kernels that the oracle does not know."""
    known = {e.kernel for e in entries()[2]}
    return [k.id for k in (e.kernel for e in load()) if not known & {k.id, *k.aliases}]


def compare(wanted: tuple[str, ...], count: int, seed: int) -> list[Comparison]:
    """Compares the wanted kernels (none named: all that the oracle knows) on `count` items."""
    oracle, sources, known = entries()
    by_name = {name: k for k in (e.kernel for e in load()) for name in (k.id, *k.aliases)}
    ids = {by_name[w].id if w in by_name else w for w in wanted}
    chosen = [e for e in known if not wanted or by_name[e.kernel].id in ids]
    unknown = ids - {by_name[e.kernel].id for e in known}
    if unknown:
        raise UserError(
            f"no function to compare with for: {', '.join(sorted(unknown))}",
            f"the oracle knows: {', '.join(e.kernel for e in known)}",
        )
    programs = [(arch, _program(oracle, sources, arch)) for arch in _architectures()]
    comparisons: list[Comparison] = []
    for entry in chosen:
        kernel = by_name[entry.kernel]
        for mode in MODES:
            items = _items(kernel, count, seed, lenient=mode == "asm")
            expected = interp.run(kernel, items).buffers[entry.plane]
            for arch, program in programs:
                say(f"{kernel.id}: {mode}, {native.debian_arch(arch)}")
                comparisons.append(
                    _compare(oracle, entry, kernel, mode, arch, program, items, expected)
                )
    return comparisons


def _architectures() -> tuple[str, ...]:
    return ("host",) if native.is_arm() else ("aarch64", "host")


def _program(oracle: str, sources: tuple[str, ...], arch: str) -> Path:
    include, archives = fetch.archives(oracle, native.debian_arch(arch))
    return native.compile_program(
        arch,
        build_dir() / "oracle" / native.debian_arch(arch) / "oracle",
        [_folder() / s for s in sources],
        includes=[repo_root() / "tools" / "stream"],
        system_includes=[include],
        libraries=archives,
    )


def _items(kernel: Kernel, count: int, seed: int, *, lenient: bool) -> interp.Items:
    """At least `count` conformant items; `lenient`: ones that meet every assumption.

    Assembly takes more for granted than the standard says, so it gets only items that meet the
    assumptions which are not made by default, too.
    """
    assume = frozenset(a.name for a in kernel.assumptions if a.default or lenient)
    batches: list[interp.Items] = []
    have = 0
    for attempt in range(_TRIES):
        items = vectors.make_items(kernel, count, seed + attempt, "typical")
        good = items.take(interp.run(kernel, items).conformant(assume))
        batches.append(good)
        have += good.count
        if have >= count:
            break
    else:
        raise UserError(
            f"{kernel.id}: only {have} of {_TRIES * count} vectors are conformant",
            "dsl/vectors.py does not suit this kernel",
            EXIT_FAILED,
        )
    joined = interp.Items(
        {n: np.concatenate([b.buffers[n] for b in batches]) for n in batches[0].buffers},
        {n: np.concatenate([b.params[n] for b in batches]) for n in batches[0].params},
    )
    return joined.take(np.arange(count))


def _compare(
    oracle: str,
    entry: Entry,
    kernel: Kernel,
    mode: str,
    arch: str,
    program: Path,
    items: interp.Items,
    expected: Array,
) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        given, back = Path(folder, "in"), Path(folder, "out")
        given.write_bytes(_encode(entry, kernel, items))
        run(
            [*native.runner(arch), program, mode, entry.entry, given, back],
            what=f"{kernel.id}: the {oracle} oracle ({mode}, {arch})",
        )
        strayed, planes, blocks = _decode(back.read_bytes(), entry, kernel, items)
    different = (planes != expected).reshape(items.count, -1).any(axis=1)
    uncleared = int(blocks.any(axis=1).sum()) if entry.clears else 0
    versions = {d.version for d in fetch.fetched(oracle, native.debian_arch(arch)) or []}
    return Comparison(
        kernel.id,
        native.debian_arch(arch),
        mode,
        f"{oracle} {', '.join(sorted(versions))}",
        items.count,
        int(different.sum()),
        strayed,
        uncleared,
        _first(different, planes, expected, entry, items),
    )


def _encode(entry: Entry, kernel: Kernel, items: interp.Items) -> bytes:
    plane = kernel.buffer(entry.plane)
    (row, _), (col, _) = plane.shape
    region = items.buffers[entry.plane].astype("<u1").reshape(items.count, -1)
    block = np.zeros((items.count, 0), "<i2")
    if entry.block:
        block = items.buffers[entry.block].astype("<i2").reshape(items.count, -1)
    columns = [items.params[p].reshape(items.count, -1) for p in entry.params]
    params = np.concatenate([np.empty((items.count, 0)), *columns], axis=1).astype("<i4")
    rows, cols = plane.extents
    header = [items.count, rows, cols, -row, -col, block.shape[1], params.shape[1]]
    parts = [a.view(np.uint8).reshape(items.count, -1) for a in (region, block, params) if a.size]
    return b"DDLITEMS" + np.array(header, "<u4").tobytes() + np.hstack(parts).tobytes()


def _decode(
    data: bytes, entry: Entry, kernel: Kernel, items: interp.Items
) -> tuple[int, Array, Array]:
    """Strayed items, planes and blocks afterwards."""
    extents = kernel.buffer(entry.plane).extents
    area = int(np.prod(extents))
    records = np.frombuffer(data[4:], np.uint8).reshape(items.count, -1)
    blocks = np.ascontiguousarray(records[:, area:]).view("<i2")
    planes = records[:, :area].reshape(items.count, *extents)
    return int.from_bytes(data[:4], "little"), planes, blocks


def _first(
    different: Array, planes: Array, expected: Array, entry: Entry, items: interp.Items
) -> str:
    if not different.any():
        return ""
    item = int(np.flatnonzero(different)[0])
    place = np.argwhere(planes[item] != expected[item])[0]
    params = ", ".join(f"{p} = {items.params[p][item].tolist()}" for p in entry.params)
    at = tuple(int(x) for x in place)
    return (
        f"item {item} ({params}), row {at[0]}, column {at[1]} of its region: "
        f"interpreter {int(expected[item][at])}, oracle {int(planes[item][at])}"
    )
