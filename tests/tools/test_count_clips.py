# SPDX-License-Identifier: BSD-2-Clause
"""`count --clips`: which clips are decoded, what is printed, and what fails; nothing is decoded."""

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from daedalus.codecs import clips
from daedalus.codecs.clips import Clip
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.cli import count as verb
from daedalus.generator.measure import decodes
from daedalus.generator.measure.decodes import Decoded, Mix
from daedalus.generator.measure.neon import decoding, llvm
from daedalus.generator.measure.neon.llvm import Llvm

FAMILY = "transforms"
TOOK = {"ours": 90, "theirs": 100}  # of each clip, instructions as well as cycles


class Families:
    """Of one family."""

    names = (FAMILY,)

    def of(self, symbol: str) -> str:
        """Its name."""
        return FAMILY


@pytest.fixture(autouse=True)
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two mixes of three clips; returns the names of the clips that were decoded."""
    names: list[str] = []

    def executed(
        decoder: object, families: decodes.Families, wanted: list[Clip], *, clang: bool
    ) -> list[Decoded]:
        names.extend(c.name for c in wanted)
        return [Decoded(c, w, TOOK[w], {"f": TOOK[w]}, []) for c in wanted for w in decodes.WAYS]

    known = SimpleNamespace(name="vp9", clips=[{"name": n} for n in ("odd", "pan", "intra")])
    mixes = [Mix(("odd", "pan"), 0.95, "moving"), Mix(("pan", "intra"), 0.85, "lossless, still")]
    modelled = SimpleNamespace(of=lambda d: Counter({FAMILY: d.whole}))
    monkeypatch.setattr(decodes, "decoders", lambda: [known])
    monkeypatch.setattr("daedalus.generator.cli.count_clips.Families", lambda decoder: Families())
    monkeypatch.setattr(decodes, "mixes", lambda: mixes)
    monkeypatch.setattr(decodes, "decodes", executed)
    monkeypatch.setattr(clips, "make_clip", lambda decoder, c: Clip(c["name"], Path("clip.ivf")))
    monkeypatch.setattr(llvm, "find", lambda: Llvm("", "", "", ""))
    monkeypatch.setattr(decoding, "called", lambda families, found: set())
    monkeypatch.setattr(decoding, "models", lambda *words, clang: modelled)
    return names


def _invoke(*words: str) -> Result:
    return CliRunner().invoke(verb.command, ["--clips", *words], catch_exceptions=False)


def _data(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_clip_without_its_package_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, decoded: list[str]
) -> None:
    def make(decoder: object, clip: dict[str, Any]) -> Clip:
        if clip["name"] == "odd":
            raise clips.NoPackage("no video", "", EXIT_MISSING)
        return Clip(clip["name"], Path("clip.ivf"))

    monkeypatch.setattr(clips, "make_clip", make)
    result = _invoke("--json")
    assert _data(result)["skipped"] == [{"name": "vp9, odd", "reason": "no video"}]
    assert "skipped: vp9, odd: no video" in result.stderr
    assert decoded == ["pan", "intra"] and result.exit_code == 0
    assert [m["clips"] for m in _data(_invoke("--json", "--cycles"))["mixes"]] == [["pan", "intra"]]
    with pytest.raises(UserError, match="no video"):
        _invoke("odd")


def test_a_missing_llvm_is_said_ahead_of_the_work(
    monkeypatch: pytest.MonkeyPatch, decoded: list[str]
) -> None:
    def missing() -> None:
        raise UserError("no LLVM", "install one", EXIT_MISSING)

    monkeypatch.setattr(llvm, "find", missing)
    monkeypatch.delattr(clips, "make_clips")
    with pytest.raises(UserError, match="no LLVM"):
        _invoke("--cycles")
    assert decoded == []


@pytest.mark.parametrize("words", [("--cycles",), ("odd", "pan", "intra", "odd", "pan")])
def test_a_clip_is_decoded_once(decoded: list[str], words: tuple[str, ...]) -> None:
    _invoke(*words)
    assert decoded == ["odd", "pan", "intra"]


MISSED = "pan, intra (lossless, still): 0.900 of theirs in cycles, the bar is 0.85"


def test_json_of_cycles_is_json_alone_and_has_the_mixes() -> None:
    result = _invoke("--cycles", "--json")
    assert _data(result)["mixes"] == [
        {"clips": ["odd", "pan"], "ratio": 0.9, "bar": 0.95, "above_bar": False},
        {"clips": ["pan", "intra"], "ratio": 0.9, "bar": 0.85, "above_bar": True},
    ]
    assert result.exit_code == 1


def test_mixes_stand_below_the_table() -> None:
    result = _invoke("--cycles")
    odd = "odd, pan (moving): 0.900 of theirs in cycles, the bar is 0.95"
    assert result.stdout.splitlines()[-2:] == [odd, MISSED]
    assert result.exit_code == 1


def test_a_mix_that_is_not_all_there_has_no_bar() -> None:
    assert _data(_invoke("--cycles", "--json", "odd"))["mixes"] == []


@pytest.mark.parametrize(("ours", "code"), [(100, 0), (101, 1)])
def test_a_clip_that_executes_more_with_ours_fails(
    monkeypatch: pytest.MonkeyPatch, ours: int, code: int
) -> None:
    monkeypatch.setitem(TOOK, "ours", ours)
    result = _invoke("pan")
    assert result.exit_code == code
    said = "pan: 101 instructions with our functions, 100 without: 1.010"
    assert (said in result.stderr) == (code == 1)
