# SPDX-License-Identifier: BSD-2-Clause
"""What is kept of earlier runs when others are recorded."""

from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner

from daedalus.generator.cli import check
from daedalus.generator.verify.crosscheck import Outcome
from daedalus.generator.verify.verified import merged


@dataclass
class Fake:
    """As much of a variant as is looked at."""

    input_hash: str


def run(device: str, items: int) -> dict[str, object]:
    return {
        "device": device, "items": items, "conformant": items, "mismatches": 0, "out_of_bounds": 0
    }  # fmt: skip


def outcome(variant: str, device: str, items: int = 5, mismatches: int = 0) -> Outcome:
    return Outcome("k", "glsl", variant, device, items, items, mismatches)


KNOWN: dict[str, Any] = {
    "a": {"input_hash": "1", "runs": [run("lavapipe-8", 3), run("gpu-0", 4)]},
    "b": {"input_hash": "1", "runs": [run("lavapipe-8", 3)]},
    "gone": {"input_hash": "1", "runs": [run("lavapipe-8", 3)]},
}


def entries(hashes: dict[str, str], *outcomes: Outcome) -> dict[str, Any]:
    variants: Any = {name: Fake(h) for name, h in hashes.items()}
    return merged(KNOWN, variants, list(outcomes))


def test_other_devices_runs_of_the_same_code_stay() -> None:
    found = entries({"a": "1", "b": "1"}, outcome("a", "lavapipe-8"))
    assert found["a"]["runs"] == [run("lavapipe-8", 5), run("gpu-0", 4)]
    assert found["b"] == KNOWN["b"]
    assert "gone" not in found


def test_runs_of_other_code_go() -> None:
    found = entries({"a": "2", "b": "2"}, outcome("a", "v3dv-arm64"))
    assert found == {"a": {"input_hash": "2", "runs": [run("v3dv-arm64", 5)]}}


def test_a_variant_that_failed_loses_everything() -> None:
    found = entries({"a": "1"}, outcome("a", "lavapipe-8"), outcome("a", "gpu-0", mismatches=1))
    assert found == {}


def test_a_record_names_the_compiler() -> None:
    made = outcome("a", "native")
    made.compiler = "gcc 12"
    found = entries({"a": "1"}, made)
    assert {**run("native", 5), "compiler": "gcc 12"} in found["a"]["runs"]


@pytest.mark.parametrize("words", [(), ("--record",)])
def test_only_who_asks_for_it_writes_records(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Outcome] = []
    good = Outcome("h264_idct4", "c", "v", "native", 5, 5)
    monkeypatch.setattr(check, "run_checks", lambda *_, **__: ([good], []))
    monkeypatch.setattr(check, "record_verified", written.extend)
    result = CliRunner().invoke(check.command, ["h264_idct4", "--target", "c", *words])
    assert result.exit_code == 0, result.output
    assert written == ([good] if words else [])
