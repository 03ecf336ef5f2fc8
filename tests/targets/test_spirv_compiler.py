# SPDX-License-Identifier: BSD-2-Clause
"""glslang in a process that stays makes what glslangValidator makes."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.making import settle
from daedalus.generator.compile.registry import find, load
from daedalus.generator.targets.glsl import compiler, spirv

VERSION = spirv.toolchain().partition(",")[0].rpartition(":")[2]
pytestmark = pytest.mark.skipif(
    not compiler._HEADER.is_file(), reason="Debian's package glslang-dev is not installed"
)
SHADER = """#version 450
layout(local_size_x_id = 0) in;
layout(std430, binding = 0) buffer B {{ int x[]; }};
void main() {{ x[gl_GlobalInvocationID.x] = {number}; }}
"""


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    compiler._end()
    assert not compiler._idle


def shader(number: int) -> str:
    return SHADER.format(number=number)


def by_tool(glsl: str, folder: Path) -> bytes:
    source, made = folder / "in.comp", folder / "made.spv"
    source.write_text(glsl)
    subprocess.run(
        ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", made, source],
        check=True, capture_output=True,
    )  # fmt: skip
    return made.read_bytes()


def shaders(name: str) -> dict[str, str]:
    """Of each form of the variants that a kernel has."""
    entry = find(load(), name)
    assert entry is not None
    made = settle(entry).entry if entry.by_rule else entry
    return {v.name: v.text for v in entry_variants(made) if v.shader is not None}


@pytest.mark.parametrize("name", ["h264_deblock_luma_v", "vp9_idct8", "av1_cdef8", "sand128_p010"])
def test_it_makes_the_same(name: str, tmp_path: Path) -> None:
    found = shaders(name)
    assert len(found) > 1
    for variant, glsl in found.items():
        assert compiler.compiled(glsl, VERSION) == by_tool(glsl, tmp_path), variant
    assert len(compiler._idle) == 1


def test_threads_get_their_own_answers() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: compiler.compiled(shader(n), VERSION), [1, 2, 3] * 8))
    assert found == found[:3] * 8 and len(set(found)) == 3 and b"" not in found
    assert 1 <= len(compiler._idle) <= 4


def test_what_it_refuses_is_told_by_the_tool() -> None:
    wrong = shader(1).replace("main", "mein")
    assert compiler.compiled(wrong, VERSION) == b""
    assert compiler.compiled(shader(1), VERSION) != b""  # it goes on
    with pytest.raises(UserError, match="glslangValidator refuses a shader"):
        spirv.compile_shader(wrong, "a shader")


def test_another_version_is_not_asked() -> None:
    assert compiler.compiled(shader(1), "11.0.0") == b""


def test_a_process_that_ended_is_not_asked_again() -> None:
    compiler.compiled(shader(1), VERSION)
    (process,) = compiler._idle
    process._process.kill()
    assert compiler.compiled(shader(1), VERSION) == b""
    assert not compiler._idle and compiler.compiled(shader(1), VERSION) != b""


def test_without_the_library_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_HEADER", Path("/nowhere"))
    compiler._program.cache_clear()
    try:
        assert compiler.compiled(shader(1), VERSION) == b""
    finally:
        compiler._program.cache_clear()
