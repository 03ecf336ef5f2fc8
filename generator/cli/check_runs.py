# SPDX-License-Identifier: BSD-2-Clause
"""What `check` does: builds the programs, draws the items, runs every variant on every device."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from daedalus.generator.cli.common import UserError, build_dir, console, repo_root
from daedalus.generator.cli.progress import progress, say
from daedalus.generator.cli.witness import known_or_searched
from daedalus.generator.crosscheck import (
    WITNESS,
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
from daedalus.generator.emit import entry_variants
from daedalus.generator.registry import Entry
from daedalus.generator.schedule import variant_name
from daedalus.generator.vulkan import check as vulkan
from daedalus.generator.vulkan.devices import DEFAULT, LAVAPIPE, GpuDevice, Skip, find
from daedalus.generator.vulkan.validation import validated
from daedalus.generator.witness import Found


def require_generated(entries: list[Entry], folder: Path) -> None:
    """Refuses to compare code that was generated from another state of the specs."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        have = {v["name"]: v["input_hash"] for k in manifest["kernels"] for v in k["variants"]}
    except (OSError, ValueError, KeyError, TypeError):
        have = {}
    for e in entries:
        if any(have.get(v.name) != v.input_hash for v in entry_variants(e)):
            raise UserError(
                f"{folder.name}/ is not what the spec of {e.kernel.id} gives: {e.spec}",
                "run ./daedalus gen, then check again",
            )


@dataclass(frozen=True)
class Wish:
    """What is to be compared, and how.

    gpus   names of Vulkan devices, for the target glsl
    frame  GPU variants on a frame's items instead of on those of all kinds
    layers  Vulkan devices under the validation layers, where these run
    """

    targets: tuple[str, ...]
    items: int
    seed: int
    sanitize: bool = False
    gpus: tuple[str, ...] = DEFAULT
    frame: bool = False
    layers: bool = False


def run_checks(
    entries: list[Entry], wish: Wish, *, quiet: bool = False
) -> tuple[list[Outcome], list[Skip]]:
    """Builds what is needed, runs everything.

    Returns an outcome per variant and device, and the Vulkan devices that are not here.
    """
    require_generated(entries, repo_root() / "generated")
    found = [d for d in devices(wish.targets) if not (wish.sanitize and d.arch == "aarch64")]
    outcomes: list[Outcome] = []
    skips: list[Skip] = []
    with progress(len(entries), quiet=quiet) as shown:
        programs: dict[str, Path] = {d.arch: program(d.arch, sanitize=wish.sanitize) for d in found}
        gpus: list[GpuDevice] = []
        loading = cache(partial(program, loads=True))
        if "glsl" in wish.targets and wish.sanitize:
            skips = [Skip(name, "drivers are not run in sanitized programs") for name in wish.gpus]
        elif "glsl" in wish.targets:
            gpus, skips = find(wish.gpus, loading)
            if wish.layers:
                gpus, skips = _under_layers(gpus, skips)
        for e in entries:
            if found:
                outcomes += _on_processors(e, found, programs, wish)
            if gpus:
                outcomes += _on_gpus(e, gpus, loading, wish)
            shown.advance(1)
    return outcomes, skips


def _under_layers(gpus: list[GpuDevice], skips: list[Skip]) -> tuple[list[GpuDevice], list[Skip]]:
    able = [g for g in gpus if g.name in LAVAPIPE]
    reason = "the validation layers run with lavapipe"
    skips = [*skips, *(Skip(g.name, reason) for g in gpus if g not in able)]
    return [validated(g, build_dir() / "vulkan" / f"{g.name}.validation") for g in able], skips


def _on_processors(
    e: Entry, found: list[Device], programs: dict[str, Path], wish: Wish
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    witnesses = None
    if "neon" in wish.targets:
        say(f"{e.kernel.id}: witnesses")
        found_witnesses = known_or_searched(e)
        witnesses = found_witnesses.items
        if found_witnesses.counts:
            outcomes.append(_witness_outcome(e, found_witnesses))
    say(f"{e.kernel.id}: drawing items")
    batches = prepare(e.kernel, wish.items, wish.seed, witnesses)
    for remark in exclusions(e.kernel, batches):
        console.print(remark, markup=False, soft_wrap=True)
    for d in found:
        say(f"{e.kernel.id}: {d.target} on {d.name}")
        names = [variant_name(e.kernel.id, s) for s, _ in e.schedules if s.target == d.target]
        outcomes += check_kernel(e.kernel, names, d, programs[d.arch], batches, wish.seed)
        outcomes.append(check_dispatch(e.kernel, d, programs[d.arch], batches, wish.seed))
    for o in outcomes:
        o.wanted = wish.items if o.variant != WITNESS else o.wanted
    return outcomes


def _on_gpus(
    e: Entry, gpus: list[GpuDevice], loading: Callable[[str], Path], wish: Wish
) -> list[Outcome]:
    variants = [v for v in entry_variants(e) if v.is_gpu]
    if not variants:
        return []
    say(f"{e.kernel.id}: drawing items for glsl")
    batches: Callable[[vulkan.Align, str], Sequence[Batch]]
    made: dict[vulkan.Align, list[Batch]] = {}
    if wish.frame:
        batches = cache(
            lambda align, class_name: [vulkan.prepare_frame(e.kernel, align, class_name, wish.seed)]
        )
    else:
        aligns = [(1,) * len(e.kernel.buffers), *map(vulkan.alignment, variants)]
        made = vulkan.prepare(e.kernel, aligns, wish.items, wish.seed)
        batches = lambda align, _: made[align]  # noqa: E731
    outcomes: list[Outcome] = []
    for gpu in gpus:
        say(f"{e.kernel.id}: glsl on {gpu.name}")
        exe = loading(gpu.arch)
        device = Device(gpu.name, "glsl", gpu.arch, gpu)
        mine = vulkan.check_kernel(e.kernel, variants, device, exe, batches, wish.seed)
        if not wish.frame:
            everything = [b for batches_of_one in made.values() for b in batches_of_one]
            mine.append(vulkan.check_dispatch(e.kernel, device, exe, everything, wish.seed))
        for o in mine:
            o.wanted = 1 if wish.frame else wish.items
            o.device += " frame" if wish.frame else ""
        outcomes += mine
    return outcomes


def _witness_outcome(entry: Entry, found: Found) -> Outcome:
    """The report's line on whether every lowering is told from the plainer operation."""
    return Outcome(
        entry.kernel.id, "neon", WITNESS, "simulated", items=found.items.count,
        conformant=found.items.count, mismatches=len(found.missing) + len(found.unproven),
        wanted=0, failures=[*found.missing, *found.unproven],
    )  # fmt: skip
