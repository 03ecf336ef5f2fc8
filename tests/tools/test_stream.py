# SPDX-License-Identifier: BSD-2-Clause
"""What the stream verb makes of calls that were counted, and of files it is given."""

from pathlib import Path

import pytest

from daedalus.generator import count, stream
from daedalus.generator.cli.common import UserError


def _outcome(name: str, eob_1: int, eob_12: int) -> stream.Outcome:
    classes = {"vp9_idct8": {"eob 1": eob_1, "eob 2..12": eob_12}}
    return stream.Outcome(stream.Clip(name, Path(name)), "c", "vp9", 1, [], classes)


def test_every_class_must_be_called_by_some_clip() -> None:
    first, second = _outcome("a", 5, 0), _outcome("b", 0, 5)
    assert stream._uncalled([first, second], "c") == []
    assert stream._uncalled([first], "c") == [
        "vp9_idct8, c: no clip calls it for the class eob 2..12"
    ]


def test_a_file_that_calls_nothing_is_a_failure() -> None:
    assert stream._idle([_outcome("a", 0, 1)]) == []
    (failure,) = stream._idle([_outcome("a", 0, 0)])
    assert failure.startswith("a, c: its decoding calls none of the replaced functions")


def test_kernels_that_are_not_replaced_are_named() -> None:
    report = stream.Report(outcomes=[_outcome("a", 1, 1)])
    assert "vp9_lpf4_v" in report.not_exercised()
    assert "vp9_idct8" not in report.not_exercised()


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        stream.import_clip(tmp_path)


def test_a_silent_counting_plugin_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count, "_plugin", lambda: tmp_path / "plugin.so")
    monkeypatch.setattr(count, "_qemu", lambda: "true")
    with pytest.raises(UserError, match="wrote no number"):
        count.executed(["program"])
