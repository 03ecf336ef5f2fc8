# SPDX-License-Identifier: BSD-2-Clause
"""The streams that are decoded: clips that ffmpeg encodes on first use, and users' files.

Which clips there are, and why, stands in tools/stream/clips.toml.
"""

import hashlib
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daedalus.codecs.data import line_of
from daedalus.codecs.decoders.reading import described
from daedalus.codecs.decoders.tables import Decoder as Described
from daedalus.codecs.decoders.tables import Filled, Table
from daedalus.codecs.vp9 import header as vp9_header
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.devices.vulkan import Skip
from daedalus.generator.host import fetch, native

_DEEP_FRAMES = 30  # of clips of more than 8 bits a sample; vpxenc changes sizes later than that


@dataclass(frozen=True)
class Clip:
    """A stream to decode, in its decoder's container.

    `reorder`: frames held back for reordering, if the file that it comes from tells; else -1.
    """

    name: str
    file: Path
    reorder: int = -1


@dataclass(frozen=True)
class Decoder:
    """A decoder that is linked with our functions; see tools/stream/clips.toml."""

    name: str
    codec: str
    oracle: str
    container: str
    sources: tuple[str, ...]
    symbol: str
    common: tuple[str, ...]
    clips: tuple[dict[str, Any], ...]
    depths: tuple[int, ...]  # bits a sample
    small: tuple[dict[str, Any], ...]  # a few small frames, for what is slow
    never: tuple[tuple[str, str], ...] = ()  # pattern of kernels' ids, class that no call has
    transforms: str = ""  # the field of its tables that they stand in

    def never_calls(self, kernel: str, class_name: str) -> bool:
        """Whether the decoder has no calls of that class, whatever it decodes."""
        return any(re.fullmatch(p, kernel) and c == class_name for p, c in self.never)


def folder() -> Path:
    """Where the C sources of the stream programs lie, and the list of clips."""
    return repo_root() / "tools" / "stream"


def decoders() -> list[Decoder]:
    """The decoders of tools/stream/clips.toml."""
    text = (folder() / "clips.toml").read_text()
    found = [
        Decoder(
            d["name"],
            d["codec"],
            d["oracle"],
            d["container"],
            tuple(d["sources"]),
            d.get("symbol", ""),
            tuple(d["common"]),
            tuple(c for clip in d["clip"] for c in _of_depths(clip)),
            tuple(d.get("depths", [8])),
            tuple(d["small"]),
            tuple((n["kernels"], n["class"]) for n in d.get("never", ())),
            d.get("transforms", ""),
        )
        for d in tomllib.loads(text)["decoder"]
    ]
    for n, decoder in enumerate(found):
        if not decoder.transforms and is_whole(decoder):
            raise UserError(
                f"tools/stream/clips.toml:{line_of(text, '[[decoder]]', n)}: {decoder.name} has no"
                " transforms, and all of its tables are whole: its damaged clips are decoded with"
                " its own transforms, too",
                "transforms = the field of its tables that they stand in",
            )
    return found


def is_whole(decoder: Decoder) -> bool:
    """Whether every pointer of its tables is ours, so that its pixels are ours alone."""
    return all(table.whole for table, _ in tables_of(decoder)[1])


def tables_of(decoder: Decoder) -> tuple[Described, list[tuple[Table, Filled]]]:
    """The decoder's description, and its tables for this codec."""
    description = described(decoder.oracle)
    if description is None:
        raise UserError(f"{decoder.oracle} is not described", "", EXIT_FAILED)
    found = [
        (t, f) for t in description.tables if t.codec == decoder.name for f in t.filled
        if f.depth in decoder.depths
    ]  # fmt: skip
    return description, found


def _of_depths(clip: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The clip, and the same with more bits a sample where it has `depths`."""
    yield clip
    for bits in clip.get("depths", ()):
        more = ["-pix_fmt", f"yuv420p{bits}le", "-frames:v", str(_DEEP_FRAMES)]
        deep = {**clip, "name": f"{clip['name']}-{bits}", "encode": [*clip["encode"], *more]}
        if "vpxenc" in clip:
            deep["vpxenc"] = [*clip["vpxenc"], f"--bit-depth={bits}", "--profile=2"]
        yield deep


def _ffmpeg(arguments: list[str], what: str, cwd: Path) -> str:
    return run(
        [native.tool("ffmpeg"), "-v", "error", "-nostdin", "-y", *arguments], what=what, cwd=cwd
    )


class NoPackage(UserError):
    """A clip cannot be encoded, as the package that it is encoded of is not here."""


def make_clips(decoder: Decoder, wanted: Iterable[dict[str, Any]]) -> tuple[list[Clip], list[Skip]]:
    """Encodes clips; says which it left out, as their packages are not here."""
    made, skips = [], []
    for clip in wanted:
        try:
            made.append(make_clip(decoder, clip))
        except NoPackage as e:
            skips.append(Skip(f"{decoder.name}, {clip['name']}", e.message))
    return made, skips


def _input(clip: dict[str, Any]) -> list[str]:
    """The words of a clip's `input`, with the folder of its package; other braces are filters'."""
    if "package" not in clip:
        return list(clip["input"])
    try:
        place = fetch.ensure(clip["package"], "all")
    except UserError as e:
        if e.exit_code != EXIT_MISSING:
            raise
        raise NoPackage(e.message, e.hint, EXIT_MISSING) from None
    return [word.replace("{package}", str(place)) for word in clip["input"]]


def make_clip(decoder: Decoder, clip: dict[str, Any]) -> Clip:
    """Encodes a clip unless the same commands and ffmpeg made it before."""
    rest = [*decoder.common, *clip["encode"], "-f", decoder.container]
    version = run([native.tool("ffmpeg"), "-version"]).splitlines()[0]
    passes, bank, other = clip.get("passes", 1), clip.get("filter", ""), clip.get("vpxenc", ())
    asked = ([*clip["input"], *rest], passes, bank, version, *([other] if other else []))
    key = hashlib.sha256(repr(asked).encode()).hexdigest()[:16]
    place = build_dir() / "streams"
    path = place / f"{decoder.name}-{clip['name']}-{key}.{decoder.container}"
    if bank and not path.is_file():
        plain = make_clip(decoder, {**clip, "name": "of-any-filter", "filter": ""})
        _write_changed(plain.file, bank, path)
    if not path.is_file():
        place.mkdir(parents=True, exist_ok=True)
        what = f"encoding the {decoder.name} clip {clip['name']}"
        say(what)
        source = _input(clip)
        with tempfile.TemporaryDirectory(prefix=".encoding-", dir=place) as temporary:
            made = Path(temporary, "clip")
            if other:
                _vpxenc(source, other, made, what)
            else:
                for number in range(1, passes + 1):
                    extra = ["-pass", str(number)] if passes > 1 else []
                    _ffmpeg([*source, *rest, *extra, made.name], what, Path(temporary))
            made.replace(path)
    return Clip(clip["name"], path)


def _vpxenc(source: list[str], arguments: list[str], made: Path, what: str) -> None:
    """Encodes by libvpx's own program, which has more to choose from than ffmpeg."""
    raw = made.with_suffix(".y4m")
    _ffmpeg([*source, "-pix_fmt", "yuv420p", raw.name], what, made.parent)
    always = ["--codec=vp9", "--ivf", "--disable-warning-prompt", "--quiet", "--threads=1"]
    run([native.tool("vpxenc"), *always, *arguments, "-o", made, raw], what=what)


def _write_changed(source: Path, bank: str, path: Path) -> None:
    """The clip with this interpolation filter where a frame has one for all of it."""
    data, changed = vp9_header.change_filter(source.read_bytes(), bank)
    if changed == 0:
        raise UserError(
            f"{source.name}: no frame has one filter for all of it", "choose other options",
            EXIT_FAILED,
        )  # fmt: skip
    write_output(path, data)


def import_clip(path: Path) -> tuple[Decoder, Clip]:
    """Takes the video out of a user's file, whatever container it comes in."""
    if path.is_dir():
        raise UserError(f"{path} is a folder", "name a video file")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    path = path.resolve()  # so that ffmpeg takes no name for an option or a protocol
    able = {d.codec: d for d in decoders()}
    found = _look_into(path, ", ".join(able))
    codec = found.get("codec_name", "")
    if codec not in able:
        raise UserError(
            f"{path}: the first video stream is {codec or 'absent'}",
            f"streams of these codecs can be decoded: {', '.join(able)}",
        )
    decoder = able[codec]
    deep = re.search(r"(?:p|gray)(\d+)[lb]e$", found.get("pix_fmt", ""))
    if deep and int(deep[1]) not in decoder.depths:
        bits = " or ".join(map(str, decoder.depths))
        raise UserError(
            f"{path}: its samples are {found['pix_fmt']}, more than 8 bits",
            f"the functions of {codec} that are replaced are for {bits} bits a sample",
        )
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()[:16]
    place = build_dir() / "streams" / f"user-{digest}.{decoder.container}"
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_suffix(f".{os.getpid()}.new")
        arguments = ["-i", str(path), "-map", "0:v:0", "-c", "copy", "-f", decoder.container]
        try:
            _ffmpeg([*arguments, str(fresh)], f"taking the video out of {path}", place.parent)
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)
    return decoder, Clip(path.name, place, found.get("has_b_frames", -1))


def _look_into(path: Path, able: str) -> dict[str, Any]:
    """What ffprobe says of a file's first video stream; nothing where there is none."""
    entries = "stream=codec_name,pix_fmt,has_b_frames"
    words = [native.tool("ffprobe"), "-v", "error", "-select_streams", "v:0"]
    try:
        text = run([*words, "-show_entries", entries, "-of", "json", path])
    except UserError as e:
        raise UserError(
            f"{path}: ffmpeg finds no video in it: {e.message.splitlines()[-1]}",
            f"name an IVF file, an H.264 byte stream, or another file with video ({able})",
        ) from None
    streams: list[dict[str, Any]] = json.loads(text)["streams"]
    return streams[0] if streams else {}


def reference(clip: Clip, limit: int | None) -> list[str]:
    """The MD5 of every frame as ffmpeg itself decodes the clip."""
    count = ["-frames:v", str(limit)] if limit else []
    as_is = ["-fps_mode", "passthrough", "-autoscale", "0"]  # frames of other sizes stay such
    words = ["-i", str(clip.file), *count, *as_is, "-f", "framemd5", "-"]
    try:
        text = _ffmpeg(words, f"decoding {clip.name}", clip.file.parent)
    except UserError as e:
        raise UserError(
            f"{clip.name}: ffmpeg itself cannot decode it: {e.message.splitlines()[-1]}",
            "the file is damaged or cut off; name another",
        ) from None
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    return [row[-1].strip() for row in rows if len(row) > 1]
