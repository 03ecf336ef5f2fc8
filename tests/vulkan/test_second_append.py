# SPDX-License-Identifier: BSD-2-Clause
"""tests/c/test_second_append.c on a Vulkan device: what the second append does there is nothing."""

from functools import partial
from pathlib import Path

import pytest

from daedalus.generator.devices import vulkan as devices
from daedalus.generator.host import native
from daedalus.generator.verify import crosscheck
from daedalus.v3d import vkrun

TARGET = "daedalus_test_second_append"


def test_the_second_append_on_a_vulkan_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vkrun.lavapipe()  # fetches it
    (device,), skips = devices.find(["lavapipe-8"], partial(crosscheck.program, loads=True))
    assert not skips
    program = native.build_library("host", targets=(TARGET,)) / "tests" / "c" / TARGET
    monkeypatch.chdir(tmp_path)  # where it writes a recipe
    monkeypatch.setenv("DAEDALUS_QPU_ROUTE", "vulkan")
    done = device.run([program, "qpu"], timeout=120)
    assert done.returncode == 0, done.stderr
