# SPDX-License-Identifier: BSD-2-Clause
"""Variants that were made before are taken again, and never for another state of their makers."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from spec_support import load_text, spec_text, write_spec

from daedalus.dsl.errors import Loc, SpecError
from daedalus.generator.base import records
from daedalus.generator.cli import gen
from daedalus.generator.compile import emit, folder, kept, making
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.options import QPU, options_of

TEXT = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + p)")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")
    return tmp_path / "build" / "variants"


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    return load_text(tmp_path / "specs", TEXT)[0]


def none(*_: object, **__: object) -> None:
    raise AssertionError("it was made again")


def test_what_is_kept_is_what_was_made(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    made = emit.entry_variants(entry)
    monkeypatch.setattr(emit, "make_variant", none)
    again = emit.entry_variants(entry)
    assert again == made and all(v.kernel is entry.kernel for v in again)
    assert [v.rank for v in emit.entry_variants(replace(entry, listed=entry.listed[1:]))] == [
        v.rank for v in made[1:]
    ]


def test_a_refusal_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = load_text(tmp_path / "specs", TEXT)
    asked = replace(entry, listed=((options_of("neon", dot=True), True),))
    with pytest.raises(SpecError) as first:
        emit.entry_variants(asked)
    monkeypatch.setattr(emit, "make_variant", none)
    with pytest.raises(SpecError) as second:
        emit.entry_variants(asked)
    assert str(first.value) == str(second.value)


def test_the_key_has_all_that_a_variant_is_made_of(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of(QPU)

    def key(entry: Entry = entry, prod: bool = True) -> str:
        return kept.Keys(entry.kernel, entry.spec).of(options, prod)

    (lower,) = load_text(tmp_path / "lower", "\n" + TEXT)
    (other,) = load_text(tmp_path / "other", TEXT.replace("+ p)", "- p)"))
    keys = {
        key(), key(prod=False), key(lower), key(other), key(replace(entry, spec="other.py")),
        kept.Keys(entry.kernel, entry.spec).of(options_of(QPU, points=4), True),
    }  # fmt: skip
    with records.kept_in(tmp_path):
        assert key() in keys
        found = {f"daedalus_test_it__{options.name}": {"trip": 1}}
        records.write(entry.kernel.id, records.SCHEDULES, found)
        keys.add(key())
    monkeypatch.setattr(kept, "code", lambda: "other programs")
    keys.add(key())
    assert len(keys) == 8
    assert kept.digest(lower.kernel, lines=False) == kept.digest(entry.kernel, lines=False)


def test_every_module_that_makes_variants_counts() -> None:
    """And so do templates and headers."""
    code = (
        "import sys; import daedalus.generator.compile.making;"
        "from daedalus.generator.compile.registry import load; load();"
        "print('\\n'.join(str(m.__file__) for n, m in sys.modules.items()"
        " if n.startswith('daedalus') and getattr(m, '__file__', None)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    used = {Path(line).resolve() for line in done.stdout.splitlines()}
    programs = {file.resolve() for _, file in kept.programs()}
    own = {p for p in used if "kernels" not in p.parts and p.name != "__init__.py"}
    assert len(own) > 100 and own <= programs
    names = {name for name, _ in kept.programs()}
    assert {"templates/variant.c.j2", "support/daedalus/lane.h", "v3d/text/assemble.c"} <= names


def test_a_spoiled_file_is_made_anew(entry: Entry, own_folder: Path) -> None:
    made = emit.entry_variants(entry)
    for file in own_folder.glob("*.pickle"):
        file.write_bytes(file.read_bytes()[:50])
    assert emit.entry_variants(entry) == made


def test_old_ones_go(own_folder: Path) -> None:
    for n in range(9):
        kept.keep(f"{n}", SpecError("options", str(n), Loc("spec.py", 1)))
    kept._drop_old(own_folder, 9)
    assert len(list(own_folder.glob("*.pickle"))) == 9
    kept._drop_old(own_folder, 8)
    assert len(list(own_folder.glob("*.pickle"))) == 4


def two(where: Path, second: str) -> tuple[Entry, ...]:
    write_spec(where, TEXT)
    write_spec(where, TEXT.replace("test_it", "test_other").replace("+ p)", second), "other.py")
    load.cache_clear()
    return load(where)


def test_other_kernels_are_as_they_were(tmp_path: Path) -> None:
    """If that is what lies there: not what was made of a state that is gone."""
    target, first = tmp_path / "out", making.make(two(tmp_path / "specs", "+ 1)"))
    folder.write(emit.generate(first.entries, first.variants), target)
    kept.keep_last(first.variants)
    changed = two(tmp_path / "specs", "+ 2)")
    one = making.make(changed, [changed[0]], target)
    assert list(one.chosen) == ["test_it"]
    assert [v.text for v in one.variants] == [v.text for v in first.variants]
    every = making.make(changed)
    assert [v.text for v in every.variants] != [v.text for v in first.variants]
    kept.keep_last(every.variants)
    anew = making.make(changed, [changed[0]], target)
    assert len(anew.chosen) == 2
    assert [v.text for v in anew.variants] == [v.text for v in every.variants]


def test_what_other_programs_kept_last_is_not_taken(own_folder: Path, tmp_path: Path) -> None:
    (kernel,) = (e.kernel for e in two(tmp_path / "specs", "+ 1)")[:1])
    kept._store(own_folder / "last" / "test_it.pickle", [{"a field of another state": 1}])
    assert kept.last(kernel, tmp_path) is None


def test_records_of_kernels_that_are_gone_go(tmp_path: Path) -> None:
    target, made = tmp_path / "out", making.make(two(tmp_path / "specs", "+ 1)"))
    generated = emit.generate(made.entries, made.variants)
    folder.write(generated, target)
    records.write("test_gone", records.STATS, {"a": 1}, target)
    assert folder.differences(generated, target) == ["not generated: records/test_gone.json"]
    folder.write(generated, target)
    assert folder.differences(generated, target) == []


def test_everything_that_is_wrong_is_told(tmp_path: Path) -> None:
    entries = [
        replace(e, listed=((options_of("neon", dot=True), True),), by_rule=False)
        for e in two(tmp_path / "specs", "+ 1)")
    ]
    with pytest.raises(folder.UserError) as why:
        making.make(entries)
    assert "test_it: neon_full_dot" in why.value.message
    assert "test_other: neon_full_dot" in why.value.message


def test_gen_takes_kernels(tmp_path: Path) -> None:
    two(tmp_path / "specs", "+ 1)")
    words = ["--specs", str(tmp_path / "specs"), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(gen.command, words).exit_code == 0
    source = tmp_path / "out" / "src" / "test"
    for name in ("it", "other"):
        (source / f"test_{name}.c").write_text("")
    (source / "dispatch.c").write_text("")
    failed = CliRunner().invoke(gen.command, [*words, "--check", "test_it"])
    assert "src/test/dispatch.c" in failed.output
    assert "src/test/test_it.c" in failed.output
    assert "src/test/test_other.c" not in failed.output
    unknown = CliRunner().invoke(gen.command, [*words, "test_ti"])
    assert isinstance(unknown.exception, folder.UserError)
    assert "perhaps test_it" in unknown.exception.hint
