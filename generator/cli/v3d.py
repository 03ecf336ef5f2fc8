# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d`: the toolkit for V3D 7.1, the GPU of a Raspberry Pi 5."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.progress import progress
from daedalus.generator.cli import (
    v3d_bench,
    v3d_corpus,
    v3d_fuzz,
    v3d_mappings,
    v3d_programs,
    v3d_schedule,
)
from daedalus.generator.cli.files import InputFile
from daedalus.v3d import tools


@click.group(name="v3d", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Assembles, checks and runs code for V3D 7.1, the GPU of a Raspberry Pi 5, without one.

    asm, dis, check, exec and ops are the C program daedalus-v3d, which is built on first use; they
    read standard input where no file is named, so that they work in a pipe.
    """


def _become(argv: list[str], environment: dict[str, str] | None = None) -> None:
    """Runs a program in this one's place: its signals, pipes and exit status are the caller's."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(argv[0], argv, {**os.environ, **(environment or {})})


def _pass_on(name: str, what: str) -> None:
    settings = {"ignore_unknown_options": True, "help_option_names": []}

    @command.command(name, help=what, context_settings=settings)
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def passed(arguments: tuple[str, ...]) -> None:
        with progress(quiet=True):
            program = tools.program()
        _become([str(program), name, *arguments])


_pass_on("asm", "Assembles text: prints the words in hex, one a line.")
_pass_on("dis", "Disassembles words in hex, one a line.")
_pass_on("check", "Validates a program: whether it keeps the rules of docs/v3d-rules.md.")
_pass_on("exec", "Runs a program on the simulator, with buffers from files.")
_pass_on("ops", "Describes the instruction set and the timing settings as JSON.")


command.add_command(v3d_bench.command)
command.add_command(v3d_corpus.command)
command.add_command(v3d_programs.command)
command.add_command(v3d_fuzz.command)
command.add_command(v3d_schedule.command)
command.add_command(v3d_mappings.command)


_PROFILE = InputFile()


@command.command("run", context_settings={"allow_interspersed_args": False})
@click.option(
    "--profile",
    type=_PROFILE,
    help="Board to simulate: settings over those of v3d/profiles/pi5.profile.",
)
@click.option("--strict", is_flag=True, help="End jobs that break a rule of docs/v3d-rules.md.")
@click.option(
    "--memory",
    type=click.IntRange(1, 4096),
    metavar="MIB",
    help="Memory of the device (4096); more than that is ENOMEM.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND@WHEN[:ARGS]",
    help="Have a fault, such as hang@3, lost@5:of=client or no-memory@1/10 (docs/v3d-faults.md); "
    "may be given again.",
)
@click.option(
    "--check-jobs",
    is_flag=True,
    help="Exit status 1 where the program's is 0 and a job failed, other than by a fault, or a "
    "fault never struck.",
)
@click.option(
    "--timed",
    is_flag=True,
    help="Time jobs by the timing model; the program's timestamps show modelled time.",
)
@click.option("--intervals", is_flag=True, help="The same, with the least and the most of each.")
@click.option(
    "--no-stretch",
    is_flag=True,
    help="With these: the program's waits give up by the host's clock, not by modelled time.",
)
@click.option(
    "--jobs",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to append a line of JSON to for each job: what it did, and took.",
)
@click.argument("argv", nargs=-1, required=True, metavar="PROGRAM...", type=click.UNPROCESSED)
def run(argv: tuple[str, ...], **settings: Any) -> None:
    """Runs PROGRAM... on a simulated V3D 7.1 device.

    The program finds /dev/dri/renderD128, by libdrm or by itself, and through Mesa's driver v3dv a
    Vulkan device.  A program for this machine gets the v3dv that `setup --native` built, and no
    Vulkan device before that; one for arm64 runs under qemu with Debian's own.  Its exit status
    is this command's, but see --check-jobs.
    """  # fmt: skip
    # Standard error is the program's, where nobody watches it.
    with progress(quiet=not sys.stderr.isatty()):
        words, environment = tools.on_device(argv, **settings)
    _become(words, environment)


@command.command("trace", context_settings={"allow_interspersed_args": False})
@click.option("--profile", type=_PROFILE, help="Board to simulate, as for `run`.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("trace"),
    show_default=True,
    help="Folder for the traces: job-000001.txt and .json, and so on.",
)
@click.option(
    "--intervals", is_flag=True, help="With the least and the most that each job may take."
)
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def trace(profile: Path | None, output: Path, intervals: bool, argv: tuple[str, ...]) -> None:
    """Runs PROGRAM... as `run` does, and writes down what each of its compute jobs did.

    A trace has the dispatch's registers and uniforms by name, the counters and times of the timing
    model, and the program with how often each instruction ran and what it waited for.
    """  # fmt: skip
    output.mkdir(parents=True, exist_ok=True)
    with progress():
        words, environment = tools.on_device(
            argv, profile=profile, trace=output, intervals=intervals
        )
    _become(words, environment)


@command.command("timing")
@click.option("--profile", type=_PROFILE, help="Settings over the defaults.")
@click.option(
    "--by",
    type=click.Choice(["figures", "intervals", "alternatives", "left-out"]),
    default="figures",
    show_default=True,
    help="What to show of each: the figure with its interval, how it depends on each setting, or"
    " the figure by each alternative to the settings, or by settings that are fitted to all"
    " calibrated figures but that one (takes minutes).",
)
def timing(profile: Path | None, by: str) -> None:
    """Compares the timing model with figures that were published of a Raspberry Pi 5.

    Exit code 1 if a calibrated figure is off by more than 10 %.
    """
    with progress(quiet=True):
        program = tools.program()
    options = [] if by == "figures" else [f"--{by}"]
    options += ["--profile", str(profile)] if profile else []
    _become([str(program), "timing", *options, str(tools.timing_programs())])
