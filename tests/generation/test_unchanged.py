# SPDX-License-Identifier: BSD-2-Clause
"""`gen` does nothing where what it reads and writes is as it was when it was done last."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import gen
from daedalus.generator.compile import unchanged

SAID = ["2 variants, 3 files", "remark: of old"]


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of which it is known what was made there."""
    monkeypatch.setattr(unchanged, "build_dir", lambda: tmp_path / "build")
    (tmp_path / "out/src").mkdir(parents=True)
    (tmp_path / "out/src/a.c").write_text("int a;\n")
    unchanged.remember("of these", tmp_path / "out", SAID)
    return tmp_path / "out"


def test_it_says_what_it_said(target: Path) -> None:
    assert unchanged.said("of these", target) == SAID


def test_other_sources(target: Path) -> None:
    assert unchanged.said("of others", target) is None


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
    assert unchanged.said("of these", target) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"sources": "of these", "made": 1}'])
def test_what_is_no_record(target: Path, text: str) -> None:
    (target.parent / "build/gen.json").write_text(text)
    assert unchanged.said("of these", target) is None


def test_without_a_checkout_nothing_is_kept(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise UserError("no checkout")

    monkeypatch.setattr(unchanged, "build_dir", none)
    unchanged.remember("of these", target, SAID)
    assert unchanged.said("of these", target) is None


def test_sources_are_all_that_programs_and_specs_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    monkeypatch.setattr(unchanged, "files", lambda _: package)
    for name in ("dsl/kernels/a/spec.py", "dsl/kernels/a/options.toml", "templates/x.j2"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        before = unchanged.sources()
        (package / name).write_text("1")
        assert unchanged.sources() != before
        before = unchanged.sources()
        (package / name).write_text("2")
        assert unchanged.sources() != before
    before = unchanged.sources()
    (package / "dsl/spec.pyc").write_text("")
    assert unchanged.sources() == before
    monkeypatch.setattr(unchanged, "toolchain", lambda: "another")
    assert unchanged.sources() != before


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
