# SPDX-License-Identifier: BSD-2-Clause
"""Reads descriptions of decoders' tables; what is wrong is told with file and line."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from daedalus.codecs.data import line_of
from daedalus.codecs.decoders.tables import (
    CALL,
    TABLE,
    Argument,
    BadPlace,
    Decoder,
    Field,
    Filled,
    Function,
    Index,
    Levels,
    Rule,
    Table,
)
from daedalus.dsl.errors import Loc
from daedalus.generator.base.errors import UserError

DECODER = "decoder.toml"
_HINT = "docs/decoders.md says what a description holds"
_ARGUMENT = re.compile(r"(?P<before>.*[\s*])(?P<name>[A-Za-z_]\w*)(?P<behind>\[\d*\])?")
_PACKED = re.compile(r"(?P<before>.*\(\*)(?P<name>[A-Za-z_]\w*)(?P<behind>\)\[\d+\])")
_INIT = re.compile(r"\w[\w\s*]*[\s*](?P<name>\w+)\((?P<arguments>[^()]+)\)")
_INDEX = re.compile(r"<\w+>")  # in a body, for the value of an index
_LAST = 31  # of the levels: C shifts 1u by no more
ARCHITECTURES = ("arm64", "amd64")


class _File:
    """A file of descriptions, and where in it something stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text()
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except (OSError, UnicodeDecodeError) as e:
            raise UserError(f"cannot read {path}: {e}", _HINT) from None
        except tomllib.TOMLDecodeError as e:
            raise UserError(f"{path}: {e}", _HINT) from None

    def line(self, header: str, number: int = 0, key: str = "") -> int:
        """Of the nth table with this header, or of a key in it."""
        return line_of(self.text, header, number, key)

    def loc(self, header: str = "", number: int = 0, key: str = "") -> Loc:
        return Loc(str(self.path), self.line(header, number, key))


def _refuse(loc: Loc, message: str, hint: str = _HINT) -> UserError:
    return UserError(f"{loc}: {message}", hint)


def _keys(
    data: Any, loc: Loc, what: str, needed: Mapping[str, type], others: Mapping[str, type]
) -> dict[str, Any]:
    """A table with these keys of these types; raises UserError for another."""
    if not isinstance(data, dict):
        raise _refuse(loc, f"{what} is no table")
    for key in needed:
        if key not in data:
            raise _refuse(loc, f"{what} has no {key}")
    for key, value in data.items():
        kind = needed.get(key) or others.get(key)
        if kind is None:
            known = ", ".join([*needed, *others])
            raise _refuse(loc, f"{what} has {key}, which means nothing", f"it may have {known}")
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            raise _refuse(loc, f"{what}: {key} = {value!r} is no {kind.__name__}")
    return data


def _words(value: Any, loc: Loc, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise _refuse(loc, f"{what} = {value!r} is no list of texts")
    return tuple(value)


def _function(name: str, data: Any, loc: Loc) -> Function:
    what = f"function {name}"
    _keys(data, loc, what, {"arguments": str}, {"clears": str, "returns": str, "cases": list})
    arguments = []
    for text in data["arguments"].split(","):
        match = _PACKED.fullmatch(text.strip()) or _ARGUMENT.fullmatch(text.strip())
        if match is None:
            raise _refuse(loc, f"{what}: {text.strip()!r} is no argument of C with a name")
        before, behind = match["before"], match["behind"] or ""
        arguments.append(Argument(match["name"], before + "{}" + behind))
    names = [a.name for a in arguments]
    if len(set(names)) != len(names):
        raise _refuse(loc, f"{what} names an argument twice")
    clears = data.get("clears", "")
    if clears and clears not in names:
        raise _refuse(loc, f"{what} clears {clears}, which is none of its arguments")
    return Function(
        name,
        tuple(arguments),
        clears,
        data.get("returns", "void"),
        _cases(data.get("cases", []), loc, what),
    )


def _cases(data: list[Any], loc: Loc, what: str) -> tuple[tuple[str, str], ...]:
    found = []
    for case in data:
        words = _words(case, loc, f"{what}: a case")
        if len(words) != 2:
            raise _refuse(loc, f"{what}: a case is a name and a condition")
        found.append((words[0], words[1]))
    if found and found[-1][1]:
        raise _refuse(loc, f"{what}: the last case has no condition")
    return tuple(found)


def _index(data: Any, loc: Loc, function: Function | None) -> Index:
    what = f"index {data.get('name', '')}" if isinstance(data, dict) else "an index"
    _keys(data, loc, what, {"name": str, "values": object}, {"argument": str})
    given = data["values"]
    if isinstance(given, int):
        given = [str(n) for n in range(given)]
    values = _words(given, loc, f"{what}: values")
    if not values or len(set(values)) != len(values):
        raise _refuse(loc, f"{what} has no values, or one twice")
    argument = data.get("argument", "")
    if argument:
        names = [a.name for a in function.arguments] if function else []
        if argument not in names or len(values) != 2:
            raise _refuse(
                loc, f"{what}: argument {argument} decides between two values, and is one of the"
                " function's",
            )  # fmt: skip
    return Index(data["name"], values, argument)


def _rule(
    data: Any,
    loc: Loc,
    indices: Sequence[Index],
    function: Function | None,
    filled: tuple[str, ...],
) -> Rule:
    known = {
        "where": dict,
        "ranges": dict,
        "assembly": dict,
        "passed": dict,
        "c_only": list,
        "symbols": dict,
        "body": str,
        "when": str,
    }
    _keys(data, loc, "a rule", {}, known)
    by_name = {i.name: i for i in indices}
    known_values = {TABLE: filled, **{i.name: i.values for i in indices}}
    where: dict[str, tuple[str, ...]] = {}
    for name, values in data.get("where", {}).items():
        where[name] = _words(values, loc, f"where {name}")
        if name not in known_values:
            raise _refuse(
                loc, f"a rule asks for the index {name}", f"the indices: {', '.join(known_values)}"
            )
        for value in where[name]:
            if value not in known_values[name]:
                raise _refuse(
                    loc, f"a rule asks for {name} {value}",
                    f"its values: {', '.join(known_values[name])}",
                )  # fmt: skip
    names = [a.name for a in function.arguments] if function else []
    for what in ("ranges", "assembly"):
        for name, values in data.get(what, {}).items():
            numbers = isinstance(values, list) and all(isinstance(v, int) for v in values)
            if name not in names or not numbers or (what == "ranges" and len(values) != 2):
                raise _refuse(loc, f"a rule: {what} of {name} = {values!r} are none of an argument")
    for name, value in data.get("passed", {}).items():
        if name not in names or not isinstance(value, int):
            raise _refuse(loc, f"a rule: {name} = {value!r} is no argument and a number")
    for architecture in {*data.get("c_only", ()), *data.get("symbols", {})} - {"c"}:
        if architecture not in ARCHITECTURES:
            raise _refuse(
                loc, f"a rule names the architecture {architecture}",
                f"architectures are {', '.join(ARCHITECTURES)}",
            )  # fmt: skip
    symbols = {}
    for architecture, patterns in data.get("symbols", {}).items():
        symbols[architecture] = _words(patterns, loc, f"symbols of {architecture}")
        for pattern in symbols[architecture]:
            try:
                pattern.format(**{i: "" for i in by_name})
            except (KeyError, ValueError, IndexError):
                raise _refuse(
                    loc, f"the pattern {pattern!r} cannot be filled in",
                    f"its words are the indices: {', '.join(by_name) or 'none'}",
                ) from None  # fmt: skip
    return Rule(
        where,
        {a: (v[0], v[1]) for a, v in data.get("ranges", {}).items()},
        {a: tuple(v) for a, v in data.get("assembly", {}).items()},
        data.get("passed", {}),
        _words(data.get("c_only", []), loc, "c_only"),
        symbols,
        data.get("body", ""),
        data.get("when", ""),
    )


def _field(
    file: _File,
    number: int,
    data: Any,
    functions: Mapping[str, Function],
    slot: int,
    filled: tuple[str, ...],
) -> Field:
    loc = file.loc("[[field]]", number)
    what = f"field {data.get('name', number)}"
    _keys(
        data, loc, what, {"name": str},
        {"function": str, "indices": list, "rules": list, "untested": str},
    )  # fmt: skip
    function = None
    if "function" in data:
        function = functions.get(data["function"])
        if function is None:
            raise _refuse(
                loc, f"{what} has the function {data['function']}, which is not described",
                f"functions of this file: {', '.join(functions)}",
            )  # fmt: skip
    indices = tuple(_index(i, loc, function) for i in data.get("indices", ()))
    rules = tuple(_rule(r, loc, indices, function, filled) for r in data.get("rules", ()))
    return Field(data["name"], slot, function, indices, rules, loc, data.get("untested", ""))


def _init(text: str, loc: Loc) -> str:
    """The name of the function that fills a table."""
    match = _INIT.fullmatch(text.strip())
    if match is None or not all(
        _ARGUMENT.fullmatch(a.strip()) for a in match["arguments"].split(",")
    ):
        raise _refuse(
            loc, f"init = {text!r} declares no function of C with named arguments",
            'write it as "void fill(void *table, int depth)"',
        )  # fmt: skip
    return match["name"]


def _check_bodies(decoder: Decoder) -> None:
    """What a function is made of is there."""
    for table in decoder.tables:
        for pointer in (p for one in table.filled for p in decoder.every_pointer(one)):
            text, _ = pointer.body
            loc, what = pointer.field.loc, f"the body of {pointer.place}"
            unknown = _INDEX.search(text)
            if unknown:
                words = ", ".join(pointer.named) or "none"
                raise _refuse(loc, f"{what} has {unknown[0]}, no index", f"its indices: {words}")
            for place in CALL.findall(text):
                try:
                    found = decoder.pointers(f"{pointer.filled.name}.{place}")
                except BadPlace as e:
                    raise _refuse(loc, f"{what}: {e.args[0]}", e.args[1]) from None
                if len(found) != 1:
                    raise _refuse(loc, f"{what}: @{place} are {len(found)} pointers")


def read_table(path: Path) -> Table:
    """The table that a file describes. Raises UserError with file and line."""
    file = _File(path)
    _keys(
        file.data, file.loc(), path.stem,
        {"type": str, "codec": str, "init": str, "filled": list, "field": list},
        {"functions": dict, "test": str, "whole": bool, "depth_parameter": str},
    )  # fmt: skip
    functions = {
        name: _function(name, data, file.loc(f"[functions.{name}]"))
        for name, data in file.data.get("functions", {}).items()
    }
    name = _init(file.data["init"], file.loc(key="init"))
    filled = []
    for number, data in enumerate(file.data["filled"]):
        loc = file.loc("[[filled]]", number)
        _keys(data, loc, "a filled table", {"name": str, "depth": int, "call": str}, {"when": str})
        if not re.search(rf"\b{name}\((?:.*\W)?table\b", data["call"]):
            raise _refuse(
                file.loc("[[filled]]", number, "call"),
                f"call = {data['call']!r} does not call {name} with table",
            )
        filled.append(Filled(data["name"], data["depth"], data["call"], data.get("when", "")))
    fields: list[Field] = []
    for number, data in enumerate(file.data["field"]):
        slot = fields[-1].slot + fields[-1].count if fields else 0
        field = _field(file, number, data, functions, slot, tuple(f.name for f in filled))
        if any(f.name == field.name for f in fields):
            raise _refuse(field.loc, f"field {field.name} is described twice")
        fields.append(field)
    return Table(
        file.data["type"], file.data["codec"], file.data["init"], tuple(filled), tuple(fields),
        file.loc(), file.data.get("test", ""), file.data.get("whole", False),
        file.data.get("depth_parameter", ""),
    )  # fmt: skip


def _levels(data: Any, loc: Loc) -> Levels | None:
    if data is None:
        return None
    _keys(data, loc, "levels", {"last": int, "take": str}, {})
    if data["last"] < 0 or not re.search(r"\bN\b", data["take"]):
        raise _refuse(loc, f"levels = {data!r} take nothing by N from 0 on")
    if data["last"] > _LAST:
        raise _refuse(
            loc, f"levels: last = {data['last']} is above {_LAST}: take makes flags of N, for which"
            " 1u << N has to be a number of 32 bits", f"say last = {_LAST} or less",
        )  # fmt: skip
    return Levels(**data)


def read_decoder(folder: Path) -> Decoder:
    """A decoder: its folder has decoder.toml, and a file for each table."""
    file = _File(folder / DECODER)
    needed = {"declare": str, "extended": str, "plain": str, "best": str}
    _keys(file.data, file.loc(), folder.name, needed, {"levels": dict})
    tables = tuple(read_table(p) for p in sorted(folder.glob("*.toml")) if p.name != DECODER)
    names: dict[str, Table] = {}
    for table in tables:
        for one in table.filled:
            if one.name in names:
                raise _refuse(table.loc, f"{one.name} is also a filled table of another file")
            names[one.name] = table
    data = file.data
    levels = _levels(data.pop("levels", None), file.loc(key="levels"))
    for table in tables:
        if table.whole and levels is None:
            raise _refuse(
                table.loc, f"whole: {folder.name} has no levels, so that nobody would see whether"
                " functions of its own are executed", f"say in {file.path} which levels there are",
            )  # fmt: skip
    decoder = Decoder(folder.name, tables=tables, levels=levels, **data)
    _check_bodies(decoder)
    return decoder


def folder() -> Path:
    """Where descriptions lie."""
    return Path(__file__).parent


@cache
def _read(path: Path) -> Decoder | None:
    return read_decoder(path) if (path / DECODER).is_file() else None


def described(name: str) -> Decoder | None:
    """The decoder of that name; None where no description has it."""
    return _read(folder() / name)


def all_described() -> list[Decoder]:
    """All decoders with a description."""
    found = (described(p.name) for p in sorted(folder().iterdir()) if p.is_dir())
    return [d for d in found if d is not None]
