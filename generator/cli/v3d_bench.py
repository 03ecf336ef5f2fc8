# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d bench`: how fast the toolkit is."""

import json
import sys
from pathlib import Path

import click

from daedalus.generator.base.errors import EXIT_FAILED
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.measure.gpu import bench_against, plane
from daedalus.generator.measure.gpu import device_bench as bench


@click.command(name="bench")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1, 1000),
              help="How often each figure is measured.")  # fmt: skip
@click.option("--against", metavar="DIR", type=click.Path(path_type=Path),
              help="Only the simulator's loops, beside those of another checkout.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(rounds: int, against: Path | None, as_json: bool) -> None:
    """Measures simulator and device, beside the bars that this project set itself.

    Loops of instructions, an inverse DCT over a picture's luma through the Vulkan driver
    (compared with the reference interpreter in every run), and jobs that do nothing.  Figures are
    medians; on a machine that does other work look at the processor time beside wall time.  Exit
    code 1 if a result is wrong or a bar is missed, 3 without the driver of
    `setup --native`.
    """
    if against is not None:
        _compare(against, rounds, as_json)
        return
    with progress(rounds, quiet=as_json) as shown:
        result = bench.measure(rounds, shown.advance)
    if as_json:
        figures = [{**vars(f), "met": f.met} for f in result.figures]
        about = {"rounds": rounds, "plane": {"blocks": plane.BLOCKS, "code": result.code,
                 "instructions": result.instructions}}  # fmt: skip
        print(json.dumps({**about, "figures": figures}, indent=1))
    else:
        print_table(("what", "median", "unit", "least", "most", "CPU", "bar", ""),
                    [_row(f) for f in result.figures])  # fmt: skip
        count = result.code.get("Instruction Count", "?")
        threads = result.code.get("Thread Count", "?")
        print(f"plane: {plane.BLOCKS} blocks, {result.instructions} instructions of 16 lanes ran;"
              f" Mesa's program has {count}, {threads} threads")  # fmt: skip
    if any(f.met is False for f in result.figures):
        sys.exit(EXIT_FAILED)


def _compare(other: Path, rounds: int, as_json: bool) -> None:
    with progress(rounds, quiet=as_json) as shown:
        loops = bench_against.measure(other, rounds, shown.advance)
    if as_json:
        print(json.dumps({"rounds": rounds, "loops": [vars(x) for x in loops]}, indent=1))
        return
    rows = [(x.program, x.mode, f"{x.there:.1f}", f"{x.here:.1f}", f"{x.ratio:.2f}",
             f"{x.least:.2f} to {x.most:.2f}") for x in loops]  # fmt: skip
    print_table(("million instructions/s", "", "there", "here", "ratio", "of rounds"), rows)


def _row(f: bench.Figure) -> tuple[str, ...]:
    cpu = "" if f.cpu is None else _number(f.cpu)
    bar = "" if f.bar is None else f"{'>=' if f.at_least else '<='} {f.bar:g}"
    met = {True: "met", False: "missed", None: ""}[f.met]
    return (f.what, _number(f.value), f.unit, _number(f.least), _number(f.most), cpu, bar, met)


def _number(x: float) -> str:
    return f"{x:.3f}" if x < 1 else f"{x:.1f}"
