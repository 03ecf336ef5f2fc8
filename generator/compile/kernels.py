# SPDX-License-Identifier: BSD-2-Clause
"""Kernels as arguments of a verb: ids and aliases."""

import difflib

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.registry import Entry, find, legal_options, load
from daedalus.generator.options import Options


def chosen(names: tuple[str, ...]) -> list[Entry]:
    """The entries of these ids or aliases, each once; all of them where none is named."""
    known = load()
    return list(dict.fromkeys(one(n) for n in names)) if names else list(known)


def one(name: str, known: tuple[Entry, ...] | None = None) -> Entry:
    """The entry of an id or alias, of the built-in ones unless others are `known`; UserError with
    what was perhaps meant."""
    known = load() if known is None else known
    entry = find(known, name)
    if entry is None:
        ids = [n for e in known for n in (e.kernel.id, *e.kernel.aliases)]
        near = difflib.get_close_matches(name, ids, n=3)
        meant = f"perhaps {' or '.join(near)}; " if near else ""
        raise UserError(
            f"no kernel {name}", f"{meant}kernels are {', '.join(e.kernel.id for e in known)}"
        )
    return entry


def options_named(entry: Entry, name: str) -> Options:
    """The options of a variant's name, long or short; UserError where they are not the kernel's."""
    head = f"daedalus_{entry.kernel.id}__"
    try:
        return legal_options(entry.kernel, name.removeprefix(head))
    except ValueError as e:
        listed = ", ".join(s.name for s, _ in entry.listed)
        message, hint = (*e.args, f"listed for {entry.kernel.id} are {listed}")[:2]
        raise UserError(message, hint) from None
