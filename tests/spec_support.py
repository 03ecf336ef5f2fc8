# SPDX-License-Identifier: BSD-2-Clause
"""Specs as texts: traced from a file, so that errors have a line, which the text itself marks.

The line that an error must name ends in `# <-`.
"""

import textwrap
from pathlib import Path

import pytest

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.verify import verify
from daedalus.generator.compile.registry import Entry, load

MARK = "# <-"

HEAD = """\
from daedalus.dsl.lang import *

@kernel(clause="a test")
def test_it(k):
"""

# A plane that is read and written, a block that is read, and a parameter.
USUAL = """\
    px = k.plane("px", u8, rows=(0, 8), cols=(0, 8), access="inout")
    c = k.block("c", i16, (8, 8))
    p = k.param("p", u8, 0, 100)
"""


def spec_text(body: str) -> str:
    """A spec with the body's statements, after the usual declarations."""
    return HEAD + USUAL + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def in_stage(body: str) -> str:
    """Statements on every pixel of the plane; a store is added that keeps the stage alive."""
    inner = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"with k.stage(y=8, x=8) as (y, x):\n{inner}\n    px[y, x] = px[y, x]\n"


def write_spec(folder: Path, text: str, name: str = "spec.py") -> Path:
    """The text as a file of a specs folder."""
    path = folder / "family" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return path


def load_text(folder: Path, text: str) -> tuple[Entry, ...]:
    """The kernels of a single spec."""
    write_spec(folder, text)
    return load(folder)


def kernel_of(folder: Path, text: str) -> Kernel:
    """The only kernel of a spec, verified."""
    (entry,) = load_text(folder, text)
    verify(entry.kernel)
    return entry.kernel


def marked_line(text: str) -> int:
    """The number of the line that is marked."""
    lines = [n for n, line in enumerate(text.splitlines(), 1) if MARK in line]
    assert len(lines) == 1, f"a text needs one marked line, has {len(lines)}"
    return lines[0]


def refusal(folder: Path, text: str) -> SpecError:
    """The error that a spec raises; checks that it names the marked line, file and kernel."""
    path = write_spec(folder, text)
    with pytest.raises(SpecError) as caught:
        load(folder)
    error = caught.value
    assert error.loc.line == marked_line(text), f"{error}\n{text}"
    assert error.loc.file == path.name
    shown = str(error)
    assert shown.startswith(f"{path.name}:{error.loc.line}: ")
    assert error.message in shown and f"[{error.rule}]" in shown
    assert not error.hint or f"\n  hint: {error.hint}" in shown
    return error
