# SPDX-License-Identifier: BSD-2-Clause
"""A comparison is remembered only for the very same: this processor, this environment."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.generator.devices import validation
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import fetch
from daedalus.generator.verify import compared
from daedalus.generator.verify.crosscheck import Device, Outcome

AMD64 = """processor\t: 0
model name\t: Some Processor
cpu MHz\t\t: 2000.000
flags\t\t: fpu sse2 avx2

processor\t: 1
model name\t: Some Processor
cpu MHz\t\t: 1800.000
flags\t\t: fpu sse2 avx2
"""
ARM64 = "processor\t: 0\nFeatures\t: fp asimd\nCPU part\t: 0xd0b\n"
LAVAPIPE = GpuDevice("lavapipe-8", "host", ("ld.so", "--library-path", "lib"), made_of=("hash",))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project on a processor of its own, whose file this is."""
    monkeypatch.setattr(compared, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(compared, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(compared, "_CPUINFO", tmp_path / "cpuinfo")
    for name in [n for n in os.environ if n.startswith(compared._VARIABLES)]:
        monkeypatch.delenv(name)
    (tmp_path / "cpuinfo").write_text(AMD64)
    return tmp_path / "cpuinfo"


def key(gpu: GpuDevice = LAVAPIPE) -> str:
    return compared.key((), [Device(gpu.name, "glsl", gpu.arch, gpu)], "wish")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (AMD64, AMD64.replace("avx2", "avx512f")),
        (AMD64, AMD64.replace("Some", "Another")),
        (AMD64, ARM64),
        (ARM64, ARM64.replace("asimd", "asimd sve")),
        (ARM64, ARM64.replace("0xd0b", "0xd0c")),
    ],
)
def test_another_processor(one: str, other: str, here: Path) -> None:
    here.write_text(one)
    before = key()
    here.write_text(other)
    assert key() != before


def test_a_clock_is_no_other_processor(here: Path) -> None:
    before = key()
    here.write_text(AMD64.replace("2000.000", "3100.000"))
    assert key() == before


@pytest.mark.parametrize(
    "name",
    ["LP_NATIVE_VECTOR_WIDTH", "GALLIVM_DEBUG", "MESA_DEBUG", "VK_INSTANCE_LAYERS", "LD_PRELOAD",
     "LVP_POISON_MEMORY", "NIR_DEBUG", "QEMU_CPU", "XDG_DATA_HOME"],
)  # fmt: skip
def test_another_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without = key()
    monkeypatch.setenv(name, "1")
    one = key()
    monkeypatch.setenv(name, "2")
    assert len({without, one, key()}) == 3


@pytest.mark.parametrize("name", ["SHLVL", "DAEDALUS_SETUP_SECONDS"])
def test_a_variable_of_nobody_concerned_is_no_other_environment(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = key()
    monkeypatch.setenv(name, "7")
    assert key() == before


def test_another_driver() -> None:
    assert key() != key(replace(LAVAPIPE, made_of=("other",)))


def test_what_was_good_is_remembered_for_the_same_alone(here: Path) -> None:
    good = [Outcome("k", "glsl", "v", "lavapipe-8", 16, 16)]
    compared.keep(key(), good)
    assert compared.recall(key()) == good
    here.write_text(AMD64.replace("sse2", "sse3"))
    assert compared.recall(key()) is None


def test_a_device_with_the_layers_is_not_made_of_the_drivers_packages_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "ensure", lambda name, arch: tmp_path)
    assert validation.validated(LAVAPIPE, tmp_path / "log").made_of == ()
