# SPDX-License-Identifier: BSD-2-Clause
"""`gen` does nothing where what it reads and writes is as it was when it was done last."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import gen
from daedalus.generator.compile import unchanged

SAID = ["2 variants, 3 files", "remark: of old"]
TEXTS = {"src/a.c": "int a;\n"}
CHOSEN = {"it": {"of": "1", "prod": ("c_full",)}, "other": {}}


def inputs(sources: str, target: Path) -> unchanged.Inputs:
    """With these sources, and what is on record in the folder."""
    return unchanged.Inputs(sources, {p: records.each(p, target) for p in records.PARTS})


def write(target: Path) -> None:
    """What `gen` writes."""
    for name, text in TEXTS.items():
        (target / name).write_text(text)
    for kernel, data in CHOSEN.items():
        records.write(kernel, records.OPTIONS, data, target)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing was made; sources are "of these"."""
    monkeypatch.setattr(unchanged, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(unchanged, "inputs", lambda target: inputs("of these", target))
    (tmp_path / "out/src").mkdir(parents=True)
    records.write("it", records.SCHEDULES, {"v": {"trip": 1}}, tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def target(empty: Path) -> Path:
    """A folder of which it is known what was made there."""
    before = inputs("of these", empty)
    write(empty)
    unchanged.remember(before, empty, TEXTS, CHOSEN, SAID)
    return empty


def said(sources: str, target: Path) -> list[str] | None:
    return unchanged.said(inputs(sources, target), target)


def test_it_says_what_it_said(target: Path) -> None:
    assert said("of these", target) == SAID


def test_other_sources(target: Path) -> None:
    assert said("of others", target) is None


@pytest.mark.parametrize("change", ["other text", "one more", "none", "another name"])
def test_another_folder(target: Path, change: str) -> None:
    file = target / "src/a.c"
    if change == "other text":
        file.write_text("int b;\n")
    elif change == "one more":
        (target / "src/b.c").write_text("")
    elif change == "none":
        file.unlink()
    else:
        file.rename(target / "src/b.c")
    assert said("of these", target) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"sources": "of these", "made": 1}'])
def test_what_is_no_record(target: Path, text: str) -> None:
    (target.parent / "build/gen.json").write_text(text)
    assert said("of these", target) is None


def test_without_a_checkout_nothing_is_kept(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise UserError("no checkout")

    monkeypatch.setattr(unchanged, "build_dir", none)
    unchanged.remember(inputs("of these", target), target, TEXTS, CHOSEN, SAID)
    assert said("of these", target) is None


def test_what_changes_meanwhile_is_not_taken_for_what_was_made(empty: Path) -> None:
    for meanwhile in ("sources", "records", "text", ""):
        before = inputs("others" if meanwhile == "sources" else "of these", empty)
        write(empty)
        if meanwhile == "records":
            records.write("it", records.SCHEDULES, {"v": {"trip": 2}}, empty)
        if meanwhile == "text":
            (empty / "src/a.c").write_text("int b;\n")
        unchanged.remember(before, empty, TEXTS, CHOSEN, SAID)
        assert said("of these", empty) == (None if meanwhile else SAID), meanwhile
        write(empty)


def test_sources_are_all_that_programs_and_specs_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    monkeypatch.setattr(unchanged, "files", lambda _: package)

    def sources() -> str:
        return unchanged.inputs(tmp_path / "out").sources

    (package / "dsl/kernels/a").mkdir(parents=True)
    (package / "templates").mkdir()
    seen = [sources()]
    for name in ("dsl/kernels/a/spec.py", "dsl/kernels/a/options.toml", "templates/x", "alone.py"):
        for text in ("1", "2"):
            (package / name).write_text(text)
            seen.append(sources())
    (package / "templates/x").rename(package / "dsl/x")
    seen.append(sources())
    monkeypatch.setattr(unchanged, "toolchain", lambda: "another")
    seen.append(sources())
    assert len(set(seen)) == len(seen)
    (package / "dsl/spec.pyc").write_text("")
    assert sources() == seen[-1]


def test_gen_says_it_and_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object) -> None:
        raise AssertionError("it was made")

    monkeypatch.setattr(unchanged, "said", lambda *_: SAID)
    monkeypatch.setattr(gen, "generate_or_explain", made)
    result = CliRunner().invoke(gen.command)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "2 variants, 3 files: 0 written, 0 removed, the others unchanged",
        "remark: of old",
    ]


@pytest.mark.parametrize("words", [("--check",), ("vp9_idct8",)])
def test_gen_looks_again_where_it_is_asked_to(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made(Exception):
        pass

    def made(*_: object) -> None:
        raise Made

    monkeypatch.setattr(unchanged, "said", lambda *_: SAID)
    monkeypatch.setattr(gen, "generate_or_explain", made)
    assert isinstance(CliRunner().invoke(gen.command, words).exception, Made)
