# SPDX-License-Identifier: BSD-2-Clause
"""generated/manifest.json of this checkout: what there is."""

import json
from functools import cache
from typing import Any

from daedalus.generator.base.paths import repo_root


def manifest() -> dict[str, Any]:
    """As it is now."""
    found: dict[str, Any] = json.loads((repo_root() / "generated" / "manifest.json").read_text())
    return found


@cache
def input_hashes() -> dict[str, str]:
    """Of the variants, by name; as they were when first asked for."""
    return {v["name"]: v["input_hash"] for k in manifest()["kernels"] for v in k["variants"]}
