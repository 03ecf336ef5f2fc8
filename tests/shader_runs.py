# SPDX-License-Identifier: BSD-2-Clause
"""Runs generated shaders on lavapipe, as the fuzzer does; a case that does not run fails."""

from pathlib import Path

from spec_support import kernel_of

from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import parse_variant
from daedalus.generator.verify.crosscheck import Outcome
from daedalus.generator.verify.shaders import Runs
from daedalus.v3d import vkrun


def run(
    kernel: Kernel, variants: list[Variant], device: vkrun.Device, folder: Path, items: int,
    seed: int = 1, workgroups: tuple[int, ...] = (64,),
) -> list[Outcome]:  # fmt: skip
    """Compares variants of a kernel with the interpreter; fails where a case does not run."""
    runs = Runs(folder, seed)
    runs.add(kernel, variants, items, workgroups)
    outcomes = runs.run(device)
    assert not runs.failed, runs.failed
    beyond = [f for o in outcomes.values() for f in o.failures if "wrote beyond" in f]
    assert not beyond, beyond
    return list(outcomes.values())


def variant_of(kernel: Kernel, options: str) -> Variant:
    """A variant of a test's kernel, listed or not."""
    parsed = parse_variant(f"daedalus_{kernel.id}__{options}")[1]
    return make_variant(environment(), kernel, parsed, prod=False, rank=0, spec="spec.py")


def run_text(folder: Path, text: str, options: str) -> Variant:
    """A variant of the kernel that a spec declares, which does on lavapipe what the interpreter
    does."""
    v = variant_of(kernel_of(folder, text), options)
    (outcome,) = run(v.kernel, [v], vkrun.lavapipe(), folder / "run", 64)
    assert outcome.good and outcome.conformant > 64, outcome.failures
    return v
