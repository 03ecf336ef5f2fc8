# SPDX-License-Identifier: BSD-2-Clause
"""What `scale` adds to the library, and what it says of its figures."""

import json
import re
import shutil
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.dsl.ir import Kernel
from daedalus.dsl.show import show
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import scale
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.measure.scale import place
from daedalus.generator.measure.scale.place import OF, SPECS, Facts, Place
from daedalus.generator.verify.fuzz import as_spec

SEED, FEW = 5, 3


@pytest.fixture(scope="module")
def programs() -> list[tuple[int, int, str]]:
    found = islice(as_spec.drawn(SEED), FEW + 1)
    return [(number, attempt, text(made)) for number, attempt, made in found]


def specs(folder: Path, changed: list[str], places: list[tuple[int, int]]) -> dict[str, Entry]:
    """The kernels that are added, in a folder of their own."""
    shutil.copytree(repo_root() / SPECS, folder / "scale")
    (folder / "scale/changed.json").write_text(json.dumps(changed))
    (folder / "scale/drawn.json").write_text(json.dumps([SEED, dict(enumerate(places))]))
    return {e.kernel.id: e for e in load(folder)}


def text(kernel: Kernel) -> str:
    """Without the line of its id, and names of variables."""
    return re.sub(r"  # .*", "", show(kernel)).partition("\n")[2]


def test_those_that_are_changed_are_other_kernels_and_only_they(
    tmp_path: Path, programs: list[tuple[int, int, str]]
) -> None:
    places = [(number, attempt) for number, attempt, _ in programs]
    before = specs(tmp_path / "before", [], places[:FEW])
    some = [f"{OF}chroma4_8hv", f"{OF}dct8_adst4"]
    after = specs(tmp_path / "after", some, [*places[1:FEW], places[FEW]])
    assert all(name.startswith(OF) for name in before)
    other = {k for k in before if text(before[k].kernel) != text(after[k].kernel)}
    assert other == {*some, *(f"{OF}drawn{n}" for n in range(FEW))}
    made = [text(before[f"{OF}drawn{n}"].kernel) for n in range(FEW)]
    assert made == [shown for _, _, shown in programs[:FEW]]


class Measured(Place):
    """Times that are known, of a copy that is not made."""

    def __init__(self, seed: int) -> None:
        self.root = Path("nowhere")
        self.asked: list[tuple[str, ...]] = []
        self.seconds = {"gen": 60.0, "check": 600.0}

    def make(self, kernels: int, median: int) -> None:
        self.count = kernels

    def facts(self) -> dict[str, Facts]:
        own = {f"vp9_{n}": Facts("vp9_a", 40, 64) for n in range(70)}
        added = {f"{OF}drawn{n}": Facts(f"{OF}drawn", 60, 256) for n in range(self.count - 70)}
        return own | added

    def change(self, ids: list[str]) -> None:
        self.asked.append(("change", *ids))

    def timed(self, *words: str) -> float:
        self.asked.append(words)
        return self.seconds[words[0]]

    def library(self) -> float:
        return 30.0

    def sizes(self) -> tuple[int, int]:
        return 41_000_000, 1999

    def manifest(self) -> dict[str, list[dict[str, object]]]:
        return {"kernels": [{"variants": [{"target": "c"}, {"target": "c"}, {"target": "qpu"}]}]}


def test_a_figure_above_its_bar_is_told_and_a_tenth_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Measured(1)
    monkeypatch.setattr(scale, "Place", lambda _: place)
    done = CliRunner().invoke(scale.command, ["--json"])
    assert done.exit_code == 1, done.output
    said = json.loads(done.stdout)
    figures = {f["what"]: f["value"] for f in said["figures"]}
    assert figures["kernels"] == 300 and figures["everything generated"] == 1
    assert figures["operations, median"] == 60
    assert said["with"] == {"c": 1, "qpu": 1}
    (changed,) = (words[1:] for words in place.asked if words[0] == "change")
    assert len(changed) == 30 == len(set(changed))
    assert place.asked[-1] == ("check", *changed)
    done = CliRunner().invoke(scale.command, [])
    missed = [line for line in done.stdout.splitlines() if line.endswith("missed")]
    assert len(missed) == 2  # the size; and generated again with nothing changed, in a minute
    assert done.exit_code == 1


def test_bars_are_for_300_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "Place", Measured)
    done = CliRunner().invoke(scale.command, ["--kernels", "299"])
    assert done.exit_code == 0 and "missed" not in done.output


def test_fewer_kernels_than_there_are_cannot_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are added by name are there, too."""
    (tmp_path / "of" / SPECS).mkdir(parents=True)
    monkeypatch.setattr(place, "repo_root", lambda: tmp_path / "of")
    monkeypatch.setattr(place, "run", lambda argv: "")
    monkeypatch.setattr(place, "build_dir", lambda: tmp_path)
    one = Place(SEED)
    monkeypatch.setattr(Place, "facts", lambda _: {f"k{n}": Facts("", 1, 1) for n in range(20)})
    monkeypatch.setattr(place.shutil, "copytree", lambda *_, **__: one._specs.mkdir(parents=True))
    with pytest.raises(UserError, match="there are 20 kernels, those of tools/scale among") as e:
        one.make(20, 1)
    assert e.value.hint == "give --kernels more than that"
