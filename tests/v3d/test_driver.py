# SPDX-License-Identifier: BSD-2-Clause
"""Mesa's driver as it is fetched and built: what lies where, and what is said when it cannot be."""

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import fetch, native
from daedalus.v3d import driver, tools, vkrun


def test_the_device_speaks_the_drivers_language(tmp_path: Path) -> None:
    """abi.h against the kernel's headers that Mesa is built with: newer than many a system's."""
    if not fetch.fetched("mesa", fetch.SOURCE):
        warnings.warn("abi.h is not compared: setup --native", stacklevel=2)
        pytest.skip("Mesa's source is not there: ./daedalus setup --native")
    headers = fetch.ensure("mesa", fetch.SOURCE) / "mesa" / "include" / "drm-uapi"
    (tmp_path / "drm").symlink_to(headers)
    subprocess.run(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-isystem", tmp_path,
         "-I", repo_root() / "v3d/device", repo_root() / "tests/c/v3d/device/test_abi.c"],
        check=True,
    )  # fmt: skip


def test_the_sysroot_is_whole() -> None:
    """Every library that the driver and the loader need is in it, and for its processor."""
    found = driver.arm64()
    assert (found.folder / "lib").resolve() == found.folder / "usr" / "lib"
    debs = {d.package: d for d in fetch.fetched("v3dv", "arm64") or []}
    assert set(debs) == set(fetch.oracles()["v3dv"].packages)
    assert {d.architecture for d in debs.values()} == {"arm64"}
    icd = json.loads(found.icd.read_text())["ICD"]
    library = found.folder / icd["library_path"]
    assert library.is_file() and icd["library_path"].startswith("./")
    folder = found.folder / "usr" / "lib" / "aarch64-linux-gnu"
    needed, seen = [library, folder / "libvulkan.so.1"], set()
    while needed:
        path = needed.pop()
        if path in seen:
            continue
        seen.add(path)
        assert path.resolve().read_bytes()[18:20] == b"\xb7\x00", f"{path} is not for arm64"
        text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
        names = [line.split("[")[1].rstrip("]") for line in text.stdout.splitlines()
                 if "(NEEDED)" in line]  # fmt: skip
        for name in names:
            places = [p for p in (folder / name, folder.parent / name) if p.exists()]
            assert places, f"{path.name} needs {name}"
            needed.append(places[0])


def test_an_icd_follows_its_driver(tmp_path: Path) -> None:
    """Its path starts at the file's folder, wherever that lies."""
    first = driver._icd(tmp_path, tmp_path / "a" / "libvulkan_broadcom.so")
    assert json.loads(first.read_text())["ICD"]["library_path"] == "./a/libvulkan_broadcom.so"
    before = first.stat().st_mtime_ns
    again = driver._icd(tmp_path, tmp_path / "a" / "libvulkan_broadcom.so")
    assert again.stat().st_mtime_ns == before
    driver._icd(tmp_path, tmp_path / "b" / "libvulkan_broadcom.so")
    assert json.loads(first.read_text())["ICD"]["library_path"] == "./b/libvulkan_broadcom.so"
    assert [p.name for p in tmp_path.iterdir()] == ["icd.json"]


def test_missing_tools_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = ("flex", "clang-19")
    monkeypatch.setattr(shutil, "which", lambda t, **_: None if t in absent else f"/bin/{t}")
    with pytest.raises(UserError, match=r"clang-19, flex$") as caught:
        driver.build_native()
    assert caught.value.exit_code == EXIT_MISSING
    assert "setup --native" in caught.value.hint


def test_nothing_is_fetched_where_that_is_forbidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "build_dir", lambda: tmp_path)
    monkeypatch.setenv(fetch.NO_SETUP_VARIABLE, "1")
    for name, arch, option in (("v3dv", "arm64", "--v3dv"), ("mesa", "source", "--native")):
        with pytest.raises(UserError, match=f"{name} for {arch} is not fetched") as caught:
            fetch.ensure(name, arch)
        assert caught.value.exit_code == EXIT_MISSING and option in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_a_driver_that_was_not_built_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "build_dir", lambda: tmp_path)
    assert driver.built() is None
    with pytest.raises(UserError, match="not built for this machine") as caught:
        vkrun.v3dv("host")
    assert caught.value.exit_code == EXIT_MISSING


@pytest.mark.skipif(native.is_arm(), reason="Debian's driver is for this machine's programs, too")
def test_no_other_driver_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ran on the machine's own driver would look as if it had run on the device."""
    for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(driver, "built", lambda: None)
    argv, environment = tools.on_device([str(vkrun.program("host")), "--list"])
    ran = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **environment})
    assert ran.returncode == EXIT_MISSING and not ran.stdout, ran.stdout
    monkeypatch.setenv("VK_DRIVER_FILES", "/a/driver/of/ones/own.json")
    assert not tools.on_device(argv[-2:])[1]
