# SPDX-License-Identifier: BSD-2-Clause
"""Every way in which code with vectors walks a stage or touches memory, run against the
interpreter: NEON, and the vector extension, which is lowered alike.
"""

import dataclasses
import re
from functools import cache
from pathlib import Path

import pytest
from dot_specs import DOT_FORMS
from form_specs import FORMS
from integer_specs import INTEGER_FORMS

from daedalus.dsl import interp
from daedalus.dsl.ir import Kernel
from daedalus.dsl.verify import verify
from daedalus.generator.compile import emit
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.host import native
from daedalus.generator.options import VectorOptions, options_of
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.fuzz.build import Build

ITEMS = 300
SEED = 3
# How each target is run: natively, NEON elsewhere than on arm64 through SIMDe.
ARCHES = {"neon": "host" if native.is_arm() else "simde", "vector": "host"}


KINDS = {form.spec.kernels()[0].id: form for form in [*FORMS, *DOT_FORMS, *INTEGER_FORMS]}


@cache
def variants(name: str) -> tuple[Variant, ...]:
    """The NEON variants of a form and those of the vector extension, after the portable ones."""
    form = KINDS[name]
    (kernel,) = form.spec.kernels()
    verify(kernel)
    vectors = dict.fromkeys(
        options_of(
            "vector", s.class_name, **{w.field: s.choice(w.field) for w in VectorOptions.words()}
        )
        for s in form.seen
    )  # fmt: skip
    listed = [*(options_of("c", c) for c in kernel.class_names), *form.seen, *vectors]
    return tuple(
        make_variant(emit.environment(), kernel, s, prod=True, rank=n, spec="a test")
        for n, s in enumerate(listed)
    )


Programs = dict[str, tuple[crosscheck.Device, Path]]  # by target


# Unoptimised every day: what is compiled is more than what is run. At -O2 GCC 12 dies of one of
# these through SIMDe, of an internal error.
@pytest.fixture(scope="module", params=["-O0", pytest.param("-O1", marks=pytest.mark.campaign)])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """For each target a check program with all variants."""
    kernels = [(variants(name)[0].kernel, variants(name)) for name in KINDS]
    return built(tmp_path_factory.mktemp("forms"), kernels, tuple(ARCHES), request.param)


def built(
    folder: Path, kernels: list[tuple[Kernel, tuple[Variant, ...]]], targets: tuple[str, ...],
    level: str = "-O0",
) -> Programs:  # fmt: skip
    build = Build(folder, kernels, sanitize=False, targets=targets, level=level)
    found = [d for d in build.devices if d.arch == ARCHES[d.target]]
    return {d.target: (d, build.program(d)) for d in found}


@pytest.mark.parametrize("name", KINDS)
def test_form_computes_what_the_interpreter_does(name, programs):
    own = variants(name)
    kernel = own[0].kernel
    batches = crosscheck.prepare(kernel, ITEMS, SEED)
    assert set(programs) == set(ARCHES)
    for target, (device, exe) in programs.items():
        names = [v.name for v in own if v.options.target == target]
        outcomes = crosscheck.check_kernel(kernel, names, device, exe, batches, SEED)
        assert len(outcomes) == len(names) > 0
        for o in outcomes:
            assert o.failures == []
            assert o.conformant >= 100


@pytest.mark.parametrize("name", KINDS)
def test_form_is_taken(name):
    form = KINDS[name]
    for v in variants(name):
        for pattern in form.seen.get(v.options, ()):
            assert re.search(pattern, v.text), f"{v.name}: no {pattern}"


@pytest.mark.parametrize("buffer", ["near", "other"])
def test_reading_what_no_stage_asks_for_is_noticed(buffer, tmp_path):
    """A read whose value goes nowhere, of a buffer that false conditions leave to nobody."""
    own = variants("forms_given")
    kernel = own[0].kernel
    read = f"(void)*(const volatile uint8_t *){buffer};\n  /* stage 1"
    spoiled = tuple(dataclasses.replace(v, text=v.text.replace("/* stage 1", read)) for v in own)
    assert all(read in v.text for v in spoiled)
    device, exe = built(tmp_path, [(kernel, spoiled)], ("neon",))["neon"]
    batches = crosscheck.prepare(kernel, ITEMS, SEED)
    (outcome,) = crosscheck.check_kernel(
        kernel, [v.name for v in spoiled if v.options.target == "neon"], device, exe, batches, SEED
    )
    assert outcome.failures == [
        f"{outcome.variant} on {device.name}, {crosscheck.WITHHELD} items:"
        " touched memory outside its buffers"
    ]


def test_what_is_withheld_follows_conditions_and_extents():
    (kernel,) = KINDS["forms_given"].spec.kernels()
    batches = [b for b in crosscheck.prepare(kernel, ITEMS, SEED) if b.kind == crosscheck.WITHHELD]
    without = {
        b.buffer.name: batch.placed.items.params
        for batch in batches
        for b in batch.placed.buffers
        if not len(b.bytes)
    }
    assert set(without) == {"near", "other"} and len(batches) == 2
    assert (without["near"]["top"] == 0).all()
    params = without["other"]
    assert ((params["top"] > 0) | (params["n"] <= 3)).all()
    assert (params["top"] == 0).any() and (params["top"] > 0).any()
    items = batches[0].placed.items
    assert interp.untouched(kernel, items)["near"].all()
