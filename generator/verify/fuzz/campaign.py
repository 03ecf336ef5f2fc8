# SPDX-License-Identifier: BSD-2-Clause
"""Random lane programs: the interpreter against every back end.

Programs come from `fuzz_programs`; a batch of them is generated into one folder, compiled into one
check program per device, and compared with the machinery of `crosscheck`. A batch depends on
nothing but the seed and its program numbers, so any program can be run again alone.
"""

import hashlib
import multiprocessing
import os
import shutil
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.dsl import interp
from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.dsl.show import show
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant, has_dots, make_variant
from daedalus.generator.host import fetch, native
from daedalus.generator.options import CPU_TARGETS, Options, options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon.select import NotLowerable, Selection
from daedalus.generator.targets.shell import table_name
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.fuzz.programs import Program, make_program, operations
from daedalus.generator.verify.fuzz.shrink import shrink

BATCH = 40  # programs in one check program
WORKERS = 2
_SHRUNK = 3  # failing programs made smaller
_TRIES = 60  # attempts at it
_SPEC = "a random program"


@dataclass(frozen=True)
class Failure:
    """What went wrong with one program: while generating, compiling or comparing."""

    number: int
    kind: str
    text: str
    listed: tuple[Options, ...] = ()


@dataclass
class Tally:
    """What was run, and what came of it."""

    programs: int = 0
    operations: int = 0
    variants: int = 0
    comparisons: int = 0
    conformant: int = 0
    others: int = 0  # items compared for memory safety only
    excluded: int = 0  # programs whose assumptions no item met
    vacuous: int = 0  # comparisons in which no item was conformant
    decided: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    neon: int = 0  # NEON variants asked for
    dots: int = 0  # variants with DOT instructions
    refused: Counter[str] = field(default_factory=Counter)  # by the operation without a form
    failures: list[Failure] = field(default_factory=list)

    def add(self, o: "Tally") -> None:
        """Takes in another tally."""
        for name in ("programs", "operations", "variants", "comparisons", "conformant", "others",
                     "vacuous", "neon", "dots", "excluded"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(o, name))
        self.decided += o.decided
        self.rules += o.rules
        self.refused += o.refused
        self.failures += o.failures


@dataclass(frozen=True)
class Work:
    """A batch: which programs, how many items, which builds."""

    seed: int
    numbers: tuple[int, ...]
    items: int
    sanitize: bool


def campaign(
    seed: int, first: int, programs: int, items: int, *, sanitize: bool = False
) -> Iterator[Tally]:
    """Runs programs first .. first + programs - 1; a tally per batch, as they get done."""
    numbers = range(first, first + programs)
    size = max(1, min(BATCH, -(-programs // WORKERS)))
    work = [
        Work(seed, tuple(numbers[at : at + size]), items, sanitize)
        for at in range(0, programs, size)
    ]
    if len(work) == 1:
        yield run_batch(work[0])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        yield from pool.map(run_batch, work)


def run_batch(work: Work) -> Tally:
    """Makes, generates, compiles and compares the programs of a batch."""
    tally = Tally()
    made: list[tuple[Program, tuple[Variant, ...]]] = []
    for number in work.numbers:
        tally.programs += 1
        try:
            program = make_program(work.seed, number)
            tally.operations += operations(program.kernel)
            made.append((program, variants(program.kernel, program.listed, tally)))
        except Exception:
            tally.failures.append(Failure(number, "generator", traceback.format_exc()))
    name = f"{work.numbers[0]}-{work.numbers[-1]}" + ("-sanitize" if work.sanitize else "")
    folder = build_dir() / "fuzz" / str(work.seed) / name
    _run_programs(folder, made, work, tally)
    return tally


def variants(kernel: Kernel, listed: tuple[Options, ...], tally: Tally) -> tuple[Variant, ...]:
    """The variants that the back ends can make; refusals are counted by reason."""
    found = []
    for rank, options in enumerate(listed):
        neon = options.target == "neon"
        tally.neon += neon

        def watch(selection: Selection) -> None:
            chosen = selection.chosen
            tally.rules.update({chosen[need].rule for need in selection.reached()})

        try:
            found.append(
                make_variant(
                    emit.environment(), kernel, options, prod=True, rank=rank, spec=_SPEC,
                    watch=watch,
                )
            )  # fmt: skip
        except NotLowerable as e:
            tally.refused[e.message.partition(" has no ")[0].partition(",")[0]] += 1
    tally.variants += len(found)
    tally.dots += sum(v.options.choice("dot") for v in found)
    return tuple(found)


# ------------------------------------------------------------------ compiling


Made = list[tuple[Program, tuple[Variant, ...]]]


def _run_programs(folder: Path, made: Made, work: Work, tally: Tally) -> None:
    """Compiles and compares; where compiling fails, each half alone, down to the culprit."""
    if not made:
        return
    try:
        build = Build(folder, [(p.kernel, v) for p, v in made], sanitize=work.sanitize)
        programs = {d: build.program(d) for d in build.devices}
    except (UserError, SpecError) as e:
        if len(made) == 1:
            text = e.message if isinstance(e, UserError) else str(e)
            tally.failures.append(Failure(made[0][0].number, "compiler", text, made[0][0].listed))
            return
        half = len(made) // 2
        for part, name in ((made[:half], "a"), (made[half:], "b")):
            _run_programs(folder.with_name(f"{folder.name}{name}"), part, work, tally)
        shutil.rmtree(folder)
        return
    before = len(tally.failures)
    for program, own in made:
        _compare(program, own, programs, work, tally)
    if len(tally.failures) == before:
        shutil.rmtree(folder)


def _compare(
    program: Program, own: tuple[Variant, ...], programs: dict[crosscheck.Device, Path],
    work: Work, tally: Tally,
) -> None:  # fmt: skip
    try:
        batches = crosscheck.prepare(program.kernel, work.items, work.seed)
    except SpecError as e:
        if e.rule == "assumption":  # its assumptions exclude every item that was drawn
            tally.excluded += 1
        else:
            tally.failures.append(Failure(program.number, "interpreter", str(e)))
        return
    except Exception:
        tally.failures.append(Failure(program.number, "interpreter", traceback.format_exc()))
        return
    try:
        _count_decisions(program.kernel, batches, tally)
        for device, exe in programs.items():
            names = [v.name for v in own if v.options.target == device.target]
            if not names:
                continue
            outcomes = crosscheck.check_kernel(
                program.kernel, names, device, exe, batches, work.seed
            )
            if device.target == "c":
                outcomes.append(
                    crosscheck.check_dispatch(program.kernel, device, exe, batches, work.seed)
                )
            for o in outcomes:
                tally.comparisons += 1
                tally.conformant += o.conformant
                tally.others += o.items - o.conformant
                tally.vacuous += o.conformant == 0
            bad = [o for o in outcomes if o.mismatches or o.out_of_bounds]
            if bad:
                wrong = {o.variant for o in bad}
                tally.failures.append(
                    Failure(
                        program.number, f"difference on {device.name}",
                        "\n".join(line for o in bad for line in o.failures[:4]),
                        tuple(v.options for v in own if v.name in wrong),
                    )
                )  # fmt: skip
    except UserError as e:
        tally.failures.append(Failure(program.number, "run", e.message, program.listed))
    except Exception:
        tally.failures.append(Failure(program.number, "interpreter", traceback.format_exc()))


def _count_decisions(kernel: Kernel, batches: list[crosscheck.Batch], tally: Tally) -> None:
    """How many comparisons and limits went both ways on conformant items."""
    for b in batches:
        if b.kind != "conformant":
            continue
        for stage in interp.decisions(kernel, b.placed.items):
            for outcome in stage.outcomes:
                ways = "both ways" if outcome.any() and not outcome.all() else "one way"
                tally.decided[ways] += 1


class Build:
    """A folder of generated code and the check programs made of it."""

    def __init__(
        self, folder: Path, kernels: list[tuple[Kernel, tuple[Variant, ...]]], *, sanitize: bool,
        targets: tuple[str, ...] = CPU_TARGETS, level: str = "-O1",
    ) -> None:  # fmt: skip
        self.folder, self.sanitize, self.level = folder, sanitize, level
        found = crosscheck.devices(targets)
        self.devices = [d for d in found if not (sanitize and d.arch == "aarch64")]
        self.variants = tuple(v for _, own in kernels for v in own)
        entries = tuple(
            Entry(k, _SPEC, tuple((v.options, True) for v in own)) for k, own in kernels
        )
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in emit.generate(entries, self.variants).files.items():
            target = folder / "generated" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.include = folder / "generated" / "include"

    def program(self, device: crosscheck.Device) -> Path:
        """The check program for a device, with all variants in one translation unit."""
        root = repo_root()
        neon = device.target == "neon"
        shown = {"c", device.target}
        own = [v for v in self.variants if v.options.target in shown]
        source = self.folder / f"{device.target}-{device.arch}.c"
        source.write_text(_unit(own))
        flags = [self.level, "-g0", f"-I{self.folder / 'generated' / 'src'}"]
        system: list[Path] = []
        if neon:
            flags.append("-DDAEDALUS_HAVE_NEON=1")
        elif device.target == "vector":
            flags.append("-DDAEDALUS_HAVE_VECTORS=1")
        if device.arch == "simde":
            simde = fetch.ensure("simde", "all") / "usr" / "include"
            system = [root / "tools" / "simde", simde]
            flags.append("-fwrapv")  # as in cmake/DaedalusLibrary.cmake
        elif native.is_cross(device.arch):
            flags.append(f"-mcpu={native.CPU}")
        elif neon and any(v.options.choice("dot") for v in own):
            flags.append("-march=armv8.2-a+dotprod")
        if self.sanitize:
            # SIMDe's inlined code takes the address sanitizer minutes; the pages around the
            # buffers find the same there.
            which = "undefined" if device.arch == "simde" else "address,undefined"
            flags.append(f"-fsanitize={which}")
            _stop_at_findings()
        runtime = sorted(
            p
            for part in ("base", "batch", "cpu", "gpu")
            for p in (root / "runtime" / part).glob("*.c")
        )
        # Random programs are for the CPU, so the runtime is the one without a route to the GPU.
        runtime += [root / "runtime" / "gpu" / part / "absent.c" for part in ("vulkan", "drm")]
        generated = self.folder / "generated" / "src"
        dispatch = [p for n in ("dispatch", "items") for p in sorted(generated.glob(f"*/{n}.c"))]
        return native.compile_program(
            device.arch, self.folder / f"check-{device.target}-{device.arch}",
            [*crosscheck.sources(), *runtime, *dispatch, source],
            includes=[*crosscheck.includes()[:3], self.include],
            system_includes=system,
            flags=flags, static=not self.sanitize,
        )  # fmt: skip


def _stop_at_findings() -> None:
    """Has a sanitized program end at its first finding, unless that is in SIMDe itself."""
    kinds = ("shift-base", "shift-exponent", "signed-integer-overflow", "alignment")
    path = build_dir() / "fuzz" / "suppressions.txt"
    text = "".join(f"{kind}:*/simde/*\n" for kind in kinds)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
    os.environ["UBSAN_OPTIONS"] = f"halt_on_error=1:suppressions={path}"


def _unit(own: list[Variant]) -> str:
    """One translation unit of the table and all variants; their static names are made unique."""
    digest = hashlib.sha256("".join(v.text for v in own).encode()).hexdigest()
    lines = [f"/* {digest} */", "#include <daedalus.h>", '#include "table_variants.c"']
    for n, v in enumerate(own):
        bodies = {
            "one_item",
            f"items_{v.options.choice('items')}",
            *map(table_name, v.kernel.tables),
        }
        lines += [f"#define {b} {b}_of_{n}" for b in sorted(bodies)]
        lines.append(f'#include "{v.file.removeprefix("src/")}"')
        lines += [f"#undef {b}" for b in sorted(bodies)]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------ failures


def failure_file(seed: int, number: int) -> Path:
    """Where a failing program is written."""
    return build_dir() / "fuzz" / "failures" / f"{seed}-{number}.txt"


def replay_command(seed: int, number: int, items: int, *, sanitize: bool) -> str:
    """The command that runs one program again."""
    return f"./daedalus fuzz --programs 1 --seed {seed} --first {number} --items {items}" + (
        " --sanitize" if sanitize else ""
    )


def write_failures(seed: int, failures: list[Failure], items: int, *, sanitize: bool) -> list[Path]:
    """A file a failing program: what happened, how to see it again, and the program itself."""
    paths = []
    for n, number in enumerate(sorted({f.number for f in failures})):
        own = [f for f in failures if f.number == number]
        parts = [replay_command(seed, number, items, sanitize=sanitize)]
        parts += [f"{f.kind}:\n{f.text}" for f in own]
        try:
            parts.append(show(make_program(seed, number).kernel))
            if n < _SHRUNK:
                small = _shrunk(seed, own[0], items, sanitize=sanitize)
                parts.append("shrunk:\n" + show(small))
        except Exception:
            parts.append("(the program itself cannot be made)")
        path = failure_file(seed, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts) + "\n")
        paths.append(path)
    return paths


def _shrunk(seed: int, failure: Failure, items: int, *, sanitize: bool) -> Kernel:
    """A smaller program that fails in the same way."""
    program = make_program(seed, failure.number)
    work = Work(seed, (failure.number,), items, sanitize)
    folder = build_dir() / "fuzz" / "shrink"

    def fails(kernel: Kernel) -> bool:
        known = {a.name for a in kernel.assumptions}
        wanted = (options_of("c"), *(failure.listed or program.listed))
        listed = tuple(dict.fromkeys(s for s in wanted if known >= set(s.assume)))
        tally = Tally()
        try:
            listed = tuple(s for s in listed if not s.dot or has_dots(lower(kernel, s)))
            own = variants(kernel, listed, tally)
        except Exception:
            return failure.kind == "generator"
        smaller = Program(seed, failure.number, kernel, listed)
        _run_programs(folder, [(smaller, own)], work, tally)
        return any(f.kind == failure.kind for f in tally.failures)

    return shrink(program.kernel, fails, tries=_TRIES)
