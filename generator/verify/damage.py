# SPDX-License-Identifier: BSD-2-Clause
"""Damaged streams: nothing that a decoder gets may make our functions read or write elsewhere.

Bits of a clip's packets are flipped, or packets cut. The decoder with our functions, compiled with
sanitizers, has to say what the unmodified one says, and to give as many frames. Their pixels have
to be those of the decoder's portable functions or of its hand-written ones. These two differ in
many damaged clips, where coefficients leave the range that the standard grants: so a clip with a
frame that is neither's is decoded once more with the decoder's portable transforms beside our other
functions, and then every frame has to be the portable one's.
"""

import random
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.codecs.clips import Clip, Decoder
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.generator.host import native
from daedalus.generator.verify import stream

_HEADER, _PACKET = 32, 12  # bytes of an IVF file, and in front of a packet
_PATIENCE = 300  # seconds, after which a decoder hangs
_SANITIZED = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1"}


@dataclass
class Damaged:
    """What came of all clips.

    frames  how many were as by portable functions, by assembly, and for their transforms as neither
    """

    clips: int = 0
    refused: int = 0  # packets that all refused alike
    frames: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Damaged") -> None:
        """Takes in what came of others."""
        self.clips += other.clips
        self.refused += other.refused
        self.frames += other.frames
        self.failures += other.failures


def damaged(data: bytes, seed: int) -> bytes:
    """An IVF file with a few of its packets changed: bits flipped, or the end cut off. The first
    packet keeps its size, and its first bytes more often than not."""
    rng = random.Random(seed)
    packets, at = [], _HEADER
    while at + _PACKET <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        packets.append((data[at : at + _PACKET], bytearray(data[at + _PACKET :][:size])))
        at += _PACKET + size
    able = [number for number, (_, body) in enumerate(packets) if body]
    for number in sorted(rng.sample(able, rng.randint(1, min(4, len(able))))):
        _, body = packets[number]
        if number and rng.random() < 0.25:
            del body[rng.randrange(len(body)) :]
            continue
        first = 0 if rng.random() < 0.2 else min(len(body) - 1, 20)
        for _ in range(rng.choice((1, 2, 8, 40))):
            body[rng.randrange(first, len(body))] ^= 1 << rng.randrange(8)
    out = bytearray(data[:_HEADER])
    for head, body in packets:
        out += struct.pack("<I", len(body)) + head[4:] + body
    return bytes(out)


def check(decoder: Decoder, sources: Sequence[Clip], count: int, seed: int) -> Damaged:
    """Damages so many clips, in turn, and decodes each in every way."""
    if decoder.container != "ivf":
        raise UserError(f"packets in {decoder.container} are not told apart, to damage them")
    stock = stream.build_program(decoder, "c")[1]
    library = native.build_library("host", sanitize=True) / "libdaedalus.a"
    ours = stream.link(
        decoder, "host", build_dir() / "stream" / "sanitized" / decoder.name, library,
        flags=("-fsanitize=address,undefined",), static=False,
    )  # fmt: skip
    found = Damaged()
    say(f"decoding {count} damaged clips")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(int(native.JOBS)) as pool:

        def one(number: int) -> Damaged:
            clip = sources[number % len(sources)]
            path = Path(folder, f"{number}.ivf")
            path.write_bytes(damaged(clip.file.read_bytes(), seed + number))
            try:
                name = f"{clip.name}, seed {seed + number}"
                return _one(stock, ours, path, name, decoder.transforms)
            finally:
                path.unlink()

        for d in pool.map(one, range(count)):
            found.add(d)
    return found


def _one(stock: Path, ours: Path, path: Path, name: str, transforms: str) -> Damaged:
    """One damaged clip, by one thread in all ways, then by four."""
    result = Damaged(clips=1)
    ways = {
        "ours": (ours, ("--bare",)), "portable": (stock, ("--portable",)), "assembly": (stock, ()),
    }  # fmt: skip
    said = {}
    for way, (program, options) in ways.items():
        lines, failure = _run(program, path, *options)
        if failure:
            result.failures.append(f"{name}, {way}: {failure}")
            return result
        said[way] = lines
    kinds = {
        way: [x.split()[0] if x[0] == "f" else x for x in lines] for way, lines in said.items()
    }
    if not kinds["ours"] == kinds["portable"] == kinds["assembly"]:
        result.failures.append(f"{name}: other errors, or another number of frames")
        return result
    result.refused = sum(x.startswith("error") for x in said["ours"])
    for own, c, by_hand in zip(said["ours"], said["portable"], said["assembly"], strict=True):
        if own.startswith("frame"):
            result.frames[
                "portable" if own == c else "assembly" if own == by_hand else "neither"
            ] += 1
    if result.frames["neither"]:
        lines, failure = _run(ours, path, "--bare", "--portable", "--keep", transforms)
        if failure or lines != said["portable"]:
            result.failures.append(
                f"{name}: frames that no coefficients explain {failure}".rstrip()
            )
    for sliced in ((), ("--slices",)):
        _, failure = _run(ours, path, "--bare", "--threads", "4", *sliced)
        if failure:
            result.failures.append(f"{name}, four threads {' '.join(sliced)}: {failure}")
    return result


def _run(program: Path, path: Path, *options: str) -> tuple[list[str], str]:
    """What a program said of frames and errors, and what went wrong with it."""
    try:
        done = subprocess.run(
            [program, "--go-on", *options, path], capture_output=True, text=True,
            errors="replace", timeout=_PATIENCE, env={**_SANITIZED},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [], f"no end after {_PATIENCE} s"
    if done.returncode != 0 or "runtime error" in done.stderr:
        told = [x for x in done.stderr.splitlines() if "ERROR" in x or "runtime error" in x]
        return [], f"exit status {done.returncode} {' '.join(told[:2])}"
    lines = done.stdout.splitlines()
    return [x for x in lines if x.startswith(("frame ", "error "))], ""
