# SPDX-License-Identifier: BSD-2-Clause
"""Compiles compute shaders to SPIR-V."""

import shutil
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.process import run


def need_compiler() -> None:
    """Refuses to go on without what `compile_glsl` runs."""
    for tool in ("glslangValidator", "spirv-val"):
        if shutil.which(tool) is None:
            raise UserError(
                f"{tool} is not installed",
                "apt-get install glslang-tools spirv-tools, or ./daedalus setup",
                EXIT_MISSING,
            )


def compile_glsl(source: str, base: Path) -> Path:
    """Compiles a shader to <base>.spv, and checks that; its source stays beside it as <base>.comp.

    A shader that is there already is not compiled again.
    """
    text, target = base.with_name(base.name + ".comp"), base.with_name(base.name + ".spv")
    if target.is_file() and text.is_file() and text.read_text() == source:
        return target
    need_compiler()
    target.unlink(missing_ok=True)
    text.write_text(source)
    fresh = base.with_name(base.name + ".new")
    run(
        ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-S", "comp", "-o", fresh, text],
        what=f"compiling {text}",
    )
    run(["spirv-val", "--target-env", "vulkan1.1", fresh], what=f"checking what {text} became")
    fresh.replace(target)
    return target
