# SPDX-License-Identifier: BSD-2-Clause
"""How long clips take to decode on this machine: with our functions, and with the decoder's own.

Three ways of the same program, which differ in what fills the tables that our functions are for:
ours, the decoder's portable ones, its assembly. One thread; the ways in turn, so that what else the
machine does meets all of them. Times are the processor's.
"""

import re
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from daedalus.codecs.clips import Clip, Decoder
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.generator.host import level, native
from daedalus.generator.verify import stream

WAYS = {"ours": ("--bare",), "portable": ("--portable",), "assembly": ()}
COUNTS = 0.7  # of the portable functions' time, which assembly takes at most in clips that count


@dataclass(frozen=True)
class Times:
    """Of a clip: milliseconds, the median of all rounds, by way."""

    clip: Clip
    ms: Mapping[str, float]

    @property
    def counts(self) -> bool:
        """Whether assembly makes a difference."""
        return self.ms["assembly"] <= COUNTS * self.ms["portable"]


def share(rows: Sequence[Times]) -> float | None:
    """Of the time that assembly saves in clips that count, the share that ours save."""
    counted = [r.ms for r in rows if r.counts]
    saved = sum(ms["portable"] - ms["assembly"] for ms in counted)
    return sum(ms["portable"] - ms["ours"] for ms in counted) / saved if counted else None


def measure(decoder: Decoder, clips: Sequence[Clip], rounds: int) -> list[Times]:
    """Decodes every clip so often in each way, on a processor that level.py does not refuse."""
    options = tuple(f"-DCMAKE_C_FLAGS={flag}" for flag in level.flags())
    arch = "aarch64" if native.is_arm() else "host"
    built = native.build_library(arch, options=options, folder="timed")
    path = build_dir() / "stream" / "timed" / decoder.name
    program = stream.link(decoder, arch, path, built / "libdaedalus.a")
    stream.same_frames(stream.Program(arch, program, ()), clips, WAYS)
    found = []
    for clip in clips:
        say(f"timing {clip.name}")
        spent: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, words in WAYS.items():
                done = subprocess.run(
                    [program, "--quiet", *words, clip.file], capture_output=True, text=True
                )
                told = re.search(r"^spent (\d+)$", done.stdout, re.MULTILINE)
                if done.returncode != 0 or told is None:
                    why = f"{stream.why(done.returncode)} {done.stderr.strip()}".rstrip()
                    raise UserError(f"{clip.name}, {way}: {why}", "", EXIT_FAILED)
                spent[way].append(int(told[1]) / 1e6)
        found.append(Times(clip, {way: statistics.median(ms) for way, ms in spent.items()}))
    return found
