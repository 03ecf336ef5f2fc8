# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus farm`: check and tune jobs for the boards of a Dask cluster."""

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.progress import progress
from daedalus.generator.cli.check import chosen_devices, chosen_targets
from daedalus.generator.cli.tune_run import MODEL, wanted
from daedalus.generator.cli.tune_store import FILE, default_journal
from daedalus.generator.compile.kernels import chosen
from daedalus.generator.devices.vulkan import DEFAULT as DEFAULT_DEVICES
from daedalus.generator.devices.vulkan import spelled_out
from daedalus.generator.farm import cluster
from daedalus.generator.farm.checks import check_jobs
from daedalus.generator.farm.jobs import Job
from daedalus.generator.farm.run import Report, Terms, run_jobs
from daedalus.generator.farm.tunes import tune_jobs
from daedalus.generator.options import QPU, TARGETS
from daedalus.generator.tuning.engine_device import KINDS
from daedalus.generator.tuning.entries import Check, Mixed, Result
from daedalus.generator.tuning.journal import read
from daedalus.generator.tuning.model_device import ModelDevice
from daedalus.generator.verify.check_runs import DEFAULT_QPUS

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print what became of it as JSON.")
_SHOWN = 10  # bad results that are spelled out


@dataclass(frozen=True)
class Farm:
    """Which cluster, and on what terms: what the options before the word `check` or `tune` say."""

    scheduler: str
    local: int
    resource: str
    latency: float
    journal: Path
    patience: float
    again: bool

    @contextmanager
    def client(self) -> Iterator[tuple[Any, dict[str, dict[str, Any]]]]:
        """The cluster's client, and what its workers tell about themselves."""
        if self.local:
            with cluster.local(self.local, self.resource) as client:
                yield client, self._workers(client)
        else:
            with cluster.connected(self.scheduler) as client:
                yield client, self._workers(client)

    def _workers(self, client: Any) -> dict[str, dict[str, Any]]:
        found = cluster.workers(client, self.resource, self.patience)
        for address, told in found.items():
            line = f"worker {address}: {told['host']}, process {told['pid']}"
            tell(line)
        return found


@click.group("farm")
@click.option("--scheduler", default="", metavar="ADDRESS", help="Of the cluster: tcp://host:8786.")
@click.option("--local", default=0, type=click.IntRange(0, 64), metavar="N",
              help="Instead, N workers made for this on this machine.")  # fmt: skip
@click.option("--resource", default="V3D", show_default=True, metavar="NAME",
              help="What workers announce one of; every job takes it while it runs.")  # fmt: skip
@click.option("--journal", type=FILE, help="Where results go; default build/tune/journal.jsonl.")
@click.option("--patience", default=60.0, show_default=True, type=click.FloatRange(0),
              metavar="SECONDS", help="How long to wait where there is no worker.")  # fmt: skip
@click.option("--again", is_flag=True, help="Do also what the journal has results of.")
@click.option("--latency", default=0.0, type=click.FloatRange(0, 60), metavar="SECONDS",
              help="Makes every job take that much longer: to try a farm out.")  # fmt: skip
@click.pass_context
def command(
    context: click.Context, scheduler: str, local: int, resource: str, journal: Path | None,
    patience: float, again: bool, latency: float,
) -> None:  # fmt: skip
    """Has the workers of a Dask cluster check or tune, one job a board at a time.

    Results come back as lines of the journal. A job whose worker is lost runs again on another one;
    what the journal has is not done again.
    """
    if bool(scheduler) == bool(local):
        raise UserError(
            "a farm needs a cluster, and only one",
            "give --scheduler tcp://host:8786, or --local N for workers of this machine",
        )
    context.obj = Farm(
        scheduler, local, resource, latency, journal or default_journal(), patience, again
    )


@command.command("check")
@click.argument("kernels", nargs=-1)
@click.option("--target", default=",".join(TARGETS), show_default=True,
              help="Targets, separated by commas.")  # fmt: skip
@click.option("--items", default=10000, show_default=True, type=click.IntRange(16, 10_000_000),
              help="Conformant items a variant.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option(
    "--device",
    default=",".join((*DEFAULT_DEVICES, *DEFAULT_QPUS)),
    show_default=True,
    help="Devices for glsl and qpu, by `check`'s names.",
)
@AS_JSON
@click.pass_obj
def check_command(
    farm: Farm, kernels: tuple[str, ...], target: str, items: int, seed: int, device: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Compares the variants of the KERNELS (default: all) with the reference interpreter.

    A job is one kernel for one target on one of the devices. Exits with 1 if a result is not ok.
    """
    ids = [e.kernel.id for e in chosen(kernels)]
    gpus, qpus = chosen_devices(device)
    if "gpu" in spelled_out(gpus):
        raise UserError("gpu is all of a board's own devices", "name one a farm: gpu-N")
    targets = chosen_targets(target)
    with farm.client() as (client, workers):
        processors = _same(workers, "devices")
        on_glsl = spelled_out(gpus) if "glsl" in targets else []
        on_qpu = qpus if QPU in targets else ()
        boards = cluster.boards(client, list(workers), ["", *on_glsl, *on_qpu])
        jobs = check_jobs(
            ids, targets, on_glsl, on_qpu, processors, boards, items, seed, farm.latency
        )
        finish(farm, client, jobs, as_json=as_json)


@command.command("tune")
@click.argument("kernels", nargs=-1)
@click.option("--device", default=MODEL, show_default=True, type=click.Choice([MODEL, *KINDS]),
              help="Of each board, as `tune` names it.")  # fmt: skip
@click.option("--vulkan", default="", metavar="NAME", help="As of `tune`: the Vulkan device.")
@click.option("--target", default=",".join(TARGETS), show_default=True,
              help="Targets, separated by commas; of these what the device does.")  # fmt: skip
@click.option("--quick", is_flag=True, help="As of `tune`: few points.")
@click.option("--exhaustive", is_flag=True, help="As of `tune`: all points of large spaces, too.")
@click.option("--points", default=0, metavar="N", type=click.IntRange(0),
              help="Do at most so many points of a kernel and target.")  # fmt: skip
@click.option("--budget", default=0.0, metavar="SECONDS", type=click.FloatRange(0),
              help="Begin no point after so many seconds of a kernel and target.")  # fmt: skip
@AS_JSON
@click.pass_obj
def tune_command(
    farm: Farm, kernels: tuple[str, ...], device: str, vulkan: str, target: str, quick: bool,
    exhaustive: bool, points: int, budget: float, as_json: bool,
) -> None:  # fmt: skip
    """Tunes the KERNELS (default: the usual ones of tools/bench/qpu.toml), as `daedalus tune` does.

    A job is one kernel for one target. Results that the journal has are not done again.
    """
    options = ["--quick"] * quick + ["--exhaustive"] * exhaustive
    options += ["--points", str(points)] if points else []
    options += ["--budget", f"{budget:g}"] if budget else []
    options += ["--vulkan", vulkan] if vulkan else []
    if device != MODEL and farm.local > 1:
        raise UserError(
            "several workers of one machine would measure each other",
            f"give --local 1, or --device {MODEL}",
        )
    board = None
    with farm.client() as (client, workers):
        if device == MODEL:
            can = ModelDevice.targets
            options += ["--jobs", "1"]  # a worker is one board
        else:
            can = tuple(_same(workers, "targets")[device])
            board = cluster.boards(client, list(workers), [vulkan])[vulkan]
        targets = [t for t in chosen_targets(target) if t in can]
        known = () if farm.again else read(farm.journal).found
        ids = [e.kernel.id for e in wanted(kernels)]
        jobs = tune_jobs(
            ids, targets, device, options, known, farm.latency, board=board, vulkan=vulkan
        )
        finish(farm, client, jobs, as_json=as_json)


def _same(workers: dict[str, dict[str, Any]], what: str) -> Any:
    """What all workers tell alike; UserError where they do not."""
    found = {repr(told[what]): told[what] for told in workers.values()}
    if len(found) > 1:
        lines = "".join(f"\n  {a} ({t['host']}): {t[what]}" for a, t in workers.items())
        raise UserError(
            f"the workers differ in {what}, so jobs are not the same on all:{lines}",
            "give those of one kind a resource of their own, and name it with --resource",
        )
    return next(iter(found.values()))


def finish(farm: Farm, client: Any, jobs: Sequence[Job], *, as_json: bool) -> None:
    """Has the jobs done and reports; UserError with exit code 1 where a result is not ok."""
    if not jobs:
        raise UserError("there is nothing to do", "see --target and --device")
    with progress(len(jobs), quiet=as_json) as shown:

        def tell(text: str) -> None:
            shown.say(text)
            shown.advance(1)

        terms = Terms(farm.resource, farm.patience, farm.again, shlex.join(sys.argv[1:]), tell)
        report = run_jobs(client, jobs, farm.journal, terms)
    if as_json:
        click.echo(json.dumps(_as_json(farm, report), indent=1))
    else:
        _print(farm, report)
    if report.errors:
        lines = "".join(f"\n  {job}: {why}" for job, why in report.errors.items())
        raise UserError(f"{len(report.errors)} jobs could not be done:{lines}",
                        exit_code=EXIT_FAILED)  # fmt: skip
    if report.bad:
        raise UserError(f"{len(report.bad)} results are not ok", exit_code=EXIT_FAILED)


def _as_json(farm: Farm, r: Report) -> dict[str, Any]:
    return {
        "journal": str(farm.journal), "jobs": r.jobs, "known": r.known, "done": r.done,
        "added": r.added, "seconds": round(r.seconds, 3),
        "verdicts": dict(sorted(r.verdicts.items())),
        "bad": [{"type": b.type, **b.as_members()} for b in r.bad], "errors": r.errors,
        "by": dict(sorted(r.by.items())),
    }  # fmt: skip


def _print(farm: Farm, r: Report) -> None:
    for b in r.bad[:_SHOWN]:
        tell(f"{_name(b)}: {b.verdict}: {b.reason}")
    verdicts = ", ".join(f"{n} {v}" for v, n in sorted(r.verdicts.items())) or "no results"
    click.echo(
        f"{r.jobs} jobs: {r.known} known from {farm.journal}, {r.done} done in {r.seconds:.1f} s,"
        f" {len(r.errors)} could not be done; {verdicts}"
    )


def _name(b: Result | Check | Mixed) -> str:
    if isinstance(b, Check):
        return f"{b.variant} on {b.device}"
    return b.scenario if isinstance(b, Mixed) else b.point
