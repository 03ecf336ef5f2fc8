# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench`: what the Vulkan route takes on a device; with --model, NEON modelled."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli import bench_layout, bench_native, bench_options, bench_qpu
from daedalus.generator.cli.bench_model import (
    kernels,
    model,
    print_skipped,
    print_times,
    times_as_json,
)
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.devices.vulkan import GpuDevice, Skip, find
from daedalus.generator.host import native
from daedalus.generator.measure.count_cases import chosen
from daedalus.generator.measure.gpu import bench
from daedalus.generator.measure.neon import measure
from daedalus.generator.measure.neon.comparison import COMPILERS
from daedalus.generator.measure.neon.measure import Measured
from daedalus.generator.verify.crosscheck import program as check_program

PARTS = ("throughput", "latency", "frame")


@click.command("bench", cls=bench_options.Grouped)
@click.argument("kernel", default="")
@click.option("--model", is_flag=True, expose_value=False,
              help="Model the cycles of NEON functions on the A76, beside hand-written ones."
              )  # fmt: skip
@click.option("--native", is_flag=True, expose_value=False,
              help="Measure portable C here, beside hand-written code; 100 times --rounds."
              )  # fmt: skip
@click.option("--qpu", is_flag=True, expose_value=False,
              help="By the timing model: QPU code beside GLSL through v3dv.")  # fmt: skip
@click.option(f"--{bench_options.LAYOUT}", is_flag=True, expose_value=False,
              help="Measure conversions of column-tiled frames on the CPU, beside memcpy."
              )  # fmt: skip
@click.option("--device", default="gpu", show_default=True,
              help="Vulkan devices, separated by commas, or all: as for check.")  # fmt: skip
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(1, 1000),
              help="Samples of each figure.")  # fmt: skip
@click.option("--items", default=32640, show_default=True, type=click.IntRange(128),
              help="Items of a batch; the 8x8 blocks of a 1920x1088 frame are 32640.")  # fmt: skip
@click.option("--bytes", "size", default=0, type=click.IntRange(0),
              help="Besides, batches of so many unique bytes, beside a device copy.")  # fmt: skip
@click.option("--part", multiple=True, type=click.Choice(PARTS), help="Only these parts.")
@click.option("--distinct", default=bench.DISTINCT, show_default=True,
              type=click.IntRange(16), help="Different items of a class.")  # fmt: skip
@click.option("--write-data", type=click.Path(path_type=Path),
              help="Only write the items, for the C programs alone.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0, 2**31),
              help="That the items are drawn with.")  # fmt: skip
@click.option("--all", "every", is_flag=True, help="A table of every function, too.")
@click.option("--bound", is_flag=True,
              help="What stands between d3 and what ports need, too.")  # fmt: skip
@click.option("--choose", is_flag=True,
              help="Find and record the schedules that take least, instead.")  # fmt: skip
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path),
              help="A file for the JSON, besides.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.pass_context
def command(
    context: click.Context, kernel: str, device: str, rounds: int, items: int, size: int,
    part: tuple[str, ...], distinct: int, write_data: Path | None, seed: int, every: bool,
    bound: bool, choose: bool, output: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Measures kernels whose ids contain KERNEL (default: all) on Vulkan devices.

    On arm64 also NEON functions on the processor, beside hand-written ones.

    Times of every variant and size of workgroups on a large batch, of an empty submit and of a
    workgroup that does nothing, of a small dispatch with nothing pooled and after others, and of a
    frame by one submit, by one a kernel and by one an item. Figures are medians of interleaved
    runs; only those count whose output was right to the last byte. Exit code 1 where one was not.

    A mode does something else instead: docs/neon-model.md, docs/portable-c.md and
    docs/qpu-performance.md explain them. Exit code 1 also where a bar is missed.
    """
    mode = bench_options.check(context)
    if mode == bench_options.LAYOUT:
        bench_layout.measure(as_json=as_json)
    elif mode == "model":
        model(kernel, as_json=as_json, every=every, bound=bound)
    elif mode == "native":
        bench_native.run(kernel, 100 * rounds, as_json=as_json)
    elif mode == "qpu" and choose:
        bench_qpu.choose(kernel, items, distinct)
    elif mode == "qpu":
        bench_qpu.measure(kernel, items, distinct, as_json, output)
    else:
        wish = bench.Wish(kernel, rounds, items, size, True, _left_out(part))
        _on_vulkan(wish, device, write_data, distinct, seed, as_json=as_json)


def _left_out(part: tuple[str, ...]) -> str:
    return ",".join(p for p in PARTS if part and p not in part)


def _on_vulkan(
    wish: bench.Wish, device: str, write_data: Path | None, distinct: int, seed: int, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Measures on Vulkan devices, and NEON where that is, or only writes the items."""
    data = write_data or build_dir() / "bench" / "items"
    with progress(quiet=as_json):
        entries = _entries(wish.kernels)
        gpus: list[GpuDevice] = []
        skips: list[Skip] = []
        if not write_data:
            names = [d for d in device.split(",") if d]
            gpus, skips = find(names, partial(check_program, loads=True))
        if gpus or write_data:
            say("drawing items")
            bench.write_data(data, entries, distinct, seed)
        if write_data:
            tell(f"written to {write_data}")
            return
        times = _cpu(wish.kernels, skips) if native.is_arm() else Measured()
        reports = []
        for gpu in gpus:
            say(f"measuring on {gpu.name}")
            reports.append(bench.measure(gpu, data, wish))
    if as_json:
        figures = _as_json(reports, wish, [vars(s) for s in skips])
        cpu = {"kernels": times_as_json(times.rows), "not_measured": times.skipped}
        print(json.dumps(figures | cpu, indent=1))
    else:
        print_times(times.rows)
        for report in reports:
            _print(report)
    print_skipped([*times.skipped, *(f"{s.name}: {s.reason}" for s in skips)])
    faults = [f"{r.device}: {f}" for r in reports for f in r.faults] + times.wrong
    fail(faults)
    if not reports and not times.rows:
        raise UserError(
            "nothing was measured",
            "see what was skipped; --device lavapipe-8 is a rasteriser for any machine",
            EXIT_MISSING,
        )


def _entries(kernel: str) -> list[Entry]:
    """The kernels with GPU variants whose ids contain a word."""
    known = [e for e in load() if any(s.target == "glsl" for s, _ in e.listed)]
    found = [e for e in known if kernel in e.kernel.id]
    if not found:
        raise UserError(
            f"no kernel with GPU variants has {kernel} in its id",
            f"they are {', '.join(e.kernel.id for e in known)}",
        )
    return found


def _cpu(kernel: str, skips: list[Skip]) -> Measured:
    """What NEON functions take on this processor, by what of the compilers is here.

    Adds to `skips` where what theirs comes from is missing.
    """
    compilers = [c for c in COMPILERS if c != "clang" or shutil.which(native.CLANG)]
    by_oracle: dict[str, list[str]] = {}
    for name in kernels(kernel):
        by_oracle.setdefault(chosen((name,))[0].oracle, []).append(name)
    done = Measured()
    for oracle, names in by_oracle.items():
        try:
            done.add(measure.compare(tuple(names), compilers))
        except UserError as e:
            if e.exit_code != EXIT_MISSING:
                raise
            skips.append(Skip(f"NEON beside {oracle}", f"{e.message}: {e.hint}"))
    return done


def _as_json(
    reports: list[bench.Report], wish: bench.Wish, skips: list[dict[str, str]]
) -> dict[str, Any]:
    return {
        "fingerprint": bench.fingerprint(),
        "wish": vars(wish),
        "devices": [{"device": r.device, "faults": r.faults, "figures": r.data} for r in reports],
        "skipped": skips,
    }


# ------------------------------------------------------------------------------- tables


def _print(report: bench.Report) -> None:
    d = report.data
    about = d["device"]
    print(f"{report.device}: {about['name']}, {about['driver']} {about['driver_version']},"
          f" subgroup {about['subgroup']}")  # fmt: skip
    for name, text in (("m5a", "M5a, empty submit"), ("m5b", "M5b, one workgroup of nothing")):
        if d[name] is not None:
            print(f"{text}: {_us(d[name], 'p50_ns')} us (p90 {_us(d[name], 'p90_ns')})")
    if d["copy"] is not None:
        print(f"device copy of {d['copy']['bytes_copied']} bytes: {d['copy']['GB_per_s']} GB/s")
    for name in ("throughput", "bandwidth"):
        if name in d:
            print(f"\n{name}")
            _print_throughput(d[name])
    if "pool" in d:
        print("\none small dispatch of caller memory; per dispatch")
        _print_pool(d["pool"])
        print("\nappend and submit of one item; microseconds")
        print_table(
            ("kernel", "caller p50", "p90", "until done p50", "p90"),
            [(s["kernel"], *(_us(s[k], q) for k in ("caller", "whole") for q in _QUANTILES))
             for s in d["submit"]],
        )  # fmt: skip
    if "frame" in d:
        print(f"\na frame of {d['frame']['kernels']} kernels, {d['frame']['items']} items; ms")
        print_table(
            ("", "p50", "p90", "samples", "refused"),
            [(name.replace("_", " "), _ms(d["frame"][name], "p50_ns"),
              _ms(d["frame"][name], "p90_ns"), d["frame"][name]["samples"],
              d["frame"][name]["refused"])
             for name in ("submit_a_frame", "submit_a_kernel", "submit_an_item")],
        )  # fmt: skip
    print()


_QUANTILES = ("p50_ns", "p90_ns")


def _print_throughput(rows: list[dict[str, Any]]) -> None:
    print_table(
        ("variant", "workgroup", "items", "ms", "ns an item", "GB/s", "GPU ns an item",
         "GPU GB/s", "of copy", "samples", "refused"),
        [
            (
                *(r["variant"], r["workgroup"], r["items"], _ms(r, "p50_ns")),
                *(_rounded(r.get(k)) for k in ("ns_per_item", "GB_per_s", "gpu_ns_per_item",
                                               "gpu_GB_per_s", "of_copy")),
                *(r["samples"], r["refused"]),
            )
            for r in rows
        ],
    )  # fmt: skip


def _print_pool(rows: list[dict[str, Any]]) -> None:
    print_table(
        ("kernel", "", "p50 us", "p90 us", "mean us", "calls", "creations", "allocations"),
        [
            (r["kernel"], state, *(_us(r[state], q) for q in (*_QUANTILES, "mean_ns")),
             *(r[state][k] for k in ("vulkan_calls", "vulkan_creations", "allocations")))
            for r in rows
            for state in ("cold", "warm")
        ],
    )  # fmt: skip


def _us(figures: dict[str, Any], name: str) -> float:
    return round(float(figures[name]) / 1e3, 1)


def _ms(figures: dict[str, Any], name: str) -> float:
    return round(float(figures[name]) / 1e6, 3)


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
