# SPDX-License-Identifier: BSD-2-Clause
"""Finds the specs and their variants.

Specs are the modules below `dsl/kernels/<codec>/`; beside them, `options.toml` may name for a
kernel which variants are `prod` and which others exist:

    [vp9_lpf4_v]
    prod = ["c_full", "neon_full"]
    other = ["neon_full_x2"]

A kernel without an entry has what `gen` chose by rule (by_rule.py), which is on record; until `gen`
has done so, a variant a class in C and in NEON, all `prod`.
"""

import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

import daedalus.dsl.kernels
import daedalus.dsl.lang
from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import FULL, Kernel
from daedalus.dsl.source import python_error, source_name
from daedalus.dsl.spec import KernelSpec
from daedalus.dsl.verify import verify
from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.described import digest
from daedalus.generator.options import (
    GPU_TARGETS,
    PLAIN_TARGETS,
    TARGETS,
    Options,
    options_of,
    parse_variant,
)


@dataclass(frozen=True)
class Entry:
    """A kernel with its variants, prod ones first, best first.

    spec     its file, as it is named in what is generated: the same from wherever that is done
    by_rule  whether no options.toml says which variants there are
    """

    kernel: Kernel
    spec: str
    listed: tuple[tuple[Options, bool], ...]  # with whether it is prod
    by_rule: bool = False


def builtin_specs() -> Path:
    """The folder of the specs that come with the package."""
    return Path(next(iter(daedalus.dsl.kernels.__path__)))


@cache
def load(folder: Path | None = None) -> tuple[Entry, ...]:
    """All kernels of a specs folder, by id.

    Raises SpecError for a spec or an options.toml that breaks a rule.
    """
    root = folder or builtin_specs()
    entries: list[Entry] = []
    for folder_name in sorted({p.parent for p in root.rglob("*.py")}):
        listed = Listing(folder_name / "options.toml")
        kernels = [
            (spec.loc.file if folder is None else path.relative_to(root).as_posix(), kernel)
            for path in sorted(folder_name.glob("*.py"))
            if path.name != "__init__.py"
            for spec in _specs(path)
            for kernel in spec.kernels()
        ]
        listed.check_names([kernel.id for _, kernel in kernels])
        for name, kernel in kernels:
            verify(kernel)
            if listed.of(kernel.id) is not None:
                entries.append(Entry(kernel, name, _variants(kernel, listed)))
                continue
            chosen = None if folder else recorded(kernel)
            entries.append(Entry(kernel, name, chosen or _variants(kernel, listed), by_rule=True))
    entries.sort(key=lambda e: e.kernel.id)
    seen: dict[str, Entry] = {}
    for e in entries:
        for name in (e.kernel.codec, *(d.decoder for d in e.kernel.decoders)):
            if any((folder / f"{name}.h").is_file() for folder in _headers()):
                raise SpecError(
                    "name", f"<daedalus/{name}.h> is a header of the runtime",
                    e.kernel.loc, e.kernel.id, hint="choose another codec or decoder name",
                )  # fmt: skip
        for name in (e.kernel.id, *e.kernel.aliases):
            if name in seen:
                raise SpecError(
                    "name", f"{name} is also the name of a kernel in {seen[name].spec}",
                    e.kernel.loc, e.kernel.id,
                )  # fmt: skip
            seen[name] = e
    return tuple(entries)


def _headers() -> list[Path]:
    """Where the runtime's own headers lie, whose names no generated header can have."""
    return [Path(str(files("daedalus") / n / "daedalus")) for n in ("include", "support")]


def find(entries: tuple[Entry, ...], name: str) -> Entry | None:
    """The entry of an id or alias."""
    return next((e for e in entries if name in (e.kernel.id, *e.kernel.aliases)), None)


def _specs(path: Path) -> list[KernelSpec]:
    """The kernels that a file declares, in order; what it imports from other specs is not its."""
    module_name = "daedalus_spec_" + "_".join(path.with_suffix("").parts[-2:])
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as e:
        where = Loc(source_name(e.filename or str(path)), e.lineno or 1)
        raise SpecError("python", f"not valid Python: {e.msg}", where) from None
    except SpecError:
        raise
    except Exception as e:
        raise python_error(e, str(path), 1) from e
    found = [v for v in vars(module).values() if isinstance(v, KernelSpec)]
    return [v for v in dict.fromkeys(found) if v.fn.__module__ == module_name]


class Listing:
    """A folder's options.toml, empty where there is none; errors name its lines.

    A heading is the id of a kernel or a pattern of those of a family, such as "vp9_mc_8*"; what is
    said of an id itself comes first, then what the longest pattern says.
    """

    KINDS = ("prod", "other")

    def __init__(self, path: Path) -> None:
        self._file = source_name(str(path))
        self._lines: list[str] = []
        self._found: dict[str, object] = {}
        if not path.is_file():
            return
        text = path.read_text(encoding="utf-8")
        self._lines = text.splitlines()
        try:
            self._found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            at = re.search(r"at line (\d+)", str(e))
            where = Loc(self._file, int(at[1]) if at else len(self._lines) or 1)
            raise SpecError("options", f"not valid TOML: {e}", where) from None

    def refuse(self, kernel_id: str, message: str, word: str = "", hint: str = "") -> SpecError:
        """The error for an entry, at the line below its heading where `word` stands."""
        name = self.heading(kernel_id)
        heading = (f"[{name}]", f'["{name}"]')
        line = next((n for n, t in enumerate(self._lines) if t.strip() in heading), 0)
        after = enumerate(self._lines[line:], line)
        line = next((n for n, t in after if word and re.search(rf"\b{re.escape(word)}\b", t)), line)
        return SpecError("options", message, Loc(self._file, line + 1), kernel_id, hint)

    def check_names(self, kernel_ids: list[str]) -> None:
        """Raises SpecError for an entry that is no kernel's."""
        for name in self._found:
            if not any(fnmatchcase(i, name) for i in kernel_ids):
                hint = f"the kernels of this folder are {', '.join(kernel_ids) or 'none'}"
                raise self.refuse(name, f"no kernel {name} is declared in this folder", name, hint)

    def of(self, kernel_id: str) -> dict[str, list[str]] | None:
        """Kind -> names of variants; None for a kernel without an entry."""
        heading = self.heading(kernel_id)
        if not heading:
            return None
        entry = self._found[heading]
        if not isinstance(entry, dict):
            raise self.refuse(kernel_id, f"{heading} is not a table", heading, f"[{heading}]")
        for kind, names in entry.items():
            if kind not in self.KINDS:
                raise self.refuse(
                    kernel_id, f"unknown key {kind}", kind, 'keys are "prod" and "other"'
                )
            if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
                raise self.refuse(kernel_id, f"{kind} is not a list of names", kind)
        return entry

    def heading(self, kernel_id: str) -> str:
        """What stands above the entry of a kernel; "" where there is none."""
        if kernel_id in self._found:
            return kernel_id
        patterns = [p for p in self._found if fnmatchcase(kernel_id, p)]
        longest = max(map(len, patterns), default=0)
        patterns = [p for p in patterns if len(p) == longest]
        if len(patterns) > 1:
            hint = f"give {kernel_id} a heading of its own"
            raise self.refuse(
                patterns[1], f"{kernel_id} is of the pattern {patterns[0]}, too", patterns[1], hint
            )
        return patterns[0] if patterns else ""


def _variants(kernel: Kernel, listed: Listing) -> tuple[tuple[Options, bool], ...]:
    chosen: list[tuple[Options, bool]] = []
    entry = listed.of(kernel.id)
    if entry is None:
        chosen = [(options_of(t, c), True) for c in kernel.class_names for t in PLAIN_TARGETS]
    else:
        for kind in Listing.KINDS:
            for name in entry.get(kind, []):
                options = _options(kernel, name, listed, prod=kind == "prod")
                if any(options == s for s, _ in chosen):
                    raise listed.refuse(kernel.id, f"{name} is listed twice", name)
                chosen.append((options, kind == "prod"))
    for target in GPU_TARGETS:
        own = [s for s, _ in chosen if s.target == target]
        if own and not any(s.class_name == FULL and s.reads_anything for s in own):
            raise listed.refuse(
                kernel.id, f"every {target} variant of the full class needs memory aligned to"
                " words", own[0].name,
                f'add one that does not, such as "{options_of(target).name}"',
            )  # fmt: skip
    for class_name in kernel.class_names:
        fallback = options_of("c", class_name)
        if (fallback, False) in chosen:
            raise listed.refuse(
                kernel.id, f"{fallback.name} is the fallback everywhere, and always prod",
                fallback.name,
            )  # fmt: skip
        if (fallback, True) not in chosen:
            chosen.append((fallback, True))
    return ranked(chosen)


def ranked(chosen: Iterable[tuple[Options, bool]]) -> tuple[tuple[Options, bool], ...]:
    """NEON before C, prod before others, else in the order given."""
    return tuple(sorted(chosen, key=lambda c: (not c[1], -TARGETS.index(c[0].target))))


def meaning(kernel: Kernel) -> str:
    """The hash of what choices by rule are for."""
    return digest(kernel, lines=False)[:16]


def recorded(kernel: Kernel) -> tuple[tuple[Options, bool], ...] | None:
    """What was chosen for a kernel as it is; None where it was another one, or none was."""
    try:
        known = records.read(kernel.id, records.OPTIONS)
    except UserError:  # no checkout
        return None
    if not known or known.get("of") != meaning(kernel):
        return None
    try:
        return tuple(
            (legal_options(kernel, name), kind == "prod")
            for kind in Listing.KINDS
            for name in known[kind]
        )
    except (ValueError, KeyError, TypeError):  # words of another state of the generator
        return None


def legal_options(kernel: Kernel, name: str) -> Options:
    """The variant of that name, with a class and assumptions that the kernel has.

    Raises ValueError for any other; `args` are the message and, where there is one, a hint.
    """
    _, options = parse_variant(f"daedalus_{kernel.id}__{name}")
    if options.class_name not in kernel.class_names:
        raise ValueError(
            f"{name}: no class {options.class_name}",
            f"its classes are {', '.join(kernel.class_names)}",
        )
    known = {a.name: a.default for a in kernel.assumptions}
    for a in options.assume:
        if a not in known:
            raise ValueError(
                f"{name}: no assumption {a}", f"its assumptions are {', '.join(known) or 'none'}"
            )
        if known[a]:
            raise ValueError(f"{name}: {a} holds for every variant anyway")
    return options


def _options(kernel: Kernel, name: str, listed: Listing, *, prod: bool) -> Options:
    try:
        options = legal_options(kernel, name)
    except ValueError as e:
        message, hint = (*e.args, "")[:2]
        raise listed.refuse(kernel.id, message, name, hint) from None
    if prod and options.assume:
        raise listed.refuse(
            kernel.id, f"{name} is not right for every conformant item, so it cannot be prod", name,
            'list it under "other"',
        )  # fmt: skip
    return options
