# SPDX-License-Identifier: BSD-2-Clause
"""Pages of `daedalus report` for its tests: made of a journal, and read back."""

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tuning_lines import WHEN, result

from daedalus.generator.base import records
from daedalus.generator.base.paths import repo_root
from daedalus.generator.report.drawings import Drawn
from daedalus.generator.report.page import render
from daedalus.generator.report.sources import Sources, latest_record, read_json
from daedalus.generator.tuning import entries, journal
from daedalus.generator.tuning.entries import Check, Entry, Mixed, Result, described
from daedalus.generator.tuning.fingerprint import Fingerprint, of_model

ROOT = repo_root()
KERNELS = ("vp9_idct8", "vp9_mc_8h", "vp9_lpf4_v")
_VOID = {"meta", "br", "link", "img", "hr", "input"}


@cache
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = read_json(ROOT / "generated" / "manifest.json")
    return found


@cache
def verified() -> dict[str, Any]:
    """The records of comparisons as if all were of the code that there is: those of other code may
    be there while something is being changed."""
    found = records.by_variant(records.VERIFIED)
    hashes = {v["name"]: v["input_hash"] for k in manifest()["kernels"] for v in k["variants"]}
    return {n: v | {"input_hash": hashes[n]} for n, v in found.items() if n in hashes}


def variant(name: str) -> dict[str, Any]:
    """The manifest's record of a variant."""
    return next(v for k in manifest()["kernels"] for v in k["variants"] if v["name"] == name)


def of_target(kernel: str, target: str, item_class: str = "full") -> str:
    """The first variant of a kernel in libdaedalus.a for a target and a class."""
    record = next(k for k in manifest()["kernels"] if k["id"] == kernel)
    fitting = [v["name"] for v in record["variants"]
               if (v["target"], v["class"], v["prod"]) == (target, item_class, True)]  # fmt: skip
    return str(fitting[0])


def board() -> Fingerprint:
    return Fingerprint(
        "BCM2712", "d04170", "Linux 6.12", "V3DV Mesa 25.0.7", "gcc 14.2",
        manifest()["generator"], "ondemand 2400000 kHz",
    )  # fmt: skip


def model() -> Fingerprint:
    return of_model("BCM2712", "timing model 1", "gcc 14.2", manifest()["generator"])


def timed(
    name: str, median: float, spread: float, *, at: Fingerprint, workgroup: int = 0, **more: Any
) -> Result:
    """A result of a variant: median, and as much to either side."""
    v = variant(name)
    kernel = name.removeprefix("daedalus_").partition("__")[0]
    route = {"glsl": "-/vulkan", "qpu": "-/drm"}.get(v["target"], "gcc/-")
    text = f"{kernel}/{v['class']}/{name}/{route}/{workgroup}"
    how = "model" if at.modelled else "m2" if route.startswith("-") else "m3"
    return result(
        text, f"{how} items=4096",
        **{
            "fingerprint": at.id, "modelled": at.modelled, "median": median,
            "low": median - spread, "high": median + spread, "items": 4096,
            "input_hash": v["input_hash"],
        } | more,
    )  # fmt: skip


def mixed(cpu: Result, qpu: Result, **figures: Any) -> Mixed:
    """A line of M4 beside three threads."""
    names = [r.point.partition("/")[0] for r in (cpu, qpu)]
    text = f"m4 cpu={names[0]} qpu={names[1]} threads=3 core=3 seconds=6"
    return Mixed(
        fingerprint=cpu.fingerprint, key=entries.mixed_key(cpu.point, qpu.point, text),
        scenario=text, cpu_point=cpu.point, qpu_point=qpu.point, verdict="ok", threads=3,
        qpu_core=3, duration=6.0, samples=3, when=WHEN, cpu_time=0.01, cpu_time_alone=0.0125,
        **figures,
    )  # fmt: skip


def check(kernel: str, name: str, **more: Any) -> Check:
    """A check of a variant on a board's device."""
    values: dict[str, Any] = {
        "kernel": kernel, "target": "neon", "variant": name, "device": "cortex-a76 board",
        "asked": 8, "seed": 1, "input_hash": variant(name)["input_hash"],
        "generator": manifest()["generator"], "verdict": "ok", "items": 24, "conformant": 16,
        "mismatches": 0, "out_of_bounds": 0, "when": WHEN, **more,
    }  # fmt: skip
    key = entries.check_key(**{n: values[n] for n in entries.CHECK_KEY})
    return Check(fingerprint=board().id, key=key, **values)


def some_entries() -> list[Entry]:
    """A board and a model, with everything that a page has a place for."""
    pi, sim = board(), model()
    neon, c = of_target("vp9_idct8", "neon"), of_target("vp9_idct8", "c")
    glsl, code = of_target("vp9_idct8", "glsl"), of_target("vp9_idct8", "qpu")
    mc_neon = of_target("vp9_mc_8h", "neon")
    idct = timed(neon, 50.25, 0.5, at=pi)
    mc, mc_qpu = timed(mc_neon, 41.5, 0.25, at=pi), timed(of_target("vp9_mc_8h", "glsl"), 97, 2,
                                                         at=pi, workgroup=256)  # fmt: skip
    curve = [
        timed(glsl, ns, 1.5, at=pi, workgroup=w)
        for w, ns in ((16, 310.0), (64, 171.5), (128, 133.0), (256, 129.125))
    ]
    measured = [
        idct, timed(c, 180.0, 2, at=pi), *curve, timed(code, 38.75, 0.5, at=pi, discarded=2),
        mc, mc_qpu,
        timed(glsl, 1, 0, at=pi, workgroup=32, verdict="wrong", samples=0,
              reason="item 3: <b>7</b> & not 8"),
    ]  # fmt: skip
    modelled = [timed(neon, 48.0, 6.0, at=sim), timed(code, 39.0, 8.0, at=sim)]
    m4 = mixed(idct, mc_qpu, cpu_alone=6e7, cpu_with=5.4e7, qpu_alone=1.03e7, qpu_with=9e6)
    checks = [
        check("vp9_idct8", neon),
        check("vp9_idct8", c, verdict="wrong", reason="item 3 differs", mismatches=1),
    ]
    return [described(pi), described(sim), *measured, *modelled, m4, *checks]


def sources(
    found: list[Entry], folder: Path, *, kernels: tuple[str, ...] = KERNELS, **more: Any
) -> Sources:
    """What a report is made of, with a journal of these entries."""
    path = folder / "journal.jsonl"
    path.unlink(missing_ok=True)
    journal.append(path, *found)
    record = latest_record(ROOT)
    assert record is not None
    given: dict[str, Any] = {
        "root": ROOT, "kernels": kernels, "manifest": manifest(), "verified": verified(),
        "journals": {path: journal.read(path)}, "modelled": (record, read_json(record)),
    }  # fmt: skip
    return Sources(**given | more)


def page(made_of: Sources, folder: Path) -> str:
    """The page, without drawings."""
    drawn = {k: Drawn("", "left out") for k in made_of.kernels}
    return render(made_of, drawn, folder / "report.html")


# ------------------------------------------------------------------ reading it back


@dataclass
class Element:
    """An element of a page. text: of all that is in it, blanks as one."""

    tag: str
    attributes: dict[str, str]
    inside: list["Element"] = field(default_factory=list)
    pieces: list["str | Element"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(p if isinstance(p, str) else f" {p.text} "
                                for p in self.pieces).split())  # fmt: skip

    def all(self, tag: str = "", **attributes: str) -> list["Element"]:
        """Those below it with a tag and attributes; `cls`: one of their classes."""
        wanted = attributes.pop("cls", "")
        found = []
        for e in self.inside:
            if (
                tag in ("", e.tag)
                and (not wanted or wanted in e.attributes.get("class", "").split())
                and all(e.attributes.get(k.replace("_", "-")) == v for k, v in attributes.items())
            ):
                found.append(e)
            found += e.all(tag, **attributes, **({"cls": wanted} if wanted else {}))
        return found

    def one(self, tag: str = "", **attributes: str) -> "Element":
        (only,) = self.all(tag, **attributes)
        return only

    @property
    def values(self) -> list[float]:
        """Of the <data> in it."""
        return [float(d.attributes["value"]) for d in self.all("data")]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {k: v or "" for k, v in attrs})
        self.open[-1].inside.append(element)
        self.open[-1].pieces.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> at {self.getpos()} ends {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].pieces.append(data)


def parsed(text: str) -> Element:
    """The elements of a page; fails where they are not nested properly."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader.open) == 1, [e.tag for e in reader.open]
    return reader.root


def section(read: Element, name: str) -> Element:
    return read.one("section", aria_labelledby=name)


def missing(read: Element) -> str:
    """All that a page, or a part of it, says is not there."""
    return " ".join(p.text for p in read.all("p", cls="missing"))


def record() -> dict[str, Any]:
    """The last record of the timing model."""
    path = latest_record(ROOT)
    assert path is not None
    found: dict[str, Any] = read_json(path)
    return found
