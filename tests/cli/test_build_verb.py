# SPDX-License-Identifier: BSD-2-Clause
"""What `build` compares, and what it refuses; the comparison itself has tests of its own."""

import shutil
from pathlib import Path

import pytest

from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import build
from daedalus.generator.compile.emit import Generated
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.compile.variants import Variant
from daedalus.generator.devices.vulkan import Skip
from daedalus.generator.host import native
from daedalus.generator.verify.check_runs import Wish
from daedalus.generator.verify.crosscheck import Outcome


def compared(monkeypatch: pytest.MonkeyPatch, recorded: set[str]) -> list[Wish]:
    """The wish of each comparison that `build` makes: of all kernels, or of one a family."""
    calls: list[Wish] = []

    def note(
        entries: list[Entry], wish: Wish, *, made: tuple[Variant, ...], remember: bool
    ) -> tuple[list[Outcome], list[object]]:
        whole = wish.targets == ("c", "vector", "neon")  # where no record is by this compiler
        assert remember and (list(entries) == list(load())) == whole
        families = [e.kernel.family for e in entries]
        assert set(families) == {e.kernel.family for e in load()}
        assert whole or len(families) == len(set(families))
        calls.append(wish)
        if wish.targets == ("glsl",):  # a machine without any device of these
            return [], [Skip("v3dv-native", "not built")]
        return [
            Outcome(e.kernel.id, t, "v", "native", wish.items, wish.items)
            for e in entries
            for t in wish.targets
        ], []

    monkeypatch.setattr(build, "run_checks", note)
    monkeypatch.setattr(build, "compilers", lambda: recorded)
    build._verify(200, Generated({}, (), {}))
    return calls


def test_a_compiler_on_record_means_a_sample_of_a_kernel_of_each_family(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = set(build.foreign_compilers(set()))
    assert here
    assert compared(monkeypatch, here) == [
        Wish(("c", "vector", "neon", "glsl", "qpu"), 200, seed=1, gpus=("lavapipe-8",), once=True),
        Wish(("glsl",), 200, seed=1, gpus=("v3dv-native",), once=True),
    ]
    kernels, families = len(load()), len({e.kernel.family for e in load()})
    assert (
        f"c, vector, neon, glsl, qpu: {5 * families} comparisons are bit-exact,"
        f" {5 * families * 200} conformant items of {families} kernels: those without a record,"
        f" and one a family; {kernels - families} others are on record"
    ) in capsys.readouterr().err.splitlines()


def test_a_compiler_without_records_is_told_and_the_processors_variants_get_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    more, *sample = compared(monkeypatch, {"some other compiler 1.0"})
    assert more == Wish(("c", "vector", "neon"), 1000, seed=1, gpus=(), once=True)
    assert sample == [
        Wish(("glsl", "qpu"), 200, seed=1, gpus=("lavapipe-8",), once=True),
        Wish(("glsl",), 200, seed=1, gpus=("v3dv-native",), once=True),
    ]
    kernels, families = len(load()), len({e.kernel.family for e in load()})
    told = capsys.readouterr().err
    assert (
        f"c, vector, neon: {3 * kernels} comparisons are bit-exact, {3 * kernels * 1000} conformant"
        f" items of {kernels} kernels, whether on record or not\n"
        f"glsl, qpu: {2 * families} comparisons are bit-exact, {2 * families * 200} conformant"
        f" items of {families} kernels: those without"
    ) in told
    assert "no record is by" in told and "skipped: v3dv-native: not built" in told


def test_a_generated_file_changed_by_hand_is_found_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the specs give is compared with generated/ by `gen --check`; here it is the folder's.
    folder = native.repo_root() / "generated"
    texts = {
        p.relative_to(folder).as_posix(): p.read_text()
        for p in folder.rglob("*")
        if p.is_file() and not records.is_record(p.relative_to(folder).as_posix())
    }
    made = Generated(texts, (), {})
    ignore = shutil.ignore_patterns(records.FOLDER)
    shutil.copytree(folder, tmp_path / "generated", ignore=ignore)
    monkeypatch.setattr(build, "generate_or_explain", lambda: made)
    monkeypatch.setattr(build, "repo_root", lambda: tmp_path)
    assert build._require_unchanged() is made
    changed = next((tmp_path / "generated" / "src").rglob("*.c"))
    changed.write_text(changed.read_text() + "/* by hand */\n")
    before = changed.read_text()
    with pytest.raises(UserError, match="1 files") as caught:
        build._require_unchanged()
    assert "./daedalus gen" in caught.value.hint
    assert changed.read_text() == before
