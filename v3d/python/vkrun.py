# SPDX-License-Identifier: BSD-2-Clause
"""Builds v3d/tools/vkrun and runs plans with it: compute work on any Vulkan device.

A plan holds many cases, so that starting a driver is paid once.  A driver that ends the program in
the midst of a case costs that case only: the others are run by another process.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import fetch, native
from daedalus.generator.host.packages import debian_architecture
from daedalus.v3d import driver, tools

LAVAPIPE = "llvmpipe"  # what its device is called


@dataclass(frozen=True)
class Device:
    """A way to run vkrun: where it runs and with which driver."""

    name: str
    arch: str  # "host" or "aarch64", see native.py
    prefix: tuple[str, ...]  # put before the program
    environment: Mapping[str, str]
    choose: str  # vkrun's --device


@dataclass
class Outcome:
    """What became of a case."""

    verdict: str  # "ok", "failed", "unsupported", "crashed"
    detail: str = ""
    microseconds: int = 0
    hashes: dict[str, str] = field(default_factory=dict)
    statistics: dict[str, dict[str, str]] = field(default_factory=dict)  # by pipeline


FLAGS = (f"-I{repo_root() / 'v3d'}", "-ldl")


def sources() -> list[Path]:
    """Of vkrun; they are compiled with FLAGS."""
    root = repo_root() / "v3d"
    return sorted([*(root / "tools" / "vkrun").glob("*.c"), *(root / "files").glob("*.c")])


def program(arch: str) -> Path:
    """Builds vkrun for a build of native.py unless it is there."""
    return native.compile_program(
        arch,
        build_dir() / "v3dv" / f"vkrun-{arch}" / "vkrun",
        sources(),
        system_includes=[driver.vulkan_headers()],
        flags=FLAGS,
        static=False,
    )


def lavapipe(vector_bits: int = 512) -> Device:
    """Mesa's driver for the processor, of the same Debian suite as v3dv; 512 bits: subgroups of 16.

    Older ones are no reference: that of Debian 12 (22.3.6) errs where few lanes of a vector are
    used and they index arrays of their own.
    """
    arch = debian_architecture()
    folder = fetch.ensure("lavapipe", arch)
    environment = {
        "VK_ICD_FILENAMES": str(folder / "usr/share/vulkan/icd.d/lvp_icd.json"),
        "LP_NATIVE_VECTOR_WIDTH": str(vector_bits),
    }
    loader, triplet = {
        "amd64": ("usr/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
        "arm64": ("usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
    }[arch]
    prefix = (str(folder / loader), "--library-path", str(folder / "usr" / "lib" / triplet))
    return Device(f"lavapipe-{vector_bits}", "host", prefix, environment, LAVAPIPE)


def v3dv(
    arch: str = "aarch64",
    *,
    strict: bool = False,
    jobs: Path | None = None,
    trace: Path | None = None,
    faults: Sequence[str] = (),
    intervals: bool = False,
    profile: Path | None = None,
) -> Device:
    """Mesa's v3dv on the simulated device: Debian's own for "aarch64", that built here for "host".

    Where this machine is no ARM, the former runs under qemu-aarch64.  With `strict`, jobs that
    break a rule of the instruction set fail; `jobs` is a file that gets a line for each, `trace` a
    folder that gets their traces; with `intervals`, both say within what their times lie.  `faults`
    are those that the device has, `profile` is what is assumed of the board.
    """
    if arch == "host" and driver.built() is None:
        raise UserError(
            "v3dv is not built for this machine", "./daedalus setup --native", EXIT_MISSING
        )
    words, environment = tools.on_device(
        [str(program(arch))],
        profile=profile,
        strict=strict,
        jobs=jobs,
        trace=trace,
        intervals=intervals,
        faults=faults,
    )
    name = "v3dv-arm64" if arch == "aarch64" else "v3dv-native"
    return Device(name, arch, tuple(words[:-1]), environment, "v3dv")


def run_cases(
    device: Device,
    cases: Mapping[str, str],
    folder: Path,
    *,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    timeout_s: int = 60,
) -> dict[str, Outcome]:
    """Runs cases, given as name and lines of a plan whose paths start at `folder`.

    The buffers of a case that ran lie in folder/<device's name>/<case>.bin afterwards.  `log` takes
    what the driver says on standard error.  `timeout_s` is for one submission.
    """
    binary = program(device.arch)
    folder = folder.resolve()
    out = folder / device.name
    out.mkdir(parents=True, exist_ok=True)
    argv = [*device.prefix, str(binary), "--device", device.choose, "--out", str(out)]
    argv += ["--timeout", str(timeout_s), *options]
    env = {**os.environ, **device.environment, **(environment or {})}
    outcomes: dict[str, Outcome] = {}
    said = ""
    while len(outcomes) < len(cases):
        plan = out / "cases.plan"
        left = [text for name, text in cases.items() if name not in outcomes]
        plan.write_text("".join(text for text in left))
        # Paths in a plan start at its folder, so it is read from standard input, there.
        with plan.open() as text:
            done = subprocess.run(
                [*argv, "-"], stdin=text, capture_output=True, text=True, env=env, cwd=folder
            )
        said += done.stderr
        fresh = read_outcomes(done.stdout)
        if log is not None:
            log.write_text(said)
        if not fresh:
            raise UserError(
                f"vkrun on {device.name}: exit status {done.returncode}\n{done.stderr.strip()}",
                "see docs/testing-without-a-pi.md",
                EXIT_MISSING if done.returncode == EXIT_MISSING else EXIT_FAILED,
            )
        for outcome in fresh.values():
            if outcome.verdict == "begun":
                outcome.verdict = "crashed"
                last = done.stderr.strip().splitlines()[-1:] or [""]
                outcome.detail = f"exit status {done.returncode} {last[0]}"
        outcomes.update(fresh)
    return outcomes


def read_outcomes(text: str) -> dict[str, Outcome]:
    """Reads vkrun's output; a case that was begun and not ended has the verdict "begun"."""
    outcomes: dict[str, Outcome] = {}
    for line in text.splitlines():
        words = line.split(" ", 2)
        if words[0] == "case":
            outcomes[words[1]] = Outcome("begun")
        elif words[0] in ("ok", "failed", "unsupported"):
            outcome = outcomes[words[1]]
            outcome.verdict, outcome.detail = words[0], words[2]
            if words[0] == "ok":
                outcome.microseconds, outcome.detail = int(words[2]), ""
        elif words[0] == "buffer":
            name, _, digest = words[2].split(" ")
            outcomes[words[1]].hashes[name] = digest
        elif words[0] == "statistics":
            pipeline, _, pairs = words[2].partition(" ")
            found = dict(p.strip().split("=", 1) for p in pairs.split(";") if "=" in p)
            outcomes[words[1]].statistics[pipeline] = found
    return outcomes
