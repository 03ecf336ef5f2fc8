# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus count`: executed instructions, ours beside hand-written ones."""

import json

import click

from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli import modes
from daedalus.generator.cli.count_clips import count_clips
from daedalus.generator.measure import count, count_cases, count_items

# Mode -> the parameters that it takes, for modes.check().
MODES = {
    "": {"kernels", "cc", "as_json"},
    "items": {"kernels", "cc", "as_json"},
    "clips": {"kernels", "cc", "cycles", "as_json"},
}


@click.command(name="count")
@click.argument("kernels", nargs=-1)
@click.option(
    "--cc",
    type=click.Choice(["gcc", "clang"]),
    default="gcc",
    show_default=True,
    help="What compiles our functions.",
)
@click.option("--items", is_flag=True,
              help="Instead, what 1 to 1000 items execute by each way to do many.")  # fmt: skip
@click.option("--clips", is_flag=True,
              help="Instead, what decoding whole clips executes, family by family.")  # fmt: skip
@click.option("--cycles", is_flag=True,
              help="With --clips: modelled cycles of their calls; without KERNELS, of clips that"
              " have a bar.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def command(
    context: click.Context, kernels: tuple[str, ...], cc: str, items: bool, clips: bool,
    cycles: bool, as_json: bool,
) -> None:  # fmt: skip
    """Counts the instructions that our NEON functions execute per call, and hand-written ones'.

    Those are the oracles' of tools/oracles.toml. Without KERNELS, all that have a case in
    tools/count/cases.toml. Exit code 1 when a hand-written function does not execute the recorded
    number (then the comparison is with another one), when one of ours leaves other pixels, or
    when it executes more than the case's bar.

    With --clips, KERNELS are names of clips (docs/neon-model.md). Exit code 1 when a decode
    executes more with our functions than with theirs; with --cycles, when clips take more than
    their bar in tools/count/clips.toml.
    """
    modes.check(context, MODES)
    if clips:
        count_clips(kernels, clang=cc == "clang", cycles=cycles, as_json=as_json)
        return
    if items:
        _count_items(kernels, cc == "clang", as_json=as_json)
        return
    with progress(quiet=as_json):
        compiler, counts = count.count_all(kernels, clang=cc == "clang")
    absent = [] if kernels else count_cases.not_counted()
    if as_json:
        rows = [_row(c) for c in counts]
        made_by = {"version": compiler.version, "flags": compiler.flags}
        print(json.dumps({"compiler": made_by, "counts": rows, "not_counted": absent}, indent=2))
    else:
        _print(compiler, counts)
    if absent:
        tell(
            f"{len(absent)} kernels not counted, as {count_cases.FILES} have no case for them:"
            f" {', '.join(absent)}"
        )
    failures = [text for c in counts for text in _failures(c)]
    fail(failures)


def _count_items(kernels: tuple[str, ...], clang: bool, *, as_json: bool) -> None:
    with progress(quiet=as_json):
        compiler, counts = count_items.count_items(kernels, clang=clang)
    if as_json:
        rows = [
            vars(c) | {"an_item": round(c.an_item, 2), "a_call": round(c.a_call, 2)} for c in counts
        ]
        print(json.dumps({"compiler": vars(compiler), "items": rows}, indent=2))
        return
    numbers = list(counts[0].executed)
    print_table(
        ("kernel", "class", "way", *(str(n) for n in numbers), "an item", "a call"),
        [
            (c.kernel, c.class_name, c.way, *(c.executed[n] for n in numbers),
             f"{c.an_item:.1f}", f"{c.a_call:.1f}")
            for c in counts
        ],
    )  # fmt: skip
    print(f"compiled by {compiler.version}: {compiler.flags}")


def _row(c: count.Count) -> dict[str, object]:
    work = c.work
    return {
        "kernel": work.case.kernel,
        "case": work.case.name,
        "function": work.function,
        "whose": work.whose,
        "executed": c.executed,
        "ratio": round(c.ratio, 3),
        "bar": _bar(c),
        "above_bar": c.above,
        "same_pixels": not c.difference,
    }


def _bar(c: count.Count) -> float | None:
    """What it may execute at most, of theirs; None where nothing is said."""
    return c.work.case.bar if c.work.barred else None


def _print(compiler: count.Compiler, counts: list[count.Count]) -> None:
    lines = []
    for c in counts:
        own = c.work.whose != "theirs"
        lines.append(
            (
                c.work.case.kernel,
                c.work.case.name,
                c.work.function,
                c.executed,
                f"{c.ratio:.2f}" if own else "",
                "" if _bar(c) is None else f"{_bar(c):.2f}{' above' if c.above else ''}",
            )
        )
    print_table(("kernel", "case", "function", "executed", "of theirs", "bar"), lines)
    print(f"ours compiled by {compiler.version}: {compiler.flags}")


def _failures(c: count.Count) -> list[str]:
    """What is wrong with a count, in words."""
    if not c.above:
        return c.wrong
    where = f"{c.work.function}, {c.work.case.name}"
    return [*c.wrong, f"{where}: {c.executed} executed, more than {c.work.case.bar} x {c.theirs}"]
