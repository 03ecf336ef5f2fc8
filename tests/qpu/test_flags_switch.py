# SPDX-License-Identifier: BSD-2-Clause
"""Flags at thread switches: schedules that do not count on them, and what tells these apart."""

import random

import numpy as np
import pytest

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.qpu_choices import is_plain
from daedalus.generator.options import parse_variant
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.compile import compile_program
from daedalus.generator.targets.qpu.forms import counts_on_flags, forms
from daedalus.generator.targets.qpu.interpret import Memory
from daedalus.generator.targets.qpu.random_attempts import compile_somehow
from daedalus.generator.targets.qpu.random_programs import Case, make
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.targets.qpu.virtual import Uniform
from daedalus.generator.targets.qpu.words import check

_IN, _OUT, _BATCHES = 0x1000, 0x8000, 3


def _across() -> Case:
    """A loop with a flag that decides where it loads, and again what becomes of the result; and an
    update of it behind the load."""
    b = Builder("across")
    element, inputs, outputs = b.element(), b.uniform("in"), b.uniform("out")
    first = b.op("shl", b.workgroup(), 4)
    items = b.uniform("items")
    with b.loop(ahead=False) as loop:
        item = loop.carried(first)
        own = b.op("add", item, element)
        odd = b.flag("pushz", "sub", b.op("and", own, 1), 1)
        at = b.op("shl", b.select(odd, own, 0), 2)
        (x,) = b.load(b.op("add", inputs, at), space="in")
        y = b.select(odd, b.op("add", x, 5), x)
        small = b.update(odd, "andc", "sub", y, 100)
        z = b.select(small, 7, y)
        b.store(b.op("add", outputs, b.op("shl", own, 2)), [z], space="out")
        after = b.op("add", item, 16)
        loop.next(item, after)
        loop.repeat(b.flag("pushc", "sub", after, items), "a0")
    data = np.random.default_rng(7).integers(0, 200, 16 * _BATCHES).astype("<u4")
    memory = Memory({_IN: data.view(np.uint8), _OUT: np.zeros(64 * _BATCHES, np.uint8)})
    words = {"in": _IN, "out": _OUT, "items": 16 * _BATCHES}
    return Case(0, b.program(), memory, {Uniform("value", n): w for n, w in words.items()}, 1)


def test_a_flag_is_made_anew_behind_a_switch() -> None:
    case = _across()
    kept, renewed = (compile_program(case.program, flags_stay=stay) for stay in (True, False))
    assert forms(kept) == ("FLAGS_SWITCH",) and forms(renewed) == ()
    pushes = [assembly(code).text.split("loop:")[1].count(".push") for code in (kept, renewed)]
    assert pushes == [2, 3]
    for stay in (True, False):
        verdict = compare(case, 2, flags_stay=stay)
        assert verdict.assembly is not None and verdict.differing == 0


def test_the_validator_says_the_same_of_random_programs() -> None:
    """Of random attempts, half of which may count on flags."""
    rng, told = random.Random(11), []
    for number in range(24):
        case = make(number)
        code = compile_somehow(case.program, 2, rng, flags_stay=number % 2 == 0)
        told.append(counts_on_flags(code))
        assert not (told[-1] and number % 2)
        try:
            check(assembly(code), flags_stay=False)
            accepted = True
        except UserError as e:
            accepted = False
            assert "FLAGS_UNSET" in str(e)
        assert accepted != told[-1], number
    assert 3 < sum(told) < 21


@pytest.mark.parametrize("number", range(40, 60))
def test_random_programs_do_without(number: int) -> None:
    """They are scheduled, validated as programs that lose flags, and compute what they shall."""
    case = make(number)
    verdict = compare(case, 2, 2000, flags_stay=False)
    assert verdict.assembly is not None, verdict.reason
    assert verdict.differing == 0


def test_who_shall_do_without_goes_by_the_name() -> None:
    names = {"qpu_full": True, "qpu_full_p4": True, "qpu_full_p4_word": False, "qpu_sub8_p8": False}
    for name, plain in names.items():
        assert is_plain(f"daedalus_vp9_mc_8h__{name}") == plain
    assert not parse_variant("daedalus_vp9_mc_8h__glsl_full")[1].plain
