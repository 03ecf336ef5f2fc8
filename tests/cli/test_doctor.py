# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus doctor`: what is there, what is not, and the command that gets each."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from daedalus.generator.cli import doctor, setup
from daedalus.generator.host import fetch, native
from daedalus.v3d import driver


def found() -> dict[str, dict[str, Any]]:
    result = CliRunner().invoke(doctor.command, ["--json"])
    assert result.exit_code in (0, 3), result.output
    return {f["name"]: f for f in json.loads(result.stdout)["found"]}


def printed() -> str:
    return CliRunner().invoke(doctor.command, []).stdout


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A checkout in which nothing was fetched or built, on x86-64."""
    monkeypatch.setattr(fetch, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(driver, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(native, "is_arm", lambda: False)
    monkeypatch.setattr(doctor, "debian_architecture", lambda: "amd64")


@pytest.mark.usefixtures("empty")
def test_what_is_absent_is_told_with_the_command_that_gets_it() -> None:
    there = found()
    absent = {n: f["mend"] for n, f in there.items() if f["kind"] != "package" and not f["found"]}
    fetched = "ffmpeg amd64, ffmpeg arm64, dav1d source, simde all, v3dv arm64, lavapipe amd64"
    fetched += ", natural-video all, ffmpeg-source source, sshd amd64, python amd64"
    names = f"{fetched}, vulkan-tools amd64, vulkan-tools arm64, mesa source, v3dv amd64"
    assert absent.keys() == set(names.split(", "))
    assert absent["v3dv arm64"].startswith("./daedalus setup --v3dv")
    assert absent["ffmpeg arm64"].startswith("./daedalus setup --oracles")
    # These are made when asked for only: no first use gets them.
    assert absent["mesa source"] == "./daedalus setup --native"
    assert absent["v3dv amd64"].startswith("./daedalus setup --native")
    text = printed()
    assert "not built yet" in text and "not fetched yet" in text
    for name, mend in absent.items():
        assert f"without {name}: " in text and f"mend with: {mend}" in text


@pytest.mark.usefixtures("empty")
def test_every_command_that_is_named_exists() -> None:
    options = {o for p in setup.command.params for o in p.opts}
    for f in found().values():
        for word in f["mend"].split():
            assert not word.startswith("--") or word.rstrip(",") in options, f["mend"]


@pytest.mark.usefixtures("empty")
def test_a_driver_that_was_built_is_there(tmp_path: Path) -> None:
    deb = {"package": "mesa", "version": "25.0.7-2", "architecture": "source", "sha256": "00"}
    source = fetch.folder("mesa", fetch.SOURCE)
    source.mkdir(parents=True)
    (source / "packages.json").write_text(json.dumps({"packages": [deb]}))
    assert not found()["v3dv amd64"]["found"]  # its source alone does nothing
    place = tmp_path / "v3dv" / "native"
    (place / "lib").mkdir(parents=True)
    (place / "lib" / "libvulkan_broadcom.so").touch()
    assert not found()["v3dv amd64"]["found"]  # nor does a build that was not finished
    (place / "made-of").touch()
    there = found()["v3dv amd64"]
    assert there["found"] and there["version"] == "25.0.7-2" and there["kind"] == "driver"
