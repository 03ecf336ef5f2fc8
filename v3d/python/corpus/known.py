# SPDX-License-Identifier: BSD-2-Clause
"""Mistakes of drivers that are known, and how a program looks that does not provoke one.

v3d/tools/mistakes has the list, and a shader for each that shows it alone.  A rewritten program
computes the same by the specification.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from daedalus.generator.base.paths import repo_root
from daedalus.v3d.corpus import corners
from daedalus.v3d.corpus.model import Output, Program


@dataclass(frozen=True)
class Mistake:
    """A driver's mistake, as v3d/tools/mistakes/mistakes.toml describes its parts."""

    name: str
    of: str
    corner: str
    symptoms: tuple[str, ...]  # "words", "job", "refused"
    clause: str
    what: str
    plan: str
    result: str
    right: tuple[int, ...]
    wrong: tuple[int, ...] = ()
    says: str = ""

    @property
    def shader(self) -> Path:
        """The shader that shows it."""
        return folder() / f"{self.name}.comp"

    def case(self) -> str:
        """Its plan for vkrun, with the shader beside it as NAME.spv."""
        lines = self.plan.strip().replace("SHADER", f"{self.name}.spv")
        return f"case {self.name}\n{lines}\nend\n"

    def rewritten(self, program: Program) -> Program:
        """The program without what provokes it."""
        return _REWRITES[self.corner](program)


def folder() -> Path:
    """Where the list and the shaders lie."""
    return repo_root() / "v3d" / "tools" / "mistakes"


def mistakes() -> list[Mistake]:
    """The whole list."""
    table = tomllib.loads((folder() / "mistakes.toml").read_text())
    return [Mistake(**_hashable(entry)) for entry in table["mistake"]]


def _hashable(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}


def _with_shaders(program: Program, change: Callable[[str], str]) -> Program:
    kernels = tuple(replace(k, glsl=change(k.glsl)) for k in program.kernels)
    return replace(program, kernels=kernels)


def _declare(glsl: str, text: str) -> str:
    """Adds declarations behind the one of the workgroup's size."""
    head, layout, rest = re.split(r"^(layout\(local_size[^\n]*\n)", glsl, maxsplit=1, flags=re.M)
    return f"{head}{layout}{text}\n{rest}"


def _sign(program: Program) -> Program:
    """sign() of floats and of integers by comparisons."""
    functions = "\n".join(
        f"{t} sign_of({t} v) {{ return v > {z} ? {o} : v < {z} ? -{o} : {z}; }}"
        for t, z, o in (("float", "0.0", "1.0"), ("int", "0", "1"))
    )
    return _with_shaders(
        program, lambda glsl: _declare(re.sub(r"\bsign\(", "sign_of(", glsl), functions)
    )


def _barrier(program: Program) -> Program:
    """The workgroup's number is that of the subgroup's first invocation, as it is anyway.

    With a subgroup operation v3dv makes supergroups of one workgroup; and lanes that no invocation
    has take the same branches as those beside them, and do not wait alone.
    """
    extension = "#extension GL_KHR_shader_subgroup_ballot : require"
    number = "uvec3 own_group = subgroupBroadcastFirst(gl_WorkGroupID);"

    def change(glsl: str) -> str:
        glsl = glsl.replace("gl_WorkGroupID", "own_group")
        number_first = glsl.replace("void main() {\n", f"void main() {{\n  {number}\n", 1)
        return number_first.replace("#version 450\n", f"#version 450\n{extension}\n", 1)

    return _with_shaders(program, change)


def _direct(program: Program) -> Program:
    """The same numbers of workgroups, known when the dispatch is recorded."""
    return replace(program, indirect=False)


def _half(program: Program) -> Program:
    """An addition of floats between the conversion from an integer and that to 16 bits.

    Integers below 2^24 in magnitude are the same afterwards.
    """
    functions = "\n".join(
        f"float by_halves({t} v) {{ return float(v >> 1) * 2.0 + float(v & {one}); }}"
        for t, one in (("int", "1"), ("uint", "1u"))
    )
    return _with_shaders(
        program,
        lambda glsl: _declare(
            glsl.replace("float16_t(float(", "float16_t(by_halves("), functions
        ),
    )  # fmt: skip


def _pushed(program: Program) -> Program:
    """A push constant is chosen by comparisons, all places being constant."""
    n = len(program.kernels[0].push)
    chain = "".join(f"k == {k}u ? pushed[{k}] : " for k in range(n - 1)) + f"pushed[{n - 1}]"
    by_place = f"uint pushed_at(uint k) {{ return {chain}; }}\n#define PUSHED(k) pushed_at(k)"
    return _with_shaders(
        program, lambda glsl: glsl.replace("#define PUSHED(k) pushed[k]", by_place)
    )


def _with_own_zero(program: Program, change: Callable[[str], str]) -> Program:
    """Changes shaders in which `no_place` is the invocation's own zero, which a buffer holds."""
    zeros = Output("zeros", len(program.inputs) + len(program.outputs), fixed=256)
    buffer = f"layout(binding = {zeros.binding}, std430) buffer Block_z {{ uint zeros[]; }};"
    load = "uint no_place = zeros[gl_LocalInvocationIndex];"
    if any(o.name == zeros.name for o in program.outputs):
        return _with_shaders(program, change)

    def declare(glsl: str) -> str:
        head, body = _declare(glsl, buffer).split("void main() {\n", 1)
        return change(f"{head}void main() {{\n  {load}\n{body}")

    return replace(_with_shaders(program, declare), outputs=(*program.outputs, zeros))


def _shared(program: Program) -> Program:
    """Places in shared memory get the invocation's own zero added."""

    def change(glsl: str) -> str:
        for name in re.findall(r"^shared uint (\w+);", glsl, re.M):
            glsl = re.sub(rf"\b{name}\b", f"{name}[no_place]", glsl)
            glsl = glsl.replace(f"shared uint {name}[no_place]", f"shared uint {name}[1]")
        head, body = glsl.split("void main() {\n", 1)
        for name in re.findall(r"^shared uint (\w+)\[[^\n]*;", head, re.M):
            body = re.sub(rf"\b{name}\[(?!no_place\])", f"{name}[no_place + ", body)
        return f"{head}void main() {{\n{body}"

    return _with_own_zero(program, change)


def _loaded(program: Program) -> Program:
    """What may be a place is itself loaded from a place with the invocation's own zero added.

    So each place counts as the invocation's own, and the TMU loads from there.
    """
    return _with_own_zero(
        program,
        lambda glsl: glsl.replace(
            "#define PUSHED(k) pushed[k]", "#define PUSHED(k) pushed[(k) + no_place]"
        ).replace("bytes[(", "bytes[no_place + ("),
    )  # fmt: skip


_REWRITES: dict[str, Callable[[Program], Program]] = {
    corners.SIGN_OF_ZERO: _sign,
    corners.PARTIAL_BARRIER: _barrier,
    corners.INDIRECT_SHARED: _direct,
    corners.HALF_OF_INTEGER: _half,
    corners.PUSHED_INDEX: _pushed,
    corners.SHARED_MEMORY: _shared,
    corners.LOADED_PLACE: _loaded,
}
