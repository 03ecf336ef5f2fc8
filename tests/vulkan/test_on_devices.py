# SPDX-License-Identifier: BSD-2-Clause
"""GPU variants on real drivers: right ones pass, wrong ones are noticed; times and streams."""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tampered import Tampered, in_packed, in_variant

from daedalus.codecs import clips
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.devices import validation
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.measure.gpu import bench
from daedalus.generator.targets.gpu import packed
from daedalus.generator.verify import crosscheck, stream_qpu
from daedalus.generator.verify import gpu_check as check
from daedalus.generator.verify.crosscheck import Device, Outcome
from daedalus.v3d import driver, vkrun

ITEMS = 300
SEED = 3
program = partial(crosscheck.program, loads=True)


def entry(name: str) -> Entry:
    found = find(load(), name)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def lavapipe() -> devices.GpuDevice:
    vkrun.lavapipe()  # fetches it
    (device,), skips = devices.find(["lavapipe-8"], program)
    assert not skips
    return device


def outcomes(e: Entry, gpu: devices.GpuDevice, exe: Path, items: int = ITEMS) -> list[Outcome]:
    variants = entry_variants(e, ("glsl",))
    aligns = [(1,) * len(e.kernel.buffers), *map(check.alignment, variants)]
    batches = check.prepare(e.kernel, aligns, items, SEED)
    device = Device(gpu.name, "glsl", gpu.arch, gpu)
    found = check.check_kernel(
        e.kernel, variants, device, exe, lambda align, _: batches[align], SEED
    )
    every = [b for some in batches.values() for b in some]
    return [*found, check.check_dispatch(e.kernel, device, exe, every, SEED)]


# Of each kind one: a transform with classes, a filter, a prediction with a table.
@pytest.mark.parametrize("name", ["vp9_idct8", "vp9_lpf8_h", "vp9_mc_8h"])
def test_variants_agree_with_the_interpreter(name: str, lavapipe: devices.GpuDevice) -> None:
    for outcome in outcomes(entry(name), lavapipe, program(lavapipe.arch)):
        assert outcome.failures == []
        assert outcome.good and outcome.conformant >= ITEMS


def test_the_validation_layers_say_nothing(lavapipe: devices.GpuDevice, tmp_path: Path) -> None:
    gpu = validation.validated(lavapipe, tmp_path / "log")
    for outcome in outcomes(entry("vp9_idct8"), gpu, program(gpu.arch), items=32):
        assert outcome.failures == []


def test_what_the_validation_layers_say_is_a_failure(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(UserError, match="did not listen"):
        validation.complaints(log)
    active = "Validation Information: [ x ]\nvkCreateInstance(): Khronos Validation Layer Active:\n"
    log.write_text(f"{active}\nValidation Information: [ y ]\nvkCreateDevice(): no cache yet.\n")
    assert validation.complaints(log) == []
    log.write_text(f"{active}\nValidation Error: [ VUID-vkDoNot-do-00001 ]\nvkDoNot(): do.\n")
    (told,) = validation.complaints(log)
    assert told.endswith("vkDoNot(): do.")
    log.write_text(f"{active}\nValidation Performance Warning: [ z ]\nvkDo(): slow.\n")
    assert len(validation.complaints(log)) == 1


@pytest.mark.campaign
def test_on_debians_driver_for_a_pi() -> None:
    """The very binary that a Pi runs, on the simulated device; every job must succeed, too."""
    driver.arm64()  # fetches it
    (device,), _ = devices.find(["v3dv-arm64"], program)
    for outcome in outcomes(entry("h264_idct4"), device, program(device.arch), items=64):
        assert outcome.failures == []
        assert outcome.good and outcome.conformant >= 64


def test_on_the_driver_built_here() -> None:
    found, skips = devices.find(["v3dv-native"], program)
    if skips:
        warnings.warn(skips[0].reason, stacklevel=1)
        pytest.skip(skips[0].reason)
    for outcome in outcomes(entry("vp9_idct8"), found[0], program(found[0].arch)):
        assert outcome.failures == []
        assert outcome.good and outcome.conformant >= ITEMS


def test_a_frame_is_one_batch_of_its_class(lavapipe: devices.GpuDevice) -> None:
    e = entry("vp9_idct8")
    (variant, *_) = [v for v in entry_variants(e, ("glsl",)) if v.options.class_name == "dc"]
    batch = check.prepare_frame(e.kernel, check.alignment(variant), "dc", SEED)
    assert batch.placed.items.count == 1920 * 1088 // 64
    assert (batch.placed.items.params["eob"] == 1).all()
    dst = batch.placed.buffers[0]
    assert (np.diff(dst.where[:240, 0, 0]) == 8).all()  # neighbours touch
    device = Device(lavapipe.name, "glsl", lavapipe.arch, lavapipe)
    (outcome,) = check.check_kernel(
        e.kernel, [variant], device, program(lavapipe.arch), lambda *_: [batch], SEED
    )
    assert outcome.failures == [] and outcome.conformant == 32640


# ------------------------------------------------------------------------ what is wrong


@pytest.fixture
def tampered(tmp_path: Path) -> Path:
    """The check program from generated code in which one constant of a shader is another."""
    (variant, *_) = entry_variants(entry("h264_idct4"), ("glsl",))

    def change(lines: str) -> list[str]:
        words = list(packed.module_of(lines))
        # The residual's rounding shift: OpConstant, its type, its number, 6.
        (at,) = [n for n, w in enumerate(words) if w == 262187 and words[n + 3] == 6]
        words[at + 3] = 5
        return packed.text(packed.of_module(words))

    return Tampered(tmp_path / "tree").program(
        variant.file, in_variant(variant, in_packed(change)), loads=True
    )


def test_a_wrong_shader_is_noticed(tampered: Path, lavapipe: devices.GpuDevice) -> None:
    """By the self-test, before any item; which is a failure of the comparison."""
    e = entry("h264_idct4")
    (variant, *_) = entry_variants(e, ("glsl",))
    found = {o.variant: o for o in outcomes(e, lavapipe, tampered)}
    assert not found[variant.name].good
    assert "self-test" in "".join(found[variant.name].failures)


def test_wrong_results_are_counted(lavapipe: devices.GpuDevice) -> None:
    e = entry("h264_idct4")
    (variant, *_) = entry_variants(e, ("glsl",))
    batches = check.prepare(e.kernel, [check.alignment(variant)], ITEMS, SEED)
    batch = batches[check.alignment(variant)][0]
    batch.result.buffers["dst"][7, 2, 1] ^= 1
    device = Device(lavapipe.name, "glsl", lavapipe.arch, lavapipe)
    (outcome,) = check.check_kernel(
        e.kernel, [variant], device, program(lavapipe.arch), lambda *_: [batch], SEED
    )
    assert outcome.mismatches == 1 and not outcome.good
    assert "dst[2, 1]" in outcome.failures[0]


# --------------------------------------------------------------------------------- bench


def few(device: devices.GpuDevice, data: Path) -> bench.Report:
    wish = bench.Wish("h264_idct4", rounds=2, items=256, bytes=1 << 20, workgroups=False)
    return bench.measure(device, data, wish)


def test_bench_measures_verified_runs(tmp_path: Path, lavapipe: devices.GpuDevice) -> None:
    data = tmp_path / "items"
    bench.write_data(data, [entry("h264_idct4")])
    report = few(lavapipe, data)
    assert report.faults == []
    figures = report.data
    assert figures["device"]["kind"] == "cpu" and figures["device"]["subgroup"] == 8
    assert figures["m5a"]["samples"] == figures["m5b"]["samples"] == 40
    names = {v.name for v in entry_variants(entry("h264_idct4"), ("glsl",))}
    for part in ("throughput", "bandwidth"):
        assert {r["variant"] for r in figures[part]} == names
        assert all(r["samples"] == 2 and r["ns_per_item"] > 0 for r in figures[part])
    assert all(r["unique_bytes"] >= 1 << 20 for r in figures["bandwidth"])
    (pool,) = figures["pool"]
    assert pool["warm"]["vulkan_creations"] == pool["warm"]["allocations"] == 0
    assert pool["cold"]["vulkan_creations"] > 0
    assert pool["warm"]["samples"] == 20
    assert figures["frame"]["submit_a_frame"]["samples"] == 2
    assert figures["frame"]["submit_an_item"]["samples"] == 2


def test_batches_have_the_bytes_asked_for(tmp_path: Path, lavapipe: devices.GpuDevice) -> None:
    """Of a kernel whose items differ in size, too."""
    data = tmp_path / "items"
    bench.write_data(data, [entry("vp9_mc_8h")])
    wish = bench.Wish("vp9_mc_8h", rounds=1, items=64, bytes=1 << 20, workgroups=False,
                      skip="throughput,latency,frame")  # fmt: skip
    report = bench.measure(lavapipe, data, wish)
    assert report.faults == []
    assert all(1 << 20 <= r["unique_bytes"] < (1 << 20) + 400 for r in report.data["bandwidth"])


def test_bench_counts_no_run_that_is_wrong(tmp_path: Path, lavapipe: devices.GpuDevice) -> None:
    data = tmp_path / "items"
    bench.write_data(data, [entry("h264_idct4")])
    raw = bytearray(data.read_bytes())
    raw[-1] ^= 1  # of the last item's coefficients, which its expected pixels do not follow
    data.write_bytes(raw)
    report = few(lavapipe, data)
    assert report.faults
    assert report.data["refused"] > 0
    assert all(r["refused"] > 0 and r["samples"] == 0 for r in report.data["bandwidth"])


# -------------------------------------------------------------------------------- stream


def test_a_stream_by_the_gpu(lavapipe: devices.GpuDevice) -> None:
    decoder = next(d for d in clips.decoders() if d.name == "h264")
    clip = clips.make_clip(decoder, decoder.small[0])
    report = stream_qpu.check(decoder, clip, lavapipe, 1)
    assert report.failures == []
    (outcome,) = report.outcomes
    assert outcome.frames == 1 and outcome.different == []
    assert outcome.dispatches >= sum(outcome.calls.values()) > 0
