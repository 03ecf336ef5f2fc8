# SPDX-License-Identifier: BSD-2-Clause
"""The tuning space: every variant of a kernel, target by target, and what it must satisfy.

Constraints are data: a name, words, and a predicate on the kernel's facts. They are asked before
anything is generated, in order; the first that does not hold rejects. What they let through and a
back end still refuses is a result ("refused"), not an error.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from daedalus.generator.compile.facts import Facts
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import (
    BY_TARGET,
    QPU,
    VECTOR_TARGETS,
    Options,
    options_of,
    variant_name,
)
from daedalus.generator.targets.gpu import device
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.tuning.point import COMPILERS, Point

WORKGROUPS = (16, 32, 64, 128, 256)  # invocations
VECTOR_LANES = 32  # of 16 bits, in four of the 32 registers: more of a value would spill


@dataclass(frozen=True, order=True)
class Candidate:
    """Options, and how their variant is built or dispatched: a point before it is made."""

    options: Options
    compiler: str = ""
    workgroup: int = 0

    def point(self, kernel_id: str) -> Point:
        """The point, on items of the variant's own class."""
        target = self.options.target
        route = {"glsl": "vulkan", QPU: "drm"}.get(target, "")
        name = variant_name(kernel_id, self.options)
        return Point(kernel_id, self.options.class_name, name, self.compiler, route, self.workgroup)


Predicate = Callable[[Facts, Any], bool]  # of a candidate


@dataclass(frozen=True)
class Constraint:
    """A rule of the space; `words` say what holds of every point that is left."""

    name: str
    words: str
    targets: tuple[str, ...]
    holds: Predicate


def _flag(name: str, holds: Callable[[Facts, Any], bool]) -> Predicate:
    """Holds where the variant does not make that choice, or may."""
    return lambda f, c: not c.options.choice(name) or holds(f, c.options)


_GPU = ("glsl", QPU)

CONSTRAINTS = (
    Constraint(
        "assume", "an assumption taken for granted is one that the class leaves in the kernel",
        VECTOR_TARGETS, lambda f, c: f.takes(c.options),
    ),
    Constraint(
        "items", "items side by side have no conditions, limits or strips, by which they differ",
        VECTOR_TARGETS, lambda f, c: c.options.choice("items") == 1 or f.together(c.options),
    ),
    Constraint(
        "rows", "rows side by side are of an axis next to the vector's that they divide, and no"
        " parameter limits", VECTOR_TARGETS, lambda f, c: f.rows_change(c.options),
    ),
    Constraint(
        "vector", f"items and rows fill at most {VECTOR_LANES} lanes: four vectors of 16 bits",
        VECTOR_TARGETS, lambda f, c: f.lanes(c.options) <= VECTOR_LANES or (
            c.options.choice("items") == c.options.choice("rows") == 1
        ),
    ),
    Constraint(
        "dot", "dot needs a dot product of 4 or 8 neighbouring bytes with taps of 8 bits and equal"
        " sums", ("neon",), _flag("dot", lambda f, s: f.dots(s)),
    ),
    Constraint(
        "branch", "branch needs values that a condition chooses", VECTOR_TARGETS,
        _flag("branch", lambda f, s: f.selects(s)),
    ),
    Constraint(
        "points", "an invocation's lanes divide some stage, and more so than fewer lanes",
        _GPU, lambda f, c: f.points_change(c.options),
    ),
    Constraint(
        "elements", f"a stage of more lanes than the {LANES} elements of a QPU is cut only"
        " where a larger p<n> does not help", (QPU,),
        lambda f, c: not f.cut_in_vain(c.options, LANES),
    ),
    Constraint(
        "invocations", f"a stage of more lanes than {device.INVOCATIONS} is cut only where a"
        " larger p<n> does not help", ("glsl",),
        lambda f, c: not f.cut_in_vain(c.options, device.INVOCATIONS),
    ),
    Constraint(
        "word", "word needs a buffer of elements narrower than 32 bits", _GPU,
        _flag("word", lambda f, s: f.narrow(read_only=False)),
    ),
    Constraint(
        "unaligned", "unaligned needs a plane of such elements that is only read", _GPU,
        _flag("unaligned", lambda f, s: f.narrow(read_only=True)),
    ),
    Constraint(
        "needs", "an option that needs another one comes with it", ("glsl",),
        lambda f, c: c.options.lacks is None,
    ),
    Constraint(
        "sums", "dot needs four bytes or more of a plane that are summed up, in words", (QPU,),
        _flag("dot", lambda f, s: (s.word or s.unaligned) and f.sums_bytes(s)),
    ),
    Constraint(
        "swar", "swar needs sums of bytes that two lanes make alike", ("glsl",),
        _flag("swar", lambda f, s: f.pairs(s)),
    ),
    Constraint(
        "signs", "signs needs conditions", ("glsl",), _flag("signs", lambda f, s: f.compares(s)),
    ),
    Constraint(
        "pack", "pack needs temps in shared memory whose elements are narrow and stored in whole"
        " words", ("glsl",), _flag("pack", lambda f, s: f.packs(s)),
    ),
    Constraint(
        "keep", "keep needs temps between stages, and one element an item", (QPU,),
        _flag("keep", lambda f, s: f.keeps(s)),
    ),
    Constraint(
        "shuffle", "shuffle needs temps between stages, at places that are known, and several"
        " elements an item", (QPU,), _flag("shuffle", lambda f, s: f.moves(s)),
    ),
    Constraint(
        "jointreads", "jointreads needs a block that is only read, in words that do not lie side by"
        " side", (QPU,), _flag("joint_reads", lambda f, s: f.lines(s)),
    ),
    Constraint(
        "one-item", f"recordonce needs an item that takes all {LANES} elements of a QPU", (QPU,),
        _flag("record_once", lambda f, s: f.fills_trip(s)),
    ),
    Constraint(
        "early", "early needs stores of the last stage that share a condition",
        (*VECTOR_TARGETS, "glsl"), _flag("early_out", lambda f, s: f.guarded(s)),
    ),
    Constraint(
        "workgroup", "a workgroup is a multiple of what an item takes, and at most"
        f" {device.INVOCATIONS}", ("glsl",),
        lambda f, c: f.invocations(c.options) <= c.workgroup <= device.INVOCATIONS,
    ),
    Constraint(
        "shared", f"the items of a workgroup take at most {device.SHARED_BYTES} bytes of shared"
        " memory", ("glsl",),
        lambda f, c: c.workgroup // max(f.invocations(c.options), 1) * f.shared_bytes(c.options)
        <= device.SHARED_BYTES,
    ),
    # These last, as it takes the back end to tell.
    Constraint(
        "pair", "pair needs words of neighbouring elements that are less to do as halves of"
        " registers", (QPU,), _flag("pair", lambda f, s: s.word and f.halves(s)),
    ),
    Constraint(
        "aside", "aside needs more values at once than registers hold, the fewest lanes, and no"
        " other word than word and unaligned", (QPU,),
        _flag("aside", lambda f, s: f.sets_aside(s)),
    ),
)  # fmt: skip


@dataclass
class Space:
    """The points of a kernel on one target, simple ones first, and what was left out.

    tried     points that there would be without constraints
    rejected  points, by the name of the constraint that was the first not to hold
    """

    kernel_id: str
    target: str
    candidates: list[Candidate] = field(default_factory=list)
    tried: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def points(self) -> list[Point]:
        return [c.point(self.kernel_id) for c in self.candidates]


def space(
    entry: Entry, target: str, facts: Facts | None = None, class_name: str | None = None
) -> Space:
    """All points of a kernel on a target that meet the constraints, of all classes or of one."""
    facts = facts or Facts(entry.kernel)
    found = Space(entry.kernel.id, target)
    rules = [c for c in CONSTRAINTS if target in c.targets]
    for candidate in everything(entry, target):
        if class_name not in (None, candidate.options.class_name):
            continue
        found.tried += 1
        broken = next((r for r in rules if not r.holds(facts, candidate)), None)
        if broken is None:
            found.candidates.append(candidate)
        else:
            found.rejected[broken.name] += 1
    found.candidates.sort(key=simplicity)
    return found


def everything(entry: Entry, target: str) -> Iterator[Candidate]:
    """Every choice with every other, constraints or not."""
    for options in _all_options(entry, target):
        if target == "glsl":
            for workgroup in WORKGROUPS:
                yield Candidate(options, workgroup=workgroup)
        elif target == QPU:
            yield Candidate(options)
        else:
            for compiler in COMPILERS:
                yield Candidate(options, compiler)


def _all_options(entry: Entry, target: str) -> Iterator[Options]:
    kernel = entry.kernel
    names = sorted(a.name for a in kernel.assumptions if not a.default)
    given = [c for n in range(len(names) + 1) for c in combinations(names, n)]
    words = BY_TARGET[target].words()
    values = [w.values or (False, True) for w in words]
    takes = given if target in VECTOR_TARGETS else [()]
    for class_name, assume in product(kernel.class_names, takes):
        for chosen in product(*values):
            choices: Any = {w.field: c for w, c in zip(words, chosen, strict=True)}
            yield options_of(target, class_name, assume=assume, **choices)


def simplicity(candidate: Candidate) -> tuple[object, ...]:
    """Orders candidates, the simplest first: of results that tie, the first counts."""
    s = candidate.options
    return (
        s.name.count("_"), math.prod(int(s.choice(n)) for n in ("items", "rows", "points")),
        s.name, candidate.compiler != "gcc",
        candidate.workgroup != device.WORKGROUP, candidate.workgroup,
    )  # fmt: skip


def recorded(entry: Entry, target: str) -> list[Candidate]:
    """The points of the variants that options.toml lists, prod ones first."""
    out: list[Candidate] = []
    for options, _ in entry.listed:
        if options.target != target:
            continue
        if target == "glsl":
            out += [Candidate(options, workgroup=w) for w in WORKGROUPS]
        elif target == QPU:
            out.append(Candidate(options))
        else:
            out += [Candidate(options, c) for c in COMPILERS]
    return out
