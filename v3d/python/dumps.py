# SPDX-License-Identifier: BSD-2-Clause
"""Collects the GPU code that Mesa's driver makes of programs, as the driver prints it.

The text is what `V3D_DEBUG=qpu,shaderdb` prints: an instruction a line, its word in hexadecimal and
Mesa's text of it, and after a shader a line of statistics.  A shader for which several strategies
were tried is printed once for each.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.v3d import tools, vkrun

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


def misread(files: Iterable[Path]) -> tuple[int, list[str]]:
    """How many words the files that `collect` wrote have, and which this project takes otherwise.

    `dis` must print Mesa's text of each word, and `asm` make the word of that text again.
    """
    places, words, texts = list[str](), list[str](), list[str]()
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("0x"):
                word, _, text = line.partition(" ")
                places.append(f"{path.name}:{number}")
                words.append(word)
                # What stands in parentheses behind a uniform is the compiler's remark.
                texts.append(text.partition(" (")[0].rstrip())
    if not words:
        return 0, []
    mistakes = []
    for verb, given, expected in (("dis", words, texts), ("asm", texts, words)):
        got, refused = _lines(verb, given)
        mistakes += [f"{places[n]}: {verb} refuses {given[n]}: {why}" for n, why in refused]
        if not refused:
            rows = zip(places, given, got, expected, strict=True)
            mistakes += [
                f"{place}: {verb} makes {made} of {text}, Mesa has {right}"
                for place, text, made, right in rows
                if made != right
            ]
    return len(words), mistakes


def _lines(verb: str, given: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """What daedalus-v3d makes of each line; and which it refuses, counted from 0, and why."""
    argv = [str(tools.program()), verb]
    done = subprocess.run(argv, input="\n".join(given), capture_output=True, text=True)
    told = re.findall(r"^<stdin>:(\d+):(?:\d+:)? (.*)$", done.stderr, re.MULTILINE)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if not told and (done.returncode != 0 or len(lines) != len(given)):
        raise UserError(
            f"daedalus-v3d {verb}, for {len(given)} lines of Mesa's: exit status "
            f"{done.returncode}, {len(lines)} lines\n{done.stderr.strip()[:1000]}",
            exit_code=EXIT_FAILED,
        )
    return lines, [(int(n) - 1, why) for n, why in told]


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
