# SPDX-License-Identifier: BSD-2-Clause
"""Schedules turned into code, in memory; each once a process.

A schedule that a back end refuses is `Refused`, and so is one whose code is that of a simpler one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile import qpu_choices
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant, code_hash, make_variant
from daedalus.generator.options import Options, variant_name
from daedalus.generator.passes.pipeline import Lowered
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.emit import emit as emit_qpu
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.verify.qpu_trial import selected

# What is not looked at: four threads are the program's mode, and not in its text; without the
# others a program is always another one.
_OWN_CODE = ("pair", "shuffle", "joint_reads", "four_threads")


class Refused(Exception):
    """There is no code for a schedule, and why."""


@dataclass(frozen=True)
class Machine:
    """A program for the QPU: selected, scheduled, and the hash of its variant."""

    selected: Selected
    code: Code
    input_hash: str


def simpler(schedule: Options) -> Iterator[Options]:
    """Schedules that make one choice less."""
    for word in schedule.words():
        if not word.values and word.field not in _OWN_CODE and schedule.choice(word.field):
            fewer = schedule.with_choice(word.field, False)
            if fewer.lacks is None:
                yield fewer


@cache
def _known(kernel_id: str, target: str) -> Lowered:
    return {}


@cache
def text_variant(entry: Entry, schedule: Options) -> Variant:
    """A variant in C, NEON or GLSL. Raises Refused."""
    variant = _lowered(entry, schedule)
    if isinstance(variant, str):
        raise Refused(variant)
    own = _essence(variant)
    for other in simpler(schedule):
        found = _lowered(entry, other)
        if isinstance(found, Variant) and _essence(found) == own:
            raise Refused(f"the same code as {found.name}")
    return variant


@cache
def _lowered(entry: Entry, schedule: Options) -> Variant | str:
    """The variant, as the library has it where it is on record; or why there is none."""
    prod = dict(entry.schedules).get(schedule, False)
    try:
        return make_variant(
            environment(), entry.kernel, schedule, prod=prod, rank=0, spec=entry.spec,
            known=_known(entry.kernel.id, schedule.target),
        )  # fmt: skip
    except SpecError as e:
        return e.message


def _essence(variant: Variant) -> str:
    """A variant's text without what names it."""
    text = variant.text.replace(variant.schedule.name, "@").replace(variant.input_hash, "@")
    clearing = text.find("void daedalus_clearing_")  # which prod variants have besides
    batch = text.rfind("\nvoid daedalus_")
    return text if clearing < 0 else text[:clearing] + text[batch + 1 :]


@cache
def machine_code(entry: Entry, schedule: Options) -> Machine:
    """A program for the QPU: by the schedule on record, or by a short search. Raises Refused."""
    found = _selected(entry, schedule)
    if isinstance(found, str):
        raise Refused(found)
    own = _program(entry, schedule, found)
    for other in simpler(schedule):
        s = _selected(entry, other)
        if isinstance(s, Selected) and _program(entry, other, s) == own:
            raise Refused(f"the same program as {variant_name(entry.kernel.id, other)}")
    name = variant_name(entry.kernel.id, schedule)
    try:
        code = qpu_choices.schedule(name, found.programs, schedule.threads).code
    except NoSchedule as e:
        raise Refused(str(e).partition(": ")[2] or str(e)) from None
    return Machine(found, code, code_hash(entry.kernel, emit_qpu(entry.kernel, found, code)))


@cache
def _selected(entry: Entry, schedule: Options) -> Selected | str:
    try:
        return selected(entry.kernel, schedule)
    except SpecError as e:
        return e.message


def _program(entry: Entry, schedule: Options, s: Selected) -> tuple[object, ...]:
    """What a program is, but for its name."""
    name = f"{entry.kernel.id}__{schedule.name}"
    return s.align, s.record, "\n".join(map(str, s.programs)).replace(name, "@")
