# SPDX-License-Identifier: BSD-2-Clause
"""Flow graphs of kernels for a page that holds many of them."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.registry import Entry

_WORKERS = 2
_ID = re.compile(r' id="[^"]*"')
_OPENING = re.compile(r"<svg[^>]*>")
_SIZE = re.compile(r'\b(width|height)="([0-9.]+)pt"')


@dataclass(frozen=True)
class Drawn:
    """svg: an element to stand in a page, "" where there is none; missing: then, why."""

    svg: str
    missing: str = ""


def drawings(entries: Sequence[Entry]) -> Mapping[str, Drawn]:
    """A drawing a kernel, as `explain --svg` makes it; by id."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        return dict(zip((e.kernel.id for e in entries), pool.map(_draw, entries), strict=True))


def _draw(entry: Entry) -> Drawn:
    from daedalus.generator.report.graph.svg import draw  # only who draws needs graphviz

    with tempfile.TemporaryDirectory(prefix="daedalus-report-") as folder:
        file = Path(folder, "graph.svg")
        try:
            draw(entry.kernel, file)
        except UserError as e:
            return Drawn("", f"{e.message}: {e.hint}")
        return Drawn(embedded(file.read_text(encoding="utf-8"), entry.kernel.id))


def embedded(text: str, kernel: str) -> str:
    """Graphviz's file as an element: no ids, which another drawing has too, and with a name."""
    start = text.index("<svg")
    body = _ID.sub("", text[start:])
    opening = _OPENING.match(body)
    assert opening is not None
    sized = _SIZE.sub(lambda m: f'{m[1]}="{float(m[2]) * 4 / 3:g}"', opening[0])
    named = sized[:-1] + f' role="img" aria-label="flow graph of {kernel}">'
    return named + body[opening.end() :]
