# SPDX-License-Identifier: BSD-2-Clause
"""What to do about the errors that Python itself raises while it runs a spec."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping

GENERIC = "Python raised this while it ran the spec"

# The language's classes as Python's messages name them -> what the author calls such a thing, and
# how it is used.
_KINDS = {
    "Value": ("a value", "values have operators, and what daedalus.dsl.lang has: clip(x, 0, 255)"),
    "BufferRef": ("a buffer", "index it: px[y, x] is a value, px[-4:4, x] a list of eight"),
    "TableRef": ("a table", "index it with what decides the entry, or take dot(table, row, xs)"),
    "ParamsRef": ("an array parameter", "index it with a lane or an integer"),
    "LaneIndex": ("a lane", "a lane is an index; k.lane(x) makes a value of it"),
    "list": ("a list", "a slice of a buffer is a list: [f(x) for x in xs] goes through it"),
}


# Of daedalus.dsl.lang, which stands on what reports errors and so tells it by `learn`.
_VOCABULARY: dict[str, object] = {}
_METHODS: dict[str, Callable[..., object]] = {}


def hint_for(error: Exception) -> str:
    """A remedy for an error that Python raised in a spec; GENERIC where nothing better is known."""
    text = str(error)
    match error:
        case NameError():
            return _name(error.name or "")
        case ImportError():
            return _import(text)
        case AttributeError():
            return _attribute(error)
        case IndexError():
            return (
                "a list of n values has the indices 0 to n - 1; a slice px[a:b, x] gives"
                " b - a of them"
            )
        case ValueError() if "unpack" in text:
            return (
                "as many names as values: a slice px[a:b, x] of a buffer gives b - a of them, and a"
                " stage as many lanes as it has axes"
            )
        case TypeError():
            return _type(text)
    return GENERIC


def learn(vocabulary: Mapping[str, object], builder: type) -> None:
    """Says what authors write: the language's names and the kernel's builder."""
    _VOCABULARY.update(vocabulary)
    found = inspect.getmembers(builder, inspect.isfunction)
    _METHODS.update({name: f for name, f in found if not name.startswith("_")})


def _near(name: str, known: Iterable[str], prefix: str = "") -> str:
    """What was perhaps meant, or all that there is."""
    names = sorted(n for n in known if n[0].islower())
    near = difflib.get_close_matches(name, names, n=2)
    if near:
        return f"perhaps {' or '.join(prefix + n for n in near)} is meant"
    return f"there are {', '.join(prefix + n for n in names)}"


def _name(name: str) -> str:
    words = _VOCABULARY
    if name in words:
        return f"import it: from daedalus.dsl.lang import {name}"
    if name in _METHODS:
        return f"it belongs to the kernel's builder: k.{name}(...)"
    near = difflib.get_close_matches(name, words, n=2)
    if near:
        return (
            f"perhaps {' or '.join(near)} of daedalus.dsl.lang is meant, which has to be imported"
        )
    return f"{name} is neither assigned before this line nor imported"


def _import(text: str) -> str:
    wanted = re.match(r"cannot import name '(\w+)' from 'daedalus\.dsl\.lang'", text)
    return _near(wanted[1], _VOCABULARY) if wanted else GENERIC


def _attribute(error: AttributeError) -> str:
    kind, name = type(error.obj).__name__, error.name or ""
    if kind == "KernelBuilder":
        return _near(name, _METHODS, "k.")
    if kind not in _KINDS:
        return GENERIC
    what, use = _KINDS[kind]
    if kind == "Value" and name in _VOCABULARY:
        return f"it is a function, not a method of a value: {name}(x, ...)"
    return f"{what} has no such attribute; {use}"


def _type(text: str) -> str:
    called = re.match(r"([\w.<>]+)\(\) (missing|takes|got)", text)
    if called:
        return _signature(called[1].split(".")[-1])
    kinds = [k for k in re.findall(r"'(\w+)'", text) if k in _KINDS]
    if not kinds:
        return GENERIC
    what, use = _KINDS[kinds[0]]
    if "not callable" in text:
        return f"{what} cannot be called; {use}"
    if "item assignment" in text:
        return f"{what} is never changed: give the new value a name of its own"
    if "unsupported operand" in text:
        return f"{what} has no such operation; {use}"
    return f"this needs something other than {what}; {use}"


def _signature(name: str) -> str:
    """How a function of the language is called."""
    functions: dict[str, object] = {**_VOCABULARY, **_METHODS}
    function = functions.get(name)
    if not inspect.isfunction(function):
        return f"look at how {name} is defined, and at what this line gives it"
    parameters = inspect.signature(function).parameters.values()
    method = name in _METHODS
    shown: list[str] = []
    star = False
    for p in list(parameters)[1:] if method else parameters:
        if p.kind is p.KEYWORD_ONLY and not star:
            shown, star = [*shown, "*"], True
        if p.kind is p.VAR_KEYWORD:
            shown.append(f"{p.name}=...")
        else:
            shown.append(p.name if p.default is p.empty else f"{p.name}={p.default!r}")
    many = ", and more of them one after the other" if name in ("min", "max") else ""
    return f"write {'k.' if method else ''}{name}({', '.join(shown)}){many}"
