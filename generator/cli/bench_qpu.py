# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus bench --qpu`: QPU code beside GLSL, by the timing model."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.outputs import write_output
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import table_lines
from daedalus.generator.compile.manifest import input_hashes
from daedalus.generator.compile.registry import load
from daedalus.generator.measure.gpu import bench, compare
from daedalus.generator.measure.gpu import choose as chooser
from daedalus.generator.measure.gpu.compare import Interval, Report, Result, ratio
from daedalus.generator.measure.gpu.taken import RESOURCES, Taken, Times
from daedalus.generator.tuning.fingerprint import generator_hash

DRIVER = "Mesa v3dv 25.0.7, built for this machine"
PAGE = "docs/qpu-performance.md"


def measure(kernel: str, items: int, distinct: int, as_json: bool, output: Path | None) -> None:
    """Models the kernels of tools/bench/qpu.toml whose ids contain `kernel`, or the usual ones of
    them; prints and ends.

    Exit code 1 where a bar is missed.
    """
    wanted = _wanted(kernel)
    folder = build_dir() / "bench" / "modelled"
    with progress(len(wanted), quiet=as_json):
        data = folder / "items"
        say("drawing items")
        bench.write_data(data, load(), distinct)
        report = compare.compare(wanted, data, items, folder, say)
    text = record_text(as_data(report))
    if output is not None:
        write_output(output, text + "\n")
        write_output(output.with_suffix(".md"), "\n".join(page(report)) + "\n")
    print(text if as_json else "\n".join(lines(report)))
    if report.missed():
        sys.exit(EXIT_FAILED)


def choose(kernel: str, items: int, distinct: int) -> None:
    """Records the schedules that take least by the model, for `gen` to use; prints their clocks."""
    wanted = _wanted(kernel)
    folder = build_dir() / "bench" / "modelled"
    with progress():
        data = folder / "items"
        say("drawing items")
        bench.write_data(data, load(), distinct)
        found = chooser.choose(wanted, data, items, folder, say)
    rows = [(name, clocks, round(clocks / items, 2)) for name, clocks in found.items()]
    print("\n".join(table_lines(("variant", "clocks", "an item"), rows)))
    print("recorded in generated/records/; ./daedalus gen makes the code")


def _wanted(kernel: str) -> list[compare.Wish]:
    known = compare.wishes()
    found = [w for w in known if kernel in w.kernel] if kernel else compare.usual()
    if not found:
        raise UserError(
            f"no kernel of tools/bench/qpu.toml has {kernel} in its id",
            f"they are {', '.join(w.kernel for w in known)}",
        )
    return found


def record_text(data: dict[str, Any]) -> str:
    """JSON with a kernel a line."""
    kernels = ",\n".join(f"  {json.dumps(k)}" for k in data["kernels"])
    rest = json.dumps({**data, "kernels": []}, indent=1)
    return rest.replace('"kernels": []', f'"kernels": [\n{kernels}\n ]')


def page(report: Report) -> list[str]:
    """The tables as Markdown."""
    about = as_data(report)
    first = [
        (
            f"{r.wish.kernel}, {name}", f"`{t.variant.split('__')[1].partition('_')[2]}`",
            f"{t.instructions / t.items:.2f}", _trip(r, t),
            f"{t.loads / t.items:.2f}, {t.stores / t.items:.2f}",
            f"{t.memory_bytes / t.items:.0f}", f"{t.base.issue / t.items:.1f}",
            f"{t.base.clocks / t.items:.1f}",
            f"{t.base.bound / t.items:.1f} {RESOURCES[t.base.resource]}",
            _spread([x.ns / t.items for x in t.by.values()], t.base.ns / t.items),
        )
        for r in report.results
        for name, t in (("QPU code", r.qpu), (f"GLSL, {r.glsl.workgroup}", r.glsl))
    ]  # fmt: skip
    second = [(a, b, c, d, e, f, _r(g, h), _r(i, j), k)
              for a, b, c, d, e, f, g, h, i, j, k in map(_ratios, report.results)]  # fmt: skip
    out = [
        "# QPU code beside GLSL, by the timing model",
        "",
        f"Modelled on {about['date']}, not measured: [qpu-performance.md](../qpu-performance.md)"
        f" says how.",
        f"{report.items} items a kernel; {DRIVER}; generated code",
        f"`{about['generator']}`; default settings of [v3d-timing.md](../v3d-timing.md),",
        "intervals by its alternatives. All of an item.",
        "",
        *_markdown(("kernel, route, workgroup", "variant", "instructions", "a trip",
                    "loads, stores", "bytes", "issue", "clocks", "bound", "ns"), first),
        "",
        "QPU code by GLSL, and R; NEON's base is in cache.",
        "",
        *_markdown(("kernel", "issue", "interval", "clocks", "interval", "bar met", "R, QPU code",
                    "R, GLSL", "R published"), second),
        "",
    ]  # fmt: skip
    if report.issue is not None:
        out += [f"Geometric mean of issue clocks: {_interval(report.issue)}; bar 0.7."]
    if report.mesa is not None:
        out += [f"Geometric mean of instructions by Mesa's: {report.mesa:.3f}; bar 0.58."]
    return [*out, *(f"\n- missed: {m}" for m in report.missed())]


def _markdown(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return ["| " + " | ".join(r) + " |" for r in (headings, ("---",) * len(headings), *rows)]


def _r(value: str, band: str) -> str:
    return f"{value} {band}".strip()


def _spread(values: list[float], mid: float) -> str:
    return f"{mid:.1f} ({min(values):.1f}..{max(values):.1f})"


def lines(report: Report) -> list[str]:
    """The tables."""
    out = [f"{report.items} items; clocks and ns by the timing model, see {PAGE}", ""]
    out += table_lines(
        ("kernel", "", "variant", "workgroup", "instructions", "a trip", "bar", "loads",
         "stores", "bytes", "issue", "clocks", "bound", "by", "at it", "ns", "least", "most"),
        [
            _row(r, name, t)
            for r in report.results
            for name, t in (("QPU", r.qpu), ("GLSL", r.glsl))
        ],
    )  # fmt: skip
    out += ["an item, but for the workgroup; issue, clocks and bound: clocks of the GPU", ""]
    out += table_lines(
        ("kernel", "issue", "interval", "clocks", "interval", "met", "R of QPU", "", "R of GLSL",
         "", "published"),
        [_ratios(r) for r in report.results],
    )  # fmt: skip
    if report.issue is not None:
        out += ["", f"geometric mean of issue clocks: {_interval(report.issue)} of GLSL's"]
    if report.mesa is not None:
        out.append(f"geometric mean of instructions: {report.mesa:.3f} of Mesa's")
    return [*out, *(f"missed: {m}" for m in report.missed())]


def _row(r: Result, route: str, t: Taken) -> tuple[object, ...]:
    n, base = t.items, t.base
    ns = [x.ns / n for x in t.by.values()]
    bar = "" if route == "GLSL" or r.wish.bar is None else f"{r.wish.bar:g}"
    return (
        r.wish.kernel, route, t.variant.split("__")[1], t.workgroup,
        *(round(x, 2) for x in (t.instructions / n,)), _trip(r, t), bar,
        *(round(x / n, 2) for x in (t.loads, t.stores)), round(t.memory_bytes / n),
        *(round(x / n, 1) for x in (base.issue, base.clocks, base.bound)),
        RESOURCES[base.resource], "yes" if base.at_bound else "no",
        *(round(x, 1) for x in (base.ns / n, min(ns), max(ns))),
    )  # fmt: skip


def _trip(r: Result, t: Taken) -> str:
    return f"{r.trip:.2f}" if t is r.qpu else ""


def _ratios(r: Result) -> tuple[str, ...]:
    found = [ratio(r.wish, t) for t in (r.qpu, r.glsl)]
    cells = [x for f in found for x in ((_interval(f.value), f.band) if f else ("no base", ""))]
    return (
        r.wish.kernel, f"{r.issue.mid:.2f}", f"{r.issue.low:.2f}..{r.issue.high:.2f}",
        f"{r.total.mid:.2f}", f"{r.total.low:.2f}..{r.total.high:.2f}",
        "yes" if r.total_met else "no", *cells,
        "" if r.wish.published is None else f"{r.wish.published:g}",
    )  # fmt: skip


def _interval(i: Interval) -> str:
    return f"{i.mid:.2f} ({i.low:.2f}..{i.high:.2f})"


def as_data(report: Report) -> dict[str, Any]:
    """For JSON."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "driver": DRIVER,
        "items": report.items,
        "generator": generator_hash(repo_root()),
        "issue_geometric_mean": None if report.issue is None else vars(report.issue),
        "mesa_geometric_mean": report.mesa,
        "missed": report.missed(),
        "kernels": [
            {
                "kernel": r.wish.kernel,
                "class": r.wish.class_name,
                "unique_bytes": r.unique_bytes,
                "issue": vars(r.issue),
                "total": vars(r.total),
                "total_met": r.total_met,
                "trip": r.trip,
                "qpu": _taken(r, r.qpu),
                "glsl": _taken(r, r.glsl),
                "R_published": r.wish.published,
            }
            for r in report.results
        ],
    }


def _taken(r: Result, t: Taken) -> dict[str, Any]:
    found = ratio(r.wish, t)
    figures = {k: v for k, v in vars(t).items() if k != "by"}
    return {
        **figures,
        "input_hash": input_hashes().get(f"daedalus_{t.variant}"),
        "bound_by": t.base.resource,
        "at_bound": t.base.at_bound,
        "by": {name: _times(times) for name, times in t.by.items()},
        "R": None if found is None else {**vars(found.value), "band": found.band},
    }


def _times(t: Times) -> dict[str, int]:
    return dict(vars(t))
