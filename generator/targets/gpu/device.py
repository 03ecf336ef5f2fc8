# SPDX-License-Identifier: BSD-2-Clause
"""What every device offers that variants are made for: the limits of V3D 7.1, which are the
smallest. A program that needs more is refused when it is generated; the runtime compares a variant
with the device it finds once more."""

from daedalus.dsl.errors import Loc, SpecError
from daedalus.generator.options import INVOCATIONS as INVOCATIONS

SHARED_BYTES = 16384  # maxComputeSharedMemorySize
STORAGE_BUFFERS = 8  # maxPerStageDescriptorStorageBuffers
PUSH_BYTES = 128  # maxPushConstantsSize
SUBGROUP = 16  # of V3D; nothing depends on it but what a workgroup should at least have
WORKGROUP = 64  # invocations where no recipe says otherwise


class NotLowerable(SpecError):
    """The language has it, but no GLSL form stands for it, or no device would take it."""


def limited(name: str, needed: int, most: int, what: str, loc: Loc, kernel_id: str) -> None:
    """Raises NotLowerable, naming the limit, where more is needed than a device has."""
    if needed > most:
        raise NotLowerable(
            "device", f"{what}: {needed}, and {name} is {most}", loc, kernel_id,
            hint="leave the kernel without glsl variants, or give each invocation more points (p2,"
            " p4, ...)",
        )  # fmt: skip
