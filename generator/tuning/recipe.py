# SPDX-License-Identifier: BSD-2-Clause
"""From a journal to a recipe: the text that tells the library where items belong, and why.

The text is read by the runtime alone (runtime/base/recipe_text.c); docs/recipes.md has its format.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from daedalus.generator.tuning.best import best, timed
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import OK, Mixed, Result
from daedalus.generator.tuning.journal import replaces
from daedalus.generator.tuning.point import COMPILERS, ROUTES, parse_point
from daedalus.generator.tuning.rules import CPU, M4, QPU, Decision, decide, span_of

Place = tuple[str, str]  # kernel and class of the items
NON_PROD_MARK = "not in libdaedalus.a"
_NAME = re.compile(r"\bdaedalus_\w+")


@dataclass(frozen=True)
class Variant:
    """What the manifest says of a variant. `prod`: it is in libdaedalus.a; of those that can do an
    item, the runtime takes the one of lowest `rank`."""

    name: str
    kernel: str
    class_name: str
    prod: bool
    input_hash: str
    target: str
    rank: int


@dataclass(frozen=True)
class Library:
    """The generated code that a recipe is for."""

    generator: str
    variants: Mapping[str, Variant]
    classes: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]  # kernel -> class -> when

    def implies(self, kernel: str, narrow: str, wide: str) -> bool:
        """Whether items of one class meet the precondition of another."""
        known = self.classes[kernel]
        if narrow not in known:
            return False
        given = known[narrow]
        return all(
            p in given and lo <= given[p][0] and given[p][1] <= hi
            for p, (lo, hi) in known[wide].items()
        )


def library_of(manifest: Mapping[str, Any]) -> Library:
    """Of generated/manifest.json."""
    variants, classes = {}, {}
    for k in manifest["kernels"]:
        classes[k["id"]] = {c["name"]: c["when"] for c in k["classes"]}
        for v in k["variants"]:
            variants[v["name"]] = Variant(
                v["name"], k["id"], v["class"], v["prod"], v["input_hash"], v["target"], v["rank"]
            )
    return Library(manifest["generator"], variants, classes)


@dataclass(frozen=True)
class Recipe:
    """What is to be written, and what was noticed on the way.

    route, compiler  that all choices are of
    undecided        classes without a choice, and why
    wrong            points of a class that were found wrong, by themselves or in M4: never chosen
    faster           classes where a variant that is not prod is faster: what is missed
    foreign          points that this generated code has not
    """

    side: Side
    route: str
    compiler: str
    decisions: tuple[Decision, ...]
    considered: Mapping[Place, Sequence[Result]] = field(repr=False)
    undecided: Mapping[Place, str] = field(default_factory=dict)
    wrong: Mapping[Place, Sequence[str]] = field(default_factory=dict)
    faster: Mapping[Place, Result] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()


def with_gpu(side: Side, every: Iterable[Side], mixed: Iterable[Mixed], library: Library) -> Side:
    """A side with what was measured of the QPU on the same machine by programs of other compilers.

    Points of the QPU have no compiler, so their results hold whichever compiled what measured them;
    those of the CPU, and lines of M4, which have the CPU in them, do not. `every`: of the journal.
    """
    if side.described is None:
        return side
    results, wrong, blamed = dict(side.results), set(side.wrong), set[str]()
    lines = [m for m in mixed if m.verdict == "wrong" and _known_mixed(m, library)]
    for other in every:
        if other is side or other.described is None:
            continue
        if replace(other.described, compiler=side.described.compiler) != side.described:
            continue
        blamed |= _blamed((m for m in lines if m.fingerprint == other.fingerprint), library)
        wrong |= {w for w in other.wrong if parse_point(w[0]).route}
        for place, r in other.results.items():
            if not parse_point(r.point).route:
                continue
            if place not in results or not replaces(results[place], r):
                results[place] = r
    points = [(parse_point(r.point), r) for r in results.values()]
    wrong |= {(r.point, r.input_hash) for p, r in points if p.route and p.variant in blamed}
    return replace(side, results=results, wrong=frozenset(wrong))


def make(
    side: Side, mixed: Iterable[Mixed], library: Library, *, compiler: str = "", route: str = ""
) -> Recipe:
    """Applies the rules to the results of one fingerprint; see `with_gpu`.

    compiler, route  to take; "": gcc where there are results of it, and the route that has the QPU
    do more classes, on a tie the one that takes less time, then Vulkan's
    """
    foreign = tuple(sorted({r.point for r in side.results.values() if not _known(r, library)}))
    lines = [m for m in mixed if m.fingerprint == side.fingerprint and _known_mixed(m, library)]
    usable, bad = _right(side, lines, library)
    compiler = compiler or _compiler_of(usable)
    prod: list[Result] = []
    spare: list[Result] = []
    for r in usable:
        point = parse_point(r.point)
        if point.compiler in ("", compiler):
            (prod if library.variants[point.variant].prod else spare).append(r)
    wrong = _wrong_points(bad, compiler)
    m4 = [m for m in lines if m.verdict == OK]
    untried = _untried(prod, library)
    tried = [r for r in prod if _place(r) not in untried]
    made = {w: _decisions(tried, m4, w) for w in ((route,) if route else ROUTES)}
    route = max(made, key=lambda w: _merit(made[w]))
    decisions = [_with_wrong(d, wrong.get((d.kernel, d.item_class), ())) for d in made[route]]
    decided = {(d.kernel, d.item_class) for d in decisions}
    places = _by_place(prod)
    undecided = {
        p: (untried.get(p) or _no_choice(places.get(p, ()), route)) + _told_wrong(wrong.get(p, ()))
        for p in dict.fromkeys([*places, *wrong])
        if p not in decided
    }
    return Recipe(
        side, route, compiler, tuple(decisions), places, undecided, wrong,
        _missed(decisions, spare, route), foreign,
    )  # fmt: skip


def _known(r: Result, library: Library) -> bool:
    """Whether the result is of code that the library has, on items that it may be given."""
    point = parse_point(r.point)
    variant = library.variants.get(point.variant)
    return (
        variant is not None
        and variant.kernel == point.kernel
        and variant.input_hash == r.input_hash
        and library.implies(point.kernel, point.item_class, variant.class_name)
    )


def _known_mixed(line: Mixed, library: Library) -> bool:
    """Whether a line of M4 is of code that the library has. Older lines name no hashes; with them
    the fingerprint's generator has to do."""
    points = (line.cpu_point, line.qpu_point, line.instead_point)
    hashes = (line.cpu_hash, line.qpu_hash, line.instead_hash)
    for point, code in zip(points, hashes, strict=True):
        if point is None or code is None:
            continue
        variant = library.variants.get(parse_point(point).variant)
        if variant is None or variant.input_hash != code:
            return False
    return True


def _right(
    side: Side, mixed: Iterable[Mixed], library: Library
) -> tuple[list[Result], list[Result]]:
    """Results of the library's code: those with times of points that were never found wrong, and
    those of points that were."""
    in_m4 = _blamed((m for m in mixed if m.verdict == "wrong"), library)
    usable, bad = [], []
    for r in side.results.values():
        if not _known(r, library):
            continue
        if (r.point, r.input_hash) in side.wrong or parse_point(r.point).variant in in_m4:
            bad.append(r)
        elif timed(r):
            usable.append(r)
    return usable, bad


def _blamed(lines: Iterable[Mixed], library: Library) -> set[str]:
    """Variants that lines of M4 found wrong: all that a reason names, as it may be a third one,
    which does the QPU's kernel on the CPU; where it names none of the library both points'."""
    found: set[str] = set()
    for line in lines:
        named = {n for n in _NAME.findall(line.reason) if n in library.variants}
        found |= named or {parse_point(p).variant for p in (line.cpu_point, line.qpu_point)}
    return found


def _wrong_points(bad: Iterable[Result], compiler: str) -> dict[Place, list[str]]:
    """By class; of the CPU those of the library's compiler."""
    own = [r for r in bad if parse_point(r.point).compiler in ("", compiler)]
    return {p: sorted({r.point for r in found}) for p, found in _by_place(own).items()}


def _told_wrong(points: Sequence[str]) -> str:
    """What to add to a reason."""
    if not points:
        return ""
    more = f" and {len(points) - 1} more" if len(points) > 1 else ""
    return f"; found wrong and never chosen: {points[0]}{more}"


def _with_wrong(d: Decision, points: Sequence[str]) -> Decision:
    return replace(d, reason=d.reason + _told_wrong(points))


def _compiler_of(results: Iterable[Result]) -> str:
    """The first of COMPILERS that there are results of: a library is compiled by one."""
    found = {parse_point(r.point).compiler for r in results}
    return next((c for c in COMPILERS if c in found), COMPILERS[0])


def _untried(prod: Sequence[Result], library: Library) -> dict[Place, str]:
    """Classes whose items a variant for any items does where no recipe speaks, which was not
    measured on them: that another was is no reason to take that one. Of targets that were measured.
    """
    names = defaultdict(set)
    targets = defaultdict(set)
    for r in _on(prod, ""):
        point = parse_point(r.point)
        names[_place(r)].add(point.variant)
        targets[point.kernel].add(library.variants[point.variant].target)
    found = {}
    for (kernel, item_class), measured in names.items():
        *_, full = library.classes[kernel]
        first = min(
            (
                v for v in library.variants.values()
                if v.prod and v.kernel == kernel and v.target in targets[kernel]
                and v.class_name in (item_class, full)
            ),
            key=lambda v: v.rank,
        )  # fmt: skip
        if first.class_name != item_class and first.name not in measured:
            found[kernel, item_class] = f"{first.name}, which goes first, was not measured on it"
    return found


def _place(r: Result) -> Place:
    point = parse_point(r.point)
    return point.kernel, point.item_class


def _by_place(results: Iterable[Result]) -> dict[Place, list[Result]]:
    found: dict[Place, list[Result]] = defaultdict(list)
    for r in results:
        found[_place(r)].append(r)
    return dict(found)


def _on(results: Iterable[Result], route: str) -> list[Result]:
    """Those of one route; of the CPU where it is ""."""
    return [r for r in results if parse_point(r.point).route == route]


def _counts(results: Iterable[Result]) -> set[int]:
    """Of items a sample."""
    return {r.items for r in results}


def _comparable(cpu: list[Result], qpu: list[Result]) -> tuple[list[Result], list[Result]]:
    """Those of the largest number of items that both have been given; else each side's largest."""
    common = _counts(cpu) & _counts(qpu)
    out = []
    for side in (cpu, qpu):
        most = max(common or _counts(side), default=0)
        out.append([r for r in side if r.items == most])
    return out[0], out[1]


def _decisions(results: Sequence[Result], mixed: Sequence[Mixed], route: str) -> list[Decision]:
    """One a class that the CPU was measured on, with the QPU by that route."""
    out = []
    for place, found in _by_place(results).items():
        if _no_choice(found, route):
            continue
        cpu, qpu = _comparable(_on(found, ""), _on(found, route))
        taken = best(qpu).taken if qpu else None
        d = decide(best(cpu).taken, taken, _mixed_of(mixed, place, taken))
        out.append(replace(d, reason=d.reason + _told_counts(d)))
    return sorted(out, key=lambda d: (d.kernel, d.item_class))


def _no_choice(found: Sequence[Result], route: str) -> str:
    """Why nothing is chosen from what was found of a class. Times of different numbers of items are
    not compared, but for a model's, which has one number a side."""
    cpu, qpu = _on(found, ""), _on(found, route)
    if not cpu:
        return "nothing right was measured on the CPU"
    measured = not all(r.modelled for r in (*cpu, *qpu))
    if qpu and measured and not _counts(cpu) & _counts(qpu):
        sides = (", ".join(map(str, sorted(_counts(of)))) for of in (cpu, qpu))
        return "no R, as no number of items was measured on both: CPU {}, QPU {}".format(*sides)
    return ""


def _told_counts(d: Decision) -> str:
    """What to add to a reason where the two sides are of different numbers of items."""
    if d.qpu is None or d.qpu.items == d.cpu.items:
        return ""
    return f"; of {d.qpu.items} items on the QPU, {d.cpu.items} on the CPU"


def _mixed_of(lines: Sequence[Mixed], place: Place, qpu: Result | None) -> list[Mixed]:
    """The lines of M4 for items of a class on the QPU: the chosen point's, else its route's."""
    if qpu is None:
        return []
    route = parse_point(qpu.point).route
    own = [(m, parse_point(m.qpu_point)) for m in lines]
    near = [m for m, p in own if (p.kernel, p.item_class, p.route) == (*place, route)]
    return [m for m in near if m.qpu_point == qpu.point] or near


def _merit(decisions: Sequence[Decision]) -> tuple[int, int, float]:
    """How much a route is worth: classes on the QPU, classes measured there, then time saved."""
    return (
        sum(d.substrate == QPU for d in decisions),
        sum(d.qpu is not None for d in decisions),
        -sum(math.log(max(span_of(d.chosen).mid, 1e-9)) for d in decisions),
    )


def _missed(
    decisions: Iterable[Decision], spare: Sequence[Result], route: str
) -> dict[Place, Result]:
    """Variants outside of libdaedalus.a that are faster than what was chosen."""
    by_place = _by_place(spare)
    out = {}
    for d in decisions:
        own = "" if d.substrate == CPU else route
        others = [
            r for r in _on(by_place.get((d.kernel, d.item_class), ()), own)
            if r.items == d.chosen.items
        ]  # fmt: skip
        if others:
            other = best(others).taken
            if span_of(other).high < span_of(d.chosen).low:
                out[d.kernel, d.item_class] = other
    return out


# ------------------------------------------------------------------- text


def text_of(recipe: Recipe) -> str:
    """The recipe as the runtime reads it, with the measurements in comments."""
    described = recipe.side.described
    assert described is not None
    lines = [
        "daedalus-recipe 1",
        f"generator {described.generator}",
        f"fingerprint {recipe.side.fingerprint} {described.words()}",
        f"# CPU variants compiled by {recipe.compiler}: {described.compiler}",
        f"# by daedalus's own bounds of M4: {M4}",
    ]
    elsewhere = {r.fingerprint for d in recipe.decisions for r in (d.chosen, d.other) if r}
    for other in sorted(elsewhere - {recipe.side.fingerprint}):
        lines.append(f"# QPU measured under {other}, which differs in the compiler alone")
    for d in recipe.decisions:
        lines += ["", *_comments(recipe, d), _record("choose", d.chosen, d.reason)]
        if d.other is not None:
            lines.append(_record("other", d.other, f"best on its substrate; {d.reason}"))
    for (kernel, item_class), why in recipe.undecided.items():
        lines += ["", f"# {kernel} {item_class}: no choice: {why}"]
    return "".join(_ascii(line) + "\n" for line in lines)


def _record(keyword: str, result: Result, reason: str) -> str:
    p = parse_point(result.point)
    where = QPU if p.route else CPU
    return (
        f"{keyword} {p.kernel} {p.item_class} {where} {p.variant} {p.route or '-'} {p.workgroup}"
        f" ; {reason}"
    )


def _comments(recipe: Recipe, d: Decision) -> list[str]:
    """What the choice was made from, the fastest first."""
    found = recipe.considered[d.kernel, d.item_class]
    lines = [f"# {d.kernel} {d.item_class}: ns an item, of {d.chosen.items} items"]
    for r in sorted(found, key=lambda r: (r.median, r.point)):
        if r.items == d.chosen.items:
            lines.append(f"#   {span_of(r)}  {r.point}  {r.scenario}, {r.samples} samples")
    missed = recipe.faster.get((d.kernel, d.item_class))
    if missed is not None:
        lines.append(f"#   {span_of(missed)}  {missed.point}  {NON_PROD_MARK}")
    return lines


def _ascii(line: str) -> str:
    """Outside of comments the runtime reads nothing but ASCII."""
    return "".join(c if " " <= c <= "~" else "?" for c in line)


def data_of(recipe: Recipe) -> dict[str, Any]:
    """It for programs."""
    described = recipe.side.described
    return {
        "version": 1,
        "generator": described.generator if described else None,
        "fingerprint": recipe.side.fingerprint,
        "words": described.words() if described else None,
        "modelled": recipe.side.modelled,
        "route": recipe.route,
        "compiler": recipe.compiler,
        "decisions": [_decision_data(d) for d in recipe.decisions],
        "undecided": {"/".join(p): why for p, why in recipe.undecided.items()},
        "wrong": {"/".join(p): list(points) for p, points in recipe.wrong.items()},
        "faster": {"/".join(p): r.point for p, r in recipe.faster.items()},
        "foreign": list(recipe.foreign),
    }


def _decision_data(d: Decision) -> dict[str, Any]:
    return {
        "kernel": d.kernel,
        "class": d.item_class,
        "substrate": d.substrate,
        "verdict": d.verdict,
        "reason": d.reason,
        "chosen": d.chosen.point,
        "other": d.other.point if d.other else None,
        "r": [d.r.low, d.r.mid, d.r.high] if d.r else None,
        "m4": d.mixed.verdict if d.mixed else None,
    }
