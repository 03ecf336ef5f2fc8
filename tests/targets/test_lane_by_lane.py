# SPDX-License-Identifier: BSD-2-Clause
"""Accumulation, first values, lookups by the lane, stores under conditions of the lane: as vectors
and NEON beside the interpreter, and how they are written where there is a short form."""

import re
from collections import Counter
from pathlib import Path

import pytest
from lane_specs import BODIES, DIAGONALS, HELD, ONE_SUM, SIDES, STRAIGHT, lanes_kernel

from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of
from daedalus.generator.verify.fuzz.cpu import Cpu
from daedalus.generator.verify.fuzz.programs import Program


@pytest.mark.parametrize("target", [pytest.param("vector", marks=pytest.mark.campaign), "neon"])
def test_they_compute_what_the_interpreter_does(target: str, tmp_path: Path) -> None:
    programs = []
    for n, (name, body) in enumerate(BODIES.items()):
        kernel = lanes_kernel(tmp_path / name, body, f"by_{name}")
        listed = [options_of("c"), options_of(target), options_of(target, rows=2)]
        if name in STRAIGHT:
            listed += [options_of(target, items=items) for items in (2, 4)]
        programs.append(Program(1, n, kernel, tuple(listed)))
    tally = Cpu(("c", target)).run(programs, 96)
    assert [f.text for f in tally.failures] == []
    assert not tally.refused and not tally.illegal and tally.without_conformant == 0
    assert tally.variants == sum(len(p.listed) for p in programs)


def _text(folder: Path, body: str) -> str:
    kernel = lanes_kernel(folder, body)
    options = options_of("neon")
    return make_variant(environment(), kernel, options, prod=True, rank=0, spec="a test").text


def test_a_sum_of_all_lanes_is_reduced_once(tmp_path: Path) -> None:
    text = _text(tmp_path, ONE_SUM)
    assert text.count("vaddvq_") == 2  # an element each, whatever merges into it


def test_neighbours_are_merged_at_once(tmp_path: Path) -> None:
    text = _text(tmp_path, DIAGONALS)
    assert "vst1q_s16(&rows[0], merged" in text or "vst1q_s32(&rows[0], merged" in text
    assert "vaddv" not in text


def test_lanes_that_are_known_not_to_store_are_left_out(tmp_path: Path) -> None:
    text = _text(tmp_path, SIDES)
    assert text.count("wide[32] = ") == 1 and "wide[36] = " in text and "wide[37] = " not in text


def test_what_registers_hold_is_looked_up_there(tmp_path: Path) -> None:
    text = _text(tmp_path, HELD)
    found = re.findall(r"(vqtbl\d)q?_u8", text)
    assert Counter(found) == {"vqtbl1": 2, "vqtbl2": 5, "vqtbl4": 5}


def test_all_lanes_store_at_once_where_their_ends_may(tmp_path: Path) -> None:
    text = _text(tmp_path, SIDES)
    assert "if ((0 < p) && (7 < p)) {" in text or "if ((p > 0) && (p > 7)) {" in text
