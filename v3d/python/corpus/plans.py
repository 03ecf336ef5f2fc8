# SPDX-License-Identifier: BSD-2-Clause
"""Compiles programs to SPIR-V and writes them as cases of vkrun's plans."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from daedalus.generator.host import native
from daedalus.v3d import shaders
from daedalus.v3d.corpus.commands import Commands
from daedalus.v3d.corpus.model import Program


def materialise(programs: Iterable[Program | Commands], folder: Path) -> dict[str, str]:
    """Writes shaders and input data into a folder; returns the cases' text by program name.

    A shader that is there already is not compiled again.
    """
    shaders.need_compiler()
    folder.mkdir(parents=True, exist_ok=True)
    everything = list(programs)
    kernels = [(k, folder / f"{p.name}.{i}") for p in everything for i, k in enumerate(p.kernels)]
    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        list(pool.map(lambda k: shaders.compile_glsl(k[0].glsl, k[1]), kernels))
    for p in everything:
        for i in p.inputs if isinstance(p, Program) else ():
            (folder / f"{p.name}.{i.name}.bin").write_bytes(i.data)
    return {p.name: case(p) for p in everything}


def case(program: Program | Commands) -> str:
    """A program as a case of a plan; its files have the names that `materialise` gives them."""
    p = program
    if isinstance(p, Commands):
        return "\n".join([*p.lines, ""])
    lines = [f"case {p.name}"]
    if p.subgroup:
        lines.append(f"needs subgroup {p.subgroup}")
    local = p.local[0] * p.local[1] * p.local[2]
    for i in p.inputs:
        lines.append(f"buffer {i.name} {_whole(len(i.data))} file {p.name}.{i.name}.bin")
    for s, shape in enumerate(p.shapes):
        for o in p.outputs:
            size = 4 * o.words(shape[0] * shape[1] * shape[2], local)
            lines.append(f"buffer {o.name}-{s} {size} word {o.initial}")
    if p.indirect:
        lines.append(f"buffer counts {12 * len(p.shapes)} zero")
        lines.append(f"update counts 0 {' '.join(str(n) for shape in p.shapes for n in shape)}")
        lines.append("barrier")
    for k, kernel in enumerate(p.kernels):
        constants = "".join(f" spec {n} {v}" for n, v in kernel.specialization)
        lines.append(f"pipeline k{k} {p.name}.{k}.spv{constants}")
        for i in p.inputs:
            lines.append(f"{'uniform' if i.uniform else 'bind'} k{k} {i.binding} {i.name}")
        if kernel.push:
            lines.append(f"push k{k} 0 {' '.join(str(w) for w in kernel.push)}")
    for s, shape in enumerate(p.shapes):
        for k in range(len(p.kernels)):
            lines += [f"bind k{k} {o.binding} {o.name}-{s}" for o in p.outputs]
            groups = f"indirect k{k} counts {12 * s}"
            if not p.indirect:
                groups = f"dispatch k{k} {shape[0]} {shape[1]} {shape[2]}"
            lines += [groups, "barrier"]
    return "\n".join([*lines, "end", ""])


def _whole(size: int) -> int:
    """Bytes of a buffer that holds that many: buffers are of whole words."""
    return (size + 3) // 4 * 4


def sizes(program: Program | Commands) -> list[tuple[str, int]]:
    """The buffers of a program's case in order, with their sizes in bytes."""
    words = [w.split() for w in case(program).splitlines()]
    return [(w[1], int(w[2])) for w in words if w[0] == "buffer"]
