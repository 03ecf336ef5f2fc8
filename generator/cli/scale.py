# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus scale`: what a library of hundreds of kernels costs."""

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from statistics import median

import click

from daedalus.generator.base.console import console, out
from daedalus.generator.base.errors import EXIT_FAILED
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native
from daedalus.generator.measure.scale.place import OF, Facts, Place
from daedalus.generator.verify.fuzz.programs import operations

# The kernels of before there were families: no fewer operations than they have shall the others.
_FIRST = "tools/scale/first.json"
BARS_FOR = 300  # kernels
LARGE = 16 * 16  # elements that an item stores
_STEPS = 6


@dataclass(frozen=True)
class Figure:
    """What was measured, and the most that it shall be for 300 kernels; of 0 there is no bar."""

    what: str
    value: float
    unit: str
    bar: float = 0.0

    @property
    def missed(self) -> bool:
        return 0 < self.bar < self.value

    @property
    def shown(self) -> str:
        return f"{self.value:.4g} {self.unit}".strip()


@click.command("scale")
@click.option("--kernels", default=300, show_default=True, type=click.IntRange(1, 2000),
              help="How many there shall be, the library's own among them.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0),
              help="Of the random programs among them.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(kernels: int, seed: int, as_json: bool) -> None:
    """Measures what generating, checking and building hundreds of kernels takes.

    In build/scale, a copy of this checkout, there are besides its own kernels those of
    tools/scale: interpolation by other codecs' filters, transforms of blocks that are not square,
    and random programs. Everything is generated for all targets; then again with nothing changed;
    the library is built; and a tenth of the kernels is changed, generated and compared. That takes
    long. Exit code 1 where a bar is missed; bars are for 300 kernels.
    """
    own = {e.kernel.id: e.kernel for e in load()}
    least = median(operations(own[name]) for name in _first())
    place = Place(seed)
    users = build_dir() / "scale-users"  # there is one copy: another `scale` waits
    with native.alone(users), progress(_STEPS, quiet=as_json) as shown:
        say(f"copying the checkout to {place.root}, drawing programs")
        place.make(kernels, int(least))
        facts = place.facts()
        figures = _kinds(facts, least)

        def tell(figure: Figure) -> None:
            """At once: what comes behind it may fail, and takes long."""
            say(f"{figure.what}: {figure.shown}")
            figures.append(figure)

        shown.advance(1)
        say(f"generating {len(facts)} kernels")
        tell(Figure("everything generated", place.timed("gen") / 60, "min", 6))
        size, files = place.sizes()
        tell(Figure("size of generated/", size / 1e6, "MB", 40))
        tell(Figure("files in generated/", files, "", 2000))
        shown.advance(1)
        say("generating with nothing changed")
        tell(Figure("generated with nothing changed", place.timed("gen"), "s", 10))
        shown.advance(1)
        say("building the library")
        tell(Figure("libdaedalus.a built", place.library() / 60, "min", 4))
        shown.advance(1)
        changed = _tenth(facts)
        say(f"changing {len(changed)} kernels, generating")
        place.change(changed)
        gen = place.timed("gen") / 60
        tell(Figure(f"{len(changed)} kernels changed: generated", gen, "min"))
        shown.advance(1)
        say(f"comparing {len(changed)} kernels")
        check = place.timed("check", *changed) / 60
        tell(Figure(f"{len(changed)} kernels changed: generated and compared", gen + check,
                    "min", 15))  # fmt: skip
        shown.advance(1)
    if kernels != BARS_FOR:
        figures = [replace(f, bar=0.0) for f in figures]
    _print(figures, place.manifest(), as_json=as_json)


def _first() -> list[str]:
    found: list[str] = json.loads((repo_root() / _FIRST).read_text())
    return found


def _tenth(facts: dict[str, Facts]) -> list[str]:
    """As many of the added kernels as a tenth of all, of each kind."""
    added = sorted(k for k in facts if k.startswith(OF))
    many = min(len(added), len(facts) // 10)
    return [added[n * len(added) // many] for n in range(many)]


def _kinds(facts: dict[str, Facts], least: float) -> list[Figure]:
    families = Counter(f.family for f in facts.values())
    members = sum(
        families[f.family] > 1 and not k.startswith(f"{OF}drawn") for k, f in facts.items()
    )
    return [
        Figure("kernels", len(facts), ""),
        Figure("of which members of families of real sizes", members, ""),
        Figure(f"of which store {LARGE} elements an item or more",
               sum(f.stored >= LARGE for f in facts.values()), ""),
        Figure("operations, median", median(f.operations for f in facts.values()), ""),
        Figure("operations, median of the first eleven kernels", least, ""),
    ]  # fmt: skip


def _print(
    figures: list[Figure], manifest: dict[str, list[dict[str, object]]], *, as_json: bool
) -> None:
    targets: Counter[str] = Counter()
    for k in manifest["kernels"]:
        variants = k["variants"]
        assert isinstance(variants, list)
        targets.update({v["target"] for v in variants})
    missed = [f for f in figures if f.missed]
    if as_json:
        print(json.dumps({"figures": [asdict(f) for f in figures], "with": targets}, indent=1))
    else:
        rows = [(f.what, f.shown, f"{f.bar:g}" if f.bar else "",
                 "missed" if f.missed else "") for f in figures]  # fmt: skip
        print_table(("what", "figure", "bar", ""), rows)
        for target, number in targets.items():
            out.print(f"{target}: {number} kernels have variants", markup=False)
    if missed:
        console.print(f"{len(missed)} bars are missed")
        sys.exit(EXIT_FAILED)
