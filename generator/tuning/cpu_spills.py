# SPDX-License-Identifier: BSD-2-Clause
"""Whether CPU variants spill, by the code of the very program that measures them.

The program is disassembled, whole and once; of a variant count its function and what that calls.
No instruction is weighted: one that is in a loop counts as one that is not. Where a variant seems
to spill and has arrays of its own, it is compiled again, by the command that the program's build
had for it, with these apart from the stack (cpu_program.py).
"""

import json
import re
import shlex
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from daedalus.generator.base.process import run
from daedalus.generator.compile.variants import file_name
from daedalus.generator.host import native
from daedalus.generator.measure.neon.text import Line, stack
from daedalus.generator.options import parse_variant
from daedalus.generator.tuning import spills
from daedalus.generator.tuning.cpu_program import arrays_apart

_MACHINE, _AARCH64 = 18, b"\xb7\x00"  # where an ELF file says what it is for
_HEAD = re.compile(r"([0-9a-f]+) <(.+)>:")
_CALL = re.compile(r"bl?\t([0-9a-f]+) <[^+>]+>")
_HEXADECIMAL = re.compile(r"#(-?0x[0-9a-f]+)")
_RANGE = re.compile(r"v(\d+)(\.\w+)-v(\d+)\.\w+")
# Of the library that the program takes variants from, and of the one that lends it objects.
_OBJECTS = re.compile(r"\bdaedalus(_variants)?_code\.dir/")


def is_aarch64(program: Path) -> bool:
    """Whether a program is for AArch64: of others nothing is looked at."""
    with program.open("rb") as f:
        return f.read(_MACHINE + 2)[_MACHINE:] == _AARCH64


@dataclass
class _Function:
    name: str
    lines: list[Line] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Counted:
    """Of a variant's code: vector registers that go to the stack, and instructions."""

    stored: int
    instructions: int


class Code:
    """The functions of an AArch64 program or object."""

    def __init__(self, path: Path) -> None:
        self._functions: dict[int, _Function] = {}
        words = [native.objdump("aarch64"), "-d", "--no-show-raw-insn", str(path)]
        function = None
        for text in run(words, what="disassembling").splitlines():
            if head := _HEAD.fullmatch(text):
                function = self._functions.setdefault(int(head[1], 16), _Function(head[2]))
            elif function is not None and ":\t" in text:
                _add(function, text)
        self._at = {f.name: address for address, f in self._functions.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._at

    def counted(self, name: str) -> Counted:
        """Of a function and all that it calls."""
        reached: dict[int, list[Line]] = {}
        open_ = [self._at[name]]
        while open_:
            address = open_.pop()
            if address in self._functions and address not in reached:
                reached[address] = self._functions[address].lines
                open_ += self._functions[address].calls
        stored = sum(stack(lines).spilled for lines in reached.values())
        return Counted(stored, sum(map(len, reached.values())))


def _add(function: _Function, text: str) -> None:
    """Adds objdump's line, in LLVM's manner: numbers are decimal, each register is named, nothing
    is explained."""
    text = text.partition(":\t")[2].partition("//")[0].strip()
    plain = _HEXADECIMAL.sub(lambda m: f"#{int(m[1], 16)}", text)
    function.lines.append(Line(_RANGE.sub(_each, plain)))
    if call := _CALL.fullmatch(text):
        function.calls.append(int(call[1], 16))


def _each(found: re.Match[str]) -> str:
    first, last = int(found[1]), int(found[3])
    return ", ".join(f"v{n}{found[2]}" for n in range(first, last + 1))


class Spills:
    """Of a program that CMake and Ninja built in the folder where it lies."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._known: dict[str, str] = {}

    def reason(self, variant: str) -> str:
        """Why a CPU variant spills; "" where it does not, or is not looked at."""
        if variant not in self._known:
            self._known[variant] = self._look(variant)
        return self._known[variant]

    def _look(self, variant: str) -> str:
        if self._code is None or variant not in self._code:
            return ""
        kernel, options = parse_variant(variant)
        group = (kernel, options.class_name, options.target)

        def judged(code: Code) -> str:
            found = code.counted(variant)
            return spills.reason(group, found.stored, found.instructions)

        why = judged(self._code)
        for source in self._commands.get(file_name(kernel, options), ()) if why else ():
            with tempfile.TemporaryDirectory(prefix="daedalus-tune-") as folder:
                apart = source.apart(Path(folder))
                code = None if apart is None else Code(apart)
            if code is not None and variant in code:
                return judged(code)
        return why

    @cached_property
    def _code(self) -> Code | None:
        return Code(self._program) if is_aarch64(self._program) else None

    @cached_property
    def _commands(self) -> dict[str, list["_Source"]]:
        """How each file of variants was compiled, by its name: once or twice, as it has halves."""
        told = run(["ninja", "-t", "compdb"], cwd=self._program.parent, what="asking ninja")
        sources = [
            _Source(Path(e["file"]), e["command"], e["output"], Path(e["directory"]))
            for e in json.loads(told)
            if _OBJECTS.search(e["output"])
        ]
        found: dict[str, list[_Source]] = {}
        for s in sources:
            found.setdefault(s.file.name, []).append(s)
        return found


@dataclass(frozen=True)
class _Source:
    """A file of the build, and the command that compiles it in a folder."""

    file: Path
    command: str
    output: str
    folder: Path

    def apart(self, folder: Path) -> Path | None:
        """An object in a folder of the same with arrays of its own apart; None if it has none."""
        text = self.file.read_text()
        apart = arrays_apart(text)
        if apart == text:
            return None
        source, made = folder / self.file.name, folder / "apart.o"
        source.write_text(apart)
        taken = {str(self.file): str(source), self.output: str(made)}
        words = [taken.get(w, w) for w in shlex.split(self.command)]
        words += ["-iquote", str(self.file.parent), "-MF", str(folder / "apart.d"), "-w"]
        run(words, what=f"compiling {self.file.name}", cwd=self.folder)
        return made
