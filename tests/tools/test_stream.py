# SPDX-License-Identifier: BSD-2-Clause
"""What the stream verb makes of calls that were counted, and of files it is given."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from daedalus.codecs import clips
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, EXIT_USAGE, UserError
from daedalus.generator.cli import stream as verb
from daedalus.generator.compile.registry import load
from daedalus.generator.devices.vulkan import Skip
from daedalus.generator.host import level
from daedalus.generator.measure import trace
from daedalus.generator.verify import damage, stream, timed


def _outcome(name: str, eob_1: int, eob_12: int, file: Path | None = None) -> stream.Outcome:
    classes = {"vp9_idct8": {"eob 1": eob_1, "eob 2..12": eob_12}}
    vp9 = next(d for d in clips.decoders() if d.name == "vp9")
    return stream.Outcome(clips.Clip(name, file or Path(name)), "c", vp9, 1, [], classes)


def test_every_class_must_be_called_by_some_clip() -> None:
    first, second = _outcome("a", 5, 0), _outcome("b", 0, 5)
    assert stream._uncalled([first, second], "c") == []
    assert stream._uncalled([first], "c") == [
        "vp9_idct8, c: no clip calls it for the class eob 2..12"
    ]


def test_a_class_may_be_called_by_another_function_of_its_kernel() -> None:
    """They differ by a parameter; each must be called, through every pointer that leads to it."""
    names = "vp9_mc_8h_sharp", "vp9_mc_8h_smooth"
    rows = {"sub8": 1, "rows8": 0}, {"sub8": 0, "rows8": 1}
    ways = {names[0]: {"mc": 1, "within mc": 0}}
    called = replace(_outcome("a", 0, 0), classes=dict(zip(names, rows, strict=True)), ways=ways)
    assert stream._uncalled([called], "c") == [
        "vp9_mc_8h_sharp, c: no clip calls it through within mc"
    ]
    idle = replace(
        called, classes={names[0]: rows[0], names[1]: dict.fromkeys(rows[1], 0)}, ways={}
    )
    assert stream._uncalled([idle], "c") == [
        "vp9_mc_8h_smooth, c: no clip calls it",
        "vp9_mc_8h, c: no clip calls it for the class rows8",
    ]


def test_a_class_that_a_decoder_never_calls_is_not_asked_for() -> None:
    """And its calls are told."""
    one = _outcome("a", 5, 0)
    decoder = replace(one.decoder, never=(("vp9_idct(4|8)", "eob 2..12"),))
    assert stream._uncalled([replace(one, decoder=decoder)], "c") == []
    (told,) = stream._uncalled([replace(_outcome("b", 5, 5), decoder=decoder)], "c")
    assert told.startswith("vp9_idct8, c: called for the class eob 2..12")


def test_a_file_that_calls_nothing_is_a_failure() -> None:
    assert stream.idle([_outcome("a", 0, 1)]) == []
    (failure,) = stream.idle([_outcome("a", 0, 0)])
    assert failure.startswith("a, c: its decoding calls none of the replaced functions")


def test_functions_that_are_not_replaced_are_named() -> None:
    report = stream.Report(outcomes=[_outcome("a", 1, 1)])
    absent = report.not_exercised()
    assert "daedalus_ffmpeg_vp9_lpf4_v" in absent
    assert "daedalus_ffmpeg_vp9_mc_8h_avg_sharp" in absent
    assert "daedalus_ffmpeg_vp9_idct8" not in absent
    assert "daedalus_dav1d_av1_cdef8" not in absent  # another decoder, which was not run


def test_faults_go_into_the_smallest_clip_that_shows_them(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(bytes(10))
    large.write_bytes(bytes(20))

    def chosen(*outcomes: stream.Outcome) -> list[tuple[str, int]]:
        found = stream._candidates([*outcomes], "vp9_idct8")
        return [(o.clip.name, every) for o, every in found]

    large_often = _outcome("large", 50, 50, large)
    assert chosen(_outcome("small", 40, 40, small), large_often) == [
        ("small", 8), ("small", 1), ("large", 1)
    ]  # fmt: skip
    assert chosen(_outcome("small", 4, 5, small), large_often) == [
        ("large", 10), ("large", 1), ("small", 1)
    ]  # fmt: skip
    assert chosen(_outcome("large", 0, 1, large), _outcome("small", 4, 5, small)) == [
        ("small", 1), ("large", 1)
    ]  # fmt: skip


def test_a_frame_that_differs_is_a_failure() -> None:
    good = _outcome("a", 1, 1)
    assert stream.judge(good, []) == []
    (failure,) = stream.judge(replace(good, different=[3, 4]), [])
    assert failure == "vp9, a, c: 2 frames differ, the first is 3"
    (failure,) = stream.judge(good, [7])
    assert "the unmodified decoder differs from the reference from frame 7 on" in failure
    assert stream.differing(["a", "b"], ["a", "c", "d"]) == [1, 2]


def test_functions_of_the_decoders_own_are_counted_and_named() -> None:
    good = _outcome("a", 1, 1)
    assert stream.stock_executed(good) == []
    (told,) = stream.stock_executed(replace(good, stock=("vp9dsp.mc[4]", "vp9dsp.mc[8]")))
    assert told.startswith("vp9, a, c: executes 2 functions of the decoder's own")
    assert told.endswith(": vp9dsp.mc[4], vp9dsp.mc[8]")


@pytest.mark.parametrize("need_all", [True, False])
def test_they_are_a_failure_with_our_clips_alone(
    need_all: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = _outcome("a", 1, 1, tmp_path / "a")
    run = stream.Run(["frame"], {"vp9_idct8": {"eob 1": 1}}, stock=("vp9dsp.mc[4]",), watched=9)
    monkeypatch.setattr(stream, "build_program", lambda *_: ("host", Path("program")))
    monkeypatch.setattr(stream, "reference", lambda *_: run.frames)
    monkeypatch.setattr(stream.Program, "decode", lambda *_: run)
    report = stream.check(one.decoder, [one.clip], ["c"], need_all=need_all, faults_in=())
    assert [o.stock for o in report.outcomes] == [run.stock]
    assert len(report.failures) == need_all
    run = replace(run, watched=0)
    report = stream.check(one.decoder, [one.clip], ["c"], need_all=False, faults_in=())
    assert report.failures == ["vp9, a, c: nothing watches VP9DSPContext"]


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        clips.import_clip(tmp_path)


def test_a_text_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "text.ivf"
    path.write_text("no video\n")
    with pytest.raises(UserError, match="ffmpeg finds no video in it") as caught:
        clips.import_clip(path)
    assert caught.value.exit_code == EXIT_USAGE


@pytest.mark.parametrize(
    ("codec", "samples", "message"),
    [
        ("mpeg4", "yuv420p", "the first video stream is mpeg4"),
        ("h264", "yuv420p10le", "yuv420p10le, more than 8 bits"),
        ("av1", "gray12be", "gray12be, more than 8 bits"),
        (None, "", "the first video stream is absent"),
    ],
)
def test_other_streams_are_refused(
    codec: str | None, samples: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "video"
    path.touch()
    found = {"codec_name": codec, "pix_fmt": samples} if codec else {}
    monkeypatch.setattr(clips, "_look_into", lambda path, able: found)
    with pytest.raises(UserError, match=message):
        clips.import_clip(path)


def test_eight_bits_a_sample_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "video"
    path.write_bytes(b"x")
    monkeypatch.setattr(clips, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(
        clips, "_ffmpeg", lambda arguments, what, cwd: Path(arguments[-1]).write_bytes(b"y")
    )
    for samples in ("yuv420p", "yuvj420p", "gray", "yuv444p"):
        found = {"codec_name": "h264", "pix_fmt": samples, "has_b_frames": 2}
        monkeypatch.setattr(clips, "_look_into", lambda path, able, found=found: found)
        decoder, clip = clips.import_clip(path)
        assert (decoder.name, clip.reorder, clip.file.suffix) == ("h264", 2, ".h264")


CITY: dict[str, Any] = {
    "name": "city",
    "package": "natural-video",
    "input": ["-i", "{package}/a"],
    "encode": [],
}


@pytest.mark.parametrize("code", [EXIT_MISSING, EXIT_FAILED])
def test_a_clip_is_left_out_where_its_package_is_not_here(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ensure(name: str, architecture: str) -> Path:
        raise UserError(f"{name} is not fetched", "fetch it", code)

    monkeypatch.setattr(clips, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(
        clips, "_ffmpeg", lambda arguments, what, cwd: (cwd / arguments[-1]).write_bytes(b"y")
    )
    monkeypatch.setattr(clips.fetch, "ensure", ensure)
    decoder = replace(_outcome("a", 1, 1).decoder, common=())
    wanted = [CITY, {"name": "odd", "input": [], "encode": []}]
    if code == EXIT_FAILED:  # what came is not what was asked for
        with pytest.raises(UserError, match="natural-video is not fetched"):
            clips.make_clips(decoder, wanted)
        return
    made, skips = clips.make_clips(decoder, wanted)
    assert [c.name for c in made] == ["odd"]
    assert skips == [Skip("vp9, city", "natural-video is not fetched")]


@pytest.mark.parametrize("more", [{}, {"vpxenc": ["--lossless=1"]}])
def test_a_package_takes_its_place_in_the_input_alone(
    more: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def encode(arguments: list[str], what: str, cwd: Path) -> None:
        called.append(arguments)
        (cwd / arguments[-1]).write_bytes(b"y")

    def run(argv: list[object], what: str = "") -> str:
        if "-o" in argv:
            Path(str(argv[argv.index("-o") + 1])).write_bytes(b"y")
        return "a version\n"

    monkeypatch.setattr(clips, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(clips, "_ffmpeg", encode)
    monkeypatch.setattr(clips, "run", run)
    monkeypatch.setattr(clips.fetch, "ensure", lambda name, architecture: Path("/there"))
    monkeypatch.setattr(clips.native, "tool", lambda name: name)
    decoder = replace(_outcome("a", 1, 1).decoder, common=("{common}",))
    braces = ["-vf", "drawtext=text=%{n}"]
    common = {"input": [*CITY["input"], *braces], "encode": ["{package}"], **more}
    clips.make_clip(decoder, {**CITY, **common})
    clips.make_clip(decoder, {"name": "of no package", **common})
    (filled, plain) = called
    assert filled[:4] == ["-i", "/there/a", *braces] and plain[:4] == [*CITY["input"], *braces]
    assert more or filled[4:6] == ["{common}", "{package}"]


@pytest.mark.parametrize("way", ["--timed", "--damaged"])
def test_what_is_left_out_is_said(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip = Skip("vp9, city", "no video")
    monkeypatch.setattr(clips, "make_clips", lambda decoder, wanted: ([], [skip]))
    monkeypatch.setattr(level, "require", lambda: None)
    monkeypatch.setattr(timed, "measure", lambda *words: [])
    monkeypatch.setattr(damage, "check", lambda *words: damage.Damaged())
    result = CliRunner().invoke(verb.command, [way, "1", "--json"], catch_exceptions=False)
    assert json.loads(result.stdout)["skipped"] == [vars(skip)]
    assert "skipped: vp9, city: no video" in result.stderr


def test_another_processor_is_refused_ahead_of_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise UserError("no AVX2", "measure on one that has", EXIT_MISSING)

    monkeypatch.setattr(level, "require", refuse)
    monkeypatch.delattr(clips, "make_clips")
    with pytest.raises(UserError, match="no AVX2"):
        CliRunner().invoke(verb.command, ["--timed", "1"], catch_exceptions=False)


def test_a_silent_tracing_plugin_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "_plugin", lambda: tmp_path / "plugin.so")
    monkeypatch.setattr(trace, "_qemu", lambda: "true")
    with pytest.raises(UserError, match="wrote no trace"):
        trace.executed(["program"])


def test_what_no_call_has_is_of_kernels_that_there_are() -> None:
    """A pattern of `never` that means nothing would excuse what comes later."""
    kernels = {e.kernel.id: {c.name for c in e.kernel.classes} | {"full"} for e in load()}
    for decoder in clips.decoders():
        for pattern, name in decoder.never:
            assert any(
                re.fullmatch(pattern, k) and name in of for k, of in kernels.items()
            ), pattern


def test_functions_that_stay_the_decoders_are_seen() -> None:
    """The whole program: what is watched, and that it is seen where it is executed."""
    vp9 = next(d for d in clips.decoders() if d.name == "vp9")
    clip = clips.make_clip(vp9, vp9.small[0])
    program = stream.Program(*stream.build_program(vp9, "c"), ())
    run = program.decode(clip, "--ours")
    assert run.watched > 300 and run.stock == ()
    run = program.decode(clip, "--ours", "--keep", "itxfm_add")
    assert run.stock and all(".itxfm_add" in where for where in run.stock)
