# SPDX-License-Identifier: BSD-2-Clause
"""Statements without what compilers are told of registers (runtime/support/daedalus/neon.h)."""

import re

from daedalus.generator.levers import Levers

_WHOLE = re.compile(r"\bdaedalus_whole_[us]\d+(?=\()")
_QUAD = re.compile(r"\bdaedalus_quad_([us]\d+)\((\w+|vreinterpret_[us]\d+_[us]\d+\(\w+\))\)")


def plainer(lines: list[str], levers: Levers) -> list[str]:
    """The lines, without pins and halves where these levers are off."""
    if not levers.pins:
        lines = [_WHOLE.sub("", line) for line in lines]
    if not levers.halves:
        lines = [_QUAD.sub(r"vcombine_\1(\2, \2)", line) for line in lines]
    return lines
