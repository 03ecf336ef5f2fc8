# SPDX-License-Identifier: BSD-2-Clause
"""`new`: what it writes works at once, and nothing that is there is touched."""

import subprocess
import sys
from pathlib import Path

import pytest
from spec_support import spec_text, write_spec

from daedalus.dsl.errors import SpecError
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.new_spec import KINDS, ORIENTED
from daedalus.generator.compile.new_spec import write_spec as new
from daedalus.generator.compile.registry import load

ROOT = Path(__file__).parents[2]


def files(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text()
        for p in folder.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder of specs."""
    (tmp_path / "specs").mkdir()
    return tmp_path / "specs"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_generates_for_c_and_neon(kind: str, root: Path) -> None:
    written = new(root, "hevc_thing", kind)
    assert set(files(root)) == {"hevc/__init__.py", "hevc/thing.py"}
    names = ("hevc_thing_v", "hevc_thing_h") if kind in ORIENTED else ("hevc_thing",)
    assert written.kernels == names
    entries = load(root)
    assert {e.kernel.id for e in entries} == set(names)
    made = {v.name: v.prod for v in generate(entries).variants}
    assert made == {f"daedalus_{n}__{t}_full": True for n in names for t in ("c", "neon")}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_well_formed(kind: str, root: Path) -> None:
    new(root, "hevc_thing", kind)
    ruff = [Path(sys.executable).parent / "ruff"]
    config = ["--config", ROOT / "pyproject.toml", root]
    for words in (["check", *config], ["format", "--check", *config]):
        done = subprocess.run([*ruff, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_a_second_kernel_joins_the_family(root: Path) -> None:
    new(root, "hevc_one", "transform")
    before = files(root)
    written = new(root, "hevc_two", "mc")
    after = files(root)
    assert [p.name for p in written.files] == ["two.py"]
    assert after["hevc/one.py"] == before["hevc/one.py"]
    assert {e.kernel.id for e in load(root)} == {"hevc_one", "hevc_two"}


def test_the_folder_may_be_another(root: Path) -> None:
    new(root, "nv12_split", "layout", "layout")
    assert "layout/split.py" in files(root)
    (entry,) = load(root)
    assert entry.kernel.codec == "nv12"


def test_a_file_that_is_there_is_left_alone(root: Path) -> None:
    new(root, "hevc_one", "transform")
    (root / "hevc/two.py").write_text("X = 1\n")
    new(root, "hevc_two", "transform")
    assert files(root)["hevc/two.py"] == "X = 1\n" and "hevc/hevc_two.py" in files(root)
    (root / "hevc/three.py").write_text("")
    (root / "hevc/hevc_three.py").write_text("")
    _refused(root, "hevc_three", "hevc/ has three.py and hevc_three.py already")


def _refused(root: Path, kernel_id: str, message: str, kind: str = "transform",
             codec: str | None = None) -> None:  # fmt: skip
    before = files(root)
    with pytest.raises(UserError) as caught:
        new(root, kernel_id, kind, codec)
    assert caught.value.message.startswith(message) and caught.value.hint
    assert files(root) == before


@pytest.mark.parametrize(
    "name", ["idst4", "Hevc_idst4", "hevc-idst4", "hevc_", "_idst", "4k_x", "hevc__x", "", "../x_y"]
)
def test_names_that_break_the_rule(name: str, root: Path) -> None:
    _refused(root, name, f"{name!r} is not a kernel's name")


@pytest.mark.parametrize("codec", ["Hevc", "a_b", "../x", "", "4"])
def test_families_that_break_the_rule(codec: str, root: Path) -> None:
    _refused(root, "hevc_x", f"{codec!r} is not a codec's name", codec=codec)


def test_ids_and_aliases_that_exist(root: Path) -> None:
    new(root, "hevc_one", "transform")
    new(root, "hevc_edge", "filter")
    _refused(root, "hevc_one", "hevc_one exists: one.py:")
    _refused(root, "hevc_edge_v", "hevc_edge_v exists: edge.py:")
    _refused(root, "hevc_edge", "hevc_edge exists: edge.py:")  # an alias
    new(root, "hevc_line_h", "transform")
    _refused(root, "hevc_line", "hevc_line_h exists", kind="filter")


def test_an_oriented_kind_takes_a_name_without_orientation(root: Path) -> None:
    _refused(root, "hevc_edge_v", "hevc_edge_v: a filter comes in both", kind="filter")


def test_nothing_stays_of_what_does_not_load(root: Path) -> None:
    """The runtime has a header neon.h, so no codec can have that name."""
    new(root, "hevc_one", "transform")
    before = files(root)
    for codec in (None, "hevc"):
        with pytest.raises(SpecError, match=r"<daedalus/neon.h> is a header of the runtime"):
            new(root, "neon_x", "transform", codec)
        assert files(root) == before and not (root / "neon").exists()


def test_a_broken_spec_beside_it_is_reported_first(root: Path) -> None:
    write_spec(root, spec_text("pass"))  # no stage
    before = files(root)
    with pytest.raises(SpecError, match="has no stage"):
        new(root, "hevc_one", "transform")
    assert files(root) == before
