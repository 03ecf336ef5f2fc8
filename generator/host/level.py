# SPDX-License-Identifier: BSD-2-Clause
"""The processors that code is timed on, where times are of this machine: of x86-64 a level."""

import platform
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.host import native

LEVEL = "x86-64-v3"
_CPUINFO = Path("/proc/cpuinfo")


def flags() -> tuple[str, ...]:
    """A compiler's for such processors."""
    return () if native.is_arm() else (f"-march={LEVEL}",)


def require() -> None:
    """Refuses a processor that would end programs for the level by SIGILL."""
    if native.is_arm():
        return
    known = _CPUINFO.read_text() if _CPUINFO.is_file() else None
    if platform.machine() != "x86_64" or (known is not None and " avx2 " not in known):
        raise UserError(
            f"this processor is not {LEVEL}: it has no AVX2",
            "measure on one that has",
            EXIT_MISSING,
        )
