# SPDX-License-Identifier: BSD-2-Clause
"""The measuring engine as a device: what is generated, built, asked and kept."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.cli.tune import command
from daedalus.generator.compile.registry import find, load
from daedalus.generator.host import native
from daedalus.generator.options import options_of
from daedalus.generator.tuning import generated, journal
from daedalus.generator.tuning.engine_device import SEEDS, targets_of
from daedalus.generator.tuning.entries import Result

pytestmark = pytest.mark.campaign


def test_what_is_generated_is_a_library_of_these_points(tmp_path: Path) -> None:
    entry = find(load(), "h264_idct4")
    assert entry is not None
    wanted = [
        options_of("glsl", points=2),
        options_of("glsl", points=2, signs=True),
        options_of("neon"),
    ]
    found = generated.generate([(entry, wanted)], tmp_path / "made", lambda text: None)
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    (kernel,) = manifest["kernels"]
    hashes = {v["name"]: v["input_hash"] for v in kernel["variants"]}
    assert hashes == found.hashes
    names = {n.partition("__")[2] for n in hashes}
    assert {"c_full", "neon_full", "neon_full_x2", "glsl_full_p2"} == names
    refused = {n.partition("__")[2]: why for n, why in found.refused.items()}
    assert refused == {"glsl_full_p2_signs": "the same code as daedalus_h264_idct4__glsl_full_p2"}
    ranks = [v["rank"] for v in kernel["variants"]]
    assert len(set(ranks)) == len(ranks)


def test_portable_c_is_measured_here_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    words = ["h264_idct4", "--device", "cpu", "--target", "c", "--journal", str(path), "--json"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    results = [e for e in journal.read(path).entries if isinstance(e, Result)]
    assert told["done"] == len(results) >= 1
    for r in results:
        assert r.verdict == "ok" and not r.modelled, r.reason
        assert r.verified_before and r.verified_after and r.seeds == SEEDS
        assert r.samples >= 10 and r.scenario == "m3 items=32640"
    assert len({r.fingerprint for r in results}) == len(results)  # a compiler each
    again = CliRunner().invoke(command, words)
    told = json.loads(again.stdout)
    assert (told["done"], told["known"]) == (0, len(results))


def test_a_target_that_nothing_here_runs_is_told() -> None:
    if native.is_arm():
        pytest.skip("here NEON can be measured")
    done = CliRunner().invoke(command, ["h264_idct4", "--device", "cpu", "--target", "neon"])
    assert done.exit_code != 0
    assert "neon" not in targets_of("cpu")
    assert "cpu does nothing of that target" in str(done.exception)
