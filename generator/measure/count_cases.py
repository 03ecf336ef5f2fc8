# SPDX-License-Identifier: BSD-2-Clause
"""What is counted: the cases of tools/count/cases*.toml, and which functions do their work."""

import tomllib
from dataclasses import dataclass, replace
from typing import Any

from daedalus.generator.base.braces import names_of
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.manifest import manifest
from daedalus.generator.measure import count_shapes
from daedalus.generator.options import parse_variant

FILE = "tools/count/cases.toml"
FILES = "tools/count/cases*.toml"  # that, and those beside it with more cases


@dataclass(frozen=True)
class Case:
    """A piece of work, and who does it; the fields are explained in the file."""

    kernel: str
    oracle: str
    shape: str
    theirs: str
    name: str
    bar: float | None
    params: dict[str, int]
    entry: str = ""
    many: str = ""
    items: bool = True
    item_shape: str = ""
    picture: str = "steps"
    anchor: int | None = None
    d3_bar: float | None = None
    given_d3_bar: float | None = None
    measured: float | None = None
    family: str = ""
    file: str = FILE  # where it stands

    @property
    def written(self) -> int:
        """Bytes that the work writes, where figures are shown for a KiB of them; else 0."""
        return self.params.get("written", 0)

    @property
    def key(self) -> tuple[str, str, str]:
        """Which case it is."""
        return self.kernel, self.theirs, self.name


@dataclass(frozen=True)
class Family:
    """Cases whose d3, of theirs, has a bar for their geometric mean; explained in the file."""

    name: str
    of: str
    mean_bar: float
    bar: float
    without: str = ""


@dataclass(frozen=True)
class Work:
    """One function that does a case's work."""

    case: Case
    function: str
    whose: str  # "entry", "many", "variant", "theirs"
    barred: bool = False  # whether the case's bar is for it
    variant: str = ""  # that it belongs to
    whole: bool = True  # whether it does all that theirs does: decoders' functions also clear
    prod: bool = True  # whether it is in the library that decoders link, with what it calls

    @property
    def shape(self) -> str:
        """How it is called."""
        of_item = self.whose in ("variant", "many")
        if not self.case.shape:
            return count_shapes.item_shape(self.case.kernel) if of_item else self.case.entry
        return (self.case.item_shape if of_item else "") or self.case.shape

    @property
    def given(self) -> bool:
        """Whether it takes for granted what not every conformant stream keeps to."""
        return bool(self.variant) and bool(parse_variant(self.variant)[1].assume)

    @property
    def needs(self) -> tuple[str, ...]:
        """What a variant's processor has to have beside NEON."""
        return parse_variant(self.variant)[1].needs if self.variant else ()


def _read() -> dict[str, Any]:
    return tomllib.loads((repo_root() / FILE).read_text())


def _compared() -> list[dict[str, Any]]:
    """The tables [[compared]] of that file and of those beside it, file by file."""
    root = repo_root()
    files = [root / FILE, *sorted(p for p in root.glob(FILES) if p != root / FILE)]
    return [
        t | {"file": str(f.relative_to(root))}
        for f in files
        for t in tomllib.loads(f.read_text())["compared"]
    ]


def d3_mean_bar() -> float:
    """What the geometric mean of d3, of theirs, may be: of each kernel the lowest case with a bar
    of d3."""
    return float(_read()["d3_mean_bar"])


def families() -> list[Family]:
    """The families that have bars of their own, in the order of the file."""
    return [Family(**table) for table in _read()["family"]]


def cases() -> list[Case]:
    """All cases, as the files order them."""
    found = []
    for table in _compared():
        common: dict[str, Any] = {"bar": None, "shape": "", "theirs": ""}
        common |= {k: v for k, v in table.items() if k not in ("cases", "kernels")}
        named = [k for name in table.get("kernels", [table.get("kernel")]) for k in names_of(name)]
        for n, kernel in enumerate(named):
            own = common | {"kernel": kernel}
            found += [_named(Case(**(own | _nth(line, n)))) for line in table["cases"]]
    return found


def _nth(line: dict[str, Any], n: int) -> dict[str, Any]:
    """A case as it is of the n-th kernel: a list has a value for each."""
    return {k: v[n] if isinstance(v, list) else v for k, v in line.items()}


def _named(case: Case) -> Case:
    """With theirs, and our entry, where they follow from spec and description."""
    if case.shape:
        return case
    entry = count_shapes.entry_of(case.kernel, case.oracle, case.params)
    if entry is None:
        raise UserError(
            f"{case.file}: {case.kernel}, {case.name}: its spec names no function of {case.oracle}",
            "give a shape, theirs, and an entry, or decoders= of the spec",
        )
    return replace(
        case,
        theirs=case.theirs or count_shapes.theirs(case.kernel, entry),
        entry=case.entry or count_shapes.entry_name(case.kernel, entry),
    )


def other_shapes(oracle: str) -> list[dict[str, Any]]:
    """Ways to call functions that are in no decoder's table."""
    return [s for s in _read()["called"] if s["oracle"] == oracle]


def items_cases() -> dict[str, Any]:
    """What `count --items` counts: how many items, and of which kernels."""
    found: dict[str, Any] = _read()["items"]
    return found


def chosen(wanted: tuple[str, ...]) -> list[Case]:
    """The cases of the wanted kernels, each named by its id or an alias (none named: all)."""
    everything = cases()
    if not wanted:
        return everything
    counted = sorted({c.kernel for c in everything})
    known = {name: k["id"] for k in manifest()["kernels"] for name in (k["id"], *k["aliases"])}
    for name in wanted:
        if known.get(name, name) not in counted:
            raise UserError(
                f"nothing to count for {name}",
                f"kernels with a hand-written counterpart: {', '.join(counted)}",
            )
    ids = {known[name] for name in wanted}
    return [c for c in everything if c.kernel in ids]


def not_counted() -> list[str]:
    """Kernels without a case."""
    counted = {c.kernel for c in cases()}
    return [k["id"] for k in manifest()["kernels"] if k["id"] not in counted]


def work(case: Case, symbols: set[str]) -> list[Work]:
    """The functions of NEON variants that may do it, the decoder entry, and theirs.

    `symbols` are the functions that the libraries have. Where the decoder's function clears its
    coefficients, item functions do a part of the work only, those that clear as well the whole.
    """
    found = []
    if case.items:
        ranked = variants(case)
        clears = {v for v in ranked if _function("clearing", v) in symbols}
        for v in ranked:
            item, barred = _function("item", v), not case.entry and v == ranked[0]
            prod = v in _prod(case.kernel)
            if item in symbols:
                found.append(Work(case, item, "variant", barred, v, not clears, prod))
            if v in clears:
                found.append(Work(case, _function("clearing", v), "variant", False, v, prod=prod))
    if case.entry:
        found.append(Work(case, case.entry, "entry", True))
    if case.many:
        found.append(Work(case, case.many, "many", True))
    return [*found, Work(case, case.theirs, "theirs")]


def _function(kind: str, variant: str) -> str:
    return variant.replace("daedalus_", f"daedalus_{kind}_", 1)


def _prod(kernel: str) -> set[str]:
    """The variants of a kernel that the decoders' library has."""
    found = next(k for k in manifest()["kernels"] if k["id"] == kernel)
    return {v["name"] for v in found["variants"] if v["prod"]}


def variants(case: Case) -> list[str]:
    """The variants of the classes that the case's items belong to; the best one first."""
    kernel = next(k for k in manifest()["kernels"] if k["id"] == case.kernel)
    ranked = []
    for place, item_class in enumerate(kernel["classes"]):
        if not all(lo <= case.params[p] <= hi for p, (lo, hi) in item_class["when"].items()):
            continue
        for variant in kernel["variants"]:
            if variant["target"] == "neon" and variant["class"] == item_class["name"]:
                ranked.append((place, not variant["prod"], variant["rank"], variant["name"]))
    if not ranked:
        raise UserError(f"{case.file}: {case.kernel}, {case.name}: no NEON variant does this work")
    return [name for *_, name in sorted(ranked)]
