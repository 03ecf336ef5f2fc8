# SPDX-License-Identifier: BSD-2-Clause
"""The report's summary: what is exact, and what a frame takes of each kernel on each machine."""

from dataclasses import replace
from pathlib import Path

import pytest
from report_pages import (
    KERNELS,
    board,
    missing,
    model,
    of_target,
    page,
    parsed,
    section,
    some_entries,
    sources,
    timed,
    verified,
)

from daedalus.generator.report.page import machines
from daedalus.generator.tuning.entries import described


def test_the_summary_says_what_is_exact(tmp_path: Path) -> None:
    said = section(parsed(page(sources([], tmp_path), tmp_path)), "summary").text
    names = [n for n in verified() if _kernel_of(n) in KERNELS]
    items = sum(r["conformant"] for n in names for r in verified()[n]["runs"])
    assert f"{len(names)} of {len(names)} variants compared, with {items:,}" in said
    less = {n: verified()[n] for n in names[1:]}
    bare = section(parsed(page(sources([], tmp_path, verified=less), tmp_path)), "summary")
    assert f"{len(names) - 1} of {len(names)} variants compared" in bare.text
    none = section(parsed(page(sources([], tmp_path, verified={}), tmp_path)), "summary")
    assert "nothing was compared" in missing(none) and "no journal has a result" in missing(none)


def _kernel_of(variant: str) -> str:
    return variant.removeprefix("daedalus_").partition("__")[0]


def test_the_summary_has_what_the_recipe_takes_of_a_frame(tmp_path: Path) -> None:
    """Each machine in a table of its own; ns an item times the 8x8 blocks of 1920x1088."""
    made_of = sources(some_entries(), tmp_path)
    tables = section(parsed(page(made_of, tmp_path)), "summary").all("table", cls="frames")
    found = machines(made_of)
    assert len(tables) == len(found) == 2
    for table, m in zip(tables, found, strict=True):
        assert table.one("caption").text.startswith("Modelled" if m.side.modelled else "Measured")
        rows = table.one("tbody").all("tr")
        assert len(rows) == len(m.recipe.decisions) > 0
        for row, d in zip(rows, m.recipe.decisions, strict=True):
            taken, items, ms, _ = row.all("td")
            assert d.chosen.point.split("/")[2].partition("__")[2] in taken.text
            assert items.text == "32,640"
            r = d.chosen
            assert ms.values == pytest.approx([ns * 0.03264 for ns in (r.median, r.low, r.high)
                                               if ns is not None])  # fmt: skip


def test_decoders_own_times_are_those_on_file(tmp_path: Path) -> None:
    """Modelled ones beside modelled times, published ones beside measured; else it is said."""
    kernels = ("h264_idct4", "h264_idct8", "vp9_idct8", "vp9_lpf4_h")
    pi = replace(board(), soc="Raspberry Pi 5 Model B Rev 1.0")
    results = [timed(of_target(k, "neon"), 50, 1, at=at) for k in kernels for at in (pi, model())]
    results.append(timed(of_target("vp9_idct8", "c", "dc"), 9, 1, at=model()))
    found = [described(pi), described(model()), *results]
    read = parsed(page(sources(found, tmp_path, kernels=kernels), tmp_path))
    own = {}
    for table, how in zip(read.all("table", cls="frames"), ("measured", "modelled"), strict=True):
        for row in table.one("tbody").all("tr"):
            cell = row.all("td")[-1]
            place = (how, row.attributes["data-kernel"], row.attributes["data-class"])
            own[place] = cell.values or cell.text
    frame = 32640 / 2.4 / 1e6  # ms of a cycle an item
    for (how, kernel, item_class), cycles in {
        ("measured", "h264_idct4", "full"): [4 * 30.0],  # of tools/count/cases.toml; 4x4 blocks
        ("measured", "h264_idct8", "full"): [83.0],
        ("modelled", "h264_idct8", "full"): [82.1, 82.1 / 1.1, 82.1 * 1.1],  # of qpu.toml
        ("modelled", "vp9_idct8", "full"): [135.3, 135.3 / 1.1, 135.3 * 1.1],
    }.items():
        assert own.pop((how, kernel, item_class)) == pytest.approx([c * frame for c in cycles])
    assert own.pop(("modelled", "h264_idct4", "full")) != "none on record"
    assert set(own.values()) == {"none on record"}
    assert {k for _, k, _ in own} == {"vp9_idct8", "vp9_lpf4_h"}
    assert ("modelled", "vp9_idct8", "dc") in own
    other = replace(board(), soc="another board")
    there = timed(of_target("h264_idct8", "neon"), 50, 1, at=other)
    read = parsed(page(sources([described(other), there], tmp_path, kernels=kernels), tmp_path))
    assert "none on record" in read.one("table", cls="frames").text
