# SPDX-License-Identifier: BSD-2-Clause
"""The page: everything that was gathered, handed to the templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from daedalus import __version__
from daedalus.generator.compile.emit import environment
from daedalus.generator.measure.gpu.compare import NEON_GHZ
from daedalus.generator.report import charts, words
from daedalus.generator.report.decided import Stack, recipe_file, recipe_of, stacks
from daedalus.generator.report.drawings import Drawn
from daedalus.generator.report.exactness import checked, matrix
from daedalus.generator.report.roofline import ports, roofline
from daedalus.generator.report.sources import Sources, link, named
from daedalus.generator.report.stale import stale
from daedalus.generator.report.summary import FrameTime, frame_times
from daedalus.generator.report.times import SHOWN, Group, foreign, groups
from daedalus.generator.tuning.compare import Side, sides
from daedalus.generator.tuning.entries import Described, Run
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.rules import CPU

TARGET_NAMES = {
    "neon": "NEON", "vector": "C with vectors", "c": "portable C", "glsl": "GLSL",
    "qpu": "QPU code",
}  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """What was done under one fingerprint; nothing of another one's is beside it.

    foreign  results of kernels that generated/ has not
    same_code  its results are of the code in generated/
    """

    side: Side
    groups: tuple[Group, ...]
    recipe: Recipe
    frames: tuple[FrameTime, ...]
    stacks: tuple[Stack, ...]
    runs: tuple[Run, ...]
    foreign: int
    same_code: bool

    @property
    def anchor(self) -> str:
        return f"m-{self.side.fingerprint}"

    @property
    def how(self) -> str:
        return "modelled" if self.side.modelled else "measured"

    @property
    def curved(self) -> tuple[Group, ...]:
        """Groups that have curves of workgroups."""
        return tuple(g for g in self.groups if g.curves)


def machines(sources: Sources) -> tuple[Machine, ...]:
    """In the order of the journals: measured ones before modelled ones."""
    entries = sources.entries
    found = []
    every = sides(entries).values()
    for side in every:
        runs = [e for e in entries if isinstance(e, Run) and e.fingerprint == side.fingerprint]
        described, recipe = side.described, recipe_of(side, every, entries, sources)
        found.append(
            Machine(
                side, groups(side, sources, recipe), recipe, frame_times(recipe, sources),
                stacks(side, entries, sources), tuple(runs), foreign(side, sources),
                described is not None and described.generator == sources.manifest["generator"],
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda m: m.side.modelled))


def silent(sources: Sources) -> tuple[Described, ...]:
    """Machines of which the journals have a description and no result."""
    have = sides(sources.entries)
    told = {e.id: e for e in sources.entries if isinstance(e, Described)}
    return tuple(d for name, d in told.items() if name not in have)


def render(sources: Sources, drawn: Mapping[str, Drawn], page: Path) -> str:
    """The page as text; `page` is where it will lie, which its links are relative to."""
    made = _environment(sources.root, page)
    record, neon, told = sources.modelled, sources.neon, sources.recipe
    roof = roofline(record[1], sources) if record else None
    found = machines(sources)
    return made.get_template("report/page.html.j2").render(
        version=__version__,
        sources=sources,
        machines=found,
        silent=silent(sources),
        stale=stale(sources, [m.side for m in found]),
        matrix=matrix(sources),
        checked=checked(sources),
        recipe_file=recipe_file(told[1], sources.manifest["generator"]) if told else None,
        roof=roof,
        roof_chart=charts.roof_chart(roof) if roof else None,
        ports=ports(neon[1], sources) if neon else (),
        drawn={k: _marked(d) for k, d in drawn.items()},
    )


def _marked(drawn: Drawn) -> Drawn:
    """Its element goes into the page as it is."""
    return Drawn(Markup(drawn.svg), drawn.missing)


def _environment(root: Path, page: Path) -> jinja2.Environment:
    """That of the generator's templates, with everything escaped, and with what these need."""
    made = environment().overlay(autoescape=True)
    made.filters |= {
        "short": words.short, "count": words.count, "share": words.share, "route": words.route,
        "point": parse_point, "relative": lambda path: link((root / path).resolve(), page),
        "named": lambda path: named(Path(path), root),
    }  # fmt: skip
    made.globals |= {
        "anchor": words.anchor, "chart": charts, "CPU": CPU, "SHOWN": SHOWN,
        "RESOURCES": {"issue": "issue", "tmu": "TMU", "memory": "memory"},
        "NEON_GHZ": NEON_GHZ, "TARGET_NAMES": TARGET_NAMES, "chosen": _chosen,
    }  # fmt: skip
    return made


def _chosen(point: Point) -> str:
    """A point of a decision, in words."""
    where = "CPU" if point.compiler else "QPU"
    return f"{where}: {point.options}, {words.route(point)}"
