# SPDX-License-Identifier: BSD-2-Clause
"""Collects the GPU code that Mesa's driver makes of programs, as the driver prints it.

The text is what `V3D_DEBUG=qpu,shaderdb` prints: an instruction a line, its word in hexadecimal and
Mesa's text of it, and after a shader a line of statistics.  A shader for which several strategies
were tried is printed once for each.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from daedalus.generator.cli.common import EXIT_FAILED, UserError
from daedalus.generator.v3d import vkrun

# The shader cache would keep the driver from compiling, and so from printing.
ENVIRONMENT = {"V3D_DEBUG": "qpu,shaderdb", "MESA_SHADER_CACHE_DISABLE": "true"}


def collect(
    device: vkrun.Device, cases: Mapping[str, str], folder: Path, target: Path
) -> dict[str, str]:
    """Writes target/<case>.qpu for every case that the driver compiles.

    Returns why there is no code of a case, for those of which there is none.  Paths in the cases
    start at `folder`.  Another file, `driver.qpu`, has the driver's own shaders.  The cases run,
    but what they compute is not looked at.
    """
    binary = vkrun.program(device.arch).resolve()
    target.mkdir(parents=True, exist_ok=True)
    left = dict(cases)
    without: dict[str, str] = {}
    while left:
        # One stream for both, so that the driver's text stands behind the case's line.
        done = subprocess.run(
            [*device.prefix, str(binary), "--device", device.choose, "-"],
            input="".join(left.values()),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **device.environment, **ENVIRONMENT},
            cwd=folder,
        )
        found = _by_case(done.stdout)
        if not found.keys() & left.keys():
            tail = "\n".join(done.stdout.strip().splitlines()[-5:])
            raise UserError(
                f"vkrun on {device.name}: exit status {done.returncode}\n{tail}",
                exit_code=EXIT_FAILED,
            )
        for name, text in found.items():
            left.pop(name, None)
            if "\n0x" in text:
                (target / f"{name}.qpu").write_text(text)
            elif name in cases:
                without[name] = f"the driver printed no code (exit status {done.returncode})"
    return without


def _by_case(text: str) -> dict[str, str]:
    """The driver's lines for each case; what comes before the first is the driver's own."""
    name, found = "driver", dict[str, list[str]]()
    for line in text.splitlines(keepends=True):
        if line.startswith("case "):
            name = line.split()[1]
            found[name] = []
        elif line.startswith(("0x", "MESA_SHADER", "SHADER-DB", "\n")):
            found.setdefault(name, []).append(line)
    return {name: "".join(lines) for name, lines in found.items()}
