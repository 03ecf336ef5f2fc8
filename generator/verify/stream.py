# SPDX-License-Identifier: BSD-2-Clause
"""Decodes real streams with daedalus' functions in the decoder's place, frame by frame.

What a decoder is and which clips reach its functions stands in tools/stream/clips.toml; which of
them are replaced follows from the specs and the descriptions of its tables (stream_glue.py).  A
clip is decoded three ways: by ffmpeg, by the static decoder as it is, and by the same program with
our functions in it; all must give the same MD5 for every frame.  One more run per function spoils
its output now and then and must be noticed.
"""

import functools
import subprocess
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.codecs import oracles
from daedalus.codecs.clips import Clip, Decoder, folder, reference, tables_of
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.generator.compile.manifest import manifest
from daedalus.generator.devices.vulkan import GpuDevice, Skip
from daedalus.generator.host import native
from daedalus.generator.verify import stream_glue

TARGETS = ("c", "neon")
_FAULTS_A_CLIP = 10  # how often an injected fault strikes, about
_OTHER_CLIPS = 3  # where a fault strikes if the first clip does not show it


@dataclass(frozen=True)
class Run:
    """What the program printed: an MD5 a frame, calls by function and class, dispatches.

    ways  calls by function and by the decoder's pointer that they came through
    stock where the decoder's own functions stand that were executed, of tables that are all ours
    watched  how many functions of the decoder's own would be seen if they were executed
    """

    frames: list[str]
    calls: dict[str, dict[str, int]]
    dispatches: int = 0
    ways: dict[str, dict[str, int]] = field(default_factory=dict)
    stock: tuple[str, ...] = ()
    watched: int = 0


@dataclass(frozen=True)
class Outcome:
    """A clip decoded for one target, compared; functions are named as the decoder entries are."""

    clip: Clip
    target: str
    decoder: Decoder
    frames: int
    different: list[int]  # indices of the frames that differ from ffmpeg's or the stock decoder's
    classes: dict[str, dict[str, int]]
    dispatches: int = 0  # on the GPU
    ways: dict[str, dict[str, int]] = field(default_factory=dict)
    stock: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"{self.decoder.name}, {self.clip.name}, {self.target}"

    @property
    def calls(self) -> dict[str, int]:
        """Calls by function."""
        return {function: sum(c.values()) for function, c in self.classes.items()}


@dataclass(frozen=True)
class Fault:
    """A run with a function whose output was spoiled; `seen` when the frames showed it, `often`
    if the clip calls it so often that they have to: a few blocks may lie outside of the picture."""

    function: str
    target: str
    codec: str
    clip: str
    every: int
    seen: bool
    often: bool = True


@dataclass
class Report:
    """Everything that was decoded, and what is wrong with it."""

    outcomes: list[Outcome] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    by_cpu: dict[str, int] = field(default_factory=dict)  # GPUs: calls of kernels without a variant
    skips: list[Skip] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Takes in what another report says."""
        self.outcomes += other.outcomes
        self.faults += other.faults
        self.failures += other.failures
        self.skips += other.skips
        for kernel, calls in other.by_cpu.items():
            self.by_cpu[kernel] = self.by_cpu.get(kernel, 0) + calls

    def not_exercised(self) -> list[str]:
        """Our functions for the decoders that were run, which tools/stream does not put there."""
        replaced = {
            f"daedalus_{o.decoder.oracle}_{name}" for o in self.outcomes for name in o.classes
        }
        oracles = {o.decoder.oracle for o in self.outcomes}
        return [
            entry
            for kernel in manifest()["kernels"]
            for oracle, entries in kernel["decoders"].items()
            for entry in entries
            if oracle in oracles and entry not in replaced
        ]


# ----------------------------------------------------------------------------------- decoding


@functools.cache
def _library(arch: str) -> Path:
    """Our functions, built once for all decoders of a run."""
    return native.build_library(arch) / "libdaedalus.a"


def build_program(decoder: Decoder, target: str, library: Path | None = None) -> tuple[str, Path]:
    """Builds the stream program for a target; returns the build it belongs to and its path."""
    arch = "aarch64" if target == "neon" else "portable" if native.is_arm() else "host"
    return arch, link(decoder, arch, build_dir() / "stream" / target / decoder.name, library)


def link(
    decoder: Decoder,
    arch: str,
    path: Path,
    library: Path | None = None,
    *,
    sources: Sequence[Path] = (),
    wrap: Sequence[str] = (),
    flags: Sequence[str] = (),
    static: bool = True,
) -> Path:
    """Builds a stream program for a build of native.py, with further sources and wrapped names."""
    if library is None:
        library = _library(arch)
    debian = native.debian_arch(arch)
    includes, archives = oracles.linked_for_streams(decoder.oracle, debian)
    wraps = [table.init_name for table, _ in tables_of(decoder)[1]]
    return native.compile_program(
        arch,
        path,
        [
            *(folder() / s for s in decoder.sources),
            *sources,
            stream_glue.write(decoder, path.parent),
        ],
        includes=[*native.library_includes(), folder()],
        system_includes=includes,
        libraries=[library, *archives],
        flags=[*flags, *(f"-Wl,--wrap={w}" for w in (*wraps, *wrap)), "-ldl"],
        static=static,
    )


@dataclass(frozen=True)
class Program:
    """A stream program, and how it is run."""

    arch: str
    path: Path
    options: tuple[str, ...]
    gpu: GpuDevice | None = None

    def decode(self, clip: Clip, *options: str) -> Run:
        """Runs the program on a clip."""
        held_back = ["--reorder", str(clip.reorder)] if clip.reorder >= 0 else []
        words = [*options, *self.options, *held_back]
        argv = [str(self.path), *words, str(clip.file)]
        if self.gpu is not None:
            done = self.gpu.run(argv)
        else:
            argv = [*native.runner(self.arch), *argv]
            done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode != 0:
            raise UserError(
                f"decoding {clip.name} {' '.join(words)}: {why(done.returncode)}\n"
                + "\n".join(done.stderr.strip().splitlines()[-5:]),
                f"to repeat it: {' '.join(argv)}",
                EXIT_FAILED,
            )
        return _read(done.stdout)


def same_frames(program: Program, clips: Sequence[Clip], ways: Mapping[str, Sequence[str]]) -> None:
    """Refuses to count or time what gives other frames: decodes each clip in every way.

    Runs that are counted or timed leave digests of frames out.
    """
    say(f"comparing the frames of {len(clips)} clips")

    def frames(clip: Clip, words: Sequence[str]) -> list[str]:
        return program.decode(clip, *words).frames

    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        found = [list(pool.map(lambda c, w=words: frames(c, w), clips)) for words in ways.values()]
    for clip, first, *others in zip(clips, *found, strict=True):
        if any(o != first for o in others):
            raise UserError(
                f"{clip.name}: {', '.join(ways)} give other frames",
                f"./daedalus stream {clip.file} says which",
                EXIT_FAILED,
            )


def _read(text: str) -> Run:
    frames: list[str] = []
    calls: dict[str, dict[str, int]] = {}
    ways: dict[str, dict[str, int]] = {}
    stock: list[str] = []
    dispatches = watched = 0
    for line in text.splitlines():
        words = line.split(" ", 3)
        if words[0] == "frame":
            frames.append(words[2])
        elif words[0] == "calls":
            calls.setdefault(words[1], {})[words[3]] = int(words[2])
        elif words[0] == "through":
            ways.setdefault(words[1], {})[words[3]] = int(words[2])
        elif words[0] == "stock":
            stock.append(" ".join(words[2:]))
        elif words[0] == "watched":
            watched = int(words[1])
        elif words[0] == "dispatches":
            dispatches = int(words[1])
    return Run(frames, calls, dispatches, ways, tuple(stock), watched)


def why(code: int) -> str:
    """How a program ended, by its exit status."""
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def differing(a: list[str], b: list[str]) -> list[int]:
    longest = max(len(a), len(b))
    return [i for i in range(longest) if a[i : i + 1] != b[i : i + 1]]


# ----------------------------------------------------------------------------------- checking


def check(
    decoder: Decoder,
    clips: list[Clip],
    targets: list[str],
    *,
    limit: int | None = None,
    need_all: bool = True,
    library: Path | None = None,
    faults_in: Sequence[str] = TARGETS,
    spoiled: Set[str] | None = None,
    threads: int = 1,
) -> Report:
    """Decodes the clips for every target and injects faults, in the programs of some targets.

    `spoiled` are the kernels whose functions get faults, all by default.
    With `need_all` a class of a function that no clip calls is a failure, and a function of the
    decoder's own that is executed although its table is all ours; otherwise only a clip that calls
    nothing at all is. With several `threads`, clips are also decoded by these, frames side
    by side and parts of frames.
    """
    report = Report()
    options = ("--frames", str(limit)) if limit else ()
    whole = ", ".join(dict.fromkeys(
        table.type for table, _ in tables_of(decoder)[1] if table.whole
    ))  # fmt: skip
    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        references = list(pool.map(lambda clip: reference(clip, limit), clips))
        for target in targets:
            program = Program(*build_program(decoder, target, library), options)
            say(f"decoding {decoder.name}, {target}: {len(clips)} clips")
            stock = pool.map(program.decode, clips)
            ours = list(pool.map(lambda clip, p=program: p.decode(clip, "--ours"), clips))
            outcomes = []
            for clip, theirs, own, frames in zip(clips, stock, ours, references, strict=True):
                wrong = {*differing(own.frames, theirs.frames), *differing(own.frames, frames)}
                outcome = Outcome(
                    clip, target, decoder, len(own.frames), sorted(wrong), own.calls,
                    ways=own.ways, stock=own.stock,
                )  # fmt: skip
                outcomes.append(outcome)
                report.failures += judge(outcome, differing(theirs.frames, frames))
                if need_all:
                    report.failures += stock_executed(outcome)
                if whole and not own.watched:
                    report.failures.append(f"{outcome.where}: nothing watches {whole}")
            for sliced in ((), ("--slices",)) if threads > 1 else ():
                more = ("--bare", "--threads", str(threads), *sliced)
                runs = pool.map(lambda clip, p=program, o=more: p.decode(clip, *o), clips)
                report.failures += [
                    f"{clip.name}, {target}: {' '.join(more)} gives other frames"
                    for clip, own, run in zip(clips, ours, runs, strict=True)
                    if run.frames != own.frames
                ]
            report.outcomes += outcomes
            report.failures += _uncalled(outcomes, target) if need_all else idle(outcomes)
            if target not in faults_in:
                continue
            say(f"injecting faults into {decoder.name}, {target}")
            clean = {clip: own.frames for clip, own in zip(clips, ours, strict=True)}
            names = _called(outcomes)
            if spoiled is not None:
                of = kernels(decoder.oracle)
                names = [n for n in names if of.get(n, "") in spoiled]
            faults = list(pool.map(_inject(program, outcomes, clean), names))
            report.faults += faults
            report.failures += [
                f"{f.function}, {target}: an injected fault went unseen"
                for f in faults
                if not f.seen and (need_all or f.often)
            ]
    return report


def judge(outcome: Outcome, outside: list[int]) -> list[str]:
    where = outcome.where
    if outside:
        return [
            f"{where}: the unmodified decoder differs from the reference from frame {outside[0]} on"
        ]
    if outcome.different:
        first = outcome.different[0]
        return [f"{where}: {len(outcome.different)} frames differ, the first is {first}"]
    return []


def stock_executed(outcome: Outcome) -> list[str]:
    """A line where functions of the decoder's own were executed, which ours had replaced."""
    count = len(outcome.stock)
    if not count:
        return []
    names = f"{count} functions" if count > 1 else "a function"
    return [
        f"{outcome.where}: executes {names} of the decoder's own, of tables that are all ours:"
        f" {', '.join(outcome.stock)}"
    ]


def _uncalled(outcomes: list[Outcome], target: str) -> list[str]:
    """What none of the clips calls: functions, places that one can be called through, and classes
    of kernels, whose functions differ by a parameter."""
    (first, *_) = outcomes
    by_function = kernels(first.decoder.oracle)
    by_kernel: dict[tuple[str, str], int] = {}
    excused = {
        function
        for function, classes in first.classes.items()
        if all(first.decoder.never_calls(by_function.get(function, ""), c) for c in classes)
    }
    for function, classes in first.classes.items():
        for name in classes:
            key = by_function.get(function, function), name
            by_kernel[key] = by_kernel.get(key, 0) + sum(
                o.classes[function][name] for o in outcomes
            )
    return (
        [
            f"{function}, {target}: no clip calls it"
            for function in first.calls
            if function not in excused and not any(o.calls[function] for o in outcomes)
        ]
        + [
            f"{kernel}, {target}: no clip calls it for the class {name}"
            for (kernel, name), calls in by_kernel.items()
            if not calls and not first.decoder.never_calls(kernel, name)
        ]
        + [
            f"{kernel}, {target}: called for the class {name}, which clips.toml says is never"
            for (kernel, name), calls in by_kernel.items()
            if calls and first.decoder.never_calls(kernel, name)
        ]
        + [
            f"{function}, {target}: no clip calls it through {name}"
            for function, ways in first.ways.items()
            for name in ways
            if function not in excused and not any(o.ways[function][name] for o in outcomes)
        ]
    )


def kernels(oracle: str) -> dict[str, str]:
    """Our functions for a decoder, as streams name them, and their kernels."""
    return {
        function.removeprefix(f"daedalus_{oracle}_"): kernel["id"]
        for kernel in manifest()["kernels"]
        for function in kernel["decoders"].get(oracle, ())
    }


def idle(outcomes: list[Outcome]) -> list[str]:
    """Clips that call none of the replaced functions: their frames say nothing about ours."""
    return [
        f"{o.clip.name}, {o.target}: its decoding calls none of the replaced functions"
        f" ({', '.join(o.calls)}), so nothing was tested"
        for o in outcomes
        if not any(o.calls.values())
    ]


def _called(outcomes: list[Outcome]) -> list[str]:
    return [f for f in outcomes[0].calls if any(o.calls[f] for o in outcomes)]


def _candidates(outcomes: list[Outcome], function: str) -> list[tuple[Outcome, int]]:
    """Where to spoil a function, and each how many calls: ten calls of the smallest clip that calls
    it often, or of the one that does most; then every call of that clip, and of others.

    Small clips decode soon. Some calls are for blocks outside of the picture.
    """
    often = [o for o in outcomes if o.calls[function] >= _FAULTS_A_CLIP]
    most = sorted(outcomes, key=lambda o: -o.calls[function])
    first = min(often, key=lambda o: o.clip.file.stat().st_size) if often else most[0]
    some = (first, max(1, first.calls[function] // _FAULTS_A_CLIP))
    rest = [o for o in most if o is not first and o.calls[function]][:_OTHER_CLIPS]
    return [some, *([(first, 1)] if some[1] > 1 else []), *((o, 1) for o in rest)]


def _inject(
    program: Program, outcomes: list[Outcome], clean: dict[Clip, list[str]]
) -> Callable[[str], Fault]:
    """Spoils a function in one clip after another, until frames differ from the clean run's."""

    def inject(function: str) -> Fault:
        for chosen, every in _candidates(outcomes, function):
            spoiled = program.decode(chosen.clip, "--ours", "--fault", f"{function}:{every}")
            seen = spoiled.frames != clean[chosen.clip]
            if seen:
                break
        often = chosen.calls[function] >= _FAULTS_A_CLIP
        return Fault(
            function, chosen.target, chosen.decoder.name, chosen.clip.name, every, seen, often
        )

    return inject
