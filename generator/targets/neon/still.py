# SPDX-License-Identifier: BSD-2-Clause
"""What stays the same from turn to turn of the innermost loop around a vector.

Compilers see that of arithmetic; of what is looked up in a table's registers they do not, because
a turn stores into memory, and to them that may be the table's. So where lanes look up what the loop
does not change, all that it does not change is computed in front of it.
"""

from collections.abc import Sequence

from daedalus.dsl.along import differing
from daedalus.dsl.ir import Op
from daedalus.generator.targets.neon.order import Step
from daedalus.generator.targets.neon.select import Selection


def still_steps(selection: Selection, steps: Sequence[Step]) -> list[Step]:
    """The steps that can stand in front of the innermost loop, in order; none if lanes look up
    nothing there."""
    loops = selection.lanes.loops
    if not loops or selection.kernel.items_per_vector > 1:
        return []
    # What a turn stores may be what another one loads.
    moving = differing(selection.stage, {loops[-1][0]}, (Op.LOAD,))
    still = [s for s in steps if s.need is not None and s.need[0] not in moving]
    looked_up = any(
        s.need is not None and s.need[0].op is Op.TABLE
        and selection.chosen[s.need].op == "lookup"
        for s in still
    )  # fmt: skip
    return still if looked_up else []
