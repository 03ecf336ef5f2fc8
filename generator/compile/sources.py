# SPDX-License-Identifier: BSD-2-Clause
"""The C files that hold variants: one of a kernel for every group that is compiled alike.

Such a file has two halves: the prod variants, and the others where DAEDALUS_OTHERS is defined. So
is each compiled once for `libdaedalus.a`, and those with others once more for all variants.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import jinja2

from daedalus.generator.compile.text import tidy
from daedalus.generator.compile.variants import TARGET_TEXT, Variant
from daedalus.generator.targets.glsl import spirv
from daedalus.generator.targets.gpu import packed
from daedalus.generator.targets.gpu.numbers import decimal, lines
from daedalus.generator.targets.gpu.record import INDEX
from daedalus.generator.targets.qpu.emit import Word

OTHERS = "DAEDALUS_OTHERS"
_TEMPLATES = {"glsl": "variant.glsl.c.j2", "qpu": "variant.qpu.c.j2"}
_INCLUDES = {
    "glsl": ("<daedalus/table.h>", '"variants.h"'),
    "qpu": ("<daedalus/qpu_stream.h>", "<daedalus/table.h>", '"variants.h"'),
}
_CPU_TEMPLATE = "variant.c.j2"


def texts(
    environment: jinja2.Environment, variants: Sequence[Variant], modules: spirv.Modules
) -> dict[str, str]:
    """The files of these variants, by path."""
    modules.prepare((v.name, v.text) for v in variants if v.shader is not None)
    ordered = sorted(variants, key=lambda v: v.file)  # stable: ranks stay in order
    return {
        file: text(environment, list(own), modules)
        for file, own in groupby(ordered, key=lambda v: v.file)
    }


def text(
    environment: jinja2.Environment, own: Sequence[Variant], modules: spirv.Modules | None = None
) -> str:
    """The file of some variants of a kernel, of one group; of GPU variants with `modules`."""
    first = own[0]
    prod = [v for v in own if v.prod]
    others = [v for v in own if not v.prod]
    includes = _once(i for v in own for i in v.includes)
    head = environment.get_template("source.c.j2").render(
        spec=first.spec,
        template=_TEMPLATES.get(first.options.target, _CPU_TEMPLATE),
        kernel=first.kernel,
        target_text=TARGET_TEXT[first.options.target],
        includes=includes or _INCLUDES[first.options.target],
    )
    parts = _half(environment, prod, modules)
    if others:
        opens = [f"#ifndef {OTHERS}\n", *parts, "#else\n"] if prod else [f"#ifdef {OTHERS}\n"]
        parts = [*opens, *_half(environment, others, modules), "#endif\n"]
    return "\n".join([tidy(head), *parts])


def _half(
    environment: jinja2.Environment, own: Sequence[Variant], modules: spirv.Modules | None
) -> list[str]:
    """What is compiled together of a file."""
    tables = _once(t for v in own for t in v.tables)
    return [*tables, *(_code(environment, v, modules) for v in own)]


def _once(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _code(environment: jinja2.Environment, v: Variant, modules: spirv.Modules | None) -> str:
    """A variant as it stands in its file."""
    if not v.is_gpu:
        return v.text
    assert modules is not None
    data = _machine_code(v) if v.code is not None else _module(v, modules)
    return tidy(environment.get_template(_TEMPLATES[v.options.target]).render(v=v, **data))


def _record(words: Iterable[int]) -> list[str]:
    return ["DAEDALUS_RECORD_INDEX" if w == INDEX else str(w) for w in words]


def _uniform(u: Word) -> str:
    """As runtime/support/daedalus/qpu_stream.h calls it."""
    if u.kind in ("BASE", "STRIDE"):
        return f"{u.kind}({u.index})"
    return f"{u.kind}({u.value})" if u.kind in ("CONSTANT", "TABLE") else u.kind


def _machine_code(v: Variant) -> dict[str, object]:
    """A program's words and its stream of uniforms."""
    code = v.code
    assert code is not None
    return {
        "packed": packed.text(packed.of_instructions(code.words)),
        "uniforms": lines(map(_uniform, code.uniforms)),
        "record": _record(code.record.words),
        "constants": decimal(code.constants),
        "forms": " | ".join(f"DAEDALUS_QPU_FORM_{f}" for f in code.forms) or "0",
    }


def _module(v: Variant, modules: spirv.Modules) -> dict[str, object]:
    """A shader as SPIR-V."""
    assert v.shader is not None
    module = modules.of(v.file, v.name, v.text)
    return {
        "toolchain": module.made_by,
        "glsl_hash": spirv.digest(v.text),
        "packed": packed.text(packed.of_module(module.words)),
        "n_words": len(module.words),
        "record": _record(v.shader.record.words),
        "constants": decimal(v.shader.constants),
        "features": " | ".join(f"DAEDALUS_GPU_{f}" for f in v.shader.features) or "0",
    }
