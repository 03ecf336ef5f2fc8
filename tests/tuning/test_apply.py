# SPDX-License-Identifier: BSD-2-Clause
"""What `tune --apply` found is on record, and `gen` takes it before what its rules would."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from spec_support import load_text, spec_text
from tuning_lines import result

from daedalus.generator.base import records
from daedalus.generator.compile import kept, making
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import QPU, Options, options_of
from daedalus.generator.tuning.apply import Winner, apply, forget, winner
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.space import Candidate

TEXT = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + p)")


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")
    return load_text(tmp_path / "specs", TEXT)[0]


def measured(target: str, **values: Any) -> Winner:
    return Winner(options_of(target, **values), False, "a board")


def first(entry: Entry, target: str) -> str:
    return next(o.name for o, prod in entry.listed if prod and o.target == target)


def test_what_was_found_comes_first(entry: Entry, tmp_path: Path) -> None:
    found = {
        ("neon", "full"): measured("neon", items=2),
        (QPU, "full"): measured(QPU, points=2, word=True),
    }
    with records.kept_in(tmp_path):
        assert "gen has made no variants" in apply(entry, found)[0]
        made = making.settle(entry)
        before, chosen = made.entry, made.record
        records.write(entry.kernel.id, records.OPTIONS, dict(chosen))
        assert apply(entry, found)[-1].endswith("./daedalus gen test_it takes it")
        made = making.settle(entry)
        after, chosen = made.entry, made.record
    for (target, _), won in found.items():
        assert first(before, target) != won.options.name == first(after, target)
    names = {where: tuned["name"] for where, tuned in chosen["tuned"].items()}
    assert names == {"neon full": "neon_full_x2", "qpu full": "qpu_full_p2_word"}
    assert {o.target for o, _ in after.listed} == {o.target for o, _ in before.listed}


def test_it_counts_for_the_kernel_as_it_was(entry: Entry, tmp_path: Path) -> None:
    (other,) = load_text(tmp_path / "other", TEXT.replace("+ p)", "- p)"))
    with records.kept_in(tmp_path):
        chosen = making.settle(entry).record
        records.write(entry.kernel.id, records.OPTIONS, dict(chosen))
        apply(entry, {("neon", "full"): measured("neon", items=2)})
        chosen = making.settle(other).record
    assert "tuned" not in chosen


def test_what_options_toml_lists_is_said_and_not_recorded(entry: Entry, tmp_path: Path) -> None:
    listed = replace(entry, by_rule=False)
    with records.kept_in(tmp_path):
        lines = apply(listed, {("neon", "full"): measured("neon")})
        assert lines[0] == "test_it: neon full: neon_full" and "edit it" in lines[1]
        assert not records.kernels()
        assert apply(entry, {}) == ["test_it: nothing was found"]


def test_what_was_measured_outlives_a_model_and_can_be_forgotten(
    entry: Entry, tmp_path: Path
) -> None:
    model = Winner(options_of("neon", items=2), True, "a model")
    board = measured("neon")
    where = ("neon", "full")
    with records.kept_in(tmp_path):
        records.write(entry.kernel.id, records.OPTIONS, dict(making.settle(entry).record))
        for won, name in [(model, "neon_full_x2"), (board, "neon_full"), (model, "neon_full")]:
            lines = apply(entry, {where: won})
            (tuned,) = records.read(entry.kernel.id, records.OPTIONS)["tuned"].values()
            assert tuned["name"] == name
        assert any("was measured and stays" in line for line in lines)
        assert "neon full: forgotten" in forget(entry)
        assert "tuned" not in records.read(entry.kernel.id, records.OPTIONS)
        assert "nothing was on record" in forget(entry)
        assert "options.toml lists" in forget(replace(entry, by_rule=False))


def test_a_class_that_rules_have_nothing_for_gets_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lanes compute as much as those of all items, so rules leave it to these."""
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")
    few = TEXT.replace(
        "    with k.stage", '    k.item_class("few", p=(0, 9), why="a test")\n    with k.stage'
    )
    (entry,) = load_text(tmp_path / "specs", few)
    found = {("glsl", "few"): Winner(options_of("glsl", "few", points=2), False, "a board")}
    with records.kept_in(tmp_path):
        before = making.settle(entry)
        assert not any(o.name.startswith("glsl_few") for o, _ in before.entry.listed)
        records.write(entry.kernel.id, records.OPTIONS, dict(before.record))
        apply(entry, found)
        after = making.settle(entry)
    assert (options_of("glsl", "few", points=2), True) in after.entry.listed
    assert after.record["tuned"]["glsl few"]["name"] == "glsl_few_p2"


def test_what_is_on_record_and_not_taken_is_told(entry: Entry, tmp_path: Path) -> None:
    with records.kept_in(tmp_path):
        chosen = making.settle(entry).record
        said = {"name": "neon_full_of_old_words", "modelled": True, "fingerprint": ""}
        records.write(
            entry.kernel.id, records.OPTIONS, dict(chosen) | {"tuned": {"neon full": said}}
        )
        chosen = making.settle(entry).record
    assert "another version" in chosen["refused"]["neon_full_of_old_words"]


def test_the_winner_is_right_for_every_item_and_good_by_every_compiler() -> None:
    def timed(options: Options, compiler: str, ns: float) -> tuple[Candidate, Result]:
        candidate = Candidate(options, compiler)
        text = str(candidate.point("vp9_idct8"))
        made = result(text, "m3 items=4096", median=ns, low=ns - 0.01, high=ns + 0.01)
        return candidate, made

    plain, two = options_of("neon"), options_of("neon", items=2)
    assuming = options_of("neon", assume=("sum16",))
    by_gcc = [timed(plain, "gcc", 10), timed(two, "gcc", 8), timed(assuming, "gcc", 1)]
    by_clang = [timed(plain, "clang", 6), timed(two, "clang", 12), timed(assuming, "clang", 1)]
    won, both = winner(dict(by_gcc)), winner(dict(by_gcc + by_clang))
    assert won is not None and won.options == two
    assert both is not None and both.options == plain  # 1.25 by gcc; the other 2.0 by clang
    assert winner(dict([timed(assuming, "gcc", 1)])) is None
