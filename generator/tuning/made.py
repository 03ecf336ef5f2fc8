# SPDX-License-Identifier: BSD-2-Clause
"""Variants turned into code, in memory; each once a process.

A variant that a back end refuses is `Refused`, and so is one whose code is that of a simpler one.
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
    """There is no code for a variant, and why."""


@dataclass(frozen=True)
class Machine:
    """A program for the QPU: selected, scheduled, and the hash of its variant."""

    selected: Selected
    code: Code
    input_hash: str


def simpler(options: Options) -> Iterator[Options]:
    """Variants that make one choice less."""
    for word in options.words():
        if not word.values and word.field not in _OWN_CODE and options.choice(word.field):
            fewer = options.with_choice(word.field, False)
            if fewer.lacks is None:
                yield fewer


@cache
def _known(kernel_id: str, target: str) -> Lowered:
    return {}


@cache
def text_variant(entry: Entry, options: Options) -> Variant:
    """A variant in C, NEON or GLSL. Raises Refused."""
    variant = _lowered(entry, options)
    if isinstance(variant, str):
        raise Refused(variant)
    own = _essence(variant)
    for other in simpler(options):
        found = _lowered(entry, other)
        if isinstance(found, Variant) and _essence(found) == own:
            raise Refused(f"the same code as {found.name}")
    return variant


@cache
def _lowered(entry: Entry, options: Options) -> Variant | str:
    """The variant, as the library has it where it is on record; or why there is none."""
    prod = dict(entry.listed).get(options, False)
    try:
        return make_variant(
            environment(), entry.kernel, options, prod=prod, rank=0, spec=entry.spec,
            known=_known(entry.kernel.id, options.target),
        )  # fmt: skip
    except SpecError as e:
        return e.message


def _essence(variant: Variant) -> str:
    """A variant's text without what names it."""
    text = variant.text.replace(variant.options.name, "@").replace(variant.input_hash, "@")
    clearing = text.find("void daedalus_clearing_")  # which prod variants have besides
    batch = text.rfind("\nvoid daedalus_")
    return text if clearing < 0 else text[:clearing] + text[batch + 1 :]


@cache
def machine_code(entry: Entry, options: Options) -> Machine:
    """A program for the QPU: by the schedule on record, or by a short search. Raises Refused."""
    found = _selected(entry, options)
    if isinstance(found, str):
        raise Refused(found)
    own = _program(entry, options, found)
    for other in simpler(options):
        s = _selected(entry, other)
        if isinstance(s, Selected) and _program(entry, other, s) == own:
            raise Refused(f"the same program as {variant_name(entry.kernel.id, other)}")
    name = variant_name(entry.kernel.id, options)
    try:
        code = qpu_choices.schedule(name, found.programs, options.threads).code
    except NoSchedule as e:
        raise Refused(str(e).partition(": ")[2] or str(e)) from None
    return Machine(found, code, code_hash(entry.kernel, emit_qpu(entry.kernel, found, code)))


@cache
def _selected(entry: Entry, options: Options) -> Selected | str:
    try:
        return selected(entry.kernel, options)
    except SpecError as e:
        return e.message


def _program(entry: Entry, options: Options, s: Selected) -> tuple[object, ...]:
    """What a program is, but for its name."""
    name = f"{entry.kernel.id}__{options.name}"
    return s.align, s.record, "\n".join(map(str, s.programs)).replace(name, "@")
