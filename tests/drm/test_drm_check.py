# SPDX-License-Identifier: BSD-2-Clause
"""`check --target qpu` through the runtime: right variants pass, wrong ones are noticed."""

import grp
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.dsl.interp import Array
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli.check import command
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.devices import drm
from daedalus.generator.devices.vulkan import GpuDevice, Skip
from daedalus.generator.options import QPU
from daedalus.generator.verify import drm_faults
from daedalus.generator.verify import gpu_check as check
from daedalus.generator.verify.check_runs import Wish, run_checks

ITEMS = 32
WISH = Wish((QPU,), ITEMS, seed=3, qpus=(drm.SIMULATED,))


def entry(name: str) -> Entry:
    found = find(load(), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["h264_idct4", "vp9_mc_8h_avg"])
def test_variants_agree_with_the_interpreter(name: str) -> None:
    outcomes, skips = run_checks([entry(name)], WISH, quiet=True)
    assert skips == [] and len(outcomes) >= 3
    assert {o.device for o in outcomes} == {drm.SIMULATED} and {o.target for o in outcomes} == {QPU}
    for outcome in outcomes:
        assert outcome.failures == [] and outcome.good


def test_a_wrong_expectation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte of a result counts: one of the interpreter's is made another."""
    prepare = check.prepare

    def spoilt(*arguments: object) -> object:
        made = prepare(*arguments)  # type: ignore[arg-type]
        for batches in made.values():
            first: Array = next(iter(batches[0].result.buffers.values()))
            flat = first.reshape(-1)
            flat[len(flat) // 2] ^= np.ones(1, flat.dtype)[0]
        return made

    monkeypatch.setattr(check, "prepare", spoilt)
    outcomes, _ = run_checks([entry("h264_idct4")], WISH, quiet=True)
    assert any(not o.good for o in outcomes)


def test_sanitized_programs_take_no_driver() -> None:
    outcomes, skips = run_checks([entry("h264_idct4")], replace(WISH, sanitize=True), quiet=True)
    assert outcomes == [] and [s.name for s in skips] == [drm.SIMULATED]


def test_names_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no device drm-9"):
        drm.device("drm-9", lambda _: Path("/bin/true"))
    monkeypatch.setattr(drm, "_DRIVERS", "/nowhere/*")
    found = drm.device("drm", lambda _: Path("/bin/true"))
    assert isinstance(found, Skip) and "no render node" in found.reason


def test_frames_are_for_the_runtime() -> None:
    """Without a device that runs them nothing would be compared, and nobody told why."""
    assert command.callback is not None
    for device in ([], ["--device", "simulator"]):
        with pytest.raises(UserError, match="frames are for devices") as raised:
            command.main(["--target", "qpu", "--frame", *device], standalone_mode=False)
        assert raised.value.hint and drm.SIMULATED in raised.value.hint


def test_nodes_that_may_not_be_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each is told, with its group; where one may be, it is taken."""
    open_ones: list[Path] = []
    for name, driver in (("renderD128", "v3d"), ("renderD129", "vc4"), ("renderD130", "v3d")):
        (tmp_path / "sys" / name / "device").mkdir(parents=True)
        (tmp_path / "sys" / driver).mkdir(exist_ok=True)
        (tmp_path / "sys" / name / "device" / "driver").symlink_to(tmp_path / "sys" / driver)
    node = tmp_path / "renderD128"
    node.touch()
    node.chmod(0o660)
    monkeypatch.setattr(drm, "_DRIVERS", f"{tmp_path}/sys/renderD*/device/driver")
    monkeypatch.setattr(drm, "_NODES", tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: path in open_ones)
    found = drm.device("drm", lambda _: Path("/bin/true"))
    group = grp.getgrgid(node.stat().st_gid).gr_name
    assert isinstance(found, Skip)
    assert found.reason == (
        f"{node} may not be opened: it is for the group {group}; sudo usermod -aG {group} $USER,"
        f" and log in again; and {tmp_path / 'renderD130'} cannot be opened: No such file or"
        " directory"
    )
    open_ones.append(tmp_path / "renderD130")
    assert isinstance(drm.device("drm", lambda _: Path("/bin/true")), GpuDevice)
    node.chmod(0o640)
    open_ones[:] = [tmp_path / "renderD129"]
    found = drm.device("drm", lambda _: Path("/bin/true"))
    assert isinstance(found, Skip) and "its mode 640 is for no group" in found.reason
    assert isinstance(drm.device("drm", lambda _: Path("/bin/true")), Skip)


def test_faults_are_for_frames() -> None:
    assert command.callback is not None
    for frame, device in ((False, drm.SIMULATED), (True, "simulator")):
        with pytest.raises(UserError, match="frames on the simulated device"):
            command.main(
                ["--target", "qpu", "--device", device, "--fault", "lost"]
                + (["--frame"] if frame else []),
                standalone_mode=False,
            )


def test_the_fault_is_at_the_last_submission(tmp_path: Path) -> None:
    lines = [{"submission": n, "wall_us": 1000.0 * n} for n in (1, 5, 3)]
    device = drm_faults._faulty(Path(shutil.which("true") or "/bin/true"), tmp_path, lines, "hang")
    assert device.gpu is not None
    words = device.gpu.prefix
    assert words[words.index("--fault") + 1] == "hang@5:ms=2520"
    assert device.gpu.environment["DAEDALUS_DRM_RESET_MS"] == "2020"
    assert not device.gpu.simulated
