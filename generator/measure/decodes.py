# SPDX-License-Identifier: BSD-2-Clause
"""What whole decodes execute under qemu's arm64 emulation: with our functions, and with theirs.

The programs are those of `stream`. tools/count/sums.c counts the instructions of each function, and
of each call; tools/count/clips.toml says which families functions belong to. What such functions
call of the C library, as memset, counts in the whole alone.
"""

import functools
import re
import struct
import subprocess
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from daedalus.codecs import clips, oracles
from daedalus.codecs.clips import Clip
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.compile.manifest import manifest
from daedalus.generator.host import native
from daedalus.generator.verify import stream

FILE = "tools/count/clips.toml"
WAYS = {"ours": ("--bare",), "theirs": ()}
# What ld puts on the way from a function to itself or to the C library's: stubs, and instructions
# moved out of the way of an erratum of Cortex-A53.
_LINKERS = r"\.plt$|e843419@"


@dataclass(frozen=True)
class Call:
    """So many calls of a function that executed so many instructions each, callees' included."""

    symbol: str
    executed: int
    times: int


@dataclass(frozen=True)
class Decoded:
    """What decoding a clip executed: in all, and by functions for pixels, ours or theirs."""

    clip: Clip
    way: str
    whole: int
    functions: Mapping[str, int]  # symbol -> instructions
    calls: Sequence[Call]

    def by_family(self, families: "Families") -> Counter[str]:
        """Instructions of functions for pixels."""
        found = Counter(dict.fromkeys(families.names, 0))
        for name, executed in self.functions.items():
            found[families.of(name)] += executed
        return found


class Families:
    """Which family a function is of, by its symbol."""

    def __init__(self, decoder: clips.Decoder) -> None:
        data = _read()
        self._tables: list[dict[str, Any]] = data["family"]
        own = [d for d in data["decoder"] if d["name"] == decoder.name]
        if not own:
            raise UserError(f"{FILE} says nothing of {decoder.name}", "add a table [[decoder]]")
        of = {k["id"]: k["family"] for k in manifest()["kernels"]}
        self._kernels: dict[str, str] = {
            kernel: str(t["name"])
            for kernel, f in of.items()
            for t in self._tables
            if f in t["kernels"]
        }
        self._found: dict[str, str] = {}
        self._theirs = _members(decoder.oracle, own[0]["members"])
        self._other, self._neutral = own[0]["other"], own[0]["neutral"]

    @property
    def names(self) -> list[str]:
        """In the order of the file."""
        return [t["name"] for t in self._tables]

    def of(self, symbol: str) -> str:
        """A family's name; "" of what is none of these functions."""
        if symbol not in self._found:
            self._found[symbol] = self._find(symbol)
        return self._found[symbol]

    def of_kernel(self, kernel: str) -> str:
        """A family's name."""
        return self._kernels[kernel]

    def kernel(self, symbol: str) -> str | None:
        """The kernel whose code a function is: of ours, and nobody else's, names hold its id."""
        return _kernel(symbol, self._kernels)

    def kind(self, symbol: str) -> int:
        """What tools/count/sums.c calls it."""
        neutral = re.search(self._neutral, symbol) or re.match(_LINKERS, symbol)
        return 1 if self.of(symbol) else 2 if neutral else 0

    def _find(self, symbol: str) -> str:
        if (ours := self.kernel(symbol)) is not None:
            return self._kernels[ours]
        if _plain(symbol) in self._theirs and not re.search(self._other, symbol):
            for t in self._tables:
                if re.search(t["symbols"], symbol):
                    return str(t["name"])
            raise UserError(
                f"{FILE}: no family has the decoder's function {symbol}",
                "write it to the symbols of one, or to `other`",
                EXIT_FAILED,
            )
        return ""


def _plain(symbol: str) -> str:
    """Without what a compiler appends to names of parts and copies."""
    return symbol.split(".")[0]


def _kernel(symbol: str, known: Collection[str]) -> str | None:
    words = symbol.split("__")[0].split("_")
    names = (
        "_".join(words[first:end])
        for first in range(len(words))
        for end in range(len(words), first, -1)
    )
    return next((n for n in names if n in known), None)


@functools.cache
def _members(oracle: str, pattern: str) -> frozenset[str]:
    """The functions of these objects of the decoder's archives for arm64."""
    found = set()
    for archive in oracles.linked(oracle, "arm64")[1]:
        text = run([_nm(), "-A", "--defined-only", archive], what=f"reading {archive.name}")
        for line in text.splitlines():
            where, _, rest = line.partition(".o:")
            if re.fullmatch(pattern, where.rsplit(":", 1)[-1]) and rest.split()[1] in "tT":
                found.add(_plain(rest.split()[-1]))
    return frozenset(found)


def _nm() -> str:
    return native.tool("nm" if native.is_arm() else "aarch64-linux-gnu-nm")


@functools.cache
def _plugin() -> Path:
    return native.compile_program(
        "host", build_dir() / "count" / "sums.so", [repo_root() / "tools" / "count" / "sums.c"],
        flags=["-shared", "-fPIC"], static=False,
    )  # fmt: skip


def _functions(program: Path) -> list[tuple[int, str]]:
    """Where functions begin, in rising order; sections as well, as .plt has no names in it."""
    words: list[str | Path] = [_nm(), "-a", "-n", "--defined-only", program]
    split = (line.split() for line in run(words, what=f"reading {program}").splitlines())
    found = [(int(w[0], 16), w[2]) for w in split if len(w) == 3 and w[1] in "tTwW"]
    sections = {at: name for at, name in found if name[0] == "."}
    return sorted((sections | {at: name for at, name in found if name[0] not in ".$"}).items())


@dataclass(frozen=True)
class Mix:
    """Clips whose modelled cycles, together, have a bar; explained in the file."""

    clips: tuple[str, ...]
    d3: float
    why: str


def _read() -> dict[str, Any]:
    return tomllib.loads((repo_root() / FILE).read_text())


def mixes() -> list[Mix]:
    """All, in the order of the file."""
    return [Mix(tuple(m["clips"]), float(m["d3"]), m["why"]) for m in _read()["mix"]]


def decoders() -> list[clips.Decoder]:
    """Those that the file speaks of."""
    named = {d["name"] for d in _read()["decoder"]}
    return [d for d in clips.decoders() if d.name in named]


def decodes(
    decoder: clips.Decoder, families: Families, wanted: list[Clip], *, clang: bool = False
) -> list[Decoded]:
    """Decodes the clips in both ways, and compares what comes out."""
    if clang:
        library = native.build_library("aarch64", clang=True) / "libdaedalus.a"
        path = build_dir() / "stream" / "neon-clang" / decoder.name
        program = stream.link(decoder, "aarch64", path, library)
    else:
        _, program = stream.build_program(decoder, "neon")
    functions = _functions(program)
    stream.same_frames(stream.Program("aarch64", program, ()), wanted, WAYS)
    say(f"decoding {decoder.name} twice under qemu: {len(wanted)} clips")
    jobs = [(clip, way) for clip in wanted for way in WAYS]
    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        return list(pool.map(lambda j: _decoded(program, functions, families, *j), jobs))


def _decoded(
    program: Path, functions: list[tuple[int, str]], families: Families, clip: Clip, way: str
) -> Decoded:
    words = ("--quiet", *WAYS[way], str(clip.file))
    try:
        counts, calls = _executed(program, functions, families.kind, words)
    except UserError as error:
        raise UserError(f"{clip.name}, {way}: {error.message}", error.hint, EXIT_FAILED) from None
    own = Counter[str]()  # of one name a decoder has functions for each depth
    for (_, name), n in zip(functions, counts, strict=True):
        if n and families.of(name):
            own[name] += n
    return Decoded(clip, way, sum(counts), own, calls)


def _executed(
    program: Path,
    functions: list[tuple[int, str]],
    kind: Callable[[str], int],
    words: Sequence[str],
) -> tuple[list[int], list[Call]]:
    """What a program executes, function by function, and call by call of those that are asked
    for."""
    with tempfile.TemporaryDirectory() as folder:
        starts, out = Path(folder, "starts"), Path(folder, "counts")
        numbers = [n for at, name in functions for n in (at, kind(name))]
        starts.write_bytes(struct.pack(f"={len(numbers)}Q", *numbers))
        plugin = f"{_plugin()},starts={starts},out={out}"
        done = subprocess.run(
            [native.tool("qemu-aarch64"), "-cpu", native.CPU, "-plugin", plugin, program, *words],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0 or not out.is_file():
            raise UserError(done.stderr.strip() or f"exit status {done.returncode}", "")
        found = np.fromfile(out, dtype=np.uint64).tolist()
    counts, rest = found[: len(functions)], found[len(functions) :]
    ways = zip(*(rest[n::3] for n in range(3)), strict=True)
    return counts, [Call(functions[f][1], executed, times) for f, executed, times in ways]
