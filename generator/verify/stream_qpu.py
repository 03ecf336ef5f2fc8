# SPDX-License-Identifier: BSD-2-Clause
"""Stream programs whose every call of one of our functions is a dispatch on the GPU.

A decoder entry calls the item function of a variant, or the one for items below each other where a
block is higher than an item. The linker gives such calls to functions written here (--wrap), which
make a batch of the arguments and hand it to the runtime, for the QPU and nothing else;
tools/stream/qpu.c does that. So the GPU sees just what the CPU would, and nothing is said twice of
how a decoder's arguments become a kernel's.
"""

from collections import Counter
from pathlib import Path

from daedalus.codecs.clips import Clip, Decoder, folder, reference
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.compile.variants import Variant
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS
from daedalus.generator.targets import shell
from daedalus.generator.verify import stream


def check(decoder: Decoder, clip: Clip, device: GpuDevice, limit: int | None) -> stream.Report:
    """Decodes a clip with every call of our functions on a device, and compares its frames.

    A clip of which the device did nothing, or less than the decoder called, is a failure.
    """
    options = ("--frames", str(limit)) if limit else ()
    program = stream.Program(device.arch, build_program(decoder, device.arch), options, device)
    theirs = program.decode(clip)
    ours = program.decode(clip, "--ours")
    frames = reference(clip, limit)
    wrong = {*stream.differing(ours.frames, theirs.frames), *stream.differing(ours.frames, frames)}
    kernels, able = stream.kernels(decoder.oracle), {e.kernel.id for e in for_gpu(decoder.oracle)}
    done = {f: calls for f, calls in ours.calls.items() if kernels.get(f) in able}
    left: Counter[str] = Counter()
    for function, calls_of in ours.calls.items():
        left[kernels.get(function, function)] += 0 if function in done else sum(calls_of.values())
    outcome = stream.Outcome(
        clip, device.name, decoder, len(ours.frames), sorted(wrong), done, ours.dispatches
    )
    report = stream.Report([outcome], by_cpu=dict(+left))
    report.failures += stream.judge(outcome, stream.differing(theirs.frames, frames))
    report.failures += stream.idle([outcome])
    calls = sum(outcome.calls.values())
    if ours.dispatches < calls:
        report.failures.append(
            f"{decoder.name}, {clip.name}, {device.name}: {calls} calls of our functions were"
            f" {ours.dispatches} dispatches"
        )
    return report


def build_program(decoder: Decoder, arch: str) -> Path:
    """Builds the stream program whose calls of our functions are dispatches.

    All variants are in it: kernels may have some for GPUs and yet none that is prod.
    """
    place = build_dir() / "stream" / "qpu" / arch
    library = native.build_library(
        arch, targets=("daedalus_variants",), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    variants = wrapped(decoder.oracle)
    source = write_source(place / f"{decoder.name}-qpu.c", variants)
    return stream.link(
        decoder,
        arch,
        place / decoder.name,
        library / "libdaedalus_variants.a",
        sources=[source, folder() / "qpu.c"],
        wrap=names(variants),
        static=False,
    )


def for_gpu(decoder: str) -> list[Entry]:
    """Kernels of a decoder that have variants for GPUs; calls of others stay the CPU's."""
    return [
        e
        for e in load()
        if any(d.decoder == decoder for d in e.kernel.decoders)
        and any(o.target in GPU_TARGETS for o, _ in e.listed)
    ]


def wrapped(decoder: str) -> list[Variant]:
    """The variants whose item functions the entries for a decoder call, of these kernels."""
    return [
        v for e in for_gpu(decoder) for v in entry_variants(e, ("c", "vector", "neon")) if v.prod
    ]


def names(variants: list[Variant]) -> list[str]:
    """The functions that are to be wrapped."""
    return [n for v in variants for n in (v.item_name, v.clearing_name, v.tall_name) if n]


def write_source(path: Path, variants: list[Variant]) -> Path:
    """Writes the functions that take the wrapped ones' place."""
    codecs = sorted({v.kernel.codec for v in variants})
    parts = [
        "/* Written by `./daedalus stream --substrate qpu`: see generator/verify/stream_qpu.py. */",
        "#include <string.h>",
        *(f"#include <daedalus/{f}.h>" for f in codecs),
        '#include "qpu.h"',
    ]
    for v in variants:
        parts.append(_function(v.kernel, v.item_name, v.item_arguments, cleared=()))
        if v.clearing_name:
            # Those arguments that the item function may only read are what is cleared.
            changed = [
                shell.argument_name(mine)
                for mine, other in zip(v.clearing_arguments, v.item_arguments, strict=True)
                if mine != other
            ]
            parts.append(
                _function(v.kernel, v.clearing_name, v.clearing_arguments, cleared=tuple(changed))
            )
        if v.rows:
            parts.append(_tall(v))
    refresh(path, "\n".join(parts) + "\n")
    return path


def _function(kernel: Kernel, name: str, arguments: list[str], *, cleared: tuple[str, ...]) -> str:
    """Takes a function's arguments into a batch of one item.

    Blocks are cleared whole: what a class says is zero is so already.
    """
    lines = [
        *_head(kernel, name, arguments),
        f"  daedalus_{kernel.id}_meta n_meta;",
        "  memset(&n_meta, 0, sizeof(n_meta));",
        *_params(kernel, "n_meta"),
    ]
    lines.append(f'  stream_on_qpu("{kernel.id}", n_buffers, 1, &n_meta);')
    lines += [
        f"  memset({b.name}, 0, {b.size} * sizeof(*{b.name}));"
        for b in kernel.buffers
        if b.name in cleared
    ]
    return "\n".join([*lines, "}"])


def _tall(v: Variant) -> str:
    """Takes the arguments of a function for items below each other into a batch of these."""
    kernel = v.kernel
    most = kernel.param(v.rows).hi
    planes = [b.name for b in kernel.buffers]
    lines = [
        *_head(kernel, v.tall_name, v.tall_arguments),
        f"  const int32_t {v.rows} = {most};",
        f"  daedalus_{kernel.id}_meta n_meta[STREAM_MOST_ITEMS];",
        "  memset(n_meta, 0, sizeof(n_meta));",
        f'  stream_few_items("{kernel.id}", n_pieces);',
        "  for (size_t n_i = 0; n_i < n_pieces; n_i++) {",
        *(
            f"    n_meta[n_i].{n}_off = (uint32_t)(n_i * {most} * (size_t){n}_stride);"
            for n in planes
        ),
        *_params(kernel, "n_meta[n_i]"),
        "  }",
        f'  stream_on_qpu("{kernel.id}", n_buffers, n_pieces, n_meta);',
    ]
    return "\n".join([*lines, "}"])


def _params(kernel: Kernel, meta: str) -> list[str]:
    """Statements that take the arguments into a struct of meta."""
    return [
        f"  memcpy({meta}.{p.name}, {p.name}, sizeof({meta}.{p.name}));"
        if p.count > 1
        else f"  {meta}.{p.name} = ({p.dtype.c}){p.name};"
        for p in kernel.params
    ]


def _head(kernel: Kernel, name: str, arguments: list[str]) -> list[str]:
    buffers = [
        f"{{(void *){b.name}, {f'{b.name}_stride' if b.kind == 'plane' else 0}}}"
        for b in kernel.buffers
    ]
    return [
        f"void __wrap_{name}({', '.join(arguments)});",
        f"void __wrap_{name}({', '.join(arguments)}) {{",
        f"  const daedalus_buffer n_buffers[] = {{{', '.join(buffers)}}};",
    ]
