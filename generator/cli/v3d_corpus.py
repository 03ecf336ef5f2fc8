# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d corpus`: generated compute shaders on Vulkan drivers, compared with lavapipe."""

import json
import sys
from collections import Counter
from pathlib import Path

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import progress, say
from daedalus.generator.base.tables import print_table
from daedalus.generator.cli import v3d_campaign
from daedalus.generator.host import native
from daedalus.v3d import comparison, dumps, opinions, vkrun
from daedalus.v3d.corpus import Program, commands, plans, program

_COUNT = click.IntRange(min=0)


@click.command(name="corpus")
@click.option("--first", type=click.IntRange(min=1), default=1, show_default=True, help="Seed.")
@click.option("--count", type=_COUNT, default=338, show_default=True, help="Programs.")
@click.option("--commands", "n_commands", type=_COUNT, default=64, show_default=True,
              help="Sequences of copies, fills, updates, dispatches and submissions.")  # fmt: skip
@click.option("--on", type=click.Choice(["lavapipe", "v3dv", "v3dv-native"]), default="lavapipe",
              show_default=True, help="The driver that is compared with lavapipe.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Jobs that break a rule of the GPU fail.")
@click.option("--dump", type=click.Path(file_okay=False, path_type=Path), help="Compare nothing; "
              "write the GPU code that v3dv makes of each program to this folder, and look whether "
              "asm and dis understand it.")  # fmt: skip
@click.option("--random", "n_random", type=click.IntRange(min=1), help="Run that many random "
              "programs on v3dv instead, and explain what differs.")  # fmt: skip
@click.option("--export", type=click.Path(file_okay=False, path_type=Path), help="Run nothing; "
              "write the shaders of known mistakes to this folder, with opinion.py, which runs "
              "them on another machine's GPU.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    first: int,
    count: int,
    n_commands: int,
    on: str,
    strict: bool,
    dump: Path | None,
    n_random: int | None,
    export: Path | None,
    as_json: bool,
) -> None:
    """Runs compute shaders made from seeds on a driver, and compares the results with lavapipe's.

    v3dv runs on the simulated device: Debian's arm64 binary, or the one built for this machine by
    `setup --native`.  Integers and floats that are correctly rounded must be the same; other
    float functions within the bounds of the Vulkan specification.  lavapipe is compared with itself
    at two other vector widths; programs that need subgroups of 16 do not run there.  Exit code 1
    when something differs or does not run, or when a job fails, whatever results it left.

    With --random, programs reach corners where drivers err; a difference is explained when the
    program without what provokes a known mistake agrees.  Exit code 1 when more than 1 % is not.
    """
    if export is not None:
        print(f"{opinions.export(export)} shaders are in {export}: python3 {opinions.SCRIPT} there")
        return
    if n_random is not None:
        if dump is not None or on == "lavapipe":
            raise UserError("--random is about v3dv", "add --on v3dv or --on v3dv-native")
        v3d_campaign.run(_devices(on, strict)[0], first, n_random, as_json=as_json)
        return
    if on == "lavapipe" and (strict or dump is not None):
        raise UserError("--strict and --dump are about v3dv", "add --on v3dv or --on v3dv-native")
    programs = [program(seed) for seed in range(first, first + count)]
    cases: list[comparison.Case] = [*programs, *(commands(n + 1) for n in range(n_commands))]
    place = comparison.folder()
    # Another call would write the same files.
    with progress(quiet=as_json), native.alone(place):
        devices = _devices(on, strict)
        say(f"compiling {len(cases)} cases")
        plans.materialise(cases, place)
        if dump is not None:
            _dump(devices[0], programs, dump)
            return
        reports = []
        for device in devices:
            say(f"running {len(cases)} cases on {device.name}")
            reports.append(comparison.compared(device, vkrun.lavapipe(), cases, place))
    if as_json:
        print(json.dumps([{**vars(r), "good": r.good} for r in reports], indent=1))
    else:
        _print(reports)
    if not all(r.good for r in reports):
        sys.exit(EXIT_FAILED)


def _devices(on: str, strict: bool) -> list[vkrun.Device]:
    if on == "lavapipe":
        return [vkrun.lavapipe(bits) for bits in (256, 128)]
    return [vkrun.v3dv("aarch64" if on == "v3dv" else "host", strict=strict)]


def _dump(device: vkrun.Device, programs: list[Program], target: Path) -> None:
    cases = {p.name: plans.case(p) for p in programs}
    without = dumps.collect(device, cases, comparison.folder(), target)
    for name, why in without.items():
        tell(f"{name}: {why}")
    files = [target / f"{name}.qpu" for name in cases if name not in without]
    n, mistakes = dumps.misread(files)
    for text in mistakes:
        tell(f"misread: {text}")
    print(f"code of {len(files)} of {len(cases)} programs is in {target}")
    print(f"{n} words; asm and dis take {len({m.split(': ')[0] for m in mistakes})} otherwise")
    if without or mistakes:
        sys.exit(EXIT_FAILED)


def _print(reports: list[comparison.Report]) -> None:
    for r in reports:
        lists = {
            "same": [n for n in r.compared if n not in r.differences],
            "differ": list(r.differences),
            "not run": list(r.not_run),
            "unsupported": list(r.unsupported),
        }
        counts = {k: Counter(_family(n) for n in names) for k, names in lists.items()}
        families = dict.fromkeys(_family(n) for names in lists.values() for n in names)
        print(f"{r.device} compared with {r.reference}")
        rows = [(f, *(counts[k][f] for k in lists)) for f in sorted(families)]
        rows.append(("all", *(len(names) for names in lists.values())))
        print_table(("family", *lists), rows)
        for text in (t for texts in r.differences.values() for t in texts):
            tell(f"differs: {text}")
        for name, why in r.not_run.items():
            tell(f"not run: {name}: {why}")
        for text in r.failed_jobs:
            tell(f"failed: {text}")


def _family(name: str) -> str:
    return name.partition("-")[2]
