# SPDX-License-Identifier: BSD-2-Clause
"""Which schedule of a program is the fastest by the timing model.

`gen --search-qpu` takes the shortest loop. Where the TMU or memory limits a kernel, loops of about
that length differ by up to a tenth in time, by when they start their lookups.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from daedalus.generator import qpu_choices
from daedalus.generator.modelled import qpu
from daedalus.generator.modelled.compare import Wish, program
from daedalus.generator.targets.qpu.best import candidates
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.text import assembly

TRIED = 100  # schedules of each form of a program
LONGER = 1.08  # instructions a trip, of the shortest, that a schedule may take for being faster


def choose(
    wanted: Iterable[Wish], data: Path, items: int, folder: Path, say: Callable[[str], None]
) -> dict[str, int]:
    """Finds and records the fastest schedule of each mapping; its clocks, by the variant's name."""
    out: dict[str, int] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for wish in wanted:
        laid_out = qpu.layout(wish.kernel, wish.class_name, data, items, folder)
        for mapping in wish.mappings:
            variant = f"{wish.kernel}__qpu_{mapping}"
            s = program(wish.kernel, variant)
            found = list(candidates(s.programs, qpu_choices.THREADS, TRIED))
            most = min(map(_trip, found)) * LONGER
            if wish.bar is not None:
                most = max(min(most, wish.bar * s.items), min(map(_trip, found)))
            by_text = {assembly(c).text: c for c in found if _trip(c) <= most}
            say(f"{variant}: {len(by_text)} schedules")
            timed = [
                (qpu.clocks(variant, s, assembly(c), laid_out), _trip(c), n, c)
                for n, c in enumerate(by_text.values())
            ]
            clocks, _, _, best = min(timed, key=lambda x: x[:3])
            name = f"daedalus_{variant}"
            record = {name: qpu_choices.as_record(s.programs, best)}
            qpu_choices.record(record, [*qpu_choices.known(), name])
            out[name] = clocks
    return out


def _trip(code: Code) -> int:
    assert code.loop is not None
    return len(code.loop.schedule.slots)
