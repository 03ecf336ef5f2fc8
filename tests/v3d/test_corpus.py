# SPDX-License-Identifier: BSD-2-Clause
"""The corpus of compute shaders: what it holds, and that its comparison sees what is wrong."""

import dataclasses
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from daedalus.v3d import comparison, vkrun
from daedalus.v3d.corpus import (
    FAMILIES,
    Commands,
    Program,
    commands,
    compare,
    plans,
    precision,
    program,
)
from daedalus.v3d.corpus.commands import FAMILIES as COMMANDS
from daedalus.v3d.corpus.model import Bounded, ExactFloat

WHOLE = 13 * len(FAMILIES)  # programs of the whole corpus
FEW = 2 * len(FAMILIES)  # what runs here


def test_the_corpus_has_programs_enough_and_all_differ() -> None:
    everything = [program(seed) for seed in range(1, WHOLE + 1)]
    assert len(everything) >= 300
    assert len({p.kernels for p in everything}) == len(everything)
    assert len({p.name for p in everything}) == len(everything)
    sizes = {p.local for p in everything}
    items = {x * y * z for x, y, z in sizes}
    assert items >= {1, 8, 16, 24, 100, 256} and any(z > 1 for _, _, z in sizes)
    features = frozenset[str]().union(*(p.features for p in everything))
    assert features >= {
        "storage8", "storage16", "float", "float-bounded", "atomics", "spilling", "loops",
        "divergence", "push-constants", "specialization", "subgroup-vote", "subgroup-ballot",
        "subgroup-shuffle", "subgroup-shuffle_relative", "subgroup-quad", "dependent-dispatches",
    }  # fmt: skip
    assert max(p.invocations for p in everything) < 10_000


def test_programs_differ_in_more_than_their_constants() -> None:
    """Numbers and the names that are made of them are left out."""
    parts = r"\b(?:[a-z]+\d+|0x[0-9a-f]+u?|\d+(?:\.\d+)?u?)\b"
    texts = {
        re.sub(parts, "N", "".join(k.glsl for k in program(seed).kernels))
        for seed in range(1, WHOLE + 1)
    }
    assert len(texts) >= 330


def test_a_program_is_a_function_of_its_seed() -> None:
    assert all(program(seed) == program(seed) for seed in range(1, FEW))
    assert all(commands(seed) == commands(seed) for seed in range(1, 20))
    # The same on any machine and in any version of Python: this changes with the generator only.
    text = "".join(k.glsl for seed in range(1, FEW) for k in program(seed).kernels)
    data = b"".join(i.data for seed in range(1, FEW) for i in program(seed).inputs)
    digest = hashlib.sha256(text.encode() + data).hexdigest()
    assert digest[:16] == "fb7030a5747a9041"


def test_lavapipe_agrees_with_itself_at_every_vector_width(tmp_path: Path) -> None:
    cases: list[Program | Commands] = [program(seed) for seed in range(1, FEW + 1)]
    cases += [commands(seed) for seed in range(1, len(COMMANDS) + 1)]
    widest = vkrun.lavapipe(512)
    for bits in (256, 128):
        report = comparison.compared(vkrun.lavapipe(bits), widest, cases, tmp_path)
        assert report.good, (report.differences, report.not_run)
        # Subgroups of 16 are there at 512 bits only.
        assert set(report.unsupported) == {
            c.name for c in cases if isinstance(c, Program) and c.subgroup
        }
        assert len(report.unsupported) == 8
    for case in cases:
        buffers = compare.read_buffers(case, tmp_path / widest.name / f"{case.name}.bin")
        if isinstance(case, Program):
            for o in case.outputs:
                last = buffers[f"{o.name}-{len(case.shapes) - 1}"]
                assert (last != o.initial).any(), f"{case.name} leaves {o.name} as it was"
        else:
            assert any(len(np.unique(w)) > 1 for w in buffers.values()), case.name


def buffers_of(case: Program, tmp_path: Path) -> dict[str, compare.Words]:
    """What a program leaves on lavapipe."""
    device = vkrun.lavapipe()
    outcome = comparison.run(device, [case], tmp_path)[case.name]
    assert outcome.verdict == "ok", outcome
    return compare.read_buffers(case, tmp_path / device.name / f"{case.name}.bin")


def changed(
    buffers: dict[str, compare.Words], name: str, at: int, word: int
) -> dict[str, compare.Words]:
    """The buffers with another word in one of them."""
    copy = {n: w.copy() for n, w in buffers.items()}
    copy[name][at] = word
    return copy


def of_family(family: str) -> Program:
    return program(list(FAMILIES).index(family) + 1)


def test_the_builtins_are_what_they_are_called(tmp_path: Path) -> None:
    """The one program whose results are worked out here, in every shape."""
    case = of_family("places")
    buffers = buffers_of(case, tmp_path)
    lx, ly, lz = case.local
    for s, (gx, gy, gz) in enumerate(case.shapes):
        words = buffers[f"r-{s}"].reshape(-1, 6)
        item = np.arange(len(words), dtype=np.uint32)
        local, group = item % (lx * ly * lz), item // (lx * ly * lz)
        at = [local % lx, local // lx % ly, local // (lx * ly)]
        of = [group % gx, group // gx % gy, group // (gx * gy)]
        for column, (x, y, z) in enumerate((
            at, [o * n + a for o, n, a in zip(of, case.local, at, strict=True)], of,
            (gx, gy, gz), (lx, ly, lz),
        )):  # fmt: skip
            assert (words[:, column] == x + (y << 10) + (z << 20)).all(), (s, column)


def test_a_changed_word_is_a_difference(tmp_path: Path) -> None:
    case = of_family("integer")
    good = buffers_of(case, tmp_path)
    assert not compare.compare(case, good, good)
    for name in good:
        last = len(good[name]) - 1
        bad = changed(good, name, last, int(good[name][last]) ^ 1)
        (found,) = compare.compare(case, good, bad)
        assert (found.buffer, found.word, found.count) == (name, last, 1)
        assert f"{name}[{last}] is 0x{int(bad[name][last]):08x}" in str(found)


def test_only_the_sign_of_a_zero_is_free(tmp_path: Path) -> None:
    case = of_family("float")
    assert any(o.rule == ExactFloat() for o in case.outputs)
    good = buffers_of(case, tmp_path)
    zero = changed(good, "r-0", 1, 0)
    assert not compare.compare(case, zero, changed(good, "r-0", 1, 0x80000000))
    assert compare.compare(case, zero, changed(good, "r-0", 1, 1))
    assert compare.compare(case, changed(good, "r-0", 1, 0x3F800000),
                           changed(good, "r-0", 1, 0xBF800000))  # fmt: skip
    # The words beside are integers.
    assert compare.compare(case, changed(good, "decided-0", 0, 0),
                           changed(good, "decided-0", 0, 0x80000000))  # fmt: skip


def test_bounded_results_are_held_to_their_bounds(tmp_path: Path) -> None:
    case = of_family("bounded")
    rule = case.outputs[0].rule
    assert isinstance(rule, Bounded)
    good = buffers_of(case, tmp_path)
    assert not compare.compare(case, good, good)
    for k, operation in enumerate(rule.operations):
        # Thousands of units away: within nothing but the bound of arcus tangent.
        step = 0x10000 if operation.startswith("atan") else 0x4000
        bad = changed(good, "r-0", k, int(good["r-0"][k]) ^ step)
        (found,) = compare.compare(case, good, bad)
        assert found.word == k and operation in found.expected
        # Wrong results of the device that is compared with do not pass either.
        assert compare.compare(case, bad, good)
    nan = changed(good, "r-0", 0, 0x7FC00000)
    assert compare.compare(case, good, nan)


@pytest.mark.parametrize("operation", sorted(precision.OPERATIONS))
def test_bounds_hold_where_they_end(operation: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.integers(1, 1 << 16, 500) / 2.0**13).astype(np.float32)
    y = (rng.integers(1, 1 << 16, 500) / 2.0**13).astype(np.float32)
    rule = precision.OPERATIONS[operation]
    true = rule.true(x.astype(np.float64), y.astype(np.float64))
    allowed = rule.error(x.astype(np.float64), y.astype(np.float64), true)
    assert not precision.outside(operation, x, y, true.astype(np.float32)).any()
    # A true value that is moved is rounded to a float, by less than `unit`.
    unit = precision.ulp(true)
    for sign in (-1, 1):
        near = (true + sign * np.maximum(allowed - unit, 0)).astype(np.float32)
        assert not precision.outside(operation, x, y, near).any()
        far = (true + sign * (allowed + 1.01 * unit)).astype(np.float32)
        assert precision.outside(operation, x, y, far).all()


def test_inputs_must_stay_as_they_were(tmp_path: Path) -> None:
    case = of_family("uniforms")
    good = buffers_of(case, tmp_path)
    bad = changed(good, "table", 3, int(good["table"][3]) + 1)
    assert [d.buffer for d in compare.compare(case, good, bad)] == ["table"]


def test_a_case_that_does_not_run_is_told(tmp_path: Path) -> None:
    case = of_family("integer")
    plain = vkrun.lavapipe(256)
    device = dataclasses.replace(plain, prefix=("sh", "-c", '"$@" | head -n 2', "-", *plain.prefix))
    report = comparison.compared(device, vkrun.lavapipe(), [case], tmp_path)
    assert not report.good and list(report.not_run) == [case.name]
    assert report.not_run[case.name].startswith("crashed")


def test_a_failed_job_is_told_though_its_results_are_there(tmp_path: Path) -> None:
    case, plain = of_family("integer"), vkrun.lavapipe(256)
    script = 'echo "daedalus-v3d-device: compute job 7 failed: lane 3 writes" >&2; exec "$@"'
    device = dataclasses.replace(plain, prefix=("sh", "-c", script, "-", *plain.prefix))
    report = comparison.compared(device, vkrun.lavapipe(), [case], tmp_path)
    assert report.compared == [case.name] and not report.differences and not report.not_run
    assert report.failed_jobs == ["compute job 7 failed: lane 3 writes"] and not report.good


def test_only_lavapipe_may_lack_subgroups(tmp_path: Path) -> None:
    case = of_family("vote")
    narrow = vkrun.lavapipe(256)
    report = comparison.compared(narrow, vkrun.lavapipe(), [case], tmp_path)
    assert list(report.unsupported) == [case.name] and not report.not_run
    other = dataclasses.replace(narrow, choose="LLVMpipe")
    report = comparison.compared(other, vkrun.lavapipe(), [case], tmp_path)
    assert list(report.not_run) == [case.name] and not report.unsupported


def test_shaders_are_compiled_once(tmp_path: Path) -> None:
    case = of_family("loops")
    plans.materialise([case], tmp_path)
    (shader,) = tmp_path.glob("*.spv")
    first = shader.stat().st_mtime_ns
    plans.materialise([case], tmp_path)
    assert shader.stat().st_mtime_ns == first
    shader.with_suffix(".comp").write_text("// another")
    plans.materialise([case], tmp_path)
    assert shader.stat().st_mtime_ns != first
