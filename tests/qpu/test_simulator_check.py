# SPDX-License-Identifier: BSD-2-Clause
"""`check --target qpu`: variants are right on the simulator, and what is wrong is noticed."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tampered import in_packed, in_variant

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.sources import OTHERS
from daedalus.generator.compile.variants import Variant
from daedalus.generator.host import native
from daedalus.generator.targets.gpu import packed
from daedalus.generator.verify import crosscheck, qpu_check
from daedalus.generator.verify import gpu_check as vulkan
from daedalus.generator.verify.crosscheck import Batch, Outcome
from daedalus.generator.verify.witness import witness_file
from daedalus.v3d import tools

ITEMS, SEED = 300, 3


@cache
def _prepared(name: str) -> tuple[Kernel, Variant, tuple[Batch, ...]]:
    """A variant, of h264_idct4 if no other kernel is named, and the items that it is run on."""
    kernel_id, _, options = name.rpartition("__")
    entry = find(load(), kernel_id or "h264_idct4")
    assert entry is not None
    kernel = entry.kernel
    (variant,) = [v for v in entry_variants(entry, ("qpu",)) if v.options.name == options]
    align = vulkan.alignment(variant)
    batches = vulkan.prepare(kernel, [align], ITEMS, SEED)[align]
    more = qpu_check.further(kernel, batches, align, witness_file.read(kernel), SEED)
    return kernel, variant, (*batches, *more)


def _checked(name: str, program: Path) -> Outcome:
    kernel, variant, batches = _prepared(name)
    (outcome,) = qpu_check.check_kernel(kernel, [variant], program, batches, SEED)
    return outcome


def _tampered(tmp_path: Path, variant: Variant, change: Callable[[str], str]) -> Path:
    """The check program with a change to the variant, which takes the library's place."""
    text = (repo_root() / "generated" / variant.file).read_text()
    source = tmp_path / Path(variant.file).name
    source.write_text(in_variant(variant, change)(text))
    library = build_dir() / "host" / "libdaedalus_variants.a"
    return native.compile_program(
        "host",
        tmp_path / "check",
        [*crosscheck.sources(), source],
        includes=[
            *crosscheck.includes(), repo_root() / "v3d" / "include",
            repo_root() / "generated" / "src" / variant.kernel.codec,
        ],
        libraries=[library, tools.simulator()],
        flags=["-DCHECK_SIMULATOR=1", *(() if variant.prod else (f"-D{OTHERS}=1",))],
    )  # fmt: skip


def test_as_many_threads_as_a_board_runs_at_once() -> None:
    counts = {
        name: {n for kind in ("conformant", "neighbours")
               for n, _ in qpu_check.ways(_prepared(name)[1], kind)}
        for name in ("qpu_full_p4_word", "qpu_full_p4_word_threads4")
    }  # fmt: skip
    assert counts == {
        "qpu_full_p4_word": {2, 7, 24, 48},
        "qpu_full_p4_word_threads4": {2, 7, 48, 96},
    }


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("qpu_full", marks=pytest.mark.campaign),
        "qpu_full_p4",
        "qpu_full_p4_word_threads4",
    ],
)
def test_every_kind_of_items_is_right(name: str) -> None:
    kinds = {b.kind for b in _prepared(name)[2]}
    assert {*crosscheck.KINDS, crosscheck.WITNESS} <= kinds
    outcome = _checked(name, crosscheck.program("host", simulates=True))
    assert outcome.good and outcome.conformant > ITEMS
    assert outcome.items > outcome.conformant  # hostile ones, for where they touch memory


# What is changed, in which variant, and how that is noticed: a wrong value, or the simulator's or
# the program's message.
TAMPERED = {
    "a constant": ("qpu_full_p4", "CONSTANT(255)", "CONSTANT(127)", "expected"),
    "items left out": ("qpu_full_p4", "ITEMS", "CONSTANT(1)", "expected"),
    "a stride": ("qpu_full_p4", "STRIDE(0)", "CONSTANT(9999999)", "nearest buffer"),
    "records of nobody": ("qpu_full_p4", "RECORDS", "BASE(1)", "multiple of 4"),
    "scratch memory": (
        "qpu_full",
        ".scratch_bytes = 256",
        ".scratch_bytes = 192",
        "nearest buffer",
    ),
    "a form that it does not tell": (
        "h264_idct8__qpu_full_p8_word_keep",
        ".forms = DAEDALUS_QPU_FORM_FLAGS_SWITCH",
        ".forms = 0",
        "FLAGS_UNSET",
    ),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_an_error_is_noticed(case: str, tmp_path: Path) -> None:
    name, old, new, said = TAMPERED[case]

    def change(own: str) -> str:
        assert own.count(old) >= 1, f"{name} has no {old!r}"
        return own.replace(old, new, 1)

    _noticed(tmp_path, name, change, said)


def test_an_instruction_that_is_none_is_noticed(tmp_path: Path) -> None:
    def change(lines: str) -> list[str]:
        first, *others = packed.instructions_of(lines)
        return packed.text(packed.of_instructions([first ^ (1 << 64) - 1, *others]))

    _noticed(tmp_path, "qpu_full_p4", in_packed(change), ".word")


def _noticed(tmp_path: Path, name: str, change: Callable[[str], str], said: str) -> None:
    crosscheck.program("host", simulates=True)  # builds the library
    outcome = _checked(name, _tampered(tmp_path, _prepared(name)[1], change))
    assert not outcome.good
    assert said in "\n".join(outcome.failures), outcome.failures[:2]
