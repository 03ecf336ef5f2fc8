# SPDX-License-Identifier: BSD-2-Clause
"""Sums of what is 0 where a condition does not hold are made under the condition, and right."""

from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.options import options_of
from daedalus.generator.targets.qpu.virtual import Compute
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial

PLAIN = options_of("qpu")
WHERE, WHERE_NOT = "select(f, b * 5, 0)", "select(f, 0, b * 5)"


def _kernel(tmp_path: Path, *lines: str) -> Kernel:
    two = any(line.startswith("e[") for line in lines)
    head = [
        'd = k.plane("d", i16, rows=(0, 1), cols=(0, 8), access="out")',
        *(['e = k.plane("e", i16, rows=(0, 1), cols=(0, 8), access="out")'] if two else []),
        'p = k.plane("p", u8, rows=(0, 1), cols=(0, 8))',
        'q = k.plane("q", u8, rows=(0, 1), cols=(0, 8))',
        "with k.stage(x=8) as x:",
    ]
    body = ["a, b = p[0, x], q[0, x]", "f = a > 2 * b + 1", *lines]
    text = [*head, *("    " + line for line in body)]
    return kernel_of(tmp_path, HEAD + "\n".join("    " + line for line in text))


def _under_conditions(kernel: Kernel) -> list[str]:
    """The operations that programs do under conditions."""
    (program, *_) = selected(kernel, PLAIN).programs
    assert program.loop is not None
    return [
        form.op
        for i in program.loop.body
        if isinstance(i, Compute) and i.when is not None
        for form in i.forms
    ]


def _right(kernel: Kernel) -> bool:
    items = vectors.make_items(kernel, 60, 1)
    return trial(kernel, PLAIN, items, 1, upwards=True, run=interpreted).good


@pytest.mark.parametrize(
    ("value", "op"),
    [
        (f"a + {WHERE}", "add"),
        (f"a + {WHERE_NOT}", "add"),
        (f"{WHERE} + a", "add"),
        (f"{WHERE_NOT} + a", "add"),
        (f"a - {WHERE}", "sub"),
        (f"a - {WHERE_NOT}", "sub"),
    ],
)
def test_a_sum_under_a_condition_is_one_operation(tmp_path: Path, value: str, op: str) -> None:
    kernel = _kernel(tmp_path, f"v = {value}", "d[0, x] = v * 3 + b")
    assert _under_conditions(kernel) == [op]
    assert _right(kernel)


def test_what_several_take_is_selected_once(tmp_path: Path) -> None:
    """Its condition might be made anew for each."""
    kernel = _kernel(tmp_path, f"s = {WHERE}", "d[0, x] = 5 * (a + s) + (b - s)")
    assert len(_under_conditions(kernel)) == 1
    assert _right(kernel)


def test_what_is_stored_too_is_selected_once(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, f"s = {WHERE}", "d[0, x] = a + s", "e[0, x] = s")
    assert len(_under_conditions(kernel)) == 1
    assert _right(kernel)


@pytest.mark.parametrize("value", [f"{WHERE} - a", f"max({WHERE}, a)", WHERE])
def test_what_no_sum_is_made_of_is_selected(tmp_path: Path, value: str) -> None:
    kernel = _kernel(tmp_path, f"d[0, x] = {value}")
    assert len(_under_conditions(kernel)) == 1
    assert _right(kernel)
