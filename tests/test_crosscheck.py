# SPDX-License-Identifier: BSD-2-Clause
"""The cross-check: dispatch through the runtime is right, and whatever is wrong is noticed."""

import json
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tampered import Tampered, in_variant

from daedalus.dsl import interp
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import check as check_verb
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import find, load
from daedalus.generator.host import native
from daedalus.generator.options import CPU_TARGETS, parse_variant
from daedalus.generator.verify import crosscheck, crosscheck_items
from daedalus.generator.verify.witness import witness_file

ITEMS = 4000
FEW = 1000  # of every kernel: `check` compares more


def kernel_named(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


# One with classes, one that changes its input, one with a table; `check` does it for all.
@pytest.mark.parametrize("name", ["vp9_idct8", "h264_deblock_luma_v", "vp9_mc_8h"])
def test_dispatch_bins_classes_and_matches(name):
    entry = find(load(), name)
    batches = crosscheck.prepare(entry.kernel, FEW, seed=5)
    for device in crosscheck.devices(("c", "vector", "neon")):
        outcome = crosscheck.check_dispatch(
            entry.kernel, device, crosscheck.program(device.arch), batches, 5
        )
        assert outcome.failures == []
        assert outcome.good
        assert outcome.conformant >= FEW * len(entry.kernel.class_names)
    for name in entry.kernel.class_names:
        assert interp.in_class(entry.kernel, name, batches[0].placed.items).sum() >= FEW


@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_every_witness_is_in_every_place_of_a_group_and_alone(entry):
    """The check program does the first half of a variant's items in one call, the rest singly."""
    kernel, kept = entry.kernel, witness_file.read(entry.kernel)
    if not kept.count:
        return
    (batch,) = [b for b in crosscheck.prepare(kernel, 1, 1, kept) if b.kind == crosscheck.WITNESS]
    number = np.array([_same(batch.placed.items, n, kept) for n in range(batch.placed.items.count)])
    for options, _ in entry.listed:
        side_by_side = options.choice("items") if options.target in CPU_TARGETS else 1
        mine = np.flatnonzero(interp.in_class(kernel, options.class_name, batch.placed.items))
        every = set(number[mine])
        together, alone = np.split(number[mine], 2)
        groups = together[: len(together) // side_by_side * side_by_side]
        assert all(set(groups[n::side_by_side]) == every for n in range(side_by_side))
        assert set(alone) == every


def _same(items: Items, n: int, kept: Items) -> int:
    """Which of the kept items an item is."""
    same = np.ones(kept.count, bool)
    for name, values in items.params.items():
        same &= (kept.params[name] == values[n]).reshape(kept.count, -1).all(axis=1)
    for name, values in items.buffers.items():
        same &= (kept.buffers[name] == values[n]).reshape(kept.count, -1).all(axis=1)
    return int(np.flatnonzero(same)[0])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tampered:
    return Tampered(tmp_path_factory.mktemp("tampered"))


@pytest.fixture
def tampered(tree: Tampered):
    """Builds the check program from generated code with one change."""

    def build(where: str, old: str, new: str) -> Path:
        """`where`: a variant, or the codec's file for many items."""

        def change(text: str) -> str:
            folded = r"\s+".join(map(re.escape, old.split()))  # lines end anywhere
            found, times = re.subn(folded, lambda _: new, text, count=1)
            assert times, f"{where} has no {old!r}"
            return found

        if where == "items.c":
            return tree.program("src/vp9/items.c", change)
        entry = find(load(), parse_variant(where)[0])
        assert entry is not None
        (variant,) = [v for v in entry_variants(entry, CPU_TARGETS) if v.name == where]
        return tree.program(variant.file, in_variant(variant, change))

    return build


@cache
def drawn(name: str) -> tuple[Kernel, list[crosscheck.Batch]]:
    """A kernel and its batches, which all changes of its code are compared on."""
    kernel = kernel_named(name)
    return kernel, crosscheck.prepare(kernel, ITEMS, seed=1)


def outcome_of(program: Path, name: str, variant: str) -> crosscheck.Outcome:
    kernel, batches = drawn(name)
    device = crosscheck.Device("native", "c", "host")
    (outcome,) = crosscheck.check_kernel(kernel, [variant], device, program, batches, 1)
    return outcome


def test_untampered_is_good(tampered):
    program = tampered("daedalus_vp9_idct8__c_full", "15137", "15137")
    assert outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full").good


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vp9_idct8", "15137", "15136"),
        ("vp9_idct8", "+ 8192", "+ 8191"),
        ("vp9_idct8", "+ 16) >> 5", "+ 15) >> 5"),
        ("vp9_idct8", "0, 255)", "0, 254)"),
        ("vp9_lpf4_v", "f + 4, 127", "f + 4, 119"),
        ("vp9_lpf4_v", "-128, 127)", "-127, 127)"),
        ("vp9_lpf4_v", "<= limit)", "< limit)"),
        ("vp9_lpf4_v", "> thresh)", ">= thresh)"),
        ("vp9_lpf4_v", "<= blimit)", "< blimit)"),
    ],
)
def test_wrong_value_is_noticed(tampered, name, old, new):
    variant = f"daedalus_{name}__c_full"
    outcome = outcome_of(tampered(variant, old, new), name, variant)
    assert outcome.mismatches > 0
    assert not outcome.good
    line = outcome.failures[0]
    for part in (variant, "native", "item", "seed 1", "dst[", "expected", "got"):
        assert part in line
    outcome.asked = ITEMS
    command = crosscheck.replay_command(outcome, 1)
    assert command == f"./daedalus check {name} --target c --items {ITEMS} --seed 1"


def test_stray_write_is_noticed(tampered):
    program = tampered(
        "daedalus_vp9_lpf4_v__c_full",
        "for (int i = 0; i < 8; i++)",
        "for (int i = 0; i < 9; i++)",
    )
    outcome = outcome_of(program, "vp9_lpf4_v", "daedalus_vp9_lpf4_v__c_full")
    assert outcome.out_of_bounds > 0
    assert any("outside its items" in f or "outside its buffers" in f for f in outcome.failures)


def test_stray_read_is_noticed(tampered):
    """Reading a row below the last item changes no value; the page behind it is out of reach."""
    program = tampered(
        "daedalus_vp9_idct8__c_full",
        "dst[x] = (uint8_t)",
        "(void)*(volatile const uint8_t *)&dst[8 * dst_stride + x]; dst[x] = (uint8_t)",
    )
    outcome = outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full")
    assert outcome.out_of_bounds > 0
    assert any("touched memory outside" in f for f in outcome.failures)


def test_write_to_input_is_noticed(tampered):
    program = tampered(
        "daedalus_vp9_idct8__c_full", "dst[x] = (uint8_t)",
        "((int16_t *)(uintptr_t)coeffs)[x] ^= 1; dst[x] = (uint8_t)",
    )  # fmt: skip
    outcome = outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full")
    assert any("may only read" in f for f in outcome.failures)


# ------------------------------------------------------------------------------- many items


BEST = "neon" if native.is_arm() else "vector"  # the target that public functions call here


def items_outcomes(
    program: Path, name: str, variant: str, target: str = BEST
) -> tuple[crosscheck.Outcome, ...]:
    """What the variant's functions for many items do, and what the public ones do."""
    kernel = kernel_named(name)
    device = crosscheck.Device("native", target, "host")
    own = crosscheck.Outcome(kernel.id, target, variant, "native")
    batches = crosscheck_items.prepare_regular(kernel, FEW, seed=1)
    public = crosscheck_items.check_items(
        kernel, [(variant, True)], device, program, batches, 1, [own]
    )
    return own, public


def test_items_lie_regularly_and_every_function_runs():
    kernel = kernel_named("vp9_idct8")
    batches = crosscheck_items.prepare_regular(kernel, FEW, seed=1)
    assert tuple(b.kind for b in batches) == crosscheck_items.REGULAR
    row, column, hostile = (b.placed for b in batches)
    (plane,) = (b for b in row.buffers if b.buffer.kind == "plane")
    origins = plane.where[:, 0, 0]
    assert set(np.diff(origins).tolist()) == {8}  # they touch
    (plane,) = (b for b in column.buffers if b.buffer.kind == "plane")
    assert len(set(np.diff(plane.where[:, 0, 0]).tolist())) == 1
    assert plane.stride < 0
    eob = column.items.params["eob"]
    assert (eob[0::3] == eob[1::3]).all() and len(set(eob.tolist())) > 10
    claims = hostile.items.params["eob"]
    assert {1, 12, 64} <= set(claims[::2].tolist())  # of every class
    assert (claims[1::2] > 64).any() and (claims[1::2] == 0).any()
    own, public = items_outcomes(
        crosscheck.program("host"), "vp9_idct8", f"daedalus_vp9_idct8__{BEST}_full"
    )
    assert own.failures == public.failures == []
    # A row by two functions, and a column by three; and a hostile row by two, of which not one is
    # conformant.
    regular = 2 * row.items.count + 3 * column.items.count
    assert own.items == public.items == regular + 2 * hostile.items.count
    assert own.conformant == public.conformant == regular


ITEMS_TAMPERED = {
    "a step that is forgotten": ("full", "dst += dst_step;", "dst += 8;", "column item", True),
    "coefficients that stay": (
        "full", "coeffs += 64;", "coeffs += 63;", "expected", True,
    ),
    "a block that is not cleared": (
        "full", "memset(coeffs, 0, 64 * sizeof(*coeffs));\n    dst",
        "memset(coeffs, 0, 63 * sizeof(*coeffs));\n    dst", "did not clear", True,
    ),
    "one too many": (
        "full", "n_left = n_blocks; n_left > 0", "n_left = n_blocks + 1; n_left > 0", "", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ITEMS_TAMPERED)
def test_a_wrong_function_for_many_items_is_noticed(tampered, case: str) -> None:
    options, old, new, said, publicly = ITEMS_TAMPERED[case]
    variant = f"daedalus_vp9_idct8__{BEST}_{options}"
    own, public = items_outcomes(tampered(variant, old, new), "vp9_idct8", variant)
    assert not own.good
    assert any(said in f for f in own.failures)
    assert public.good != publicly


HOSTILE_TAMPERED = {
    "a parameter that is out of range": (
        "const int n_class = class_of_vp9_idct8(meta);",
        "const int n_class = class_of_vp9_idct8(meta);"
        " if (meta->eob > 64) { dst[8 * dst_stride] ^= 1; }",
        "outside its",
    ),
    "a block that says less than it holds": (
        "ptrdiff_t dst_step, int16_t *coeffs, size_t n_blocks, const daedalus_vp9_idct8_meta *meta,"
        " size_t"
        " meta_step) {",
        "ptrdiff_t dst_step, int16_t *coeffs, size_t n_blocks, const daedalus_vp9_idct8_meta *meta,"
        " size_t"
        " meta_step) { for (size_t n = 0; n < n_blocks; n++) {"
        " if (meta[n * meta_step].eob == 1 && coeffs[64 * n + 63] != 0) {"
        " coeffs[64 * n + 63] ^= 1; } }",
        "did not clear",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_TAMPERED)
def test_what_a_public_function_does_to_hostile_items_is_noticed(tampered, case: str) -> None:
    old, new, said = HOSTILE_TAMPERED[case]
    own, public = items_outcomes(
        tampered("items.c", old, new), "vp9_idct8", f"daedalus_vp9_idct8__{BEST}_full"
    )
    assert own.good
    assert not public.good
    for failure in public.failures:
        assert crosscheck_items.HOSTILE_ROW in failure
        assert said in failure


def test_another_class_s_function_is_noticed(tampered):
    program = tampered("items.c", "eob <= 12", "eob <= 13")
    own, public = items_outcomes(program, "vp9_idct8", f"daedalus_vp9_idct8__{BEST}_full")
    assert own.good
    assert not public.good


def test_one_set_of_parameters_is_one(tampered):
    """A function that goes on to the next struct, which is not there, is told from one that
    stays."""
    variant = "daedalus_vp9_mc_8v__c_full"
    program = tampered(variant, "meta += meta_step;", "meta += 1;")
    own, _ = items_outcomes(program, "vp9_mc_8v", variant, "c")
    assert not own.good
    assert all("column item" in f for f in own.failures)


def test_tall_blocks_lie_without_gaps_and_are_compared() -> None:
    """In both directions, and up to the number of equal items that make blocks of 64 rows."""
    kernel = kernel_named("vp9_mc_8v")
    batches = crosscheck_items.prepare_regular(kernel, FEW, seed=1)[-2:]
    assert [b.kind for b in batches] == [crosscheck_items.TALL] * 2
    for batch, direction in zip(batches, (1, -1), strict=True):
        params = batch.placed.items.params
        assert set(params["rows"].tolist()) == {8}
        own = list(zip(params["my"].tolist(), params["filter"].tolist(), strict=True))
        runs = [len(list(same)) for _, same in groupby(own)]
        assert len(runs) > 15 and {1, 2, 3, 16} <= set(runs)
        for b in batch.placed.buffers:
            pitch = b.stride // b.elements.itemsize
            assert pitch * direction > 0
            assert set(np.diff(b.where[:, 0, 0]).tolist()) == {8 * pitch}


TALL_TAMPERED = {
    "a step": ("src += 8 * src_stride;", "src += 7 * src_stride;"),
    "one too few": ("for (; n_pieces > 0; n_pieces--)", "for (; n_pieces > 1; n_pieces--)"),
}


@pytest.mark.parametrize("case", TALL_TAMPERED)
def test_a_wrong_function_for_tall_blocks_is_noticed(tampered, case: str) -> None:
    variant = "daedalus_vp9_copy8__c_rows8"
    own, public = items_outcomes(tampered(variant, *TALL_TAMPERED[case]), "vp9_copy8", variant, "c")
    assert not own.good
    assert all("tall item" in f for f in own.failures)
    assert public.good


def test_json_has_the_promised_fields():
    result = CliRunner().invoke(
        check_verb.command, ["vp9_lpf4", "--target", "c", "--items", "100", "--json"]
    )
    assert result.exit_code == 0
    row, dispatched, many = json.loads(result.stdout)["results"]
    assert (dispatched["variant"], many["variant"]) == ("dispatch", "items")
    assert row["items"] >= 150
    assert row == {
        "kernel": "vp9_lpf4_h", "target": "c", "variant": "daedalus_vp9_lpf4_h__c_full",
        "device": "native", "items": row["items"], "conformant": row["conformant"],
        "mismatches": 0, "out_of_bounds": 0,
    }  # fmt: skip
    assert row["conformant"] >= 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["vp9_idct9"], "no kernel vp9_idct9"),
        (["--target", "mmx"], "unknown target 'mmx'"),
        (["vp9_lpf4", "--record", "--sanitize"], "--record needs a plain run"),
        (["vp9_lpf4", "--target", "qpu", "--device", "simulador"], "no device simulador"),
    ],
)
def test_bad_arguments(words, message):
    result = CliRunner().invoke(check_verb.command, words)
    assert isinstance(result.exception, UserError)
    assert message in result.exception.message
    assert result.exception.hint
    assert result.exception.exit_code == 2
