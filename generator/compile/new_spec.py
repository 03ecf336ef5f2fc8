# SPDX-License-Identifier: BSD-2-Clause
"""Writes the beginning of a kernel: a spec that works as it stands."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from daedalus.dsl.errors import SpecError
from daedalus.dsl.spec import KERNEL_ID
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import find, load

# What a spec can begin as: templates/new/<kind>.py.j2.
KINDS = {
    "transform": "a 4x4 inverse transform of both passes, added to the prediction",
    "filter": "a loop filter across an edge, in both orientations",
    "mc": "interpolation by a table of taps",
    "layout": "a conversion of sample layouts",
}
ORIENTED = ("filter",)  # kinds of which one spec makes two kernels, <id>_v and <id>_h


@dataclass(frozen=True)
class Written:
    """What was written, and the kernels that come of it."""

    files: tuple[Path, ...]
    kernels: tuple[str, ...]


def write_spec(root: Path, kernel_id: str, kind: str, codec: str | None = None) -> Written:
    """Writes a spec below `root`, a folder of specs.

    `codec` is the folder; by default what stands before the id's first underscore.  Nothing is
    overwritten, and nothing is left behind where the result would not load.
    """
    kernels = _kernel_ids(kernel_id, kind)
    folder = root / _codec(kernel_id, codec)
    load.cache_clear()
    known = load(root)
    for name in (kernel_id, *kernels):
        entry = find(known, name)
        if entry is not None:
            raise UserError(
                f"{name} exists: {entry.kernel.loc}", "choose another name, or change that"
            )
    spec = _file(folder, kernel_id)
    title = kernel_id.replace("_", " ")
    text = environment().get_template(f"new/{kind}.py.j2").render(id=kernel_id, title=title)
    made: list[Path] = []
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            made.append(folder)
        package = folder / "__init__.py"
        if not package.exists():
            package.touch(exist_ok=False)
            made.append(package)
        with spec.open("x", encoding="utf-8") as f:
            made.append(spec)
            f.write(text)
        load.cache_clear()
        load(root)
    except (OSError, SpecError) as e:
        _undo(made)
        load.cache_clear()
        if isinstance(e, OSError):
            message = f"cannot write {e.filename}: {e.strerror}"
            raise UserError(message, "this checkout must be writable") from None
        raise
    return Written((spec,), kernels)


def _kernel_ids(kernel_id: str, kind: str) -> tuple[str, ...]:
    if not KERNEL_ID.fullmatch(kernel_id):
        raise UserError(
            f"{kernel_id!r} is not a kernel's name",
            "a name is <codec>_<operation>[_<size or taps>][_<what varies>], of lower-case letters,"
            " digits and underscores, as mycodec_transform8",
        )
    if kind not in ORIENTED:
        return (kernel_id,)
    if kernel_id.endswith(("_v", "_h")):
        raise UserError(
            f"{kernel_id}: a {kind} comes in both orientations",
            f"leave out the orientation: ./daedalus new {kernel_id[:-2]} --like {kind}",
        )
    return (f"{kernel_id}_v", f"{kernel_id}_h")


def _codec(kernel_id: str, codec: str | None) -> str:
    chosen = kernel_id.split("_")[0] if codec is None else codec
    if not re.fullmatch(r"[a-z][a-z0-9]*", chosen):
        raise UserError(f"{chosen!r} is not a codec's name", "lower-case letters and digits")
    return chosen


def _file(folder: Path, kernel_id: str) -> Path:
    """A file that is not there yet: named after the operation, else after the whole id."""
    names = [kernel_id.split("_", 1)[1], kernel_id]
    free = [folder / f"{n}.py" for n in names if not (folder / f"{n}.py").exists()]
    if not free:
        raise UserError(
            f"{folder.name}/ has {' and '.join(f'{n}.py' for n in names)} already",
            "write the kernel into one of them, or choose another name",
        )
    return free[0]


def _undo(made: list[Path]) -> None:
    """Puts everything back; a folder that was made goes with all that lies in it."""
    for path in reversed(made):
        if path.is_dir():
            shutil.rmtree(path)  # Python may have left a cache beside the spec
        else:
            path.unlink()
