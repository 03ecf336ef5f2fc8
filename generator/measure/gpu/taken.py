# SPDX-License-Identifier: BSD-2-Clause
"""What a compute job took by the timing model, as the simulator tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT = "default settings"
NEAR = 0.05  # of a bound: a job that takes no longer than this beyond it is limited by it
RESOURCES = {"issue": "issue", "tmu": "TMU", "memory": "memory"}


@dataclass(frozen=True)
class Times:
    """By one profile. Clocks of the job, and what it takes at least by each resource alone."""

    clocks: int
    issue: int  # of the QPU that issues most
    tmu: int  # of the slice whose TMU is busiest
    memory: int
    ns: int
    dispatch_ns: int  # with what the kernel adds to a dispatch

    @property
    def bound(self) -> int:
        """Clocks that the job takes at least."""
        return max(self.issue, self.tmu, self.memory)

    @property
    def resource(self) -> str:
        """Which resource that bound is of."""
        return max(("issue", "tmu", "memory"), key=lambda r: int(getattr(self, r)))

    @property
    def at_bound(self) -> bool:
        return self.clocks <= self.bound * (1 + NEAR)


@dataclass(frozen=True)
class Taken:
    """What a job of so many items took. The profiles are the default settings and the alternatives
    that docs/v3d-timing.md has to them."""

    variant: str
    items: int
    workgroup: int  # invocations
    instructions: int
    loads: int  # lookups that return something
    stores: int
    memory_bytes: int
    by: Mapping[str, Times]

    @property
    def base(self) -> Times:
        return self.by[DEFAULT]


def taken(
    variant: str, items: int, workgroup: int, counts: Mapping[str, Any], interval: Mapping[str, Any]
) -> Taken:
    """From a job's counts and its interval, as `daedalus-v3d exec` and the device print them."""
    by = {
        DEFAULT: Times(
            clocks=counts["clocks"],
            issue=counts["most_active"],
            tmu=counts["most_tmu_busy"],
            memory=counts["memory_busy"],
            ns=interval["ns"]["mid"],
            dispatch_ns=interval["dispatch_ns"]["mid"],
        )
    }
    by |= {name: Times(**t) for name, t in interval["alternatives"].items()}
    return Taken(
        variant, items, workgroup, counts["instructions"], counts["tmu_reads"],
        counts["tmu_writes"], counts["memory_bytes"], by,
    )  # fmt: skip
