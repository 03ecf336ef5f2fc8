# SPDX-License-Identifier: BSD-2-Clause
"""Verbs that do one of several things: which options go with which of them.

A table of modes says it: mode -> the parameters that it takes. A mode is named as the parameter
that asks for it, followed by a value where only that value does; "" is what is done where none is
asked for.
"""

from collections.abc import Collection, Mapping, Sequence

import click
from click.core import ParameterSource

from daedalus.generator.base.errors import UserError

Modes = Mapping[str, Collection[str]]


def check(context: click.Context, modes: Modes, apart: Sequence[tuple[str, str]] = ()) -> str:
    """The mode that is asked for; of two parameters in `apart` one at most may be given.

    Raises UserError where options do not go together.
    """
    given = {
        p.name: _called(p)
        for p in context.command.params
        if p.name is not None
        and context.get_parameter_source(p.name) is ParameterSource.COMMANDLINE
    }
    asked = [m for m in modes if m and _asked(context, m, given)]
    if len(asked) > 1:
        raise UserError(
            f"{' and '.join(_words(m) for m in asked)}: each is a run of its own",
            "leave out all but one",
        )
    mode = asked[0] if asked else ""
    wrong = [n for n in given if n != mode.split(" ")[0] and n not in modes[mode]]
    if wrong:
        # One alone: others may belong to other modes.
        takers = " or ".join(_words(m) for m, names in modes.items() if m and wrong[0] in names)
        where = f"with {_words(mode)}" if mode else f"without {takers}"
        other = "" if mode else f"add {takers}, or "
        raise UserError(
            f"{given[wrong[0]]}: not {where}",
            f"{other}leave it out; ./daedalus {context.command.name} --help lists what goes"
            " together",
        )
    for a, b in apart:
        if a in given and b in given:
            raise UserError(
                f"{given[a]} and {given[b]} do not go together", "leave out one of the two"
            )
    return mode


def _asked(context: click.Context, mode: str, given: Mapping[str, str]) -> bool:
    name, _, value = mode.partition(" ")
    return name in given and (not value or context.params[name] == value)


def _words(mode: str) -> str:
    """What a user writes for it."""
    return f"--{mode.replace('_', '-')}"


def _called(p: click.Parameter) -> str:
    return p.opts[0] if isinstance(p, click.Option) else p.human_readable_name
