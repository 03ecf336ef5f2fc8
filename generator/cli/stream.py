# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus stream`: real streams through our functions, frame by frame."""

import json
from collections.abc import Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any

import click

from daedalus.codecs import clips
from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.progress import Shown, progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli import modes
from daedalus.generator.cli.files import InputFile
from daedalus.generator.compile.registry import load
from daedalus.generator.devices.vulkan import DEFAULT, Skip, find
from daedalus.generator.host import level
from daedalus.generator.verify import damage, stream, stream_qpu
from daedalus.generator.verify import timed as timed_decodes
from daedalus.generator.verify.check_runs import compared_today
from daedalus.generator.verify.crosscheck import program

# Mode -> the parameters that it takes, for modes.check().
MODES = {
    "": {"file", "substrate", "target", "frames", "faults", "sample", "threads", "as_json"},
    "damaged": {"seed", "as_json"},
    "timed": {"as_json"},
    "substrate qpu": {"file", "device", "frames", "as_json"},
}


@click.command(name="stream")
@click.argument("file", required=False, type=InputFile())
@click.option(
    "--target",
    type=click.Choice([*stream.TARGETS, "all"]),
    help="Which of our functions on the CPU: portable C, NEON, or both in turn, as by default.",
)
@click.option(
    "--substrate",
    type=click.Choice(["cpu", "qpu"]),
    default="cpu",
    help="qpu: by the GPU, each call a dispatch of its own; small clips.",
)
@click.option(
    "--device",
    help=f"With --substrate qpu: Vulkan devices, as for check.  [default: {','.join(DEFAULT)}]",
)
@click.option("--frames", type=click.IntRange(min=1), help="Decode the first so many only.")
@click.option(
    "--faults",
    type=click.Choice([*stream.TARGETS, "all"]),
    help="In which target's program faults are injected.  [default: all]",
)
@click.option(
    "--sample",
    is_flag=True,
    help="Faults in functions of those kernels alone that `check` compares on that day.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Decode by so many threads as well, frames side by side, then parts of one.",
)
@click.option(
    "--damaged",
    type=click.IntRange(min=1),
    help="Instead, so many damaged clips, under sanitizers; of decoders with tables all ours.",
)
@click.option(
    "--timed",
    type=click.IntRange(min=1),
    help="Instead, time decoding clips on this machine, so often; of the same decoders.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="With --damaged: what is damaged.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.pass_context
def command(
    context: click.Context,
    file: Path | None,
    target: str | None,
    substrate: str,
    device: str | None,
    frames: int | None,
    faults: str | None,
    sample: bool,
    threads: int,
    damaged: int | None,
    timed: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Decodes streams with our functions in FFmpeg's decoders and dav1d; compares every frame.

    Without FILE, clips are encoded that call every replaced function for every class but those
    that a decoder is said never to have.  FILE is any video of one of the codecs: an IVF file, an
    H.264 byte stream, or another container that ffmpeg can read.  Exit code 1: a frame differs
    from the unmodified decoder's or ffmpeg's, no clip calls a function for a class, FILE calls
    none of the functions, or a fault that was injected on purpose went unseen.

    With --substrate qpu the functions run on Vulkan devices, one item a dispatch: correct, though
    slow. Without FILE a few frames of 176x144 are decoded.
    """
    modes.check(context, MODES)
    if damaged is not None:
        _damaged(damaged, seed, as_json)
        return
    if timed is not None:
        _timed(timed, as_json)
        return
    if substrate == "qpu":
        names = list(DEFAULT) if device is None else [d for d in device.split(",") if d]
        _on_qpu(file, names, frames, as_json)
        return
    targets = list(stream.TARGETS) if target is None or target == "all" else [target]
    faults_in = stream.TARGETS if faults is None or faults == "all" else (faults,)
    if not set(faults_in) & set(targets):
        raise UserError(
            f"--faults {faults}: with --target {target} there is no such program",
            f"leave --faults out, or write --faults {target}",
        )
    made = 1 if file is not None else len(clips.decoders()) * len(targets)
    spoiled = {e.kernel.id for e in (compared_today() if sample else load())}
    with progress(made, quiet=as_json) as shown:
        report = _run(file, targets, frames, faults_in, spoiled, threads, shown)
    # With a FILE, other codecs' functions were not meant to be called.
    idle = report.not_exercised() if file is None else []
    if as_json:
        print(json.dumps(_as_json(report, idle), indent=2))
    else:
        _print(report)
    _tell(report.skips)
    if idle:
        tell(
            f"{len(idle)} functions not exercised, as tools/stream does not put them into a"
            f" decoder: {', '.join(idle)}"
        )
    if file is not None:
        # Our own clips have none; what a user's file has is to be known.
        for line in (text for o in report.outcomes for text in stream.stock_executed(o)):
            tell(line)
    fail(report.failures)


def _run(
    file: Path | None, targets: list[str], frames: int | None, faults_in: Sequence[str],
    spoiled: Set[str], threads: int, shown: Shown,
) -> stream.Report:  # fmt: skip
    if file is not None:
        decoder, clip = clips.import_clip(file)
        return stream.check(
            decoder, [clip], targets, limit=frames, need_all=False, faults_in=faults_in,
            spoiled=spoiled, threads=threads,
        )  # fmt: skip
    report = stream.Report()
    for decoder in clips.decoders():
        made, skips = clips.make_clips(decoder, decoder.clips)
        report.skips += skips
        report.add(
            stream.check(
                decoder,
                made,
                targets,
                limit=frames,
                faults_in=faults_in,
                spoiled=spoiled,
                threads=threads,
            )
        )
        shown.advance(len(targets))
    return report


def _tell(skips: Sequence[Skip]) -> None:
    for s in skips:
        tell(f"skipped: {s.name}: {s.reason}")


def _whole() -> tuple[list[tuple[clips.Decoder, list[clips.Clip]]], list[Skip]]:
    """The decoders whose tables are all ours, with their clips; and the clips left out."""
    found, left_out = [], []
    for decoder in clips.decoders():
        if clips.is_whole(decoder):
            made, skips = clips.make_clips(decoder, decoder.clips)
            found.append((decoder, made))
            left_out += skips
    return found, left_out


def _timed(rounds: int, as_json: bool) -> None:
    level.require()  # ahead of encoding clips, which takes minutes
    with progress(quiet=as_json):
        whole, skips = _whole()
        times = [(d.name, timed_decodes.measure(d, made, rounds)) for d, made in whole]
    _tell(skips)
    shares = {name: timed_decodes.share(rows) for name, rows in times}
    if as_json:
        found = [
            {"codec": name, "clip": r.clip.name, **r.ms, "counts": r.counts}
            for name, rows in times
            for r in rows
        ]
        left_out = [vars(s) for s in skips]
        print(json.dumps({"ms": found, "shares": shares, "skipped": left_out}, indent=2))
        return
    print_table(
        ("codec", "clip", *timed_decodes.WAYS, "counts"),
        [
            (name, r.clip.name, *(f"{ms:.1f}" for ms in r.ms.values()), "yes" if r.counts else "")
            for name, rows in times
            for r in rows
        ],
    )
    for name, share in shares.items():
        if share is not None:
            print(f"{name}: ours save {share:.2f} of what assembly saves, in the clips that count")


def _damaged(count: int, seed: int, as_json: bool) -> None:
    with progress(quiet=as_json):
        found = damage.Damaged()
        whole, skips = _whole()
        for decoder, made in whole:
            found.add(damage.check(decoder, made, count, seed))
    _tell(skips)
    frames = {kind: found.frames[kind] for kind in ("portable", "assembly", "neither")}
    if as_json:
        print(json.dumps({"clips": found.clips, "refused": found.refused, **frames,
                          "failures": found.failures,
                          "skipped": [vars(s) for s in skips]}, indent=2))  # fmt: skip
    else:
        print_table(("clips", "packets refused", "frames as portable C's", "as the assembly's",
                     "as neither's, by coefficients out of range"),
                    [(found.clips, found.refused, *frames.values())])  # fmt: skip
    fail(found.failures)


def _on_qpu(file: Path | None, names: list[str], frames: int | None, as_json: bool) -> None:
    with progress(quiet=as_json):
        devices, absent = find(names, partial(program, loads=True))
        if file is not None:
            decoder, clip = clips.import_clip(file)
            work = [(decoder, clip)]
        else:
            work = [(d, clips.make_clip(d, c)) for d in clips.decoders() for c in d.small]
        report = stream.Report(skips=absent)
        for device in devices:
            for decoder, clip in work:
                say(f"decoding {decoder.name}, {clip.name}, on {device.name}")
                report.add(stream_qpu.check(decoder, clip, device, frames))
    if as_json:
        print(json.dumps({**_as_json(report, []), "by_cpu": report.by_cpu}, indent=2))
    else:
        print_table(
            ("codec", "clip", "device", "frames", "identical", "calls", "dispatches"),
            [
                (
                    *(o.decoder.name, o.clip.name, o.target, o.frames),
                    *(o.frames - len(o.different), sum(o.calls.values()), o.dispatches),
                )
                for o in report.outcomes
            ],
        )
    _tell(report.skips)
    if report.by_cpu:
        calls = ", ".join(f"{kernel} ({n} calls)" for kernel, n in sorted(report.by_cpu.items()))
        tell(f"done by the CPU, as there is no variant for GPUs: {calls}")
    fail(report.failures)
    if not report.outcomes:
        raise UserError("nothing was decoded", "see what was skipped", EXIT_MISSING)


def _as_json(report: stream.Report, idle: list[str]) -> dict[str, Any]:
    return {
        "streams": [
            {
                "codec": o.decoder.codec,
                "clip": o.clip.name,
                "file": str(o.clip.file),
                "target": o.target,
                "frames": o.frames,
                "identical": o.frames - len(o.different),
                "calls": o.calls,
                "dispatches": o.dispatches,
                "classes": o.classes,
                "stock": list(o.stock),
            }
            for o in report.outcomes
        ],
        "faults": [vars(f) for f in report.faults],
        "not_exercised": idle,
        "failures": report.failures,
        "skipped": [vars(s) for s in report.skips],
    }


def _print(report: stream.Report) -> None:
    rows = [
        (
            *(o.decoder.name, o.clip.name, o.target, o.frames, o.frames - len(o.different)),
            sum(o.calls.values()),
        )
        for o in report.outcomes
    ]
    print_table(("codec", "clip", "target", "frames", "identical", "calls"), rows)
    print()
    one = [o for o in report.outcomes if o.target == report.outcomes[0].target]
    calls: dict[tuple[str, str, str], list[int]] = {}
    for o in one:
        for function, classes in o.classes.items():
            for name, count in classes.items():
                calls.setdefault((o.decoder.name, function, name), []).append(count)
    print_table(
        ("codec", "function", "class", "calls, all clips, one target"),
        [(*key, sum(counts)) for key, counts in calls.items()],
    )
    print()
    faults = [
        (f.function, f.target, f.clip, f.every, "seen" if f.seen else "NOT SEEN")
        for f in report.faults
    ]
    print_table(("fault injected into", "target", "clip", "every so many calls", ""), faults)
