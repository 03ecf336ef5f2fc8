# SPDX-License-Identifier: BSD-2-Clause
"""Which Vulkan devices names stand for, and what is said of those that are not here."""

from pathlib import Path

import pytest

from daedalus.generator.base.errors import UserError
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.host import fetch
from daedalus.v3d import driver


def program(arch: str) -> Path:
    """Lists one GPU and a rasteriser."""
    return Path(__file__).parent / "devices.sh"


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "fetched", lambda *_: None)
    monkeypatch.setattr(driver, "built", lambda: None)


def test_what_is_not_here_is_named(nothing_here: None) -> None:
    found, skips = devices.find(["lavapipe", "v3dv"], program)
    assert found == []
    assert [s.name for s in skips] == ["lavapipe-8", "lavapipe-16", "v3dv-native", "v3dv-arm64"]
    assert all("./daedalus setup" in s.reason for s in skips)


def test_the_machines_own_devices_are_its_gpus(nothing_here: None) -> None:
    found, skips = devices.find(["gpu"], program)
    assert [d.name for d in found] == ["gpu-1"]
    assert found[0].environment["DAEDALUS_VULKAN_DEVICE"] == "#1"
    assert skips == []
    assert devices.described(found[0], program("host")) == "Card, NVIDIA 1.2, subgroup 32"


def test_a_list_that_fails_is_said(nothing_here: None, tmp_path: Path) -> None:
    broken = tmp_path / "list.sh"
    broken.write_text("#!/bin/sh\necho no loader >&2\nexit 4\n")
    broken.chmod(0o755)
    found, (skip,) = devices.find(["gpu"], lambda arch: broken)
    assert found == [] and skip.reason.endswith("could not be listed: no loader")


def test_a_name_counts_once(nothing_here: None) -> None:
    _, skips = devices.find(["lavapipe-8", "lavapipe", "all"], program)
    assert [s.name for s in skips] == ["lavapipe-8", "lavapipe-16", "v3dv-native", "v3dv-arm64"]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UserError, match="no device gpux"):
        devices.find(["gpux"], program)
