# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the QPU's rules of elements of words (SMT): whatever the word, whatever the elements;
of all types, bits and modes of v8dot."""

from collections.abc import Iterator
from itertools import product

import z3
from test_qpu_rules import MODES, Term, terms_of

from daedalus.dsl.ir import DTYPES, DType, u8
from daedalus.generator.targets.qpu.field_rules import FIELDS, PACKS, Field, field_rule, pack_rule

WORD = z3.BitVec("word", 32)
MOST = (1, 127, 128, 255)


def _element(t: DType, bit: int) -> Term:
    """Its value modulo 2**32."""
    bits = z3.Extract(bit + t.bits - 1, bit, WORD)
    return (z3.SignExt if t.signed else z3.ZeroExt)(32 - t.bits, bits)


def _wrong(x: Term, want: Term, known: Term | None = None) -> bool:
    solver = z3.Solver()
    solver.add(x != want, *([] if known is None else [known]))
    return solver.check() == z3.sat


def _fields() -> Iterator[tuple[Field, str]]:
    for t, mode in product(DTYPES, MODES):
        for bit, most in product(range(0, 32, t.bits), MOST if t == u8 else (255,)):
            yield Field(t, bit, most, lambda m, mode=mode: m == mode), mode


def test_elements_are_taken_out() -> None:
    """Every rule, wherever it is the first whose condition holds, and all of its forms."""
    taken = set()
    for f, mode in _fields():
        one = field_rule(f)
        taken.add(one.name)
        want = _element(f.type, f.at)
        known = z3.ULE(want, f.most) if f.type == u8 else None
        for x in terms_of(one.makes(f), {"a": WORD}, mode):
            assert not _wrong(x, want, known), (one.name, f.type, f.bit, mode)
    assert taken == {r.name for r in FIELDS} - {"element at a place known at run time"}


def test_elements_are_taken_out_at_places_known_at_run_time() -> None:
    at = z3.BitVec("at", 32)
    for t in DTYPES:
        f = Field(t, None, 255, lambda mode: False)
        (x,) = terms_of(field_rule(f).makes(f), {"a": WORD, "b": at})
        for bit in range(0, 32, t.bits):
            assert not _wrong(x, _element(t, bit), at == bit), (t, bit)


def test_a_byte_of_128_is_not_picked_as_signed() -> None:
    """The bound on the value is needed: what the rule would make beyond is refuted."""
    small = Field(u8, 8, 127, lambda mode: mode == "ss")
    (x,) = terms_of(field_rule(small).makes(small), {"a": WORD}, "ss")
    assert _wrong(x, _element(u8, 8), z3.ULE(_element(u8, 8), 128))


def test_words_are_put_together() -> None:
    parts = {x: z3.BitVec(x, 32) for x in "abcd"}
    for one in PACKS:
        (word,) = terms_of(one.makes, parts)
        for k, part in zip(range(one.count), parts.values(), strict=False):
            low = z3.Extract(k * one.step + one.bits - 1, k * one.step, word)
            assert not _wrong(low, z3.Extract(one.bits - 1, 0, part)), (one.name, k)


def test_a_word_of_bytes_is_made_of_what_two_bytes_are() -> None:
    """So that what is there of the first two, or the last two, is computed once."""
    pair = pack_rule(2, 8).makes
    last = tuple({"a": "c", "b": "d"}.get(x, x) for x in pair)
    assert pack_rule(4, 8).makes == ("v8pack", pair, last)
    assert pack_rule(2, 8).step == 16
