# SPDX-License-Identifier: BSD-2-Clause
"""The cross-check: dispatch through the runtime is right, and whatever is wrong is noticed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tampered import Tampered

from daedalus.dsl import interp
from daedalus.dsl.ir import Kernel
from daedalus.generator import crosscheck
from daedalus.generator.cli import check as check_verb
from daedalus.generator.cli.common import UserError
from daedalus.generator.registry import find, load

ITEMS = 4000
FEW = 1000  # of every kernel: `check` compares more


def kernel_named(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_dispatch_bins_classes_and_matches(entry):
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


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tampered:
    return Tampered(tmp_path_factory.mktemp("tampered"))


@pytest.fixture
def tampered(tree: Tampered):
    """Builds the check program from generated code with one change."""

    def build(file: str, old: str, new: str) -> Path:
        def change(text: str) -> str:
            assert text.count(old) >= 1, f"{file} has no {old!r}"
            return text.replace(old, new, 1)

        return tree.program(f"src/vp9/{file}", change)

    return build


def outcome_of(program: Path, name: str, variant: str) -> crosscheck.Outcome:
    kernel = kernel_named(name)
    batches = crosscheck.prepare(kernel, ITEMS, seed=1)
    device = crosscheck.Device("native", "c", "host")
    (outcome,) = crosscheck.check_kernel(kernel, [variant], device, program, batches, 1)
    return outcome


def test_untampered_is_good(tampered):
    program = tampered("daedalus_vp9_idct8__c_full.c", "15137", "15137")
    assert outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full").good


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("daedalus_vp9_idct8__c_full.c", "15137", "15136"),
        ("daedalus_vp9_idct8__c_full.c", "+ 8192", "+ 8191"),
        ("daedalus_vp9_idct8__c_full.c", "+ 16) >> 5", "+ 15) >> 5"),
        ("daedalus_vp9_idct8__c_full.c", "0, 255)", "0, 254)"),
        ("daedalus_vp9_lpf4_v__c_full.c", "f + 4, 127", "f + 4, 119"),
        ("daedalus_vp9_lpf4_v__c_full.c", "-128, 127)", "-127, 127)"),
        ("daedalus_vp9_lpf4_v__c_full.c", "<= limit)", "< limit)"),
        ("daedalus_vp9_lpf4_v__c_full.c", "> thresh)", ">= thresh)"),
        ("daedalus_vp9_lpf4_v__c_full.c", "<= blimit)", "< blimit)"),
    ],
)
def test_wrong_value_is_noticed(tampered, file, old, new):
    name, variant = file.split("__")[0].removeprefix("daedalus_"), file.removesuffix(".c")
    outcome = outcome_of(tampered(file, old, new), name, variant)
    assert outcome.mismatches > 0
    assert not outcome.good
    line = outcome.failures[0]
    for part in (variant, "native", "item", "seed 1", "dst[", "expected", "got"):
        assert part in line
    command = crosscheck.replay_command(outcome, ITEMS, 1)
    assert command == f"./daedalus check {name} --target c --items {ITEMS} --seed 1"


def test_stray_write_is_noticed(tampered):
    program = tampered(
        "daedalus_vp9_lpf4_v__c_full.c",
        "for (int i = 0; i < 8; i++)",
        "for (int i = 0; i < 9; i++)",
    )
    outcome = outcome_of(program, "vp9_lpf4_v", "daedalus_vp9_lpf4_v__c_full")
    assert outcome.out_of_bounds > 0
    assert any("outside its items" in f or "outside its buffers" in f for f in outcome.failures)


def test_stray_read_is_noticed(tampered):
    """Reading a row below the last item changes no value; the page behind it is out of reach."""
    program = tampered(
        "daedalus_vp9_idct8__c_full.c",
        "dst[x] = (uint8_t)",
        "(void)*(volatile const uint8_t *)&dst[8 * dst_stride + x]; dst[x] = (uint8_t)",
    )
    outcome = outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full")
    assert outcome.out_of_bounds > 0
    assert any("touched memory outside" in f for f in outcome.failures)


def test_write_to_input_is_noticed(tampered):
    program = tampered(
        "daedalus_vp9_idct8__c_full.c", "dst[x] = (uint8_t)",
        "((int16_t *)(uintptr_t)coeffs)[x] ^= 1; dst[x] = (uint8_t)",
    )  # fmt: skip
    outcome = outcome_of(program, "vp9_idct8", "daedalus_vp9_idct8__c_full")
    assert any("may only read" in f for f in outcome.failures)


def test_json_has_the_promised_fields():
    result = CliRunner().invoke(
        check_verb.command, ["vp9_lpf4", "--target", "c", "--items", "100", "--json"]
    )
    assert result.exit_code == 0
    row, dispatched = json.loads(result.stdout)["results"]
    assert dispatched["variant"] == "dispatch"
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
        (["vp9_lpf4", "--record"], "--record needs a whole, plain run"),
        (["vp9_lpf4", "--target", "qpu", "--device", "simulador"], "no device simulador"),
    ],
)
def test_bad_arguments(words, message):
    result = CliRunner().invoke(check_verb.command, words)
    assert isinstance(result.exception, UserError)
    assert message in result.exception.message
    assert result.exception.hint
    assert result.exception.exit_code == 2
