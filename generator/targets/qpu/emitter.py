# SPDX-License-Identifier: BSD-2-Clause
"""Writes virtual instructions for selection: what was computed before is not computed again, and
what is the same in every trip of the loop is computed by the entry."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from daedalus.dsl.errors import Loc
from daedalus.generator.targets.qpu.builder import Argument, Builder
from daedalus.generator.targets.qpu.rules import amount as amount
from daedalus.generator.targets.qpu.virtual import Flag, Operand, Program, Value

Form = tuple[str | Argument, ...]  # an operation and its operands


class Emitter:
    """A builder that numbers values: pure operations on the same operands are one."""

    def __init__(self, name: str, file: str = "") -> None:
        self.b = Builder(name)
        self._file = file  # of the lines that notes give without one
        self.stage = 0  # from 1, of what is written; 0: of none, or of the only one
        self._known: dict[Form, Value] = {}
        self._entry: set[Value] = set()
        self._mode = ""

    # ------------------------------------------------------------------ values

    def uniform(self, name: str) -> Value:
        """A word that the runtime passes."""
        return self._kept(self.b.uniform(name))

    def table(self, name: str, words: Sequence[int]) -> Value:
        """The address of constant words."""
        return self._kept(self.b.table(name, words))

    def element(self) -> Value:
        """The number of the SIMD element, 0 to 15."""
        return self._kept(self.b.element())

    def workgroup(self) -> Value:
        """The number of the thread. To be asked for in the entry, once."""
        return self._kept(self.b.workgroup())

    def op(self, name: str, *sources: Argument) -> Value:
        """An operation's result."""
        return self.either((name, *sources))

    def either(self, *forms: Form) -> Value:
        """The result of forms that compute the same."""
        for form in forms:
            if form in self._known:
                return self._known[form]
        fixed = all(self.fixed(a) for form in forms for a in form[1:])
        with self.b.before_loop() if fixed else nullcontext():
            value = self.b.either(*forms)
        if fixed:
            self._entry.add(value)
        self._known.update(dict.fromkeys(forms, value))
        return value

    def fixed(self, a: str | Argument) -> bool:
        """Whether an operand is the same in all trips."""
        value = a.value if isinstance(a, Operand) else a
        return not isinstance(value, Value) or value in self._entry

    def value(self, a: Argument) -> Value:
        """The operand as a value."""
        if isinstance(a, Value):
            return a
        return self.op("mov", a)

    def select(self, flag: Flag, yes: Argument, no: Argument) -> Value:
        """`yes` where the flag holds, else `no`."""
        return self.b.op("mov", yes, when=flag, old=self.value(no))

    def dot_mode(self, mode: str) -> bool:
        """Asks for how v8dot takes its operands, which is one way for the program; whether it is
        that."""
        if not self._mode:
            with self.b.before_loop():
                self.b.state(f"setnnmode_{mode}")
            self._mode = mode
        return self._mode == mode

    def _kept(self, value: Value) -> Value:
        self._entry.add(value)
        return value

    # ------------------------------------------------------------------ what is usual

    def plus(self, a: Value, const: int) -> Value:
        """A value and a number."""
        if const == 0:
            return a
        return self.op("sub", a, -const) if -16 <= -const < 0 else self.op("add", a, const)

    def times(self, a: Value, by: int) -> Value:
        """A value that is not negative, below 2**24 where `by` is no power of two, `by` times."""
        if by == 1:
            return a
        if by > 0 and by & (by - 1) == 0:
            return self.op("shl", a, amount(by.bit_length() - 1))
        return self.op("smul24" if by < 0 else "umul24", a, by)

    def where(self, loc: Loc, what: str) -> str:
        """What a comment says of a place in the spec: stage, line and what that computes."""
        stage = f"s{self.stage} " if self.stage else ""
        file = "" if loc.file == self._file else f"{Path(loc.file).name}:"
        return f"{stage}{file}{loc.line} {what}"

    @contextmanager
    def note(self, text: str) -> Iterator[None]:
        """A comment for the instructions within."""
        with self.b.note(text):
            yield

    def program(self) -> Program:
        return self.b.program()
