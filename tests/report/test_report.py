# SPDX-License-Identifier: BSD-2-Clause
"""The report: every figure in it is one of its sources', and what is missing is said."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from report_pages import (
    KERNELS,
    ROOT,
    Element,
    board,
    manifest,
    missing,
    mixed,
    model,
    of_target,
    page,
    parsed,
    record,
    section,
    some_entries,
    sources,
    timed,
    variant,
    verified,
)

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import report as verb
from daedalus.generator.cli.main import cli
from daedalus.generator.options import TARGETS
from daedalus.generator.report import charts, words
from daedalus.generator.report.drawings import embedded
from daedalus.generator.report.page import TARGET_NAMES, machines
from daedalus.generator.report.roofline import RESOURCES, roofline
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import Result, described
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.recipe import text_of
from daedalus.generator.tuning.rules import Span

Row = tuple[str, float, float, float]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return page(sources(some_entries(), folder), folder)


@pytest.fixture(scope="module")
def read(text: str) -> Element:
    return parsed(text)


def bars(section: Element) -> Counter[Row]:
    """Options, median, low and high of every row of the tables of times."""
    rows: Counter[Row] = Counter()
    for table in section.all("table", cls="bars"):
        for row in table.one("tbody").all("tr"):
            name = row.one("span", cls="name").text.split()[0]
            kernel = table.attributes["data-kernel"]
            median, low, high = row.values
            rows[f"daedalus_{kernel}__{name}", median, low, high] += 1
    return rows


# -------------------------------------------------------------------- figures


@pytest.mark.parametrize("at", [board(), model()], ids=["measured", "modelled"])
def test_every_time_stands_in_its_machines_section_alone(read: Element, at: Fingerprint) -> None:
    own = [e for e in some_entries() if isinstance(e, Result) and e.fingerprint == at.id]
    wanted = Counter(
        (r.point.split("/")[2], r.median, r.low, r.high) for r in own if r.verdict == "ok"
    )
    assert bars(section(read, f"m-{at.id}")) == wanted


def test_measured_and_modelled_are_told_in_every_heading(read: Element) -> None:
    for at, how in ((board(), "measured"), (model(), "modelled")):
        heading = read.one("h2", id=f"m-{at.id}")
        assert heading.text.startswith(f"{how} {at.soc}")
    assert "No figure of this section was measured" in section(read, f"m-{model().id}").text
    assert "No figure of this section was measured" not in section(read, f"m-{board().id}").text


def test_text_of_a_figure_is_the_figure_rounded(read: Element) -> None:
    found = read.all("data")
    assert len(found) > 100
    for d in found:
        exact, shown = float(d.attributes["value"]), float(d.text.replace(",", ""))
        assert shown == pytest.approx(exact, rel=0.005, abs=0), d


def test_bars_end_where_their_figures_are(read: Element) -> None:
    for table in read.all("table", cls="bars"):
        rows = table.one("tbody").all("tr")
        told = re.search(r"from 0 to ([\d.,]+) ns", table.one("caption").text)
        assert told is not None
        top = float(told[1])
        assert max(r.values[2] for r in rows) == pytest.approx(top, rel=0.005)
        for row in rows:
            fill = row.one("rect", cls="fill")
            assert float(fill.attributes["width"]) == pytest.approx(
                100 * row.values[0] / top, rel=0.01
            )


def test_the_matrix_is_what_the_records_say(read: Element) -> None:
    table = read.one("table", id="matrix")
    devices = [h.text for h in table.one("thead").all("tr")[1].all("th")]
    targets = [
        h.text for h in table.one("thead").all("th", cls="group")
        for _ in range(int(h.attributes["colspan"]))
    ]  # fmt: skip
    seen = 0
    for row in table.one("tbody").all("tr"):
        kernel = row.attributes["data-kernel"]
        for target, device, cell in zip(targets, devices, row.all("td"), strict=True):
            runs = [
                r
                for name, v in verified().items()
                if name.startswith(f"daedalus_{kernel}__{target}_")
                for r in v["runs"] if r["device"] == device
            ]  # fmt: skip
            told = [int(cell.attributes.get(f"data-{n}", 0))
                    for n in ("items", "conformant", "mismatches")]  # fmt: skip
            assert told == [sum(r[n] for r in runs) for n in ("items", "conformant", "mismatches")]
            if runs:
                assert cell.text == f"{told[1]:,} {len(runs)} var."
                seen += len(runs)
    every = [
        r
        for n, v in verified().items()
        if n.removeprefix("daedalus_").partition("__")[0] in KERNELS for r in v["runs"]
    ]  # fmt: skip
    assert seen == len(every) > 0


def test_differing_items_and_stale_records_are_seen(folder: Path) -> None:
    known = [n for n in verified() if n.startswith("daedalus_vp9_idct8__")]
    name, stale = known[0], known[1]
    made: dict[str, Any] = {n: dict(v) for n, v in verified().items()}
    runs = [dict(r) for r in made[name]["runs"]]
    runs[0] |= {"mismatches": 3}
    made[name]["runs"] = runs
    made[stale]["input_hash"] = "0" * 16
    read = parsed(page(sources([], folder, verified=made), folder))
    exact = section(read, "exact")
    assert "3 differ, 0 outside" in exact.one("table", id="matrix").text
    assert "below 100 %" in exact.text and "100 % of" not in exact.text.replace("below 100 %", "")
    unchecked = [e.text for e in exact.one("ul", cls="unchecked").all("li")]
    assert stale in unchecked and name not in unchecked
    assert "without a record of the code" in missing(exact)


def test_what_a_target_refuses_is_told_with_its_reason(folder: Path) -> None:
    kernel = KERNELS[0]
    made = sources([], folder)
    assert not section(parsed(page(made, folder)), "exact").all("ul", cls="refused")
    made = sources([], folder, refused={kernel: {"glsl": "no <such> thing"}})
    exact = section(parsed(page(made, folder)), "exact")
    (told,) = exact.one("ul", cls="refused").all("li")
    assert told.text.startswith(f"{kernel}, glsl") and told.text.endswith("no <such> thing")


def test_r_and_band_are_the_recipes(read: Element, folder: Path) -> None:
    (pi, sim) = machines(sources(some_entries(), folder))
    assert not pi.side.modelled and sim.side.modelled
    for machine in (pi, sim):
        rows = section(read, machine.anchor).one("table", cls="decisions").one("tbody").all("tr")
        assert len(rows) == len(machine.recipe.decisions) > 0
        for row, d in zip(rows, machine.recipe.decisions, strict=True):
            assert (row.attributes["data-kernel"], row.attributes["data-class"]) == (
                d.kernel, d.item_class,
            )  # fmt: skip
            assert row.values == ([d.r.mid, d.r.low, d.r.high] if d.r else [])
            assert [c.text for c in row.all("td")][1] == d.verdict
            assert row.all("td")[3].text == d.reason
    verdicts = {d.kernel: d.verdict for d in pi.recipe.decisions}
    assert verdicts["vp9_idct8"] == "GREEN"


def test_taken_is_what_the_recipe_takes(folder: Path) -> None:
    sim = model()
    spare = next(v["name"] for k in manifest()["kernels"] for v in k["variants"]
                 if (k["id"], v["target"], v["class"], v["prod"])
                 == ("vp9_idct8", "neon", "full", False))  # fmt: skip
    neon, c, code = (of_target("vp9_idct8", t) for t in ("neon", "c", "qpu"))
    mc = (of_target("vp9_mc_8h", t) for t in ("neon", "qpu"))
    times = {spare: 30.0, neon: 48.0, c: 52.0, code: 60.0} | dict(
        zip(mc, (44.0, 40.0), strict=True)
    )
    # Every interval overlaps every other: measured, all would tie.
    found = [described(sim), *(timed(name, ns, 25.0, at=sim) for name, ns in times.items())]
    made_of = sources(found, folder)
    words = ["recipe", "--journal", str(folder / "journal.jsonl"), "--json"]
    ran = CliRunner().invoke(cli, [*words, "--output", str(folder / "out.recipe")])
    assert ran.exit_code == 0, ran.output
    wanted = {(d["kernel"], which): d[which].split("/")[2]
              for d in json.loads(ran.stdout)["decisions"] for which in ("chosen", "other")
              if d[which]}  # fmt: skip
    told = {}
    for table in parsed(page(made_of, folder)).all("table", cls="bars"):
        for row in table.one("tbody").all("tr"):
            kernel, tags = table.attributes["data-kernel"], row.all("span", cls="tag")
            name = f"daedalus_{kernel}__{row.one('span', cls='name').text.split()[0]}"
            which = {"taken": "chosen", "other": "other"}
            told |= {(kernel, which[t.text]): name for t in tags if t.text in which}
    assert told == wanted and set(wanted.values()) == {neon, code, *times} - {spare, c}


def test_m4_stacks_what_the_qpu_adds(read: Element) -> None:
    table = section(read, f"m-{board().id}").one("table", cls="mixed")
    (row,) = table.one("tbody").all("tr")
    assert row.values == [6e7, 5.4e7, 1.03e7, 9e6]
    alone, both = row.all("svg", cls="bar")
    width = float(alone.one("rect", cls="neon").attributes["width"])
    kept, added = both.one("rect", cls="neon"), both.one("rect", cls="qpu")
    assert float(kept.attributes["width"]) / width == pytest.approx(0.9, rel=1e-3)
    # 9e6 items a second of a kernel of which one core does 1e9 / 41.5, by the CPU's three threads
    assert float(added.attributes["width"]) / width == pytest.approx(9e6 * 41.5e-9 / 3, rel=1e-3)
    assert added.attributes["x"] == kept.attributes["width"]
    assert not section(read, f"m-{model().id}").all("table", cls="mixed")


def test_a_disturbed_m4_does_not_count(folder: Path) -> None:
    cpu = timed(of_target("vp9_idct8", "neon"), 50, 1, at=board())
    qpu = timed(of_target("vp9_idct8", "qpu"), 70, 1, at=board())
    line = mixed(cpu, qpu, cpu_alone=1e7, cpu_with=2e7, qpu_alone=1e7, qpu_with=1e6)
    read = parsed(page(sources([described(board()), cpu, qpu, line], folder), folder))
    assert "Does not count" in read.one("table", cls="mixed").text


def test_curves_have_a_dot_a_workgroup(read: Element) -> None:
    figure = section(read, f"m-{board().id}").one("div", cls="charts").one("figure")
    dots = [(float(c.attributes["cx"]), float(c.attributes["cy"])) for c in figure.all("circle")]
    assert len(dots) == 4
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert [y for _, y in dots] == sorted(y for _, y in dots)  # ever faster, so ever lower
    assert {t.text for t in figure.all("text")} >= {"16", "64", "128", "256", "0"}


def test_points_without_a_time_are_told_with_their_reason(read: Element) -> None:
    table = section(read, f"m-{board().id}").one("table", cls="rejected")
    cells = [c.text for c in table.one("tbody").all("td")]
    assert cells[:3] == ["1", "wrong", "item 3: <b>7</b> & not 8"]  # and no element b
    assert not table.all("b")


def test_checks_of_boards(read: Element) -> None:
    rows = [[c.text for c in r.all("td")] for r in section(read, "exact").all("tr")]
    name = of_target("vp9_idct8", "c")
    assert ["neon", "cortex-a76 board", "2", "32", "1", f"{name}: wrong, item 3 differs"] in rows


# ------------------------------------------------------------------- roofline


def test_no_kernel_is_faster_than_its_bounds(folder: Path) -> None:
    told = record()
    every = tuple(dict.fromkeys(k["kernel"] for k in told["kernels"]))
    found = roofline(told, sources([], folder, kernels=every))
    assert found is not None
    for spots in found.by.values():
        assert [s.kernel for s in spots] == list(every)
        for s in spots:
            assert all(s.bounds[r].mid <= s.ns.mid for r in RESOURCES), s
            assert s.bounds[s.limit].mid == max(b.mid for b in s.bounds.values())
            assert s.rate <= found.issue.mid * 1.001
            assert s.moved / s.ns.mid <= found.bandwidth.mid * 1.001
    chart = charts.roof_chart(found)
    inside = chart.frame
    for spot in chart.spots:
        assert inside.left <= spot.x <= inside.right and inside.top <= spot.y <= inside.bottom


def test_the_rooflines_table_is_the_record(read: Element) -> None:
    by_kernel = {k["kernel"]: k for k in record()["kernels"]}
    for target in ("qpu", "glsl"):
        rows = read.one("table", cls=f"roof-{target}").one("tbody").all("tr")
        assert [r.attributes["data-kernel"] for r in rows] == [k for k in by_kernel if k in KERNELS]
        for row in rows:
            taken = by_kernel[row.attributes["data-kernel"]][target]
            ns = taken["by"]["default settings"]["ns"] / taken["items"]
            assert row.values[0] == taken["instructions"] / taken["items"]
            assert row.values[-3] == pytest.approx(ns)


def test_bounds_of_neon(folder: Path) -> None:
    row = {
        "kernel": "vp9_idct8", "case": "full", "function": "daedalus_ffmpeg_vp9_idct8",
        "compiler": "gcc", "executed": 236, "port_bound": 80.5, "d3": 120.25, "d4": 101.5,
        "stands_for_kernel": True,
    }  # fmt: skip
    rows = [row, row | {"d3": 130.0, "stands_for_kernel": False}, row | {"kernel": "other"}]
    path = folder / "neon.json"
    path.write_text("{}")
    shown = section(parsed(page(sources([], folder, neon=(path, {"kernels": rows})), folder)),
                    "ports")  # fmt: skip
    (line,) = shown.one("table", cls="ports").one("tbody").all("tr")
    assert line.values == [236, 80.5, 120.25, 101.5]
    assert line.all("td")[-1].text == "1.49"  # d3 by the bound


# -------------------------------------------------------- what is not there is said


def test_without_a_journal(folder: Path) -> None:
    made_of = sources([], folder, journals={}, modelled=None)
    said = missing(parsed(page(made_of, folder)))
    for what in ("No journal has a result", "No recipe was given", "No record of the timing model",
                 "No record of NEON's port bounds", "No journal: none was given",
                 "No drawing: left out"):  # fmt: skip
        assert what in said


def test_parts_that_a_journal_lacks(folder: Path) -> None:
    results = [timed(of_target("vp9_idct8", "neon"), 50, 1, at=at) for at in (board(), model())]
    read = parsed(page(sources([described(board()), described(model()), *results], folder), folder))
    said = missing(section(read, f"m-{board().id}"))
    assert "No M4 was measured" in said and "there is no curve to draw" in said
    assert "the model has none" in missing(section(read, f"m-{model().id}"))
    assert "no time on the QPU" in section(read, f"m-{board().id}").text


def test_other_code_unknown_machines_and_skipped_lines(folder: Path) -> None:
    other = replace(board(), generator="f" * 16)
    name = of_target("vp9_idct8", "neon")
    lost = timed(name, 60, 1, at=replace(board(), soc="nobody's"))
    old = timed(name, 61, 1, at=other, input_hash="e" * 16)
    made_of = sources([described(other), old, lost], folder)
    (path,) = made_of.journals
    with path.open("a") as f:
        f.write('{"v":1,"type":"result"\n')
    read = parsed(page(replace(made_of, journals={path: journal.read(path)}), folder))
    said = missing(read)
    assert f"of other generated code ({'f' * 16})" in said
    assert f"No line of the journals describes the fingerprint {lost.fingerprint}" in said
    skipped = section(read, "sources").one("li", cls="bad").text
    assert skipped.startswith(f"{path}:4: torn")
    (row,) = section(read, f"m-{other.id}").one("table", cls="bars").one("tbody").all("tr")
    assert not row.all("a")  # no link to code that is not what was measured


def test_stale_inputs_are_said_first(folder: Path) -> None:
    """By their hashes, and each row of the timing model by that of its own variant."""
    own, other, path = manifest()["generator"], "f" * 16, Path("/nowhere/record.json")
    kernels = []
    for k in record()["kernels"]:
        if k["kernel"] in KERNELS:
            names = {t: of_target(k["kernel"], t) for t in ("qpu", "glsl")}
            kernels.append(k | {t: k[t] | {
                "variant": n.removeprefix("daedalus_"), "input_hash": variant(n)["input_hash"],
            } for t, n in names.items()})  # fmt: skip
    fresh = record() | {"generator": own, "kernels": kernels}

    def shown(**more: Any) -> Element:
        return parsed(page(sources(some_entries(), folder, **more), folder))

    def said(read: Element) -> list[str]:
        return [p.text for p in read.one("header").all("p", cls="stale")]

    now = shown(modelled=(path, fresh), neon=(path, {"generator": own, "kernels": []}))
    assert (
        said(now) == [] and "old" not in section(now, "roofline").one("table", cls="roof-qpu").text
    )

    last = fresh["kernels"][-1]
    last = last | {"qpu": last["qpu"] | {"input_hash": "0" * 16}}
    old = fresh | {"generator": other, "kernels": [*fresh["kernels"][:-1], last]}
    moved = replace(board(), generator=other)
    result = timed(of_target("vp9_idct8", "neon"), 61, 1, at=moved)
    read = parsed(page(sources(
        [*some_entries(), described(moved), result], folder, modelled=(path, old),
        neon=(path, {"kernels": []}), recipe=(path, ["daedalus-recipe 1", f"generator {other}"]),
    ), folder))  # fmt: skip
    told = said(read)
    assert [t.split()[1:5] for t in told] == [
        ["The", "record", "of", "the"], ["The", "record", "of", "the"],
        ["The", "recipe", str(path), "is"], ["The", "1", "results", "under"],
    ]  # fmt: skip
    assert f"is of generated code {other}; generated/ has {own}" in told[0]
    assert "does not say of which code it is" in told[1] and moved.id in told[3]
    roof = section(read, "roofline")
    assert "1 row of code that has changed" in missing(roof)
    for target, marked in (("qpu", 1), ("glsl", 0)):
        rows = roof.one("table", cls=f"roof-{target}").one("tbody").all("tr")
        assert [bool(r.all("span", cls="tag")) for r in rows].count(True) == marked

    # Of a record without hashes of variants nobody can tell that a row is the same.
    bare = shown(modelled=(path, old | {"kernels": [_without_hashes(k) for k in kernels]}))
    rows = section(bare, "roofline").one("table", cls="roof-qpu").one("tbody").all("tr")
    assert all(r.all("span", cls="tag") for r in rows)


def _without_hashes(kernel: dict[str, Any]) -> dict[str, Any]:
    return {
        n: {m: x for m, x in v.items() if m != "input_hash"} if isinstance(v, dict) else v
        for n, v in kernel.items()
    }


def test_a_recipe_beside_it(folder: Path) -> None:
    made_of = sources(some_entries(), folder)
    (pi, _) = machines(made_of)
    lines = text_of(pi.recipe).splitlines()
    path = Path("/nowhere/my.recipe")
    shown = sources(some_entries(), folder, recipe=(path, lines))
    recipe = section(parsed(page(shown, folder)), "recipe")
    wanted = [x for x in lines if x.startswith(("daedalus-recipe", "generator ", "fingerprint ",
                                                "choose ", "other "))]  # fmt: skip
    assert len(wanted) > 5 and not recipe.all(cls="missing")
    (told,) = recipe.one("pre").pieces
    assert isinstance(told, str) and told.splitlines() == wanted
    old = [line.replace(manifest()["generator"], "0" * 16) for line in lines]
    shown = sources(some_entries(), folder, recipe=(path, old))
    said = missing(section(parsed(page(shown, folder)), "recipe"))
    assert "It is stale" in said and manifest()["generator"] in said


# ----------------------------------------------------------------- the file itself


def test_it_needs_nothing_beside_itself(text: str, read: Element) -> None:
    assert not read.all("script") and not read.all("link") and not read.all("img")
    assert not re.search(r"@import|url\(|\bsrc=", text)
    for a in read.all("a"):
        assert not re.match(r"[a-z]+:", a.attributes["href"]), a


def test_links_lead_somewhere(read: Element, folder: Path) -> None:
    ids = Counter(e.attributes["id"] for e in read.all() if "id" in e.attributes)
    assert set(ids.values()) == {1}
    hrefs = [a.attributes["href"] for a in read.all("a")]
    assert len(hrefs) > 20
    for href in hrefs:
        if href.startswith("#"):
            assert href[1:] in ids, href
        else:
            assert (folder / href).resolve().exists(), href
    code = variant(of_target("vp9_idct8", "neon"))["file"]
    assert any(href.endswith(f"generated/{code}") for href in hrefs)


def test_tables_and_drawings_have_names(read: Element) -> None:
    for table in read.all("table"):
        assert table.one("caption").text
        assert all("scope" in h.attributes for h in table.all("th"))
    for svg in read.all("svg"):
        named = svg.attributes.get("role") == "img" and svg.attributes.get("aria-label")
        assert named or svg.attributes.get("aria-hidden") == "true"
    levels = [int(e.tag[1]) for e in read.all() if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def _schemes() -> Iterator[dict[str, str]]:
    css = (ROOT / "templates" / "report" / "style.css").read_text()
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part))
                   for part in css.split("prefers-color-scheme: dark", 1))  # fmt: skip
    yield light
    yield dark


def _luminance(color: str) -> float:
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _contrast(a: str, b: str) -> float:
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_in_both_schemes() -> None:
    for colors in _schemes():
        for ground in ("page", "panel"):
            for text in ("text", "soft", "link", "good", "bad", "warn"):
                assert _contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
            for n in range(6):
                assert _contrast(colors[f"s{n}"], colors[ground]) >= 3, (n, ground)
        assert _contrast(colors["shade"], colors["page"]) >= 3  # there is more of a table there
        for band in ("green", "yellow", "orange", "red"):
            assert _contrast(colors["text"], colors[band]) >= 4.5, band


def test_a_drawing_is_put_in_without_ids() -> None:
    svg = (
        '<?xml version="1.0"?>\n<svg width="75pt" height="30pt">\n'
        '<g id="node1"><text>a</text></g></svg>\n'
    )
    element = embedded(svg, "k")
    assert element.startswith(
        '<svg width="100" height="40" role="img" aria-label="flow graph of k">'
    )
    assert " id=" not in element and "<text>a</text>" in element


# ------------------------------------------------------------------ small things


def test_axes() -> None:
    assert charts.steps(310) == [0, 100, 200, 300, 400]
    assert charts.steps(4) == [0, 1, 2, 3, 4]
    assert charts.steps(0) == [0, 1]
    assert charts.marks(0.15, 6) == pytest.approx([0.2, 0.5, 1, 2, 5])
    names = [name for name, _, _ in charts.r_zones()]
    assert names == ["GREEN", "YELLOW", "ORANGE", "RED"]
    ends = [(low, high) for _, low, high in charts.r_zones()]
    assert ends[0][1] == 100 and ends[-1][0] == 0
    assert all(a[0] == b[1] for a, b in pairwise(ends))
    assert charts.strip(Span(0.001, 0.5, 2)).low == 0 and charts.strip(Span(0.001, 0.5, 2)).beyond


def test_every_target_has_a_name_and_a_colour() -> None:
    assert set(TARGET_NAMES) == set(TARGETS)
    css = (ROOT / "templates" / "report" / "style.css").read_text()
    assert all(f".{t} {{ fill: " in css for t in TARGETS)


def test_figures_in_words() -> None:
    shown = {0: "0", 7: "7", 129.125: "129", 48.04: "48.0", 0.0123: "0.0123", 123456: "123,000",
             9.999: "10.00"}  # fmt: skip
    assert {v: words.short(v) for v in shown} == shown
    assert [words.share(v) for v in (1, 0.9999999, 0.5)] == ["100 %", "below 100 %", "50.00 %"]


# ----------------------------------------------------------------------- the verb


def test_the_verb_writes_it(tmp_path: Path) -> None:
    made_of = sources(some_entries(), tmp_path)
    (path,) = made_of.journals
    target = tmp_path / "out" / "page.html"
    done = CliRunner().invoke(
        cli, ["report", "--journal", str(path), "--kernel", "vp9_idct8", "--output", str(target)]
    )
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{target}: 1 kernels, ")
    read = parsed(target.read_text(encoding="utf-8"))
    assert len(read.one("div", cls="drawing").all("text")) > 50
    rows = read.one("table", id="matrix").one("tbody").all("tr")
    assert [r.attributes["data-kernel"] for r in rows] == ["vp9_idct8"]
    assert manifest()["generator"] in read.one("header").text


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("--journal", None, "there is no journal"),
        ("--recipe", "choose x\n", "is no recipe"),
        ("--recipe", None, "cannot read"),
        ("--model", "{}", "is no record of bench --qpu"),
        ("--neon", '{"kernels": [{"kernel": "x"}]}', "its kernels have no port_bound"),
        ("--neon", "{", "no JSON"),
    ],
)
def test_what_cannot_be_read(
    tmp_path: Path, option: str, content: str | None, message: str
) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)
    words_ = ["--no-drawings", "--output", str(tmp_path / "p.html"), option, str(file)]
    error = CliRunner().invoke(verb.command, words_).exception
    assert isinstance(error, UserError) and message in error.message
    assert not (tmp_path / "p.html").exists()


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words_ = ["--no-drawings", "--output", str(tmp_path / "file" / "p.html")]
    error = CliRunner().invoke(verb.command, words_).exception
    assert isinstance(error, UserError) and "cannot write" in error.message
