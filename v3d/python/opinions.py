# SPDX-License-Identifier: BSD-2-Clause
"""Puts the shaders that show drivers' mistakes in a folder, to run them on another GPU.

The folder needs nothing of this project: a C compiler, Python and a Vulkan loader suffice there.
"""

import json
import shutil
from pathlib import Path

from daedalus.generator.base.paths import repo_root
from daedalus.v3d import driver, shaders
from daedalus.v3d.corpus.known import Mistake, folder, mistakes

_HEADERS = ("vulkan/vulkan.h", "vulkan/vulkan_core.h", "vulkan/vk_platform.h")
SCRIPT = "opinion.py"


def export(target: Path) -> int:
    """Writes the folder; returns how many shaders it has."""
    target.mkdir(parents=True, exist_ok=True)
    known = mistakes()
    for m in known:
        shaders.compile_glsl(m.shader.read_text(), target / m.name)
    (target / "cases.plan").write_text("".join(m.case() for m in known))
    expected = {
        m.name: {"of": m.of, "at": start_of(m), "right": m.right, "wrong": m.wrong} for m in known
    }
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    shutil.copy(folder() / SCRIPT, target / SCRIPT)
    for part in ("tools/vkrun", "files"):
        source = repo_root() / "v3d" / part
        shutil.copytree(source, target / source.name, dirs_exist_ok=True)
    headers = driver.vulkan_headers()
    found = [headers / name for name in _HEADERS] + list((headers / "vk_video").glob("*.h"))
    for path in found:
        place = target / "include" / path.relative_to(headers)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    return len(known)


def start_of(mistake: Mistake) -> int:
    """Where the buffer of the result begins in what vkrun leaves of the case."""
    at = 0
    for words in (line.split() for line in mistake.plan.splitlines()):
        if words[:1] == ["buffer"]:
            if words[1] == mistake.result:
                return at
            at += int(words[2])
    raise ValueError(f"{mistake.name} has no buffer {mistake.result}")
