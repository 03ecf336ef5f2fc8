# SPDX-License-Identifier: BSD-2-Clause
"""Which groups of points a run has, and how each is searched."""

from collections.abc import Sequence

from daedalus.generator.compile.facts import Facts
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import PLAIN_TARGETS, TARGETS
from daedalus.generator.tuning.point import COMPILERS
from daedalus.generator.tuning.run import Group
from daedalus.generator.tuning.search import EXHAUSTIVE, Sampled, Search, neighbours
from daedalus.generator.tuning.space import Candidate, Space, recorded, space


def spaces_of(entries: Sequence[Entry], targets: Sequence[str]) -> list[Space]:
    """The spaces of kernels on targets."""
    out = []
    for entry in entries:
        facts = Facts(entry.kernel)
        out += [space(entry, t, facts) for t in TARGETS if t in targets]
    return out


def groups_of(
    entries: Sequence[Entry], spaces: Sequence[Space], *, quick: bool = False,
    exhaustive: bool = False, listed: Sequence[str] = (), compilers: Sequence[str] = COMPILERS,
) -> list[Group]:  # fmt: skip
    """A group a kernel, target and class; what is on record is the first of each.

    Of the `listed` targets nothing but what is on record, and that not in a quick run. `compilers`:
    that there are; points of others are left out.
    """
    by_id = {e.kernel.id: e for e in entries}
    out = []
    for s in spaces:
        entry = by_id[s.kernel_id]
        known = recorded(entry, s.target)
        for class_name in entry.kernel.class_names:
            of_class = [c for c in s.candidates if c.options.class_name == class_name]
            own = [c for c in of_class if c.compiler in ("", *compilers)]
            first = [c for c in known if c in own]
            if s.target in listed:
                own = [] if quick else first
            search = _search(s, own, first, quick, exhaustive) if own else None
            if search is not None and search.reach:
                out.append(Group(s.kernel_id, class_name, s.target, search))
    return out


def _search(
    s: Space, own: list[Candidate], first: list[Candidate], quick: bool, exhaustive: bool
) -> Search:
    name = f"{s.kernel_id} {s.target} {own[0].options.class_name}"
    if quick:
        return Search(name, *quick_points(s.target, own, first))
    if exhaustive or len(s.candidates) <= EXHAUSTIVE:
        return Search(name, first, own)
    return Sampled(name, first, own, EXHAUSTIVE * len(own) // len(s.candidates))


def quick_points(
    target: str, own: Sequence[Candidate], first: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """What a quick run tries of a class: the first variant on record, and of NEON and GLSL what
    differs from it in one choice. Of a CPU's class without one, the simplest; of a GPU's nothing.
    """
    if not first and target not in PLAIN_TARGETS:
        return [], []
    best = (first or own)[0]
    near = set(neighbours(best)) if target in ("neon", "glsl") else set()
    return [best], [c for c in own if c in near]
