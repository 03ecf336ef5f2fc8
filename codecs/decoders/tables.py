# SPDX-License-Identifier: BSD-2-Clause
"""What a decoder's tables of functions are, as codecs/decoders/<decoder>/ describes them.

A table is a struct of pointers to functions; a field of it is one pointer or an array of them. The
format of the files stands in docs/decoders.md, reading.py reads it.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from daedalus.dsl.errors import Loc

ANY = "*"  # in a place: every value of an index
CALL = re.compile(r"@(\w+(?:\[[^\[\]]+\])*)\(")  # of another pointer, in the body of a rule
_PLACE = re.compile(r"(\w+)\.(\w+)((?:\[[^\[\]]+\])*)")


class BadPlace(Exception):
    """What is wrong with the name of a place; `args` are the message and a hint."""


@dataclass(frozen=True)
class Argument:
    """One of a function: `declared` is its declaration, with {} for the name."""

    name: str
    declared: str

    @property
    def type(self) -> str:
        """Its type, as a cast has it."""
        return " ".join(self.declared.replace("{}", "").split())

    @property
    def pointer(self) -> bool:
        return "*" in self.declared

    @property
    def stride(self) -> bool:
        """Whether it is a distance between rows: by its type, or by its name."""
        return self.type == "ptrdiff_t" or self.name.endswith("stride")


@dataclass(frozen=True)
class Function:
    """The type of some pointers.

    clears   the argument whose coefficients a call leaves zeroed; "" where none is
    cases    names of kinds of calls, and what tells each from those behind it, in C
    """

    name: str
    arguments: tuple[Argument, ...]
    clears: str = ""
    returns: str = "void"
    cases: tuple[tuple[str, str], ...] = ()

    def declaration(self, name: str) -> str:
        """Of a function of that name."""
        arguments = ", ".join(a.declared.format(a.name) for a in self.arguments)
        return f"{self.returns} {name}({arguments})"


@dataclass(frozen=True)
class Index:
    """One of an array.

    argument  the decoder takes the first value where this argument of the function is 0, and the
              second where it is not; "" where something else decides
    """

    name: str
    values: tuple[str, ...]
    argument: str = ""


# The word of `where` for the name of a filled table.
TABLE = "table"


@dataclass(frozen=True)
class Rule:
    """What holds of the pointers with these values of indices; TABLE among them is the filled
    table's name.

    ranges    argument -> least and largest value, where the decoder's callers have no others
    assembly  argument -> the only values that assembly is written for
    passed    argument -> what is passed where it does not matter to ours; 0 for others
    c_only    architectures of Debian on which the decoder has no assembly
    symbols   architecture, or "c" -> patterns of the functions that may stand there
    body      what such a function comes to, in C, where it is made of calls of other pointers:
              @field[...](arguments), with <index> for the value of an index
    when      in C, by the arguments of the init function, where that holds; "" where always
    """

    where: Mapping[str, tuple[str, ...]]
    ranges: Mapping[str, tuple[int, int]]
    assembly: Mapping[str, tuple[int, ...]]
    passed: Mapping[str, int]
    c_only: tuple[str, ...]
    symbols: Mapping[str, tuple[str, ...]]
    body: str = ""
    when: str = ""


@dataclass(frozen=True, eq=False)
class Field:
    """A field of a table; `slot` is the number of its first pointer.

    untested  why the table's test does not look at it; "" if it does
    """

    name: str
    slot: int
    function: Function | None  # None: nothing of ours can stand there
    indices: tuple[Index, ...]
    rules: tuple[Rule, ...]
    loc: Loc
    untested: str = ""

    @property
    def count(self) -> int:
        """How many pointers it has."""
        count = 1
        for i in self.indices:
            count *= len(i.values)
        return count


@dataclass(frozen=True, eq=False)
class Filled:
    """A table as one call of its init function fills it; `call` names it `table`.

    when  in C, by the arguments of the init function, whether a call of it is such a one; ""
          where each is
    """

    name: str
    depth: int
    call: str
    when: str


@dataclass(frozen=True, eq=False)
class Table:
    """A struct of pointers; `init` declares the function that fills it.

    test   of the decoder's own test program, which checks its functions; "" where none does
    whole  every pointer is to be ours
    depth_parameter  of kernels for several depths, the parameter that says which; "" if none is
    """

    type: str
    codec: str
    init: str
    filled: tuple[Filled, ...]
    fields: tuple[Field, ...]
    loc: Loc
    test: str = ""
    whole: bool = False
    depth_parameter: str = ""

    @property
    def count(self) -> int:
        """How many pointers it has."""
        return sum(f.count for f in self.fields)

    def pointers(self, one: Filled) -> "list[Pointer]":
        """All of one that is filled, in the order of their slots."""
        return [
            Pointer(self, one, f, values)
            for f in self.fields
            for values in itertools.product(*(i.values for i in f.indices))
        ]

    @property
    def init_name(self) -> str:
        """The function's name."""
        return self.init.split("(")[0].split()[-1]

    @property
    def init_arguments(self) -> tuple[str, ...]:
        """Its arguments' names."""
        inside = self.init.split("(", 1)[1].removesuffix(")")
        return tuple(re.split(r"[\s*]", a.strip())[-1] for a in inside.split(","))


@dataclass(frozen=True)
class Pointer:
    """One pointer of a filled table; `values` are those of the field's indices."""

    table: Table
    filled: Filled
    field: Field
    values: tuple[str, ...]

    @property
    def place(self) -> str:
        """Its name: table, field and indices."""
        return f"{self.filled.name}.{self.field.name}" + "".join(f"[{v}]" for v in self.values)

    @property
    def slot(self) -> int:
        """The number of the pointer in its table."""
        number = 0
        for index, value in zip(self.field.indices, self.values, strict=True):
            number = number * len(index.values) + index.values.index(value)
        return self.field.slot + number

    @property
    def function(self) -> Function:
        assert self.field.function is not None
        return self.field.function

    @property
    def named(self) -> dict[str, str]:
        """Index -> value."""
        return {i.name: v for i, v in zip(self.field.indices, self.values, strict=True)}

    def _rules(self) -> Iterator[Rule]:
        named = {TABLE: self.filled.name, **self.named}
        for rule in self.field.rules:
            if all(named[i] in values for i, values in rule.where.items()):
                yield rule

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """Argument -> the values that the decoder calls it with, where that is known."""
        found = {a: r for rule in self._rules() for a, r in rule.ranges.items()}
        for index, value in zip(self.field.indices, self.values, strict=True):
            if index.argument:
                _, hi = found.get(index.argument, (0, (1 << 31) - 1))
                found[index.argument] = (1, hi) if index.values.index(value) else (0, 0)
        return found

    @property
    def assembly(self) -> dict[str, tuple[int, ...]]:
        """Argument -> the only values that assembly is written for."""
        return {a: v for rule in self._rules() for a, v in rule.assembly.items()}

    @property
    def passed(self) -> dict[str, int]:
        """Argument -> what is passed where it does not matter to ours."""
        return {a: v for rule in self._rules() for a, v in rule.passed.items()}

    @property
    def c_only(self) -> tuple[str, ...]:
        """Architectures without assembly for it."""
        return tuple(sorted({a for rule in self._rules() for a in rule.c_only}))

    def symbols(self, architecture: str) -> tuple[str, ...]:
        """Functions of the decoder that may stand there, which one depends on the processor.

        They are known for 8 bits a sample.
        """
        words = self.named
        if self.filled.depth != 8:
            return ()
        return tuple(
            s.format(**words) for rule in self._rules() for s in rule.symbols.get(architecture, ())
        )

    @property
    def body(self) -> tuple[str, str]:
        """What it comes to, and where that holds, as Rule has it; "" of one that is whole."""
        for rule in self._rules():
            if rule.body:
                text = rule.body
                for name, value in self.named.items():
                    text = text.replace(f"<{name}>", value)
                return text.strip(), rule.when
        return "", ""

    def switches(self) -> list[tuple[str, "Pointer"]]:
        """For each index that an argument decides: the argument, and the pointer where it is 0."""
        found = []
        for n, index in enumerate(self.field.indices):
            if index.argument and self.values[n] == index.values[1]:
                values = (*self.values[:n], index.values[0], *self.values[n + 1 :])
                found.append((index.argument, Pointer(self.table, self.filled, self.field, values)))
        return found


@dataclass(frozen=True)
class Levels:
    """What a processor may have: `take` is a statement after which init functions take what one
    may that has the first N extensions, of N from 0 to `last`."""

    last: int
    take: str


@dataclass(frozen=True)
class Decoder:
    """A decoder, and its tables.

    declare  C in front of what calls it
    extended C, whether it may use extensions of the processor now
    plain    statements after which its init functions take no assembly
    best     after which they take what the processor has
    levels   sets of extensions, after each of which they may take other functions
    """

    name: str
    declare: str
    extended: str
    plain: str
    best: str
    tables: tuple[Table, ...]
    levels: Levels | None = None

    def every_pointer(self, one: Filled) -> list[Pointer]:
        """Those of a filled table that have a function."""
        (table,) = (t for t in self.tables if one in t.filled)
        return [p for p in table.pointers(one) if p.field.function is not None]

    def filled(self) -> dict[str, tuple[Table, Filled]]:
        """Its filled tables by name."""
        return {f.name: (t, f) for t in self.tables for f in t.filled}

    def pointers(self, place: str) -> list[Pointer]:
        """Those at a place, as `vp9dsp.mc[8][*][put][1][0]` names it. Raises BadPlace."""
        match = _PLACE.fullmatch(place.strip())
        if match is None:
            raise BadPlace(
                f"{place!r} names no pointer", "a place is table.field[index]..., as docs/"
                "decoders.md says",
            )  # fmt: skip
        table_name, field_name, brackets = match.groups()
        filled = self.filled()
        if table_name not in filled:
            raise BadPlace(
                f"{self.name} has no table {table_name}", f"its tables: {', '.join(filled)}"
            )
        table, one = filled[table_name]
        fields = {f.name: f for f in table.fields}
        if field_name not in fields:
            raise BadPlace(
                f"{table.type} has no field {field_name}", f"its fields: {', '.join(fields)}"
            )
        field = fields[field_name]
        if field.function is None:
            raise BadPlace(
                f"{table.type}.{field_name} has no function in the description",
                f"describe its arguments: {field.loc}",
            )
        written = re.findall(r"\[([^\[\]]+)\]", brackets)
        if len(written) != len(field.indices):
            names = "".join(f"[{i.name}]" for i in field.indices)
            raise BadPlace(
                f"{field_name} has {len(field.indices)} indices, and {place!r} has {len(written)}",
                f"its indices: {names or 'none'}",
            )
        choices = []
        for index, word in zip(field.indices, written, strict=True):
            if word != ANY and word not in index.values:
                raise BadPlace(
                    f"{place!r}: the index {index.name} has no value {word}",
                    f"its values: {', '.join(index.values)}, or {ANY} for all of them",
                )
            choices.append(index.values if word == ANY else (word,))
        return [Pointer(table, one, field, values) for values in itertools.product(*choices)]
