# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which a recipe is made, what is written, and what the command says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tuning_lines import BOARD, WHEN, result

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import recipe as verb
from daedalus.generator.cli.main import cli
from daedalus.generator.tuning import compare, entries, journal, overnight, recipe, rules
from daedalus.generator.tuning.entries import Entry, Mixed, Result, described
from daedalus.generator.tuning.fingerprint import Fingerprint, fnv64, of_model
from daedalus.generator.tuning.overnight import Settings
from daedalus.generator.tuning.recipe import Recipe
from daedalus.generator.tuning.rules import CPU, HELPER, QPU, Span, bands, ratio

PI = BOARD
MODEL = of_model("BCM2712", "profiles 12", "gcc 14.2", PI.generator)
NEON, C = "vp9_idct8__neon_full", "vp9_idct8__c_full"
GLSL, CODE = "vp9_idct8__glsl_full_p2_word", "vp9_idct8__qpu_full_p8_word_keep"
PLAIN = "vp9_idct8__glsl_full_p2"
GIVEN, DC = "vp9_idct8__neon_full_assumesum16", "vp9_idct8__c_dc"
MC_NEON = "vp9_mc_8h__neon_rows8"
LPF_NEON, LPF_GLSL, LPF_CODE = (
    f"vp9_lpf4_h__{s}" for s in ("neon_full_early", "glsl_full_p2", "qpu_full_p8_word")
)
_CLASSES = {
    "vp9_idct8": {"dc": {"eob": [1, 1]}, "eob12": {"eob": [2, 12]}, "full": {}},
    "vp9_lpf4_h": {"full": {}},
    "vp9_mc_8h": {"rows8": {"rows": [8, 8]}, "full": {}},
}


def _variant(options: str) -> dict[str, Any]:
    target, class_name, *_ = options.partition("__")[2].split("_")
    return {
        "name": f"daedalus_{options}", "target": target, "class": class_name,
        "prod": options != GIVEN, "input_hash": fnv64(options.encode()),
        "rank": {"neon": 100, "c": 500}.get(target, 900) + (class_name == "full"),
    }  # fmt: skip


MANIFEST = {
    "generator": PI.generator,
    "kernels": [
        {
            "id": kernel,
            "classes": [{"name": n, "when": w} for n, w in classes.items()],
            "variants": [
                _variant(s)
                for s in (NEON, C, GLSL, CODE, PLAIN, GIVEN, DC, MC_NEON, LPF_NEON, LPF_GLSL,
                          LPF_CODE)
                if s.startswith(f"{kernel}__")
            ],
        }
        for kernel, classes in _CLASSES.items()
    ],
}  # fmt: skip
LIBRARY = recipe.library_of(MANIFEST)


def timed(
    options: str, low: float, high: float, *, item_class: str = "full", workgroup: int = 0,
    compiler: str = "gcc", items: int = 4096, board: Fingerprint = PI, **more: Any,
) -> Result:  # fmt: skip
    """A result with that interval, of a variant that the manifest has."""
    name = f"daedalus_{options}"
    kernel, _, how = options.partition("__")
    target = how.partition("_")[0]
    route = {"glsl": "vulkan", "qpu": "drm"}.get(target, "-")
    on_cpu = route == "-"
    if target == "glsl" and not workgroup:
        workgroup = 64
    text = f"{kernel}/{item_class}/{name}/{compiler if on_cpu else '-'}/{route}/{workgroup}"
    modelled = board.modelled
    kind = "model" if modelled else "m3" if on_cpu else "m2"
    values = {
        "fingerprint": board.id, "items": items, "modelled": modelled, "low": low, "high": high,
        "median": (low + high) / 2, "input_hash": LIBRARY.variants[name].input_hash, **more,
    }  # fmt: skip
    return result(text, f"{kind} items={items}", **values)


def mixed(
    cpu: Result, qpu: Result, *, kept: float, gives: float, threads: int = 3, core: float = 1e7,
    time: float = 0.9,
) -> Mixed:  # fmt: skip
    """M4: the CPU keeps a share, and takes a share of its time; the QPU gives a share of `core`
    items a second."""
    names = [e.point.partition("/")[0] for e in (cpu, qpu)]
    text = f"m4 cpu={names[0]} qpu={names[1]} threads={threads} core=3 seconds=6"
    return Mixed(
        fingerprint=PI.id, key=entries.mixed_key(cpu.point, qpu.point, text), scenario=text,
        cpu_point=cpu.point, qpu_point=qpu.point, verdict="ok", threads=threads, qpu_core=3,
        duration=6.0, cpu_alone=threads * 1e7, cpu_with=kept * threads * 1e7, qpu_alone=core,
        qpu_with=gives * core, cpu_time=0.01 * time, cpu_time_alone=0.01, samples=3, when=WHEN,
    )  # fmt: skip


def make(*found: Entry, **more: str) -> Recipe:
    (side,) = compare.sides(
        [*(described(b) for b in (PI, MODEL)), *(e for e in found if isinstance(e, Result))]
    ).values()
    return recipe.make(side, [e for e in found if isinstance(e, Mixed)], LIBRARY, **more)


def only(*found: Entry, **more: str) -> rules.Decision:
    (decision,) = make(*found, **more).decisions
    return decision


# -------------------------------------------------------------------- the rules


def test_the_bands_are_the_published_ones() -> None:
    ends = {1.0: "GREEN", 0.999: "YELLOW", 0.5: "YELLOW", 0.499: "ORANGE", 0.1: "ORANGE",
            0.099: "RED", 0.0: "RED", 7.0: "GREEN"}  # fmt: skip
    assert {r: rules.band_of(r) for r in ends} == ends
    assert bands(Span(0.4, 0.6, 1.2)) == "ORANGE..GREEN"
    r = ratio(Span(90, 100, 110), Span(180, 200, 220))
    assert (r.low, r.mid, r.high) == (90 / 220, 0.5, 110 / 180)


# Intervals of the QPU beside 100 ns (98..102) on the CPU, of a measurement and of a model.
@pytest.mark.parametrize(
    ("qpu", "board", "substrate", "verdict"),
    [
        ((70, 80), PI, QPU, "GREEN"),
        ((70, 98), PI, QPU, "GREEN"),  # R is 1 at least
        ((70, 99), PI, CPU, "tie"),
        ((100, 110), PI, CPU, "tie"),
        ((103, 110), PI, CPU, "YELLOW"),
        ((190, 210), PI, CPU, "ORANGE..YELLOW"),
        ((300, 310), PI, CPU, "ORANGE"),
        ((2000, 2010), PI, CPU, "RED"),
        ((70, 80), MODEL, QPU, "GREEN"),
        ((70, 99), MODEL, CPU, "undecided: measure on a Pi"),
        ((102, 400), MODEL, CPU, "undecided: measure on a Pi"),
        ((103, 400), MODEL, CPU, "ORANGE..YELLOW"),  # below 1 whatever holds
    ],
)
def test_r_decides(
    qpu: tuple[float, float], board: Fingerprint, substrate: str, verdict: str
) -> None:
    d = only(timed(NEON, 98, 102, board=board), timed(GLSL, *qpu, board=board))
    assert (d.substrate, d.verdict) == (substrate, verdict)
    assert d.chosen.point.split("/")[2] == f"daedalus_{GLSL if substrate == QPU else NEON}"
    assert d.other is not None and d.other is not d.chosen
    how = "modelled" if board is MODEL else "measured"
    assert d.reason.startswith("R ") and f"{verdict}, {how}: QPU " in d.reason
    if verdict in ("YELLOW", "ORANGE", "RED"):
        assert d.reason.endswith("M4 would decide, and there is none: the CPU")


MC = timed(MC_NEON, 30, 31, item_class="rows8")


@pytest.mark.parametrize(
    ("beside", "kept", "gives", "substrate", "verdict"),
    [
        (MC, 0.951, 0.501, QPU, "YELLOW"),
        (MC, 0.94, 0.6, HELPER, HELPER),  # the CPU pays for it
        (MC, 0.99, 0.49, HELPER, HELPER),  # and here it gives too little: 0.99 + 0.49 / 3
        (MC, 0.95, 0.29, CPU, "YELLOW"),  # 1.047 of the CPU alone
        (MC, 0.5, 0.6, CPU, "YELLOW"),
        (None, 0.99, 0.9, HELPER, HELPER),  # the same kernel never moves the work
        (None, 0.9, 0.3, CPU, "YELLOW"),
    ],
)
def test_m4_decides_below_green(
    beside: Result | None, kept: float, gives: float, substrate: str, verdict: str
) -> None:
    cpu, qpu = timed(NEON, 99, 101), timed(GLSL, 120, 125)
    d = only(cpu, qpu, mixed(beside or cpu, qpu, kept=kept, gives=gives))
    assert (d.substrate, d.verdict) == (QPU if substrate == QPU else CPU, verdict)
    assert d.mixed is not None and d.mixed.verdict == substrate
    assert d.reason.endswith(f": {substrate}") and f"keeps {kept:.0%}" in d.reason
    assert ("the same kernel" in d.reason) == (beside is None)


def test_which_lines_of_m4_count() -> None:
    cpu, qpu = timed(NEON, 99, 101), timed(GLSL, 120, 125)
    code = timed(CODE, 130, 131)
    good, bad = {"kept": 0.99, "gives": 0.6}, {"kept": 0.5, "gives": 0.1}
    same = mixed(cpu, qpu, kept=0.5, gives=0.1)
    few = mixed(MC, qpu, **bad, threads=1)
    assert only(cpu, qpu, mixed(MC, qpu, **good), same, few).substrate == QPU
    worse = mixed(timed(LPF_NEON, 9, 10), qpu, kept=0.9, gives=0.7)
    assert only(cpu, qpu, mixed(MC, qpu, **good), worse).verdict == HELPER
    assert only(cpu, qpu, mixed(MC, code, **good)).mixed is None  # by another route
    costly = mixed(MC, qpu, **good, time=0.96)  # the caller is as busy as with the work itself
    assert only(cpu, qpu, costly).verdict == HELPER
    assert only(cpu, qpu, mixed(MC, qpu, kept=1.06, gives=0.6)).mixed is None  # disturbed
    lost = replace(mixed(MC, qpu, **good), verdict="lost", reason="gone",
                   **dict.fromkeys(Mixed.figures))  # fmt: skip
    assert only(cpu, qpu, lost).mixed is None
    # Other shapes stand in for the chosen one only where it has no line itself.
    plain = timed(PLAIN, 200, 210)
    assert only(cpu, qpu, plain, mixed(MC, plain, **good)).substrate == QPU
    assert only(cpu, qpu, plain, mixed(MC, plain, **good), mixed(MC, qpu, **bad)).substrate == CPU
    # A GREEN kernel has no use for M4, a modelled one no M4.
    assert only(cpu, timed(GLSL, 50, 60), mixed(MC, qpu, **bad)).mixed is None


@pytest.mark.parametrize("older", [*entries.MIXED_CODE[1:], ""])
def test_m4_of_other_code_neither_counts_nor_blames(older: str) -> None:
    cpu, qpu, instead = timed(NEON, 99, 101), timed(GLSL, 120, 125), timed(NEON, 99, 101)
    points = (MC, qpu, instead)
    hashes = dict(zip(entries.MIXED_CODE[1:], (p.input_hash for p in points), strict=True))
    code = {"instead_point": instead.point, **hashes, **({older: "0" * 16} if older else {})}
    of = (MC.point, qpu.point)
    line = mixed(MC, qpu, kept=0.99, gives=0.6)
    line = replace(
        line,
        **code,
        key=entries.mixed_key(*of, line.scenario, *(code[n] for n in entries.MIXED_CODE)),
    )
    assert only(cpu, qpu, line).substrate == (CPU if older else QPU)
    reason = f"daedalus_{GLSL}: item 3 differs"
    wrong = replace(line, verdict="wrong", reason=reason, **dict.fromkeys(Mixed.figures))
    assert bool(make(cpu, qpu, wrong).wrong) is not bool(older)


def test_m4_is_measured_where_r_does_not_decide() -> None:
    found = make(
        timed(NEON, 99, 101), timed(GLSL, 50, 60), timed(LPF_NEON, 9, 10), timed(LPF_GLSL, 30, 31),
        timed(MC_NEON, 5, 6, item_class="rows8"), timed(C, 20, 21, item_class="dc"),
    )  # fmt: skip
    jobs = overnight.together(found, Settings(mixed_seconds=2, items=64))
    words = [dict(zip(job.words[::2], job.words[1::2], strict=True)) for job in jobs]
    # GREEN is decided, the others have no QPU; beside another kernel, then beside itself.
    assert ["vp9_lpf4_h" in w["--qpu-kernel"] for w in words] == [True, True]
    assert words[0]["--cpu-kernel"].startswith("vp9_idct8/full/")
    assert words[1]["--cpu-kernel"].startswith("vp9_lpf4_h/full/")
    for w in words:
        assert (w["--duration"], w["--items"], w["--scenario"]) == ("2", "64", "m4")


@pytest.mark.parametrize("gives", [0.9, 0.3, 0.01])
@pytest.mark.parametrize("n", [1, 2])
def test_what_m4_says_does_not_change_what_is_asked_of_it(gives: float, n: int) -> None:
    """So that the same command, given again, asks for the same run, wherever that was left."""
    cpu, other = timed(NEON, 99, 101), timed(LPF_NEON, 9, 10)
    glsl, code = timed(GLSL, 120, 121), timed(CODE, 125, 126)
    found = (cpu, other, glsl, code, timed(LPF_GLSL, 30, 31), timed(LPF_CODE, 30, 32))
    first = make(*found)
    lines = [mixed(c, glsl, kept=0.99, gives=gives) for c in (other, cpu)][:n]
    again = make(*found, *lines)
    assert any(d.mixed is not None for d in again.decisions)
    jobs = overnight.together(first, Settings())
    assert len(jobs) == 4 and overnight.together(again, Settings()) == jobs


# ----------------------------------------------------------------- the candidates


def test_the_simplest_of_a_tie_wins() -> None:
    d = only(timed(NEON, 90, 100), timed(C, 99, 110), timed(GLSL, 50, 60, workgroup=256),
             timed(GLSL, 58, 62, workgroup=64), timed(PLAIN, 60.5, 63))  # fmt: skip
    assert d.cpu.point.split("/")[2] == f"daedalus_{C}"
    assert d.qpu is not None and d.qpu.point.endswith("/64")  # the plain one does not overlap


def test_a_point_that_was_ever_wrong_is_never_chosen() -> None:
    bad = timed(NEON, 10, 11)
    wrong = timed(NEON, 0, 1, items=64, verdict="wrong", reason="item 3 differs")
    d = only(bad, wrong, timed(C, 99, 101))
    assert d.cpu.point.split("/")[2] == f"daedalus_{C}"


def test_a_time_after_a_wrong_result_does_not_undo_it() -> None:
    wrong = timed(NEON, 0, 1, verdict="wrong", reason="item 3 differs")
    later = timed(NEON, 10, 11, when="2026-11-23T12:00:00Z")
    for found in ((wrong, later), (later, wrong)):
        d = only(*found, timed(C, 99, 101))
        assert d.cpu.point.split("/")[2] == f"daedalus_{C}"
        assert d.reason.endswith(f"; found wrong and never chosen: {later.point}")
    made = make(wrong, later)  # nothing else there: no choice, and why
    assert not made.decisions
    assert later.point in made.undecided["vp9_idct8", "full"]
    assert "full: no choice: nothing right was measured on the CPU; " in recipe.text_of(made)
    elsewhere = timed(NEON, 0, 1, verdict="wrong", reason="of older code", input_hash="0" * 16)
    assert only(later, elsewhere).cpu == later


@pytest.mark.parametrize(("blames", "out"), [(GLSL, {GLSL}), (NEON, {NEON}), ("", {GLSL, NEON})])
def test_a_point_that_was_wrong_in_m4_is_never_chosen(blames: str, out: set[str]) -> None:
    cpu, qpu = timed(NEON, 99, 101), timed(GLSL, 50, 60)
    line = replace(
        mixed(cpu, qpu, kept=1, gives=1), verdict="wrong",
        reason=f"daedalus_{blames}: item 3 differs" if blames else "item 3 differs",
        **dict.fromkeys(Mixed.figures),
    )  # fmt: skip
    d = only(cpu, qpu, timed(C, 200, 201), timed(PLAIN, 300, 301), line)
    assert d.cpu.point.split("/")[2] == f"daedalus_{C if NEON in out else NEON}"
    assert d.qpu is not None
    assert d.qpu.point.split("/")[2] == f"daedalus_{PLAIN if GLSL in out else GLSL}"
    assert "found wrong and never chosen: " in d.reason
    other = replace(line, fingerprint=MODEL.id)  # another machine says nothing of this one
    assert only(cpu, qpu, other).qpu == qpu


@pytest.mark.parametrize("known", [True, False])
def test_what_m4_blames_may_be_neither_of_its_points(known: bool) -> None:
    """A third job does the QPU's kernel on the CPU; a name that is none blames both points."""
    cpu, third = timed(MC_NEON, 99, 101, item_class="rows8"), timed(LPF_NEON, 40, 41)
    qpu, plain = timed(LPF_GLSL, 50, 60), timed(LPF_CODE, 70, 80)
    line = replace(
        mixed(cpu, qpu, kept=1, gives=1), verdict="wrong",
        reason=f"daedalus_{LPF_NEON if known else 'vp9_lpf4_h__old'}: item 3 differs",
        **dict.fromkeys(Mixed.figures),
    )  # fmt: skip
    found = make(cpu, third, qpu, plain, line).wrong
    mc, lpf = ("vp9_mc_8h", "rows8"), ("vp9_lpf4_h", "full")
    assert found == ({lpf: [third.point]} if known else {mc: [cpu.point], lpf: [qpu.point]})


@pytest.mark.parametrize("verdict", entries.AGAIN)
def test_a_result_that_says_nothing_hides_none(verdict: str) -> None:
    good = timed(NEON, 10, 11)
    later = timed(NEON, 0, 1, verdict=verdict, reason="gone", when="2026-11-23T12:00:00Z")
    older = replace(later, when="2026-11-21T12:00:00Z")
    for found in ((good, later), (later, good), (older, good), (good, older)):
        assert only(*found, timed(C, 99, 101)).cpu == good
        (side,) = compare.sides([described(PI), *found]).values()
        assert list(side.results.values()) == [good]
    (side,) = compare.sides([described(PI), older, later]).values()
    assert list(side.results.values()) == [later]


def test_points_without_times_are_no_candidates() -> None:
    spilled = timed(GLSL, 1, 2, verdict="spills", reason="registers")
    d = only(timed(NEON, 99, 101), spilled)
    assert (d.substrate, d.verdict, d.qpu) == (CPU, rules.ONLY_CPU, None)
    assert "nothing of the QPU" in d.reason
    made = make(timed(C, 99, 101), timed(LPF_GLSL, 1, 2))
    assert [d.kernel for d in made.decisions] == ["vp9_idct8"]
    assert made.undecided == {("vp9_lpf4_h", "full"): "nothing right was measured on the CPU"}


def test_like_is_compared_with_like() -> None:
    """Sides are compared at the largest number of items that both were given."""
    found = [
        timed(NEON, 99, 101, items=4096), timed(NEON, 49, 51, items=64),
        timed(GLSL, 80, 81, items=4096), timed(GLSL, 10, 11, items=65536),
    ]  # fmt: skip
    d = only(*found)
    assert (d.cpu.items, d.qpu.items if d.qpu else 0) == (4096, 4096)
    assert "items on the" not in d.reason
    made = make(found[1], found[3])  # nothing in common: no R, and no choice
    assert not made.decisions
    why = "no R, as no number of items was measured on both: CPU 64, QPU 65536"
    assert made.undecided == {("vp9_idct8", "full"): why}
    assert f"# vp9_idct8 full: no choice: {why}\n" in recipe.text_of(made)
    modelled = [timed(NEON, 99, 101, items=8, board=MODEL),
                timed(GLSL, 10, 11, items=32640, board=MODEL)]  # fmt: skip
    assert only(*modelled).reason.endswith("; of 32640 items on the QPU, 8 on the CPU")


def test_one_compiler_makes_the_library() -> None:
    fast, slow = timed(NEON, 10, 11, compiler="clang"), timed(NEON, 99, 101)
    made = make(fast, slow)
    assert made.compiler == "gcc" and made.decisions[0].cpu == slow
    assert only(fast, slow, compiler="clang").cpu == fast
    assert only(fast).cpu == fast


def test_one_route_is_taken() -> None:
    found = [
        timed(NEON, 99, 101), timed(LPF_NEON, 99, 101),
        timed(GLSL, 80, 81), timed(LPF_GLSL, 200, 210),
        timed(CODE, 90, 91), timed(LPF_CODE, 90, 91),
    ]  # fmt: skip
    made = make(*found)
    assert made.route == "drm" and all(d.substrate == QPU for d in made.decisions)
    own = make(*found, route="vulkan")
    assert [d.substrate for d in own.decisions] == [QPU, CPU]
    assert make(*found[:3], found[4]).route == "vulkan"  # one each: the faster
    assert make(*found[:2], found[4], found[5]).route == "drm"
    assert make(found[0], timed(CODE, 400, 410)).decisions[0].qpu is not None  # nothing by Vulkan


def test_only_what_the_library_has_is_chosen() -> None:
    made = make(timed(NEON, 99, 101), timed(GIVEN, 50, 51))
    assert made.decisions[0].cpu.point.split("/")[2] == f"daedalus_{NEON}"
    assert made.faster["vp9_idct8", "full"].point.split("/")[2] == f"daedalus_{GIVEN}"
    assert "not in libdaedalus.a" in recipe.text_of(made)
    assert not make(timed(NEON, 99, 101), timed(GIVEN, 100, 102)).faster
    changed = timed(C, 1, 2, input_hash="0" * 16)
    narrow = timed(DC, 1, 2, item_class="eob12")  # not made for such items
    made = make(timed(NEON, 99, 101), changed, narrow)
    assert set(made.foreign) == {narrow.point, changed.point}
    assert len(made.decisions) == 1
    wide = make(timed(C, 1, 2, item_class="dc"))
    assert wide.decisions[0].item_class == "dc" and not wide.foreign


def test_a_class_is_left_alone_until_what_goes_first_was_measured_on_it() -> None:
    """Without a recipe NEON for any items does a class that NEON has nothing of its own for."""
    neon, own = timed(NEON, 99, 101), timed(DC, 50, 51, item_class="dc")
    made = make(neon, own)
    assert [d.item_class for d in made.decisions] == ["full"]
    why = f"daedalus_{NEON}, which goes first, was not measured on it"
    assert made.undecided == {("vp9_idct8", "dc"): why}
    assert f"# vp9_idct8 dc: no choice: {why}\n" in recipe.text_of(made)
    both = make(neon, own, timed(NEON, 20, 21, item_class="dc"))
    assert not both.undecided
    assert both.decisions[0].cpu.point.split("/")[1:3] == ["dc", f"daedalus_{NEON}"]


# ------------------------------------------------------------------- the command


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of this file stands for that in generated/."""
    monkeypatch.setattr(verb, "generated_library", lambda: LIBRARY)


def write(path: Path, *found: Entry) -> Path:
    journal.append(path, *found)
    return path


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(cli, ["recipe", *map(str, words)], prog_name="daedalus")


def refusal(*words: str | Path) -> str:
    found = run(*words).exception
    assert isinstance(found, UserError) and found.exit_code == 2 and found.hint
    return found.message


def test_the_text_is_what_the_runtime_reads(tmp_path: Path) -> None:
    pi = replace(PI, soc="Pi 5 ü")
    found = [timed(NEON, 99, 101, board=pi), timed(GLSL, 50, 60, board=pi, workgroup=128)]
    file = write(tmp_path / "j", described(pi), *found)
    out = tmp_path / "sub" / "recipe"
    ran = run("--journal", file, "--output", out)
    assert ran.exit_code == 0, ran.output
    lines = out.read_text(encoding="ascii").splitlines()
    assert lines[:2] == ["daedalus-recipe 1", f"generator {PI.generator}"]
    assert lines[2].startswith(f"fingerprint {pi.id} Pi 5 ?, revision ")
    records = [line for line in lines if line.startswith(("choose", "other"))]
    reason = "R 1.82 (1.65..2.02) GREEN, measured: QPU 55.0 (50.0..60.0) ns an item, CPU 100 "
    reason += "(99.0..101)"
    assert records == [
        f"choose vp9_idct8 full qpu daedalus_{GLSL} vulkan 128 ; {reason}",
        f"other vp9_idct8 full cpu daedalus_{NEON} - 0 ; best on its substrate; {reason}",
    ]
    assert f"# by daedalus's own bounds of M4: {rules.M4}" in lines
    assert any(found[0].point in line for line in lines if line.startswith("#"))
    for said in ("vp9_idct8  full   QPU by vulkan", "1.82 (1.65..2.02)", "GREEN", reason, str(out),
                 "1 classes, 1 on the QPU"):  # fmt: skip
        assert said in ran.stdout
    told = json.loads(run("--journal", file, "--output", out, "--json").stdout)
    assert told["decisions"][0]["substrate"] == "qpu" and told["recipe"] == str(out)
    assert told["decisions"][0]["chosen"] == found[1].point


def test_machines_are_never_mixed(tmp_path: Path) -> None:
    model = timed(NEON, 9, 10, board=MODEL)
    file = write(tmp_path / "j", described(PI), described(MODEL), timed(C, 99, 101), model)
    said = refusal("--journal", file)
    assert "never mixed" in said and PI.id in said and MODEL.id in said
    out = tmp_path / "recipe"
    for board, options in ((PI, C), (MODEL, NEON)):
        ran = run("--journal", file, "--output", out, "--fingerprint", board.id[:6])
        assert ran.exit_code == 0 and f"daedalus_{options} " in out.read_text()
    assert "holds no results under 12345" in refusal("--journal", file, "--fingerprint", "12345")


def test_of_two_compilers_one_is_taken(tmp_path: Path) -> None:
    clang = replace(PI, compiler="clang 19.1")
    times = [timed(C, 99, 101), timed(NEON, 9, 10, compiler="clang", board=clang)]
    file, out = write(tmp_path / "j", described(PI), described(clang), *times), tmp_path / "recipe"
    for words, board in (((), PI), (("--compiler", "clang"), clang), (("--compiler", "gcc"), PI)):
        ran = run("--journal", file, "--output", out, *words)
        assert ran.exit_code == 0 and f"fingerprint {board.id} " in out.read_text()


def test_what_the_qpu_took_holds_for_every_compiler(tmp_path: Path) -> None:
    """Measured by the program of one compiler; what belongs to another machine does not."""
    clang = replace(PI, compiler="clang 19.1")
    stranger = replace(PI, compiler="clang 19.1", kernel="Linux 5")
    cpu, fast = timed(NEON, 99, 101), timed(NEON, 98, 99, compiler="clang", board=clang)
    gpu, code = timed(GLSL, 50, 60, workgroup=128), timed(CODE, 70, 80)
    other = timed(GLSL, 1, 2, workgroup=32, board=stranger)
    lines = [described(b) for b in (PI, clang, stranger)]
    file, out = write(tmp_path / "j", *lines, cpu, gpu, code, fast, other), tmp_path / "recipe"

    def chosen(*words: str) -> tuple[str, str | None]:
        ran = run("--journal", file, "--output", out, "--json", *words)
        assert ran.exit_code == 0, ran.output
        (decision,) = json.loads(ran.stdout)["decisions"]
        return decision["chosen"], decision["other"]

    assert chosen("--compiler", "clang", "--fingerprint", clang.id) == (gpu.point, fast.point)
    text = out.read_text()
    assert f"fingerprint {clang.id} " in text
    assert f"# QPU measured under {PI.id}, which differs in the compiler alone" in text
    assert chosen("--fingerprint", clang.id, "--route", "drm") == (code.point, fast.point)
    assert chosen("--fingerprint", PI.id) == (gpu.point, cpu.point)
    assert "QPU measured under" not in out.read_text()
    # The later result of the same point counts if it says something, and what was wrong once is
    # wrong for both.
    again = timed(GLSL, 30, 31, workgroup=128, board=clang, when="2026-11-23T12:00:00Z")
    lost = timed(GLSL, 1, 2, workgroup=128, board=clang, verdict="lost", reason="gone",
                 when="2026-11-24T12:00:00Z")  # fmt: skip
    write(file, again, lost)
    assert chosen("--fingerprint", PI.id)[0] == gpu.point and "R 3.28" in out.read_text()
    write(file, timed(GLSL, 1, 2, workgroup=128, verdict="wrong", reason="item 3 differs"))
    assert chosen("--fingerprint", clang.id)[0] == code.point
    bad = mixed(cpu, code, kept=1, gives=1)
    none: dict[str, Any] = {n: None for n in Mixed.figures}
    write(file, replace(bad, verdict="wrong", reason="both differ", **none))
    assert chosen("--fingerprint", clang.id) == (fast.point, None)


def test_journals_that_give_no_recipe(tmp_path: Path) -> None:
    assert "there is no journal" in refusal("--journal", tmp_path / "none")
    empty = write(tmp_path / "empty")
    empty.touch()
    assert "holds no results" in refusal("--journal", empty)
    failed = timed(NEON, 1, 2, verdict="failed", reason="no")
    file = write(tmp_path / "failed", described(PI), failed)
    assert "no result with a time on the CPU" in refusal("--journal", file)
    other = replace(PI, generator="ffff")
    old = write(tmp_path / "old", described(other), timed(NEON, 1, 2, board=other))
    said = refusal("--journal", old)
    assert "ffff" in said and PI.generator in said
    bare = write(tmp_path / "bare", timed(NEON, 1, 2))
    assert "no line describes the fingerprint" in refusal("--journal", bare)


def test_lines_with_problems_are_told(tmp_path: Path) -> None:
    file = write(tmp_path / "j", described(PI), timed(NEON, 99, 101))
    with file.open("ab") as f:
        f.write(b"{torn\n")
    ran = run("--journal", file, "--output", tmp_path / "recipe")
    assert ran.exit_code == 0 and f"warning: {file}:3: torn" in ran.stderr
