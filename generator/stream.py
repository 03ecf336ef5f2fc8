# SPDX-License-Identifier: BSD-2-Clause
"""Decodes real streams with daedalus' functions in the decoder's place, frame by frame.

What a decoder is, which of its functions are replaced and which clips reach them stands in
tools/stream: clips.toml and a C file a codec.  A clip is decoded three ways: by ffmpeg, by the
static decoder as it is, and by the same program with our functions in it; all must give the same
MD5 for every frame.  One more run per kernel spoils its output now and then and must be noticed.
"""

import hashlib
import json
import os
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daedalus.generator import fetch, native
from daedalus.generator.cli.common import (
    EXIT_FAILED,
    UserError,
    build_dir,
    repo_root,
    run,
)
from daedalus.generator.cli.progress import say

TARGETS = ("c", "neon")
_FAULTS_A_CLIP = 10  # how often an injected fault strikes, about


@dataclass(frozen=True)
class Clip:
    """A stream to decode: an IVF file."""

    name: str
    file: Path


@dataclass(frozen=True)
class Decoder:
    """A decoder that is linked with our functions."""

    name: str
    codec: str
    oracle: str
    sources: tuple[str, ...]
    wrap: tuple[str, ...]
    clips: tuple[dict[str, Any], ...]
    encoder: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What the program printed: an MD5 a frame, and calls by kernel and class."""

    frames: list[str]
    calls: dict[str, dict[str, int]]


@dataclass(frozen=True)
class Outcome:
    """A clip decoded for one target, compared."""

    clip: Clip
    target: str
    codec: str
    frames: int
    different: list[int]  # indices of the frames that differ from ffmpeg's or the stock decoder's
    classes: dict[str, dict[str, int]]

    @property
    def calls(self) -> dict[str, int]:
        """Calls by kernel."""
        return {kernel: sum(c.values()) for kernel, c in self.classes.items()}


@dataclass(frozen=True)
class Fault:
    """A run with a kernel whose output was spoiled; `seen` when the frames showed it."""

    kernel: str
    target: str
    clip: str
    every: int
    seen: bool


@dataclass
class Report:
    """Everything that was decoded, and what is wrong with it."""

    outcomes: list[Outcome] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def not_exercised(self) -> list[str]:
        """Kernels with a function for a decoder that was run, but which no decoder here calls."""
        names = {o.codec for o in self.outcomes}
        oracles = {d.oracle for d in decoders() if d.codec in names}
        manifest = json.loads((repo_root() / "generated" / "manifest.json").read_text())
        replaced = {kernel for o in self.outcomes for kernel in o.classes}
        return [
            k["id"]
            for k in manifest["kernels"]
            if oracles & set(k["decoders"]) and not replaced & {k["id"], *k["aliases"]}
        ]


def _folder() -> Path:
    return repo_root() / "tools" / "stream"


def decoders() -> list[Decoder]:
    """The decoders of tools/stream/clips.toml."""
    data = tomllib.loads((_folder() / "clips.toml").read_text())
    return [
        Decoder(
            d["name"],
            d["codec"],
            d["oracle"],
            tuple(d["sources"]),
            tuple(d["wrap"]),
            tuple(d["clip"]),
            tuple(d["encoder"]),
        )
        for d in data["decoder"]
    ]


# ------------------------------------------------------------------------------------- clips


def _ffmpeg(arguments: list[str], what: str, cwd: Path) -> str:
    return run(
        [native.tool("ffmpeg"), "-v", "error", "-nostdin", "-y", *arguments], what=what, cwd=cwd
    )


def make_clip(decoder: Decoder, clip: dict[str, Any]) -> Clip:
    """Encodes a clip unless the same commands and ffmpeg made it before."""
    command = [*clip["input"], *decoder.encoder, *clip["encode"]]
    version = run([native.tool("ffmpeg"), "-version"]).splitlines()[0]
    key = hashlib.sha256(repr((command, clip["passes"], version)).encode()).hexdigest()[:16]
    path = build_dir() / "streams" / f"{decoder.name}-{clip['name']}-{key}.ivf"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        say(f"encoding the clip {clip['name']}")
        with tempfile.TemporaryDirectory(prefix=".encoding-", dir=path.parent) as temporary:
            for number in range(1, clip["passes"] + 1):
                extra = ["-pass", str(number)] if clip["passes"] > 1 else []
                _ffmpeg(
                    [*command, *extra, "clip.ivf"],
                    f"encoding the clip {clip['name']}",
                    Path(temporary),
                )
            Path(temporary, "clip.ivf").replace(path)
    return Clip(clip["name"], path)


def import_clip(path: Path) -> tuple[Decoder, Clip]:
    """Takes the video out of a user's file, whatever container it comes in."""
    if path.is_dir():
        raise UserError(f"{path} is a folder", "name a video file")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    path = path.resolve()  # so that ffmpeg takes no name for an option or a protocol
    codec = run(
        [
            *(native.tool("ffprobe"), "-v", "error", "-select_streams", "v:0"),
            *("-show_entries", "stream=codec_name", "-of", "csv=p=0", path),
        ],
        what=f"looking into {path}",
    ).strip()
    able = {d.codec: d for d in decoders()}
    if codec not in able:
        raise UserError(
            f"{path}: the first video stream is {codec or 'absent'}",
            f"streams of these codecs can be decoded: {', '.join(able)}",
        )
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()[:16]
    place = build_dir() / "streams" / f"user-{digest}.ivf"
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_suffix(f".{os.getpid()}.new")
        arguments = ["-i", str(path), "-map", "0:v:0", "-c", "copy", "-f", "ivf"]
        try:
            _ffmpeg([*arguments, str(fresh)], f"taking the video out of {path}", place.parent)
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)
    return able[codec], Clip(path.name, place)


def reference(clip: Clip, limit: int | None) -> list[str]:
    """The MD5 of every frame as ffmpeg itself decodes the clip."""
    count = ["-frames:v", str(limit)] if limit else []
    as_is = ["-fps_mode", "passthrough", "-autoscale", "0"]  # frames of other sizes stay such
    text = _ffmpeg(
        ["-i", str(clip.file), *count, *as_is, "-f", "framemd5", "-"],
        f"decoding {clip.name} with ffmpeg",
        clip.file.parent,
    )
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    return [row[-1].strip() for row in rows if len(row) > 1]


# ----------------------------------------------------------------------------------- decoding


def build_program(decoder: Decoder, target: str, library: Path | None = None) -> tuple[str, Path]:
    """Builds the stream program for a target; returns the build it belongs to and its path."""
    arch = "aarch64" if target == "neon" else "portable" if native.is_arm() else "host"
    if library is None:
        library = native.build_library(arch) / "libdaedalus.a"
    include, archives = fetch.archives(decoder.oracle, native.debian_arch(arch))
    program = native.compile_program(
        arch,
        build_dir() / "stream" / target / decoder.name,
        [_folder() / s for s in decoder.sources],
        includes=native.library_includes(),
        system_includes=[include],
        libraries=[library, *archives],
        flags=[f"-Wl,--wrap={w}" for w in decoder.wrap],
    )
    return arch, program


def decode(arch: str, program: Path, clip: Clip, options: list[str]) -> Run:
    """Runs the program on a clip."""
    argv = [*native.runner(arch), str(program), *options, str(clip.file)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise UserError(
            f"decoding {clip.name} {' '.join(options)}: {_why(done.returncode)}\n"
            + "\n".join(done.stderr.strip().splitlines()[-5:]),
            f"to repeat it: {' '.join(argv)}",
            EXIT_FAILED,
        )
    frames: list[str] = []
    calls: dict[str, dict[str, int]] = {}
    for line in done.stdout.splitlines():
        words = line.split(" ", 3)
        if words[0] == "frame":
            frames.append(words[2])
        elif words[0] == "calls":
            calls.setdefault(words[1], {})[words[3]] = int(words[2])
    return Run(frames, calls)


def _why(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def _differing(a: list[str], b: list[str]) -> list[int]:
    longest = max(len(a), len(b))
    return [i for i in range(longest) if a[i : i + 1] != b[i : i + 1]]


def check(
    decoder: Decoder,
    clips: list[Clip],
    targets: list[str],
    *,
    limit: int | None = None,
    need_all: bool = True,
    library: Path | None = None,
) -> Report:
    """Decodes the clips for every target and injects the faults.

    With `need_all` a class of a kernel that no clip calls is a failure, otherwise only a clip that
    calls nothing at all.
    """
    report = Report()
    references = {clip: reference(clip, limit) for clip in clips}
    options = ["--frames", str(limit)] if limit else []
    for target in targets:
        arch, program = build_program(decoder, target, library)
        clean: dict[Clip, list[str]] = {}
        for clip in clips:
            say(f"decoding {clip.name}, {target}")
            stock = decode(arch, program, clip, options)
            ours = decode(arch, program, clip, ["--ours", *options])
            wrong = {*_differing(ours.frames, stock.frames)}
            outside = _differing(stock.frames, references[clip])
            outcome = Outcome(
                clip,
                target,
                decoder.codec,
                len(ours.frames),
                sorted({*wrong, *_differing(ours.frames, references[clip])}),
                ours.calls,
            )
            clean[clip] = ours.frames
            report.outcomes.append(outcome)
            report.failures += _judge(outcome, outside)
        outcomes = report.outcomes[-len(clips) :]
        report.failures += _uncalled(outcomes, target) if need_all else _idle(outcomes)
        _inject(report, arch, program, outcomes, options, clean)
    return report


def _judge(outcome: Outcome, outside: list[int]) -> list[str]:
    where = f"{outcome.clip.name}, {outcome.target}"
    if outside:
        return [f"{where}: the unmodified decoder differs from ffmpeg from frame {outside[0]} on"]
    if outcome.different:
        first = outcome.different[0]
        return [f"{where}: {len(outcome.different)} frames differ, the first is {first}"]
    return []


def _uncalled(outcomes: list[Outcome], target: str) -> list[str]:
    """Classes of replaced kernels that none of the clips calls."""
    return [
        f"{kernel}, {target}: no clip calls it for the class {name}"
        for kernel, classes in outcomes[0].classes.items()
        for name in classes
        if not any(o.classes[kernel][name] for o in outcomes)
    ]


def _idle(outcomes: list[Outcome]) -> list[str]:
    """Clips that call none of the replaced functions: their frames say nothing about ours."""
    return [
        f"{o.clip.name}, {o.target}: its decoding calls none of the replaced functions"
        f" ({', '.join(o.calls)}), so nothing was tested (as with more than 8 bits a sample)"
        for o in outcomes
        if not any(o.calls.values())
    ]


def _inject(
    report: Report,
    arch: str,
    program: Path,
    outcomes: list[Outcome],
    options: list[str],
    clean: dict[Clip, list[str]],
) -> None:
    """Spoils each kernel in the clip that calls it most; frames must differ from the clean run."""
    target = outcomes[0].target
    for kernel in outcomes[0].calls:
        most = max(outcomes, key=lambda o: o.calls[kernel])
        calls = most.calls[kernel]
        if calls == 0:
            continue
        every = max(1, calls // _FAULTS_A_CLIP)
        say(f"injecting a fault into {kernel}, {target}")
        spoiled = decode(
            arch, program, most.clip, ["--ours", "--fault", f"{kernel}:{every}", *options]
        )
        seen = spoiled.frames != clean[most.clip]
        report.faults.append(Fault(kernel, target, most.clip.name, every, seen))
        if not seen:
            report.failures.append(f"{kernel}, {target}: an injected fault went unseen")
