# SPDX-License-Identifier: BSD-2-Clause
"""Who calls and who includes whom in C, read from objects and sources, for tests of layers."""

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

Graph = Mapping[Path, set[Path]]


def _symbols(file: Path) -> tuple[set[str], set[str]]:
    """What an object defines for others, and what it takes from others."""
    lines = subprocess.run(["nm", "-g", file], capture_output=True, text=True, check=True)
    defined, taken = set(), set()
    for words in map(str.split, lines.stdout.splitlines()):
        if len(words) == 3:
            defined.add(words[2])
        elif len(words) == 2:
            taken.add(words[1])
    return defined, taken


def calls(objects: Iterable[Path]) -> dict[Path, set[Path]]:
    """Object -> those of the objects whose functions or data it uses, without itself."""
    read = {o: _symbols(o) for o in objects}
    homes = {name: o for o, (defined, _) in read.items() for name in defined}
    return {o: {homes[n] for n in taken if n in homes} - {o} for o, (_, taken) in read.items()}


def includes(folder: Path, roots: Sequence[Path] = ()) -> dict[Path, set[Path]]:
    """C file below a folder -> the files that it includes: those found beside it, or in a root
    (without any: the folder and its include/).  System headers are left out."""
    places = list(roots) or [folder, folder / "include"]
    found: dict[Path, set[Path]] = {}
    for file in sorted(folder.rglob("*.[ch]")):
        named = _INCLUDE.findall(file.read_text())
        hits = (next((p / n for p in (file.parent, *places) if (p / n).is_file()), None)
                for n in named)  # fmt: skip
        found[file] = {h.resolve() for h in hits if h is not None}
    return found


def upward(graph: Graph, folder_of: Callable[[Path], str], order: Sequence[str]) -> list[str]:
    """The edges that lead from a folder to one after it in the order, lowest first, as lines.
    A folder that is not in the order is an error: no folder goes unchecked."""
    rank = {name: i for i, name in enumerate(order)}
    return sorted(
        f"{folder_of(a)}/{a.name} -> {folder_of(b)}/{b.name}"
        for a, targets in graph.items()
        for b in targets
        if rank[folder_of(b)] > rank[folder_of(a)]
    )


def cycles(graph: Graph) -> list[list[str]]:
    """The groups of more than one file that reach each other, by name."""
    rest = {a: set(b) for a, b in graph.items()}
    while True:  # what nobody within calls, or calls nobody within, is in no cycle
        called = set().union(*rest.values())
        ends = {a for a, b in rest.items() if not b & rest.keys() or a not in called}
        if not ends:
            break
        rest = {a: b - ends for a, b in rest.items() if a not in ends}

    def reach(start: Path) -> set[Path]:
        seen: set[Path] = set()
        todo = [start]
        while todo:
            for b in rest[todo.pop()] - seen:
                seen.add(b)
                todo.append(b)
        return seen

    reached = {a: reach(a) for a in rest}
    groups = {frozenset(b for b in reached[a] if a in reached[b]) for a in rest if a in reached[a]}
    return sorted(sorted(p.name for p in g) for g in groups)
