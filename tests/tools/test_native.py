# SPDX-License-Identifier: BSD-2-Clause
"""What the C builds are made with, and how programs are compiled."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.host import level, native


def _tree(folder: Path) -> Path:
    """The parts of this checkout that CMake takes for a build, with the tests' generated code."""
    root = native.repo_root()
    for part in ("cmake", "runtime", "tools", "v3d"):
        shutil.copytree(root / part, folder / part)
    shutil.copy(root / "CMakeLists.txt", folder)
    shutil.copytree(root / "tests" / "c" / "fake_generated", folder / "generated")
    return folder


def test_a_check_does_not_let_later_builds_take_what_is_unverified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _tree(tmp_path / "root")
    monkeypatch.setattr(native, "repo_root", lambda: root)
    monkeypatch.setattr(native, "build_dir", lambda: root / "build")
    verified = root / "generated" / "records" / "fake_add.json"
    verified.write_text(verified.read_text().replace('"a2"', '"a3"'))
    no_tests = "-DDAEDALUS_TESTS=OFF"
    native.build_library("portable", options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON", no_tests))
    with pytest.raises(UserError, match="does not vouch"):
        native.build_library("portable", options=(no_tests,))


@pytest.mark.skipif(native.is_arm(), reason="levels are of x86-64")
def test_an_older_processor_is_refused_and_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(level, "_CPUINFO", info)
    level.require()  # where the system does not tell
    info.write_text("flags : sse4_2 avx2 bmi2\n")
    level.require()
    info.write_text("flags : sse4_2 avx bmi1\n")
    with pytest.raises(UserError, match="is not x86-64-v3: it has no AVX2") as e:
        level.require()
    assert e.value.exit_code == EXIT_MISSING


def test_programs_are_compiled_once_and_again_when_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "out" / "program"

    def compiled() -> int:
        return native.compile_program("host", program, [source]).stat().st_mtime_ns

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: compiled(), range(4)))) == 1
    first = compiled()
    source.write_text("int main(void) { return 1; }\n")
    second = compiled()
    assert second != first
    monkeypatch.setattr(native, "version_of", lambda program: "another compiler")
    assert compiled() != second
    assert not list(program.parent.glob("*.new"))


def _configured(place: Path, source: Path) -> Path:
    place.mkdir(parents=True)
    (place / "CMakeCache.txt").write_text(
        f"CMAKE_CACHEFILE_DIR:INTERNAL={place}\nCMAKE_HOME_DIRECTORY:INTERNAL={source}\n"
    )
    (place / "build.ninja").touch()
    (place / "objects").mkdir()
    (place / "build.lock").touch()
    return place


def test_build_folders_of_this_place_stay(tmp_path: Path) -> None:
    place = _configured(tmp_path / "build", tmp_path)
    native.forget_foreign(place, tmp_path)
    assert (place / "objects").is_dir()
    assert (place / "CMakeCache.txt").is_file()


@pytest.mark.parametrize("what", ["moved", "other source", "half made"])
def test_other_build_folders_are_emptied(tmp_path: Path, what: str) -> None:
    place = _configured(tmp_path / "build", tmp_path)
    if what == "moved":
        place = place.rename(tmp_path / "elsewhere")
    elif what == "half made":
        (place / "build.ninja").unlink()
    native.forget_foreign(place, tmp_path / "sub" if what == "other source" else tmp_path)
    assert [p.name for p in place.iterdir()] == ["build.lock"]


def test_a_folder_is_configured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Again for other words, when packages change, and after a failure."""
    packages, ran = tmp_path / "status", list[str]()

    def run(command: list[str], **_: object) -> None:
        if command[0] == "wrong":
            raise UserError("wrong")
        ran.append(command[0])
        (tmp_path / "build.ninja").touch()

    monkeypatch.setattr(native, "run", run)
    monkeypatch.setattr(native, "_PACKAGES", packages)
    native._configure(["one"], tmp_path)
    native._configure(["one"], tmp_path)
    assert ran == ["one"]
    native._configure(["other"], tmp_path)
    native._configure(["one"], tmp_path)
    assert ran == ["one", "other", "one"]
    packages.touch()
    native._configure(["one"], tmp_path)
    assert len(ran) == 4
    with pytest.raises(UserError):
        native._configure(["wrong"], tmp_path)
    native._configure(["one"], tmp_path)
    assert len(ran) == 5
