# SPDX-License-Identifier: BSD-2-Clause
"""Stages whose condition or extents are known lose them, or go.

A class turns parameters into constants; a condition that is then the same for every item of the
class, or an axis that always has the same extent, needs no code.
"""

from dataclasses import replace

from daedalus.dsl.build import known_outcome
from daedalus.dsl.ir import Kernel, Op, Stage


def settle_stages(kernel: Kernel) -> Kernel:
    """`kernel` without constant conditions and limits, and without stages that never run."""
    stages = [s for s in map(_stage, kernel.stages) if s is not None]
    return replace(kernel, stages=tuple(stages))


def _stage(stage: Stage) -> Stage | None:
    if stage.given is not None and known_outcome(stage.given) is not None:
        if not known_outcome(stage.given):
            return None
        stage = replace(stage, given=None)
    dims, limits = dict(stage.dims), []
    for axis, most in stage.limits:
        if most.op is Op.CONST:
            dims[axis] = min(dims[axis], most.value)
        else:
            limits.append((axis, most))
    if any(n <= 0 for n in dims.values()):
        return None
    return replace(stage, dims=tuple(dims.items()), limits=tuple(limits))
