# SPDX-License-Identifier: BSD-2-Clause
"""What whole decodes execute under qemu's arm64 emulation: with our functions, and with theirs.

The programs are those of `stream`, with nothing counted and no digests. tools/count/sums.c counts
the instructions of each function; tools/count/clips.toml says which families these belong to.
What such functions call of the C library, as memset, counts in the whole alone.
"""

import functools
import re
import struct
import subprocess
import tempfile
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Decoded:
    """What decoding a clip executed: in all, by our functions or theirs, and by all others."""

    clip: Clip
    way: str
    whole: int
    functions: Mapping[str, int]  # symbol -> instructions, of functions for pixels alone

    def by_family(self, families: "Families") -> Counter[str]:
        """Instructions of functions for pixels."""
        found: Counter[str] = Counter()
        for name, executed in self.functions.items():
            found[families.of(name)] += executed
        return found


class Families:
    """Which family a function is of, by its symbol."""

    def __init__(self, decoder: clips.Decoder) -> None:
        data = tomllib.loads((repo_root() / FILE).read_text())
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

    @property
    def names(self) -> list[str]:
        """In the order of the file."""
        return [t["name"] for t in self._tables]

    def of(self, symbol: str) -> str:
        """A family's name; "" of what is none of these functions."""
        if symbol not in self._found:
            self._found[symbol] = self._find(symbol)
        return self._found[symbol]

    def _find(self, symbol: str) -> str:
        if (ours := _kernel(symbol, self._kernels)) is not None:
            return self._kernels[ours]
        if _plain(symbol) in self._theirs:
            for t in self._tables:
                if re.search(t["symbols"], symbol):
                    return str(t["name"])
        return ""


def _plain(symbol: str) -> str:
    """Without what a compiler appends to names of parts and copies."""
    return symbol.split(".")[0]


def _kernel(symbol: str, known: Collection[str]) -> str | None:
    """The kernel whose code a function is: of ours, and nobody else's, names hold its id."""
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
    """Where functions begin, in rising order."""
    lines = run([_nm(), "-n", "--defined-only", program], what=f"reading {program}").splitlines()
    split = (line.split() for line in lines)
    at = {int(w[0], 16): w[2] for w in split if len(w) == 3 and w[1] in "tTwW" and w[2][0] != "$"}
    return sorted(at.items())


def decoders() -> list[clips.Decoder]:
    """Those that the file speaks of."""
    named = {d["name"] for d in tomllib.loads((repo_root() / FILE).read_text())["decoder"]}
    return [d for d in clips.decoders() if d.name in named]


def decodes(decoder: clips.Decoder, wanted: list[Clip]) -> list[Decoded]:
    """Decodes the clips in both ways."""
    _, program = stream.build_program(decoder, "neon")
    functions = _functions(program)
    families = Families(decoder)
    say(f"decoding {decoder.name} twice under qemu: {len(wanted)} clips")
    jobs = [(clip, way) for clip in wanted for way in WAYS]
    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        return list(pool.map(lambda j: _decoded(program, functions, families, *j), jobs))


def _decoded(
    program: Path, functions: list[tuple[int, str]], families: Families, clip: Clip, way: str
) -> Decoded:
    with tempfile.TemporaryDirectory() as folder:
        starts, out = Path(folder, "starts"), Path(folder, "counts")
        starts.write_bytes(struct.pack(f"={len(functions)}Q", *(at for at, _ in functions)))
        words: list[str | Path] = [
            native.tool("qemu-aarch64"), "-cpu", native.CPU, "-plugin",
            f"{_plugin()},starts={starts},out={out}", program, "--quiet", *WAYS[way], clip.file,
        ]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0 or not out.is_file():
            raise UserError(f"{clip.name}, {way}: {done.stderr.strip()}", "", EXIT_FAILED)
        counts = struct.unpack(f"={len(functions)}Q", out.read_bytes())
    own: Counter[str] = Counter()
    for (_, name), n in zip(functions, counts, strict=True):
        if n and families.of(name):
            own[name] += n
    return Decoded(clip, way, sum(counts), own)
