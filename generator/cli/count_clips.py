# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus count --clips`: what whole decodes execute, with our functions and with theirs."""

import json

from daedalus.codecs import clips
from daedalus.generator.base.console import fail
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.measure import mix


def count_clips(names: tuple[str, ...], *, as_json: bool) -> None:
    """Prints a line a clip, and what all clips together are."""
    with progress(quiet=as_json):
        (decoder,) = mix.decoders()  # the file speaks of one
        known = {c["name"]: c for c in decoder.clips}
        for name in names:
            if name not in known:
                raise UserError(f"there is no clip {name}", f"one of {', '.join(sorted(known))}")
        wanted = [clips.make_clip(decoder, c) for n, c in known.items() if not names or n in names]
        found = mix.decodes(decoder, wanted)
        families = mix.Families(decoder)
    if as_json:
        rows = [
            {"clip": d.clip.name, "way": d.way, "whole": d.whole, **d.by_family(families)}
            for d in found
        ]
        print(json.dumps({"decodes": rows}, indent=2))
    else:
        _print(found, families)
    by = {(d.clip.name, d.way): d.whole for d in found}
    fail(
        f"{name}: {by[name, 'ours']} instructions with our functions, {by[name, 'theirs']} without"
        for name in dict.fromkeys(d.clip.name for d in found)
        if by[name, "ours"] > by[name, "theirs"]
    )


def _print(found: list[mix.Decoded], families: mix.Families) -> None:
    """Millions with theirs, and ours as a share of these."""
    headings = ["clip", "whole", "ours"]
    for name in families.names:
        headings += [name, "ours"]
    sums: dict[str, list[float]] = {way: [0.0] * (1 + len(families.names)) for way in mix.WAYS}
    rows = []
    for name in dict.fromkeys(d.clip.name for d in found):
        own: dict[str, list[float]] = {}
        for d in found:
            if d.clip.name == name:
                by = d.by_family(families)
                own[d.way] = [d.whole, *(by[f] for f in families.names)]
                sums[d.way] = [a + b for a, b in zip(sums[d.way], own[d.way], strict=True)]
        rows.append([name, *_cells(own)])
    print_table(headings, [*rows, ["all", *_cells(sums)]])
    print(
        "millions of instructions with the decoder's own functions; ours: what of these ours take"
    )


def _cells(by_way: dict[str, list[float]]) -> list[str]:
    cells = []
    for ours, theirs in zip(by_way["ours"], by_way["theirs"], strict=True):
        cells += [f"{theirs / 1e6:.1f}", f"{ours / theirs:.3f}" if theirs else ""]
    return cells
