# SPDX-License-Identifier: BSD-2-Clause
"""daedalus: codec kernels written once, generated for every processor of a Raspberry Pi 5.

This folder only gives the repository's top-level folders their package names:
`daedalus.dsl` is `dsl/`, `daedalus.generator` is `generator/`, `daedalus.v3d` is
`v3d/python/`, and the templates and public C headers are its package data.
"""

import re
from pathlib import Path

_header = (Path(__file__).parent / "include" / "daedalus" / "core.h").read_text(encoding="utf-8")
#: Of the library, the packages and the command line alike: it stands in the public header alone.
__version__ = ".".join(re.findall(r"^#define DAEDALUS_VERSION_M(?:AJ|IN)OR (\d+)$", _header, re.M))
