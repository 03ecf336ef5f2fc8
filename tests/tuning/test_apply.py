# SPDX-License-Identifier: BSD-2-Clause
"""What `tune --apply` found is on record, and `gen` takes it before what its rules would."""

from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import load_text, spec_text

from daedalus.generator.base import records
from daedalus.generator.compile import kept, making
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import QPU, Options, options_of
from daedalus.generator.tuning.apply import apply

TEXT = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + p)")


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")
    return load_text(tmp_path / "specs", TEXT)[0]


def first(entry: Entry, target: str) -> str:
    return next(o.name for o, prod in entry.listed if prod and o.target == target)


def test_what_was_found_comes_first(entry: Entry, tmp_path: Path) -> None:
    found: dict[tuple[str, str], Options] = {
        ("neon", "full"): options_of("neon", items=2),
        (QPU, "full"): options_of(QPU, points=2, word=True),
    }
    with records.kept_in(tmp_path):
        assert "gen has made no variants" in apply(entry, found)[0]
        before, chosen = making.settle(entry)
        records.write(entry.kernel.id, records.OPTIONS, dict(chosen))
        assert apply(entry, found)[-1].endswith("./daedalus gen test_it takes it")
        after, chosen = making.settle(entry)
    for (target, _), options in found.items():
        assert first(before, target) != options.name == first(after, target)
    assert chosen["tuned"] == {"neon full": "neon_full_x2", "qpu full": "qpu_full_p2_word"}
    assert {o.target for o, _ in after.listed} == {o.target for o, _ in before.listed}


def test_it_counts_for_the_kernel_as_it_was(entry: Entry, tmp_path: Path) -> None:
    (other,) = load_text(tmp_path / "other", TEXT.replace("+ p)", "- p)"))
    with records.kept_in(tmp_path):
        _, chosen = making.settle(entry)
        records.write(entry.kernel.id, records.OPTIONS, dict(chosen))
        apply(entry, {("neon", "full"): options_of("neon", items=2)})
        _, chosen = making.settle(other)
    assert "tuned" not in chosen


def test_what_options_toml_lists_is_said_and_not_recorded(entry: Entry, tmp_path: Path) -> None:
    listed = replace(entry, by_rule=False)
    with records.kept_in(tmp_path):
        lines = apply(listed, {("neon", "full"): options_of("neon")})
        assert lines[0] == "test_it: neon full: neon_full" and "edit it" in lines[1]
        assert not records.kernels()
        assert apply(entry, {}) == ["test_it: nothing was found"]
