# SPDX-License-Identifier: BSD-2-Clause
"""Runs the corpus on two devices and compares what they left in memory."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.v3d import vkrun
from daedalus.v3d.corpus import Commands, Program, compare, plans

Case = Program | Commands

_FAILED_JOB = re.compile(r"^daedalus-v3d-device: (.* job \d+ failed: .*)$", re.MULTILINE)


def folder() -> Path:
    """Where shaders, input data and results lie."""
    return build_dir() / "v3dv" / "corpus"


@dataclass
class Report:
    """What came of a comparison, by case; a case without an entry here ran and is as expected."""

    device: str
    reference: str
    compared: list[str] = field(default_factory=list)
    differences: dict[str, list[str]] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)  # the device could not: why
    unsupported: dict[str, str] = field(default_factory=dict)  # it need not have what is needed
    failed_jobs: list[str] = field(default_factory=list)  # what the simulated device says of them

    @property
    def good(self) -> bool:
        """Whether something was compared and nothing is wrong."""
        wrong = self.differences or self.not_run or self.failed_jobs
        return bool(self.compared) and not wrong


def run(
    device: vkrun.Device,
    cases: Sequence[Case],
    place: Path,
    *,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> dict[str, vkrun.Outcome]:
    """Runs cases on a device; their buffers lie in place/<device's name> then.

    `options` are those of vkrun.
    """
    texts = plans.materialise(cases, place)
    return run_written(device, texts, place, environment=environment, options=options)


def run_written(
    device: vkrun.Device,
    texts: Mapping[str, str],
    place: Path,
    *,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> dict[str, vkrun.Outcome]:
    """Runs cases whose files `plans.materialise` has written to `place`; `texts` is from there.

    Drivers that run at the same time read the same files.
    """
    return vkrun.run_cases(
        device, texts, place, environment=environment, options=options, log=log_of(device, place)
    )


def failed_jobs(said: str) -> list[str]:
    """The reports of failed jobs in what the simulated device said."""
    return _FAILED_JOB.findall(said)


def log_of(device: vkrun.Device, place: Path) -> Path:
    """What a device said when `run` ran cases."""
    return place / f"{device.name}.log"


def compared(
    device: vkrun.Device, reference: vkrun.Device, cases: Sequence[Case], place: Path
) -> Report:
    """Runs cases on both devices and compares their buffers.

    The reference must run every case; a device may lack the subgroups that a case needs only when
    it is lavapipe itself.  A job that fails on the simulated device is an error whatever it left:
    its fences signal, and it may have stored all results before.
    """
    expected = run(reference, cases, place)
    for name, outcome in expected.items():
        if outcome.verdict != "ok":
            raise UserError(
                f"{reference.name} does not run {name}: {outcome.verdict} {outcome.detail}",
                exit_code=EXIT_FAILED,
            )
    found = run(device, cases, place)
    report = Report(device.name, reference.name)
    report.failed_jobs = failed_jobs(log_of(device, place).read_text())
    for case in cases:
        outcome = found[case.name]
        if outcome.verdict == "unsupported" and device.choose == vkrun.LAVAPIPE:
            report.unsupported[case.name] = outcome.detail
            continue
        if outcome.verdict != "ok":
            report.not_run[case.name] = f"{outcome.verdict} {outcome.detail}"
            continue
        left, right = (
            compare.read_buffers(case, place / d.name / f"{case.name}.bin")
            for d in (reference, device)
        )
        report.compared.append(case.name)
        differences = compare.compare(case, left, right)
        if differences:
            report.differences[case.name] = [str(d) for d in differences]
    return report
