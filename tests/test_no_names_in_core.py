# SPDX-License-Identifier: BSD-2-Clause
"""What is particular to a kernel, a codec or a decoder stands in dsl/kernels/ and codecs/ alone."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from daedalus.codecs.clips import decoders
from daedalus.codecs.oracles import NAMES
from daedalus.generator.compile.registry import load

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("generator", "runtime", "templates", "v3d")
SUFFIXES = (".py", ".c", ".h", ".j2", ".txt", ".toml", ".json", ".cmake", ".sh")


def words() -> set[str]:
    """Names of kernels, their families, decoders and the codecs that are decoded."""
    kernels = {n for e in load() for n in (e.kernel.id, e.kernel.id.split("_")[0])}
    return {*kernels, *NAMES, *(d.codec for d in decoders())}


def code_of(path: Path) -> str:
    """A file's text without comments, and Python's without docstrings."""
    text = path.read_text()
    match path.suffix:
        case ".py":
            return _python(text)
        case ".c" | ".h":
            return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        case ".j2":
            return re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
        case ".json":
            return text
    return re.sub(r"^\s*#[^\n]*", "", text, flags=re.MULTILINE)


def _python(text: str) -> str:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node) is not None:
            said = node.body[0]
            rows = range(said.lineno - 1, said.end_lineno or said.lineno)
            lines[rows.start : rows.stop] = [""] * len(rows)
    return "\n".join(lines)


def found(code: str, names: set[str]) -> list[str]:
    """Which of the names stand in the code, as words or parts of words between underscores."""
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.findall(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", code, re.IGNORECASE)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_kernel_codec_or_decoder_is_named(folder: str) -> None:
    names = words()
    files = [p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in SUFFIXES]
    assert files
    wrong = {
        p.relative_to(ROOT).as_posix(): hits for p in files if (hits := found(code_of(p), names))
    }
    assert not wrong, "move these into dsl/kernels/ or codecs/"


def test_names_are_found_where_they_are() -> None:
    names = {"vp9", "vp9_idct8", "dav1d"}
    assert found("libdav1d.a, daedalus_vp9_idct8__c", names) == ["vp9_idct8"]
    assert found('oracle == "dav1d"', names) == ["dav1d"]
    assert not found("vp91 xvp9", names)
    assert "vp9" not in _python('"""Of vp9."""\nx = 1  # vp9\n')
    assert "vp9" in _python('x = "vp9"\n')
