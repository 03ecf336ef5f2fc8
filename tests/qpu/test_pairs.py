# SPDX-License-Identifier: BSD-2-Clause
"""Pairs: words made of two halves at a time do what the reference does, are made where a trip has
less to do then and nowhere else, and are the same whatever hardware makes of what is uncertain."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import Options, options_of
from daedalus.generator.targets.qpu.interpret import Memory
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Form,
    Instruction,
    Operand,
    Program,
    Uniform,
)
from daedalus.generator.verify import crosscheck, qpu_check
from daedalus.generator.verify import gpu_check as vulkan
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial

PAIR = options_of("qpu", points=8, word=True, pair=True)
Known = tuple[str, int, int]  # a value of a spec, and what it lies between


def _spec(
    lines: list[str], stored: str = "v", out: str = "u8", mask: str = "", read: str = "u8"
) -> str:
    """A spec that stores what the lines compute of two pixels, a, b, and two parameters, s, n."""
    head = [
        f'd = k.plane("d", {out}, rows=(0, 2), cols=(0, 8), access="out")',
        f'p = k.plane("p", {read}, rows=(0, 2), cols=(-1, 9))',
        f'q = k.plane("q", {read}, rows=(0, 2), cols=(0, 8))',
        's = k.param("s", u8, 0, 15)',
        'n = k.param("n", u8, 0, 6)',
        "with k.stage(y=2, x=8) as (y, x):",
    ]
    body = ["a, b, c = q[y, x], p[y, x], p[y, x + 1]", *lines]
    body.append(f"d[y, x] = {stored}")
    text = [*head, *("    " + line for line in body)]
    return HEAD + "\n".join("    " + line for line in text)


def _random_lines(rng: random.Random) -> list[str]:
    """Statements, of which the last, v, is a byte."""
    known: list[Known] = [("a", 0, 255), ("b", 0, 255), ("a", 0, 255), ("s", 0, 15)]
    lines: list[str] = []
    while len(lines) < 14:
        made = _random_value(rng, rng.choice(known[-6:]), rng.choice(known))
        if made is None or not -9000 <= made[1] <= made[2] <= 9000:
            continue
        name = f"t{len(lines)}"
        lines.append(f"{name} = {made[0]}")
        known.append((name, made[1], made[2]))
    total = " + ".join(x for x, _, _ in known[-3:])
    return [*lines, f"v = clip(({total}) >> 3, 0, 255)"]


def _random_value(rng: random.Random, x: Known, y: Known) -> Known | None:
    (a, lo, hi), (b, low, high) = x, y
    shift, most = rng.randint(1, 6), max(abs(lo), abs(hi))
    distance = max(abs(lo - high), abs(hi - low))
    return rng.choice([
        (f"{a} + {b}", lo + low, hi + high),
        (f"{a} - {b}", lo - high, hi - low),
        (f"{a} + {shift}", lo + shift, hi + shift),
        (f"min({a}, {b})", min(lo, low), min(hi, high)),
        (f"max({a}, {b})", max(lo, low), max(hi, high)),
        (f"absdiff({a}, {b})", 0, distance),
        (f"clip({a}, -100, 300)", max(min(lo, 300), -100), min(max(hi, -100), 300)),
        (f"({a} + {1 << (shift - 1)}) >> {shift}", (lo >> shift) - 1, (hi >> shift) + 1),
        (f"{a} >> {shift}", lo >> shift, hi >> shift),
        (f"{a} >> n", lo, hi) if lo >= 0 else None,
        (f"{a} * {rng.choice((2, 3, 4, 5))}", 5 * min(lo, 0), 5 * max(hi, 0)),
        (f"{a} * s", -15 * most, 15 * most),
        (f"low_bits({a}, 8)", 0, 255) if lo >= 0 else None,
        (f"{a} & {b}", 0, min(hi, high)) if min(lo, low) >= 0 else None,
        (f"{a} {rng.choice('|^')} {b}", 0, (1 << max(hi, high).bit_length()) - 1)
        if min(lo, low) >= 0
        else None,
        (f"{a} & {shift * 11}", 0, shift * 11),
        (f"bit({a}, {shift})", 0, 1),
        (f"select(s > {shift}, {a}, {b})", min(lo, low), max(hi, high)),
        (f"select({a} < 0, 1, 0)", 0, 1),
        (f"select({a} < {b}, 0 - min(absdiff({a}, {b}), s), min(absdiff({a}, {b}), s))", -15, 15),
    ])  # fmt: skip


def _compared(kernel: Kernel, options: Options, seed: int) -> None:
    items = vectors.make_items(kernel, 24, seed)
    outcome = trial(kernel, options, items, seed, upwards=True, run=interpreted)
    assert outcome.good, f"seed {seed}, {options.name}: {outcome}"


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_values_are_what_the_reference_says(tmp_path: Path, first: int) -> None:
    """Most are less to do in pairs."""
    paired = 0
    for seed in range(first, first + 20):
        rng = random.Random(seed)
        kernel = kernel_of(tmp_path / str(seed), _spec(_random_lines(rng)))
        options = options_of("qpu", points=rng.choice((4, 8, 16)), word=True, pair=True)
        paired += selected(kernel, options).paired
        _compared(kernel, options, seed)
    assert paired >= 8


@pytest.mark.parametrize("out", ["u8", "i8", "u16", "i16"])
def test_elements_of_any_width(tmp_path: Path, out: str) -> None:
    stored = {"u8": "min(t, 255)", "i8": "min(t, 255) - 128", "u16": "t", "i16": "t - 200"}[out]
    line = "t = max(min(a * 3 + s, 700 - a), a) + select(s > 3, a, 9)"
    kernel = kernel_of(tmp_path, _spec([line], stored, out))
    assert selected(kernel, PAIR).paired
    _compared(kernel, PAIR, 1)


@pytest.mark.parametrize("read", ["u8", "i8"])
def test_bytes_with_and_without_a_sign_are_read(tmp_path: Path, read: str) -> None:
    line = "t = max(min(a * 3 + s, 700 - a), a) + max(min(b * 3 + s, 700 - b), b) - max(a, b)"
    kernel = kernel_of(tmp_path, _spec([line], "t", "i16", read=read))
    assert selected(kernel, PAIR).paired
    _compared(kernel, PAIR, 1)


def test_a_limited_place_stays_limited_whatever_an_item_holds(tmp_path: Path) -> None:
    """Differences of values of 32 bits may wrap, so that a minimum made of them limits nothing."""
    text = HEAD + "\n".join("    " + line for line in (
        'r = k.block("r", i32, (4,), lo=-1000, hi=1000)',
        'q = k.plane("q", u8, rows=(0, 2), cols=(0, 8))',
        'p = k.plane("p", u8, rows=(0, 2), cols=(0, 16))',
        'd = k.plane("d", u8, rows=(0, 2), cols=(0, 8), access="out")',
        "with k.stage(y=2, x=8) as (y, x):",
        "    u, v = r[0], r[1]",
        "    e = (u - v) + (7 - v)",
        "    a, b, c = q[y, x], p[y, x], p[y, x + max(min(u, 7), 0)]",
        "    s = (a + b + 1) >> 1",
        "    m = max(min(a, s + 3), b)",
        "    d[y, x] = clip_u8(((absdiff(a, m) + absdiff(b, s) + a + c) >> 2) + (e >> 8))",
    ))  # fmt: skip
    kernel = kernel_of(tmp_path, text)
    assert selected(kernel, PAIR).paired
    items = vectors.make_items(kernel, 32, 1, "hostile")
    items.buffers["r"][:, 0], items.buffers["r"][:, 1] = 2**31 - 1, -10
    items = vectors.in_range(kernel, items)
    outcome = trial(kernel, PAIR, items, 1, lying=True, run=interpreted)  # raises beyond buffers
    assert outcome.items == 32 and not outcome.strayed


def test_shared_values_of_more_than_24_bits(tmp_path: Path) -> None:
    """What is added and taken away again may have any bits: here one ends at 2**23 - 8, the other
    goes beyond 2**23."""
    lines = ["big = s * 559240", "v = min(max((a + (big + n * 3)) - big, 0), s * 9)"]
    kernel = kernel_of(tmp_path, _spec(lines))
    assert selected(kernel, PAIR).paired
    items = vectors.make_items(kernel, 600, 1)
    assert trial(kernel, PAIR, items, 1, upwards=True, run=interpreted).good


# What has no pair form, or is no less to do: the program is the one without the word.
ALONE = {
    "copies": ([], "a", "u8"),
    "products of two values": (["v = (a * b + b * 3) >> 9"], "v", "u8"),
    "values beyond f16": (["v = min(max(a * 200, b * 255), s * 4000) >> 8"], "v", "u8"),
    "choices by their own condition": (["v = select(a > b, 9, b)"], "v", "u8"),
}


@pytest.mark.parametrize("what", ALONE)
def test_where_nothing_is_paired_the_word_changes_nothing(tmp_path: Path, what: str) -> None:
    kernel = kernel_of(tmp_path, _spec(*ALONE[what]))
    with_it, without = (selected(kernel, options_of("qpu", points=8, word=True, pair=x))
                        for x in (True, False))  # fmt: skip
    assert not with_it.paired
    texts = ["\n".join(map(str, x.programs)).replace("_pair", "") for x in (with_it, without)]
    assert texts[0] == texts[1]


def test_without_words_nothing_is_paired(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, _spec(["v = min(max(a - s, 3) * 2, 255)"]))
    assert selected(kernel, PAIR).paired
    assert not selected(kernel, options_of("qpu", points=8, pair=True)).paired


def test_what_shifts_bring_from_the_other_half_is_noticed(tmp_path: Path) -> None:
    """Without the masks behind shifts, values are wrong."""
    line = "v = (min(absdiff(a, b), s * 3) + max(a, b) * 2 + s) >> 2"
    kernel = kernel_of(tmp_path, _spec([line]))
    assert selected(kernel, PAIR).paired
    _compared(kernel, PAIR, 3)

    def unmasked(
        programs: Sequence[Program], memory: Memory, uniforms: dict[Uniform, int], threads: int
    ) -> int:
        return interpreted([_unmasked(p) for p in programs], memory, uniforms, threads)

    items = vectors.make_items(kernel, 24, 3)
    assert trial(kernel, PAIR, items, 3, upwards=True, run=unmasked).mismatches


def _unmasked(program: Program) -> Program:
    """The program without masks of what shifts to the right made."""
    assert program.loop is not None
    shifted = {v for i in program.loop.body if _is(i, "shr") for v in i.results()}
    body = []
    for i in program.loop.body:
        if isinstance(i, Compute) and _is(i, "and") and shifted.intersection(i.reads()):
            (moved,) = (x for x in i.reads() if x in shifted)
            i = replace(i, forms=(Form("mov", (Operand(moved),)),))
        body.append(i)
    assert body != list(program.loop.body)
    return replace(program, loop=replace(program.loop, body=tuple(body)))


def _is(i: Instruction, op: str) -> bool:
    return isinstance(i, Compute) and i.forms[0].op == op


@pytest.mark.parametrize(
    "name",
    ["qpu_insec_p16_word_pair", "qpu_inside_p16_word_pair"],
)
@pytest.mark.campaign
def test_no_setting_of_the_simulator_changes_anything(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their floats are normal: with every setting that no source settles the other way round, f16
    denormals flushed among them, they compute the same."""
    entry = find(load(), "av1_cdef8")
    assert entry is not None
    (variant,) = [v for v in entry_variants(entry, ("qpu",)) if v.options.name == name]
    forms = qpu_check.forms(variant)
    assert "FLOAT" in forms
    monkeypatch.setattr(qpu_check, "forms", lambda v: tuple(x for x in forms if x != "FLOAT"))
    align = vulkan.alignment(variant)
    batches = vulkan.prepare(entry.kernel, [align], 60, 5)[align]
    program = crosscheck.program("host", simulates=True)
    (outcome,) = qpu_check.check_kernel(entry.kernel, [variant], program, batches, 5)
    assert outcome.good and outcome.conformant
