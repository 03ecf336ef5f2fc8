# SPDX-License-Identifier: BSD-2-Clause
"""What is counted: the cases of tools/count/cases.toml, and which functions do their work."""

import json
import tomllib
from dataclasses import dataclass
from typing import Any

from daedalus.generator.cli.common import UserError, repo_root

FILE = "tools/count/cases.toml"


@dataclass(frozen=True)
class Case:
    """A piece of work, and who does it; the fields are explained in the file."""

    kernel: str
    oracle: str
    shape: str
    theirs: str
    name: str
    bar: float
    params: dict[str, int]
    entry: str = ""
    items: bool = True
    item_shape: str = ""
    picture: str = "steps"
    anchor: int | None = None


@dataclass(frozen=True)
class Work:
    """One function that does a case's work."""

    case: Case
    function: str
    whose: str  # "entry", "variant", "theirs"
    barred: bool = False  # whether the case's bar is for it

    @property
    def shape(self) -> str:
        """How it is called."""
        own = self.case.item_shape if self.whose == "variant" else ""
        return own or self.case.shape


def cases() -> list[Case]:
    """All cases, as the file orders them."""
    found = []
    for table in tomllib.loads((repo_root() / FILE).read_text())["compared"]:
        common: dict[str, Any] = {k: v for k, v in table.items() if k != "cases"}
        found += [Case(**(common | line)) for line in table["cases"]]
    return found


def chosen(wanted: tuple[str, ...]) -> list[Case]:
    """The cases of the wanted kernels, each named by its id or an alias (none named: all)."""
    everything = cases()
    if not wanted:
        return everything
    counted = sorted({c.kernel for c in everything})
    known = {name: k["id"] for k in _kernels() for name in (k["id"], *k["aliases"])}
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
    return [k["id"] for k in _kernels() if k["id"] not in counted]


def work(case: Case, symbols: set[str]) -> list[Work]:
    """The item functions of NEON variants that may do it, the decoder entry, and theirs.

    `symbols` are the functions that the libraries have.
    """
    found = []
    if case.items:
        names = _item_functions(case)
        best = None if case.entry else names[0]
        found = [Work(case, n, "variant", n == best) for n in names if n in symbols]
    if case.entry:
        found.append(Work(case, case.entry, "entry", True))
    return [*found, Work(case, case.theirs, "theirs")]


def _kernels() -> list[dict[str, Any]]:
    kernels: list[dict[str, Any]] = json.loads(
        (repo_root() / "generated" / "manifest.json").read_text()
    )["kernels"]
    return kernels


def _item_functions(case: Case) -> list[str]:
    """The item functions of the classes that the case's items belong to; the best one first."""
    kernel = next(k for k in _kernels() if k["id"] == case.kernel)
    ranked = []
    for place, item_class in enumerate(kernel["classes"]):
        if not all(lo <= case.params[p] <= hi for p, (lo, hi) in item_class["when"].items()):
            continue
        for variant in kernel["variants"]:
            if variant["target"] == "neon" and variant["class"] == item_class["name"]:
                name = variant["name"].replace("daedalus_", "daedalus_item_", 1)
                ranked.append((place, not variant["prod"], variant["rank"], name))
    if not ranked:
        raise UserError(f"{FILE}: {case.kernel}, {case.name}: no NEON variant does this work")
    return [name for *_, name in sorted(ranked)]
