# SPDX-License-Identifier: BSD-2-Clause
"""The list of Debian packages: verbs that run others need what those need."""

import tomllib

import pytest

from daedalus.generator.base.paths import repo_root


def _names(arch: str, *verbs: str) -> set[str]:
    table = tomllib.loads((repo_root() / "tools" / "packages.toml").read_text())["package"]
    return {
        p["name"]
        for p in table
        if arch in p.get("arch", [arch]) and {"*", *verbs} & set(p["verbs"])
    }


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_build_needs_what_check_and_stream_need(arch: str) -> None:
    assert _names(arch, "build") >= _names(arch, "check", "stream")


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_test_needs_what_all_verbs_need(arch: str) -> None:
    everything = ("build", "check", "count", "explain --svg", "fuzz", "mutate", "oracle", "stream")
    assert _names(arch, "test") >= _names(arch, "v3d")
    assert _names(arch, "test") >= _names(arch, *everything)


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_who_set_the_device_up_has_what_running_on_it_needs(arch: str) -> None:
    assert _names(arch, "setup --native") >= _names(arch, "v3d")
    assert _names(arch, "setup --v3dv") >= _names(arch, "v3d")


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_who_tunes_and_farms_has_what_checking_and_modelling_need(arch: str) -> None:
    for verb in ("farm", "tune"):
        assert _names(arch, verb) >= _names(arch, "check", "bench", "bench --model")
