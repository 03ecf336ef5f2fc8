# SPDX-License-Identifier: BSD-2-Clause
"""How generated text is laid out: indents, folded lines, comments."""

import re
import textwrap

WIDTH = 100


def comment(text: str) -> str:
    """Text that cannot end the C comment it stands in."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def tidy(text: str) -> str:
    """Indents by braces and folds long lines; templates and emitters leave both to this."""
    out: list[str] = []
    depth = 0
    for line in text.splitlines():
        body = line.strip()
        if not body or body.startswith("#"):
            out.append(body)
        elif body.startswith("//"):
            out += fold_comment(" " * (2 * depth) + body, " " * (2 * depth) + "//   ")
        elif line.startswith(" *") or (body.startswith("/*") and not (depth and "*/" in body)):
            out += fold_comment(line.rstrip())
        elif body == 'extern "C" {':
            out.append(body)
        else:
            closing = len(body) - len(body.lstrip("}"))
            out += _fold_code(body, 2 * max(depth - closing, 0))
            depth = max(depth + body.count("{") - body.count("}"), 0)
    collapsed: list[str] = []
    for line in out:
        if line or (collapsed and collapsed[-1]):
            collapsed.append(line)
    return "\n".join(collapsed).rstrip() + "\n"


def fold_comment(line: str, further: str = " *   ") -> list[str]:
    if len(line) <= WIDTH or line.startswith("/*"):
        return [line]
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )


def _fold_code(body: str, indent: int) -> list[str]:
    """Breaks a long line after commas and operators outside string literals."""
    lines: list[str] = []
    prefix, rest = " " * indent, body
    while len(prefix) + len(rest) > WIDTH:
        room = rest[: WIDTH - len(prefix)]
        cuts = [m.end() for m in re.finditer(r"(,|&&|\||&|\+|=|\?|:) ", room)]
        cuts = [c for c in cuts if room[:c].count('"') % 2 == 0]
        if not cuts:
            break
        lines.append((prefix + rest[: cuts[-1]]).rstrip())
        prefix, rest = " " * (indent + 4), rest[cuts[-1] :]
    return [*lines, prefix + rest]
