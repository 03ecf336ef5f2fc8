# SPDX-License-Identifier: BSD-2-Clause
"""Finds the specs and their schedules.

Specs are the modules below `dsl/kernels/<family>/`; beside them, `schedules.toml` may name for a
kernel which variants are `prod` and which others exist:

    [vp9_lpf4_v]
    prod = ["c_full", "neon_full"]
    other = ["neon_full_x2"]

A kernel without an entry gets one variant a class and target, all `prod`.
"""

import importlib.util
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import daedalus.dsl.kernels
from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.trace import KernelSpec
from daedalus.dsl.verify import verify
from daedalus.generator.schedule import TARGETS, Schedule, parse_variant


@dataclass(frozen=True)
class Entry:
    """A kernel with its source and its variants, prod ones first, best first."""

    kernel: Kernel
    spec: str
    schedules: tuple[tuple[Schedule, bool], ...]  # with whether it is prod


def builtin_specs() -> Path:
    """The folder of the specs that come with the package."""
    return Path(next(iter(daedalus.dsl.kernels.__path__)))


@cache
def load(folder: Path | None = None) -> tuple[Entry, ...]:
    """All kernels of a specs folder, by id.

    Raises SpecError for a spec or a schedules.toml that breaks a rule.
    """
    root = folder or builtin_specs()
    entries: list[Entry] = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "__init__.py":
            continue
        schedules = _schedules(path.parent / "schedules.toml")
        for spec in _specs(path):
            for kernel in spec.kernels():
                verify(kernel)
                entries.append(
                    Entry(kernel, spec.loc.file, _variants(kernel, schedules.get(kernel.id)))
                )
    entries.sort(key=lambda e: e.kernel.id)
    seen: dict[str, Entry] = {}
    for e in entries:
        for name in (e.kernel.id, *e.kernel.aliases):
            if name in seen:
                raise SpecError(
                    "name", f"{name} is also the name of a kernel in {seen[name].spec}",
                    e.kernel.loc, e.kernel.id,
                )  # fmt: skip
            seen[name] = e
    return tuple(entries)


def find(entries: tuple[Entry, ...], name: str) -> Entry | None:
    """The entry of an id or alias."""
    return next((e for e in entries if name in (e.kernel.id, *e.kernel.aliases)), None)


def _specs(path: Path) -> list[KernelSpec]:
    """The kernels that a file declares, in order."""
    module_name = "daedalus_spec_" + "_".join(path.with_suffix("").parts[-2:])
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as e:
        where = Loc(str(path), e.lineno or 1)
        raise SpecError("python", f"not valid Python: {e.msg}", where) from None
    return [v for v in vars(module).values() if isinstance(v, KernelSpec)]


@cache
def _schedules(path: Path) -> dict[str, dict[str, list[str]]]:
    if not path.is_file():
        return {}
    try:
        found: dict[str, dict[str, list[str]]] = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as e:
        raise SpecError("schedules", f"not valid TOML: {e}", Loc(str(path), 1)) from None
    return found


def _variants(
    kernel: Kernel, entry: dict[str, list[str]] | None
) -> tuple[tuple[Schedule, bool], ...]:
    chosen: list[tuple[Schedule, bool]] = []
    if entry is None:
        chosen = [(Schedule(t, c), True) for c in kernel.class_names for t in TARGETS]
    else:
        for kind in ("prod", "other"):
            for name in entry.get(kind, []):
                chosen.append((_schedule(kernel, name), kind == "prod"))
    for class_name in kernel.class_names:
        if not any(s == Schedule("c", class_name) and prod for s, prod in chosen):
            chosen.append((Schedule("c", class_name), True))  # the fallback everywhere
    # NEON before C, prod before others, else in the order given.
    return tuple(sorted(chosen, key=lambda c: (not c[1], -TARGETS.index(c[0].target))))


def _schedule(kernel: Kernel, name: str) -> Schedule:
    try:
        _, schedule = parse_variant(f"daedalus_{kernel.id}__{name}")
    except ValueError as e:
        raise SpecError("schedules", str(e), kernel.loc, kernel.id) from None
    if schedule.class_name not in kernel.class_names:
        raise SpecError(
            "schedules", f"{name}: no class {schedule.class_name}", kernel.loc, kernel.id,
            hint=f"its classes are {', '.join(kernel.class_names)}",
        )  # fmt: skip
    unknown = set(schedule.assume) - {a.name for a in kernel.assumptions}
    if unknown:
        raise SpecError(
            "schedules", f"{name}: no assumption {', '.join(unknown)}", kernel.loc, kernel.id
        )
    return schedule


