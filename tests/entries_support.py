# SPDX-License-Identifier: BSD-2-Clause
"""Specs with a decoder's signature: what is made of them, and where they are refused."""

import re
from pathlib import Path

import pytest
from spec_support import write_spec

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.registry import load

HEAD_ONLY = """
from daedalus.dsl.lang import kernel, u8


@kernel(clause="a test", decoders={{"dec": "{signature}"}})"""


def spec(folder: Path, text: str) -> None:
    """Writes a spec whose kernels are to have portable C only."""
    path = write_spec(folder, text)
    names = re.findall(r"^def (\w+)\(k\)", text, re.MULTILINE)
    tables = "".join(f'[{name}]\nprod = ["c_full"]\n' for name in names)
    (path.parent / "options.toml").write_text(tables)


def made(folder: Path, text: str) -> tuple[str, str]:
    """Header and source of the decoder `dec`, each as one line."""
    spec(folder, text)
    files = generate(load(folder)).files
    header, source = files["include/daedalus/dec.h"], files["src/decoder_dec.c"]
    return " ".join(header.split()), " ".join(source.split())


def refused(folder: Path, text: str, line: int) -> SpecError:
    """The error for a spec, which must name this line."""
    spec(folder, text)
    with pytest.raises(SpecError) as caught:
        generate(load(folder))
    error = caught.value
    assert (error.loc.file, error.loc.line) == ("spec.py", line), error
    return error
