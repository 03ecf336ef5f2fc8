# SPDX-License-Identifier: BSD-2-Clause
"""Runs the corpus on two devices and compares what they left in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.cli.common import EXIT_FAILED, UserError, build_dir
from daedalus.generator.v3d import vkrun
from daedalus.generator.v3d.corpus import Commands, Program, compare, plans

Case = Program | Commands


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
    unsupported: dict[str, str] = field(default_factory=dict)  # it lacks what the case needs

    @property
    def good(self) -> bool:
        """Whether something was compared and nothing is wrong."""
        return bool(self.compared) and not self.differences and not self.not_run


def run(
    device: vkrun.Device,
    cases: Sequence[Case],
    place: Path,
    *,
    environment: Mapping[str, str] | None = None,
) -> dict[str, vkrun.Outcome]:
    """Runs cases on a device; their buffers lie in place/<device's name> then."""
    return vkrun.run_cases(
        device,
        plans.materialise(cases, place),
        place,
        environment=environment,
        log=place / f"{device.name}.log",
    )


def compared(
    device: vkrun.Device, reference: vkrun.Device, cases: Sequence[Case], place: Path
) -> Report:
    """Runs cases on both devices and compares their buffers.

    The reference must run every case.
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
    for case in cases:
        outcome = found[case.name]
        if outcome.verdict == "unsupported":
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
