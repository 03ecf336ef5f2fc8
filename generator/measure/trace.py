# SPDX-License-Identifier: BSD-2-Clause
"""What an arm64 program executes under qemu, instruction by instruction.

A plugin of qemu writes the addresses down; where qemu takes no plugins, its log of executed blocks
has them, one instruction each.  Both give the same.  The programs are those of tools/count: they
say where the function lies that is looked at, and call `mark` before each piece of work.
"""

import functools
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.host import native

Addresses = npt.NDArray[np.uint64]

# A sibling call would end where no address after it tells.
FLAGS = ("-fno-optimize-sibling-calls",)


@dataclass(frozen=True)
class Call:
    """What one call executed, its return included."""

    addresses: tuple[int, ...]
    words: tuple[int, ...]  # the instructions, encoded


@dataclass(frozen=True)
class Work:
    """What the pieces of work of one run executed, and what the last one left."""

    pieces: tuple[tuple[Call, ...], ...]
    pixels: bytes


@functools.cache
def _qemu() -> str:
    return native.tool("qemu-aarch64")


@functools.cache
def _plugin() -> Path | None:
    """The plugin, or None where qemu was built without plugins."""
    if "-plugin" not in run([_qemu(), "--help"]):
        return None
    return native.compile_program(
        "host",
        build_dir() / "count" / "plugin.so",
        [repo_root() / "tools" / "count" / "plugin.c"],
        flags=["-shared", "-fPIC"],
        static=False,
    )


def executed(argv: list[str]) -> tuple[Addresses, bytes]:
    """The addresses of all that a program executes, from start to end, and its output."""
    plugin = _plugin()
    if plugin is None:
        return _executed_by_log(argv)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "trace")
        words = [_qemu(), "-cpu", native.CPU, "-plugin", f"{plugin},out={result}", *argv]
        done = subprocess.run(words, capture_output=True)
        if done.returncode != 0:
            raise _failed(argv, done.stderr.decode(errors="replace"))
        found = result.read_bytes() if result.is_file() else b""
    if not found or len(found) % 8 != 0:
        raise UserError(
            f"{' '.join(argv)}: the tracing plugin wrote no trace",
            f"{plugin} does not suit this qemu, or the disk is full",
            EXIT_FAILED,
        )
    return np.frombuffer(found, dtype=np.uint64), done.stdout


def _executed_by_log(argv: list[str]) -> tuple[Addresses, bytes]:
    """The same by qemu's log of executed blocks; a line is `Trace N: HOST [BASE/ADDRESS/...`."""
    single = "-one-insn-per-tb" if "-one-insn-per-tb" in run([_qemu(), "--help"]) else "-singlestep"
    words = [_qemu(), "-cpu", native.CPU, single, "-d", "exec,nochain", *argv]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words, stdout=output, stderr=subprocess.PIPE, errors="replace", text=True
        )
        assert process.stderr is not None
        found, last = [], ""
        with process:
            for line in process.stderr:
                if line.startswith("Trace "):
                    found.append(int(line.split("/", 2)[1], 16))
                else:
                    last = line
        if process.returncode != 0 or not found:
            raise _failed(argv, last)
        output.seek(0)
        return np.array(found, dtype=np.uint64), output.read()


def _failed(argv: list[str], said: str) -> UserError:
    return UserError(f"{' '.join(argv)}: {said.strip() or 'it failed'}", "", EXIT_FAILED)


def work(program: Path, arguments: list[str]) -> Work:
    """Runs a program of tools/count, and tells the calls of each piece of work from the rest."""
    addresses, output = executed([str(program), *arguments])
    function, mark = struct.unpack_from("<QQ", output)
    image = _Image(program)
    starts = np.flatnonzero(addresses == mark).tolist()
    pieces = []
    for start, end in zip(starts, [*starts[1:], len(addresses)], strict=True):
        pieces.append(_calls(addresses[start:end], function, image))
    if not pieces or not all(pieces):
        raise UserError(
            f"{' '.join(arguments)}: nothing calls the function at {function:#x}",
            "was the call inlined, or does the function begin elsewhere?",
            EXIT_FAILED,
        )
    return Work(tuple(pieces), output[16:])


def _calls(addresses: Addresses, function: int, image: "_Image") -> tuple[Call, ...]:
    """The calls of a function, in the order of the trace; a call ends where it returns."""
    found, at = [], 0
    for entry in np.flatnonzero(addresses == function).tolist():
        if entry < at:  # within the call before: its first instruction is the head of a loop
            continue
        caller = int(addresses[entry - 1])
        if not _is_call(image.word(caller)):
            raise UserError(f"{function:#x} is reached by no call", "", EXIT_FAILED)
        returned = np.flatnonzero(addresses[entry:] == caller + 4)
        if not len(returned):
            raise UserError(f"a call of {function:#x} does not return", "", EXIT_FAILED)
        at = entry + int(returned[0])
        inside = tuple(addresses[entry:at].tolist())
        found.append(Call(inside, tuple(image.word(a) for a in inside)))
    return tuple(found)


def _is_call(word: int) -> bool:
    """Whether it is bl or blr."""
    return word >> 26 == 0b100101 or word & 0xFFFFFC1F == 0xD63F0000


class _Image:
    """The instructions of a static arm64 program, by address."""

    def __init__(self, program: Path) -> None:
        self._file = program.read_bytes()
        (table,) = struct.unpack_from("<Q", self._file, 32)
        size, count = struct.unpack_from("<HH", self._file, 54)
        self._segments = []
        for n in range(count):
            kind, _, offset, address = struct.unpack_from("<IIQQ", self._file, table + n * size)
            (length,) = struct.unpack_from("<Q", self._file, table + n * size + 32)
            if kind == 1:  # loadable
                self._segments.append((address, length, offset))

    def word(self, address: int) -> int:
        for start, length, offset in self._segments:
            if start <= address < start + length:
                (word,) = struct.unpack_from("<I", self._file, offset + address - start)
                return int(word)
        raise UserError(f"no instruction of the program lies at {address:#x}", "", EXIT_FAILED)
