# SPDX-License-Identifier: BSD-2-Clause
"""What is particular to a kernel, a codec or a decoder stands in dsl/kernels/ and codecs/ alone."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from daedalus.codecs.clips import decoders
from daedalus.codecs.data import data
from daedalus.codecs.oracles import NAMES
from daedalus.generator.compile.registry import load

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("generator", "runtime", "templates", "v3d")
SUFFIXES = (".py", ".c", ".h", ".j2", ".txt", ".toml", ".json", ".cmake", ".sh")


def words() -> set[str]:
    """Names of kernels, whole and in their two parts, as vp9 and idct8; of decoders, of codecs
    that are decoded, and of the layout that is timed."""
    kernels = {n for e in load() for n in (e.kernel.id, *e.kernel.id.split("_", 1))}
    layout = data("timed.toml")["layout"]["mode"]
    return {*kernels, *NAMES, *(d.codec for d in decoders()), layout}


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
    assert (ROOT / folder).is_dir()
    assert not named_in(ROOT / folder, names), "move these into dsl/kernels/ or codecs/"


def named_in(folder: Path, names: set[str]) -> dict[str, list[str]]:
    """Files of a folder that name some, in their path below it or in their code, and which."""
    wrong = {}
    for p in sorted(folder.rglob("*")):
        path = p.relative_to(folder).as_posix()
        if p.is_file() and "__pycache__" not in p.parts:
            hits = found(path, names)
            hits += found(code_of(p), names) if p.suffix in SUFFIXES else []
            wrong |= {path: hits} if hits else {}
    return wrong


def test_names_are_found_where_they_are() -> None:
    names = {"vp9", "vp9_idct8", "dav1d"}
    assert found("libdav1d.a, daedalus_vp9_idct8__c", names) == ["vp9_idct8"]
    assert found('oracle == "dav1d"', names) == ["dav1d"]
    assert not found("vp91 xvp9", names)
    assert "vp9" not in _python('"""Of vp9."""\nx = 1  # vp9\n')
    assert "vp9" in _python('x = "vp9"\n')


def test_files_are_found_by_their_names_too(tmp_path: Path) -> None:
    folder = tmp_path / "sand"  # is not below itself
    (folder / "programs").mkdir(parents=True)
    (folder / "programs" / "idct8_64.qpu").write_text("nop\n")
    (folder / "bench_sand.py").write_text("x = 1\n")
    (folder / "plain.py").write_text('x = f"--{sand}"  # idct8\n')
    (folder / "right.py").write_text("thousand = sandbox = 1\n")
    assert {"idct8", "sand"} <= words()
    assert named_in(folder, words()) == {
        "bench_sand.py": ["sand"],
        "plain.py": ["sand"],
        "programs/idct8_64.qpu": ["idct8"],
    }
