# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus count --clips`: what whole decodes execute, with our functions and with theirs."""

import json
from collections.abc import Mapping, Sequence

from daedalus.codecs import clips
from daedalus.generator.base.console import fail, tell
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.devices.vulkan import Skip
from daedalus.generator.measure import decodes
from daedalus.generator.measure.count_cases import FILE as COUNTED
from daedalus.generator.measure.decodes import WAYS, Decoded, Families
from daedalus.generator.measure.neon import decoding, llvm

Figures = dict[tuple[str, str], Mapping[str, int]]  # (clip, way) -> column -> number
_WHOLE = "whole"


def count_clips(names: tuple[str, ...], *, clang: bool, cycles: bool, as_json: bool) -> None:
    """Prints a line a clip, and what all clips together are."""
    with progress(quiet=as_json):
        (decoder,) = decodes.decoders()  # the file speaks of one
        families = Families(decoder)
        known = {c["name"]: c for c in decoder.clips}
        names = tuple(dict.fromkeys(names))
        for name in names:
            if name not in known:
                raise UserError(f"there is no clip {name}", f"one of {', '.join(sorted(known))}")
        mixes = decodes.mixes() if cycles else []
        modeller = llvm.find() if cycles else None  # asked for ahead of the work
        usual = dict.fromkeys(n for m in mixes for n in m.clips) if cycles else known
        skips: list[Skip] = []
        if names:  # what is asked for by name is not left out
            wanted = [clips.make_clip(decoder, known[n]) for n in names]
        else:
            wanted, skips = clips.make_clips(decoder, [known[n] for n in usual])
        found = decodes.decodes(decoder, families, wanted, clang=clang)
        if modeller is not None:
            kernels = decoding.called(families, found)
            models = decoding.models(modeller, families, kernels, clang=clang)
            figures: Figures = {(d.clip.name, d.way): _with_sum(models.of(d)) for d in found}
            unknown = sorted({d.clip.name for d in found if models.of(d)[""]})
            if unknown:
                tell(
                    f"{', '.join(unknown)}: of some calls {COUNTED} has no case; there an"
                    " instruction counts as a cycle"
                )
        else:
            figures = {
                (d.clip.name, d.way): {_WHOLE: d.whole, **d.by_family(families)} for d in found
            }
    for s in skips:
        tell(f"skipped: {s.name}: {s.reason}" + ("; no mix with it has its bar" if cycles else ""))
    columns = [_WHOLE, *families.names]
    shares = _shares(figures, mixes)
    if as_json:
        rows = [
            {"clip": clip, "way": way, **{c: own.get(c, 0) for c in columns}}
            for (clip, way), own in figures.items()
        ]
        barred = [
            {"clips": m.clips, "ratio": round(s, 3), "bar": m.d3, "above_bar": s > m.d3}
            for m, s in shares
        ]
        left_out = [vars(s) for s in skips]
        print(json.dumps({"decodes": rows, "mixes": barred, "skipped": left_out}, indent=2))
    else:
        _print(figures, columns, "cycles, modelled," if cycles else "instructions")
        for mix, share in shares:
            print(_said(mix, share))
    fail([_said(m, s) for m, s in shares if s > m.d3] if cycles else _more(found))


def _with_sum(cycles: Mapping[str, int]) -> Mapping[str, int]:
    return {_WHOLE: sum(cycles.values()), **cycles}


def _more(found: Sequence[Decoded]) -> list[str]:
    """Clips that execute more with our functions."""
    by = {(d.clip.name, d.way): d.whole for d in found}
    return [
        f"{name}: {by[name, 'ours']} instructions with our functions, {theirs} without:"
        f" {by[name, 'ours'] / theirs:.3f}"
        for (name, way), theirs in by.items()
        if way == "theirs" and by[name, "ours"] > theirs
    ]


def _shares(figures: Figures, mixes: Sequence[decodes.Mix]) -> list[tuple[decodes.Mix, float]]:
    """What mixes take of theirs, of those of which all clips are there."""
    found = []
    for mix in mixes:
        if all((c, way) in figures for c in mix.clips for way in WAYS):
            ours, theirs = (sum(figures[c, way][_WHOLE] for c in mix.clips) for way in WAYS)
            found.append((mix, ours / theirs))
    return found


def _said(mix: decodes.Mix, share: float) -> str:
    clips = ", ".join(mix.clips)
    return f"{clips} ({mix.why}): {share:.3f} of theirs in cycles, the bar is {mix.d3}"


def _print(figures: Figures, columns: Sequence[str], unit: str) -> None:
    """Millions with theirs, and ours as a share of these."""
    headings = ["clip", *(word for c in columns for word in (c, "ours"))]
    names = list(dict.fromkeys(clip for clip, _ in figures))
    rows = [[n, *_cells([[figures[n, w].get(c, 0) for c in columns] for w in WAYS])] for n in names]
    sums = [[sum(figures[n, w].get(c, 0) for n in names) for c in columns] for w in WAYS]
    print_table(headings, [*rows, ["all", *_cells(sums)]])
    print(f"millions of {unit} with the decoder's own functions; ours: what of these ours take")


def _cells(by_way: Sequence[Sequence[int]]) -> list[str]:
    cells = []
    for ours, theirs in zip(*by_way, strict=True):
        cells += [f"{theirs / 1e6:.1f}", f"{ours / theirs:.3f}" if theirs else ""]
    return cells
