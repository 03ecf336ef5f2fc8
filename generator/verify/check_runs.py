# SPDX-License-Identifier: BSD-2-Clause
"""What `check` does: builds the programs, draws the items, runs every variant on every device."""

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from daedalus.generator.base.console import console
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import progress, say
from daedalus.generator.compile.emit import entry_variants
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.compile.variants import Variant
from daedalus.generator.devices import drm
from daedalus.generator.devices.validation import validated
from daedalus.generator.devices.vulkan import DEFAULT, LAVAPIPE, GpuDevice, Skip, find
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS, QPU, TARGETS, variant_name
from daedalus.generator.verify import compared, drm_faults, part, qpu_check, stale
from daedalus.generator.verify import gpu_check as vulkan
from daedalus.generator.verify.crosscheck import (
    ITEMS,
    Batch,
    Device,
    Outcome,
    check_dispatch,
    check_kernel,
    devices,
    exclusions,
    prepare,
    program,
)
from daedalus.generator.verify.crosscheck_items import check_items, prepare_regular
from daedalus.generator.verify.witness import witness_file

Generated = dict[str, list[Variant]]  # by the kernel's name


def require_generated(
    entries: Sequence[Entry], folder: Path, targets: Sequence[str] = TARGETS,
    made: Sequence[Variant] = (),
) -> Generated:  # fmt: skip
    """Refuses to compare code for these targets that another state of the specs gave.

    Returns the variants; those that are `made` already are not made again, which takes seconds.
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        have = {v["name"]: v["input_hash"] for k in manifest["kernels"] for v in k["variants"]}
    except (OSError, ValueError, KeyError, TypeError):
        have = {}
    known = {v.name: v for v in made}
    found: Generated = {}
    for e in entries:
        names = [variant_name(e.kernel.id, s) for s, _ in e.listed if s.target in targets]
        whole = all(n in known for n in names)
        variants = [known[n] for n in names] if whole else entry_variants(e, targets)
        found[e.kernel.id] = variants
        if any(have.get(v.name) != v.input_hash for v in variants):
            raise UserError(
                f"{folder.name}/ is not what the spec of {e.kernel.id} gives: {e.spec}",
                "run ./daedalus gen, then check again",
            )
    return found


def compared_today() -> list[Entry]:
    """What `check` compares where no kernel is named."""
    entries = load()
    found = stale.choose(entries, require_generated(entries, repo_root() / "generated"))
    return [*found.stale, *found.sample]


DEFAULT_QPUS = qpu_check.DEVICES  # the simulator alone: what runs where nothing is set up
QPUS = (*DEFAULT_QPUS, *drm.DEVICES)


@dataclass(frozen=True)
class Wish:
    """What is to be compared, and how.

    gpus   names of Vulkan devices, for the target glsl
    qpus   names of devices for the target qpu
    frame  GPU variants on a frame's items instead of on those of all kinds
    layers  Vulkan devices under the validation layers, where these run
    fault   with `frame`, on drm-simulated: what befalls each frame (drm_faults.py)
    once    each target of the processor on the first of its devices alone
    """

    targets: tuple[str, ...]
    items: int
    seed: int
    sanitize: bool = False
    gpus: tuple[str, ...] = DEFAULT
    qpus: tuple[str, ...] = DEFAULT_QPUS
    frame: bool = False
    layers: bool = False
    fault: str = ""
    once: bool = False


def run_checks(
    entries: Sequence[Entry],
    wish: Wish,
    *,
    quiet: bool = False,
    build: Callable[..., Path] = program,
    made: Sequence[Variant] = (),
    remember: bool = False,
    apart: bool = False,
) -> tuple[list[Outcome], list[Skip]]:
    """Builds what is needed, runs everything; `build` is `program`, or does the same.

    To `remember` is to take what came out before where nothing that it depends on has changed;
    `apart` builds the code of these kernels alone.

    Returns an outcome per variant and device, and the Vulkan devices that are not here.
    """
    variants = require_generated(entries, repo_root() / "generated", wish.targets, made)
    if apart:
        build = partial(build, generated=part.generate(entries))
    found = [d for d in devices(wish.targets) if not (wish.sanitize and d.arch == "aarch64")]
    if wish.once:
        found = list({d.target: d for d in reversed(found)}.values())[::-1]
    outcomes: list[Outcome] = []
    skips: list[Skip] = []
    with progress(len(entries), quiet=quiet) as shown:
        programs: dict[str, Path] = {d.arch: build(d.arch, sanitize=wish.sanitize) for d in found}
        gpus: list[Device] = []
        loading = cache(partial(build, loads=True))
        simulator: Path | None = None
        if QPU in wish.targets and qpu_check.SIMULATOR.name in wish.qpus:
            simulator = build("host", sanitize=wish.sanitize, simulates=True)
        if "glsl" in wish.targets:
            gpus, skips = _vulkan_devices(wish, loading)
        if QPU in wish.targets:
            more, left = _drm_devices(wish, loading)
            gpus, skips = gpus + more, skips + left
        known = ""
        exes = [*programs.values(), *([simulator] if simulator is not None else [])]
        exes += [loading(g.arch) for g in gpus]  # here, so that no two processes build one
        if remember and all(g.gpu and g.gpu.made_of for g in gpus) and not wish.sanitize:
            subject = [(e.kernel.id, *e.listed) for e in entries]
            known = compared.key(exes, [*found, *gpus], wish, subject)
            before = compared.recall(known)
            if before is not None:
                say("compared before, with the same programs and items: not done again")
                return before, skips

        def one(number: int) -> list[Outcome]:
            e = entries[number]
            mine = variants[e.kernel.id]
            parts = [partial(_on_processors, e, found, programs, wish)] if found else []
            parts.append(partial(_on_gpus, e, mine, gpus, simulator, loading, wish))
            return _of_each(e, parts)

        for done in _beside_each_other(one, len(entries)):
            outcomes += done
            shown.advance(1)
        for o in outcomes:
            o.asked = wish.items
        if known:
            compared.keep(known, outcomes)
    return outcomes, skips


def _of_each(e: Entry, parts: Sequence[Callable[[], list[Outcome]]]) -> list[Outcome]:
    """What each part found; where one cannot run, the others' findings stay."""
    done: list[Outcome] = []
    for one in parts:
        try:
            done += one()
        except UserError as error:
            done.append(_not_compared(e, error))
    return done


def _not_compared(e: Entry, error: UserError) -> Outcome:
    """What stands for a kernel that could not be compared, so that the others are all the same."""
    why = f"{error.message}; {error.hint}" if error.hint else error.message
    return Outcome(e.kernel.id, "", f"{e.kernel.id}: not compared", "", failures=[why])


_one: Callable[[int], list[Outcome]]  # what processes do; they have it from their parent's memory


def _beside_each_other(one: Callable[[int], list[Outcome]], count: int) -> Iterator[list[Outcome]]:
    """What it gives for each number, in order: by as many processes as there are processors."""
    global _one
    jobs = min(int(native.JOBS), count)
    if jobs < 2:
        yield from map(one, range(count))
        return
    _one = one
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(_number, range(count))


def _number(number: int) -> list[Outcome]:
    return _one(number)


_SANITIZED = "drivers are not run in sanitized programs"


def _vulkan_devices(wish: Wish, loading: Callable[[str], Path]) -> tuple[list[Device], list[Skip]]:
    if wish.sanitize:
        return [], [Skip(name, _SANITIZED) for name in wish.gpus]
    gpus, skips = find(wish.gpus, loading)
    if wish.layers:
        gpus, skips = _under_layers(gpus, skips)
    return [Device(g.name, "glsl", g.arch, g) for g in gpus], skips


def _drm_devices(wish: Wish, loading: Callable[[str], Path]) -> tuple[list[Device], list[Skip]]:
    names = [name for name in wish.qpus if name in drm.DEVICES]
    found = [Skip(n, _SANITIZED) if wish.sanitize else drm.device(n, loading) for n in names]
    gpus = [Device(g.name, QPU, g.arch, g) for g in found if isinstance(g, GpuDevice)]
    return gpus, [g for g in found if isinstance(g, Skip)]


def _under_layers(gpus: list[GpuDevice], skips: list[Skip]) -> tuple[list[GpuDevice], list[Skip]]:
    able = [g for g in gpus if g.name in LAVAPIPE]
    reason = "the validation layers run with lavapipe"
    skips = [*skips, *(Skip(g.name, reason) for g in gpus if g not in able)]
    return [validated(g, build_dir() / "vulkan" / f"{g.name}.validation") for g in able], skips


def _on_processors(
    e: Entry, found: list[Device], programs: dict[str, Path], wish: Wish
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    witnesses = witness_file.read(e.kernel) if "neon" in wish.targets else None
    say(f"{e.kernel.id}: drawing items")
    batches = prepare(e.kernel, wish.items, wish.seed, witnesses)
    regular = prepare_regular(e.kernel, wish.items, wish.seed)
    for remark in exclusions(e.kernel, batches):
        console.print(remark, markup=False, soft_wrap=True)
    for d in found:
        say(f"{e.kernel.id}: {d.target} on {d.name}")
        names = [variant_name(e.kernel.id, s) for s, _ in e.listed if s.target == d.target]
        exe = programs[d.arch]
        found_here = check_kernel(e.kernel, names, d, exe, batches, wish.seed)
        outcomes += found_here
        outcomes.append(check_dispatch(e.kernel, d, exe, batches, wish.seed))
        variants = [
            (variant_name(e.kernel.id, s), prod) for s, prod in e.listed if s.target == d.target
        ]
        outcomes.append(check_items(e.kernel, variants, d, exe, regular, wish.seed, found_here))
    compilers = {d.name: native.version_of(native.compiler(d.arch)) for d in found}
    for o in outcomes:
        o.compiler = compilers.get(o.device, "")
        o.wanted = wish.items // 20 if o.variant == ITEMS else wish.items
    return outcomes


def _on_gpus(
    e: Entry, made: list[Variant], gpus: list[Device], simulator: Path | None,
    loading: Callable[[str], Path], wish: Wish,
) -> list[Outcome]:  # fmt: skip
    """GPU variants: on the devices of their target; in machine code on the simulator, if built."""
    wanted = {d.target for d in gpus} | ({QPU} if simulator is not None else set())
    variants = {t: [v for v in made if v.options.target == t] for t in GPU_TARGETS if t in wanted}
    if not any(variants.values()):
        return []
    say(f"{e.kernel.id}: drawing items for {' and '.join(variants)}")
    if wish.frame:
        return _frames(e, variants, gpus, loading, wish)
    aligns = [(1,) * len(e.kernel.buffers)] if gpus else []
    aligns += [vulkan.alignment(v) for mine in variants.values() for v in mine]
    batches = vulkan.prepare(e.kernel, aligns, wish.items, wish.seed)
    outcomes: list[Outcome] = []
    for device in gpus:
        outcomes += _on_gpu(e, variants[device.target], device, loading, wish, batches)
    if simulator is not None:
        outcomes += _on_simulator(e, variants[QPU], simulator, wish, batches)
    for o in outcomes:
        o.wanted = wish.items
    return outcomes


Batches = dict[vulkan.Align, list[Batch]]


def _on_gpu(
    e: Entry, variants: list[Variant], device: Device, loading: Callable[[str], Path], wish: Wish,
    made: Batches,
) -> list[Outcome]:  # fmt: skip
    if not variants:
        return []
    say(f"{e.kernel.id}: {device.target} on {device.name}")
    exe = loading(device.arch)
    batches = {a: made[a] for a in [(1,) * len(e.kernel.buffers), *map(vulkan.alignment, variants)]}
    outcomes = vulkan.check_kernel(
        e.kernel, variants, device, exe, lambda align, _: made[align], wish.seed
    )
    everything = [b for batches_of_one in batches.values() for b in batches_of_one]
    outcomes.append(vulkan.check_dispatch(e.kernel, device, exe, everything, wish.seed))
    return outcomes


def _frames(
    e: Entry, variants: dict[str, list[Variant]], gpus: list[Device],
    loading: Callable[[str], Path], wish: Wish,
) -> list[Outcome]:  # fmt: skip
    outcomes: list[Outcome] = []
    batches: Callable[[vulkan.Align, str], Sequence[Batch]] = cache(
        lambda align, class_name: [vulkan.prepare_frame(e.kernel, align, class_name, wish.seed)]
    )
    for device in gpus:
        say(f"{e.kernel.id}: {device.target} on {device.name}")
        mine, exe = variants[device.target], loading(device.arch)
        if not wish.fault:
            outcomes += vulkan.check_kernel(e.kernel, mine, device, exe, batches, wish.seed)
        elif device.name == drm.SIMULATED:
            outcomes += drm_faults.check_frames(e.kernel, mine, exe, batches, wish.seed, wish.fault)
    for o in outcomes:
        o.wanted = 1
        o.device += " frame" + (f", {wish.fault}" if wish.fault else "")
    return outcomes


def _on_simulator(
    e: Entry, variants: list[Variant], exe: Path, wish: Wish, made: Batches
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    witnesses = witness_file.read(e.kernel)
    for align in dict.fromkeys(map(vulkan.alignment, variants)):
        say(f"{e.kernel.id}: qpu on {qpu_check.SIMULATOR.name}")
        mine = [v for v in variants if vulkan.alignment(v) == align]
        more = qpu_check.further(e.kernel, made[align], align, witnesses, wish.seed)
        outcomes += qpu_check.check_kernel(e.kernel, mine, exe, [*made[align], *more], wish.seed)
    return outcomes
