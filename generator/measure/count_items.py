# SPDX-License-Identifier: BSD-2-Clause
"""What many items execute: by one call of the functions for many, and by what else does many.

The cases stand in tools/count/cases.toml, the calls in tools/count/items.c.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from daedalus.generator.base.errors import UserError
from daedalus.generator.measure import count, count_cases
from daedalus.generator.measure.count import Compiler
from daedalus.generator.measure.count_cases import Case, Work

# A batch function takes indices and meta; a dispatch looks at every item and sorts by class first.
WAYS = ("items", "batch", "dispatch")


@dataclass(frozen=True)
class ItemsCount:
    """One way to do a kernel's items: instructions, by how many there are."""

    kernel: str
    class_name: str
    way: str
    executed: dict[int, int]

    @property
    def an_item(self) -> float:
        """What an item more costs, where there are many."""
        few, many = sorted(self.executed)[-2:]
        return (self.executed[many] - self.executed[few]) / (many - few)

    @property
    def a_call(self) -> float:
        """What is left of a call with one item."""
        return self.executed[1] - self.an_item


def count_items(wanted: tuple[str, ...], *, clang: bool) -> tuple[Compiler, list[ItemsCount]]:
    """Counts the cases of the wanted kernels (none named: all)."""
    listed = count_cases.items_cases()
    counts, chosen = listed["counts"], _chosen(listed["cases"], wanted)
    everything = [
        (line, way, n, _work(line, way, n)) for line in chosen for way in WAYS for n in counts
    ]
    if not everything:
        known = dict.fromkeys(c["kernel"] for c in listed["cases"])
        raise UserError(
            f"no items are counted of {', '.join(wanted)}",
            f"kernels with a case: {', '.join(known)}",
        )
    compiler, counter = count.items_program(clang=clang)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        traced = list(pool.map(counter.trace, (work for *_, work in everything)))
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for (line, way, n, _), t in zip(everything, traced, strict=True):
        key = line["kernel"], line["class"], _shown(line, way)
        found.setdefault(key, {})[n] = t.executed
    return compiler, [ItemsCount(*key, executed) for key, executed in found.items()]


def _chosen(cases: list[dict[str, Any]], wanted: tuple[str, ...]) -> list[dict[str, Any]]:
    return [c for c in cases if not wanted or c["kernel"] in wanted]


def _shown(line: dict[str, Any], way: str) -> str:
    return "clearing items" if way == "items" and line.get("clears") else way


def _work(line: dict[str, Any], way: str, n: int) -> Work:
    """Neither picture nor pixels count: what these functions give is compared by `check`."""
    kernel = line["kernel"]
    called = "clearing" if way == "items" and line.get("clears") else way
    function = f"{kernel} {called}" + (f" {line['class']}" if way == "batch" else "")
    params = {"items": n, **line["params"]}
    return Work(Case(kernel, "items", way, "", f"{n} items", None, params), function, "many")
