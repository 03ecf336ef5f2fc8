# SPDX-License-Identifier: BSD-2-Clause
"""Folders of v3d/ include and call one way, and the device's files call without cycles."""

import subprocess
from pathlib import Path

import c_layers
import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.v3d import tools

ROOT = repo_root() / "v3d"
# Lowest first, as v3d/README.md lists them.
ORDER = (
    "include",
    "files",
    "encoding",
    "profiles",
    "hazards",
    "text",
    "simulator",
    "device",
    "tools",
)


def folder_of_source(file: Path) -> str:
    return file.resolve().relative_to(ROOT.resolve()).parts[0]


def folder_of_object(file: Path) -> str:
    """CMake puts objects at PART/CMakeFiles/TARGET.dir/FOLDER/NAME.c.o."""
    at = file.parts.index("CMakeFiles")
    return file.parts[at + 2] if len(file.parts) > at + 3 else file.parts[at - 1]


def source_of(file: Path) -> Path:
    rest = file.parts[file.parts.index("CMakeFiles") + 2 :]
    place = ROOT if len(rest) > 1 else ROOT / folder_of_object(file)
    return place.joinpath(*rest).with_suffix("")


def sources() -> set[Path]:
    """All of the library's and the device's, but those of other programs in device/."""
    found = {p for f in ORDER[1:-1] for p in (ROOT / f).rglob("*.c")}
    return {p for p in found if p.parent.name != "preload"} - {ROOT / "device" / "main.c"}


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    """Those of the toolkit's library and of the device's."""
    build = tools.device().parent.parent
    parts = (
        "daedalus_v3d.dir",
        "daedalus_v3d_files.dir",
        "daedalus_v3d_kernels*.dir",
        "daedalus_v3d_device.dir",
    )
    found = [o for part in parts for d in build.rglob(part) for o in d.rglob("*.o")]
    # Objects of files that are gone stay in a build folder.
    found = [o for o in found if source_of(o).is_file()]
    missed = sources() - {source_of(o) for o in found}
    assert not missed, f"no objects of {sorted(missed)}"
    return found


def test_includes_lead_down() -> None:
    graph = c_layers.includes(ROOT)
    assert sum(map(len, graph.values())) > 100
    assert c_layers.upward(graph, folder_of_source, ORDER) == []


def test_calls_lead_down(objects: list[Path]) -> None:
    graph = c_layers.calls(objects)
    assert sum(map(len, graph.values())) > 100
    assert c_layers.upward(graph, folder_of_object, ORDER) == []


def test_files_of_the_device_call_without_cycles(objects: list[Path]) -> None:
    device = [o for o in objects if folder_of_object(o) == "device"]
    assert c_layers.cycles(c_layers.calls(device)) == []


def test_what_calls_up_or_in_a_circle_is_found(tmp_path: Path) -> None:
    bodies = {
        "low/a.c": "void b(void); void a(void) { b(); }",
        "high/b.c": "void c(void); void b(void) { c(); }",
        "high/c.c": "void a(void); void c(void) { a(); }",
        "high/d.c": '#include "low/a.h"\nvoid a(void); void d(void) { a(); }',
        "low/a.h": '#include "high/b.h"\n',
        "high/b.h": "",
    }
    for name, body in bodies.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(body)
    sources = [tmp_path / n for n in bodies if n.endswith(".c")]
    for source in sources:
        subprocess.run(
            ["cc", "-I", tmp_path, "-c", source, "-o", source.with_suffix(".o")], check=True
        )
    graph = c_layers.calls([s.with_suffix(".o") for s in sources])

    def folder(file: Path) -> str:
        return file.parent.name

    assert c_layers.upward(graph, folder, ("low", "high")) == ["low/a.o -> high/b.o"]
    assert c_layers.cycles(graph) == [["a.o", "b.o", "c.o"]]
    included = c_layers.includes(tmp_path)
    assert c_layers.upward(included, folder, ("low", "high")) == ["low/a.h -> high/b.h"]
