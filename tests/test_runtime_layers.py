# SPDX-License-Identifier: BSD-2-Clause
"""Folders of runtime/ include and call one way, without exceptions."""

from pathlib import Path

import c_layers
import pytest

from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import native

ROOT = (repo_root() / "runtime").resolve()
# Lowest first, as docs/design.md has it.  The two routes to the GPU do not know each other.
ROUTES = ("gpu/drm", "gpu/vulkan")
LIBRARY = ("base", "cpu", "gpu", *ROUTES, "batch")
ORDERS = (LIBRARY, ("base", "cpu", "gpu", *reversed(ROUTES), "batch"))
# What stands apart: layouts of the toolkit's, headers for all, and the program that measures.
BELOW, ABOVE = ("v3d/device", "include/daedalus", "support/daedalus"), ("tune",)


def folder_of_source(file: Path) -> str:
    file = file.resolve()
    return str(file.parent.relative_to(ROOT if file.is_relative_to(ROOT) else ROOT.parent))


def source_of(file: Path) -> Path:
    """CMake puts objects at CMakeFiles/TARGET.dir/runtime/FOLDER/NAME.c.o."""
    at = file.parts.index("CMakeFiles")
    return ROOT.parent.joinpath(*file.parts[at + 2 :]).with_suffix("")


def folder_of_object(file: Path) -> str:
    return folder_of_source(source_of(file))


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    """Those of the library, of each folder, with both routes to the GPU."""
    files = native.build_library("host", targets=("daedalus",)) / "CMakeFiles"
    parts = (files / "daedalus_runtime.dir" / "runtime", files / "daedalus.dir" / "runtime")
    found = [o for part in parts for o in part.rglob("*.o")]
    # Objects of files that are gone stay in a build folder.
    found = [o for o in found if source_of(o).is_file()]
    built = {source_of(o) for o in found}
    # Without its headers a route is this file alone, and nothing of it would be looked at.
    absent = {c for c in built if c.name == "absent.c"}
    assert not absent, f"built without a route to the GPU: {sorted(absent)}; install libvulkan-dev"
    missed = {c for f in LIBRARY for c in (ROOT / f).glob("*.c") if c.name != "absent.c"} - built
    assert not missed, f"no objects of {sorted(missed)}"
    assert {folder_of_object(o) for o in found} == set(LIBRARY)
    return found


@pytest.mark.parametrize("order", ORDERS)
def test_includes_lead_down(order: tuple[str, ...]) -> None:
    graph = c_layers.includes(ROOT, [ROOT, ROOT / "include", ROOT / "support"])
    assert {folder_of_source(f) for f in graph} >= set(order)
    assert sum(map(len, graph.values())) > 200
    assert c_layers.upward(graph, folder_of_source, (*BELOW, *order, *ABOVE)) == []


@pytest.mark.parametrize("order", ORDERS)
def test_calls_lead_down(order: tuple[str, ...], objects: list[Path]) -> None:
    graph = c_layers.calls(objects)
    assert sum(map(len, graph.values())) > 100
    assert c_layers.upward(graph, folder_of_object, order) == []


def test_the_other_way_around_is_found(objects: list[Path]) -> None:
    """That the graphs of this very folder hold what the tests would say."""
    found = c_layers.upward(c_layers.calls(objects), folder_of_object, LIBRARY[::-1])
    assert "batch/append.c.o -> gpu/usable.c.o" in found
    assert "gpu/rescue.c.o -> cpu/run.c.o" in found
    graph = c_layers.includes(ROOT, [ROOT, ROOT / "include", ROOT / "support"])
    order = (*BELOW, *LIBRARY[::-1], *ABOVE)
    assert "batch/batch.h -> gpu/route.h" in c_layers.upward(graph, folder_of_source, order)
