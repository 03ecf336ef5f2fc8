# SPDX-License-Identifier: BSD-2-Clause
"""What is made of journals: merged, compared, exported, shown."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
from click.testing import CliRunner
from click.testing import Result as Ran
from t4_schema import t4_results_schema
from tuning_lines import BOARD, NEON, QPU, every_type, result

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli.main import cli
from daedalus.generator.host import native
from daedalus.generator.tuning import compare, cpu_program, entries, export, journal, model_device
from daedalus.generator.tuning.best import best
from daedalus.generator.tuning.entries import Entry, Result, described
from daedalus.generator.tuning.fingerprint import of_model
from daedalus.generator.tuning.merge import merge

GLSL = "vp9_idct8/full/daedalus_vp9_idct8__glsl_full_p2_word/-/vulkan/{}"
MODEL = of_model("BCM2712", "profiles 12", "gcc 14.2", BOARD.generator)


def write(path: Path, *found: Entry) -> Path:
    journal.append(path, *found)
    return path


def tune(*words: str | Path) -> Ran:
    return CliRunner().invoke(cli, ["tune", *map(str, words)], prog_name="daedalus")


def told(*words: str | Path) -> Any:
    ran = tune(*words, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def timed(median: float, half: float = 0.5, **more: Any) -> Result:
    return result(median=median, low=median - half, high=median + half, **more)


def test_merging_is_a_union_in_a_stable_order(tmp_path: Path) -> None:
    every = every_type()
    one, other = write(tmp_path / "1", *every[:4]), write(tmp_path / "2", *every[2:])
    out = tmp_path / "out"
    done = merge(out, [one, other])
    assert (done.added, done.known, done.conflicts) == (len(every), 2, ())
    assert journal.read(out).entries == tuple(every)
    before = out.read_bytes()
    assert merge(out, [other, one]).added == 0 and out.read_bytes() == before
    again = tmp_path / "again"
    merge(again, [one, other])
    assert again.read_bytes() == before


def test_merging_loses_nothing(tmp_path: Path) -> None:
    """Lines with problems stay in their files; one that was torn is not glued to the next."""
    one = write(tmp_path / "1", result())
    out = tmp_path / "out"
    torn = journal.line_of(result(QPU, "m2 items=1"))[:80]
    out.write_bytes(b"scribble\n" + torn)
    with one.open("ab") as f:
        f.write(b"more\n")
    ran = tune("merge", out, one)
    assert ran.exit_code == 0 and "1 lines added, 0 were there, 3 skipped" in ran.stdout
    for place in (f"{out}:1", f"{out}:2", f"{one}:2"):
        assert f"warning: {place}: torn, or no journal's" in ran.stderr
    assert out.read_bytes() == b"scribble\n" + torn + b"\n" + journal.line_of(result())


def test_a_conflict_is_told(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1", timed(90.0)), write(tmp_path / "2", timed(91.0))
    found = told("merge", tmp_path / "out", one, other)
    assert (found["added"], found["known"]) == (1, 1)
    assert f"{other}:1: the same result at the same time as {one}:1" in found["conflicts"][0]
    assert journal.read(tmp_path / "out").entries == (timed(90.0),)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for words in (
        ("merge", tmp_path / "out", tmp_path / "none"), ("show", "--journal", tmp_path / "none"),
        ("compare", tmp_path / "none", tmp_path / "none"),
    ):  # fmt: skip
        ran = tune(*words)
        assert isinstance(ran.exception, UserError) and "there is no journal" in str(ran.exception)
    assert not (tmp_path / "out").exists()


def test_comparing(tmp_path: Path) -> None:
    """Ratios with their intervals; what overlaps is a tie."""
    at = {n: f"m3 items={n}" for n in range(1, 6)}
    a = [timed(100.0, 1.0, scenario=at[n]) for n in range(1, 5)]
    b = [
        timed(101.5, 1.0, scenario=at[1]), timed(50.0, 1.0, scenario=at[2]),
        timed(102.5, 1.0, scenario=at[3]),
        result(scenario=at[4], verdict="wrong", reason="item 3"), timed(1.0, scenario=at[5]),
    ]  # fmt: skip
    newer = timed(25.0, 1.0, scenario=at[2], when="2026-11-23T00:00:00Z")
    one = write(tmp_path / "1", described(BOARD), *a)
    other = write(tmp_path / "2", newer, *b)
    found = told("compare", one, other)
    assert [p["says"] for p in found["points"]] == ["tie", "faster", "slower", "ok -> wrong"]
    quarter = found["points"][1]
    assert quarter["b"] == 25.0 and quarter["ratio"] == 0.25
    assert (quarter["low"], quarter["high"]) == (24 / 101, 26 / 99)
    assert "ratio" not in found["points"][3]
    assert found["only_b"] == [{"point": NEON, "scenario": at[5]}] and not found["only_a"]
    text = tune("compare", one, other).stdout
    assert f"both: {BOARD.id} (BCM2712, revision d04170" in text
    assert "1 faster, 1 slower, 1 tie, 1 ok -> wrong" in text


def test_machines_are_named_and_not_mixed(tmp_path: Path) -> None:
    other_board = replace(BOARD, clocks="2800 MHz")
    mine = write(tmp_path / "1", described(BOARD), timed(90.0))
    faster = timed(80.0, fingerprint=other_board.id)
    both = write(tmp_path / "2", described(other_board), described(BOARD), faster, timed(91.0))
    ran = tune("compare", mine, both)
    assert isinstance(ran.exception, UserError)
    assert "holds results under several" in ran.exception.message
    assert "2800 MHz" in ran.exception.message and "--b-fingerprint" in ran.exception.hint
    ran = tune("compare", mine, both, "--b-fingerprint", other_board.id[:6])
    assert f"A: {BOARD.id}" in ran.stdout and f"B: {other_board.id}" in ran.stdout
    found = told("compare", mine, both, "--b-fingerprint", BOARD.id)
    assert found["a"]["fingerprint"] == found["b"]["fingerprint"] == BOARD.id
    assert found["points"][0]["says"] == "tie"


def test_modelled_never_meets_measured_silently(tmp_path: Path) -> None:
    model = timed(90.0, modelled=True, fingerprint=MODEL.id, verified_after=False)
    modelled = write(tmp_path / "1", described(MODEL), model)
    measured = write(tmp_path / "2", described(BOARD), timed(90.0))
    ran = tune("compare", modelled, measured)
    assert isinstance(ran.exception, UserError)
    assert f"the results of {modelled} are modelled" in ran.exception.message
    assert (
        "A is modelled, the other measured"
        in tune("compare", modelled, measured, "--modelled-too").stdout
    )


def test_an_export_is_what_t4_says(tmp_path: Path) -> None:
    bad = [result(QPU, v, verdict=v, reason="why") for v in entries.VERDICTS if v != "ok"]
    good = result(GLSL.format(64), "m2 items=8160", empty=22700.0, gpu=240)
    file = write(tmp_path / "j", described(BOARD), result(), good, *bad)
    out = tmp_path / "deep" / "t4.json"
    assert told("export", "--t4", out, "--journal", file)["results"] == 2 + len(bad)
    written = json.loads(out.read_text())
    schema = t4_results_schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(written)
    kinds = schema["properties"]["results"]["items"]["properties"]["invalidity"]["enum"]
    assert {r["invalidity"] for r in written["results"]} <= set(kinds)
    broken = json.loads(out.read_text())
    broken["results"][0]["invalidity"] = "slow"
    assert not validator.is_valid(broken)

    assert written["metadata"]["fingerprint"] == {"id": BOARD.id, **vars(BOARD)}
    first, second = written["results"][:2]
    assert first["measurements"][0] == {"name": "time", "value": 93.4, "unit": "nanoseconds"}
    assert second["configuration"] == {
        "kernel": "vp9_idct8", "class": "full", "target": "glsl", "options": "glsl_full_p2_word",
        "compiler": "", "route": "vulkan", "workgroup": 64, "scenario": "m2 items=8160",
    }  # fmt: skip
    assert {m["name"] for m in second["measurements"]} >= {"empty", "gpu", "samples"}
    for r in written["results"][2:]:
        assert r["correctness"] == 0 and all(m["name"] != "time" for m in r["measurements"])


def test_every_verdict_has_a_t4_name() -> None:
    assert set(export.INVALIDITY) == set(entries.VERDICTS)


def test_the_simplest_of_a_tie_is_taken() -> None:
    plain = "vp9_idct8/full/daedalus_vp9_idct8__neon_full/{}/-/0"
    wide = "vp9_idct8/full/daedalus_vp9_idct8__neon_full_x2_dot/gcc/-/0"
    fastest = timed(90.0, 1.0, point=wide)
    found = best([
        timed(91.5, 1.0, point=plain.format("clang")), fastest,
        timed(91.9, 1.0, point=plain.format("gcc")), timed(93.0, 0.5, point=GLSL.format(64)),
    ])  # fmt: skip
    assert found.fastest is fastest and found.taken.point == plain.format("gcc")
    assert [r.point for r in found.ties] == [wide, plain.format("clang")]


def test_showing(tmp_path: Path) -> None:
    groups = [
        timed(120.0, 2.0, point=GLSL.format(64), scenario="m2 items=8"),
        timed(118.5, 2.0, point=GLSL.format(256), scenario="m2 items=8"),
        result(GLSL.format(128), "m2 items=8", verdict="refused", reason="no such size"),
        result(GLSL.format(32), "m2 items=8", verdict="refused", reason="no such size"),
        result(QPU, "m2 items=8", verdict="lost", reason="device lost"),
    ]
    modelled = timed(90.0, modelled=True, fingerprint=MODEL.id, scenario="model items=8")
    file = write(tmp_path / "j", *every_type()[:2], *groups, described(MODEL), modelled,
                 every_type()[4])  # fmt: skip
    found = told("show", "--journal", file)
    got = [(g["target"], g["best"] and g["best"]["point"], len(g["ties"]), len(g["rejected"]))
           for g in found["groups"]]  # fmt: skip
    assert got == [
        ("glsl", GLSL.format(64), 1, 2), ("neon", NEON, 0, 0), ("qpu", None, 0, 1),
        ("neon", NEON, 0, 0),
    ]  # fmt: skip
    assert [g["modelled"] for g in found["groups"]] == [False, False, False, True]
    assert len(found["mixed"]) == 1
    text = tune("show", "vp9_idct8", "--journal", file).stdout
    for piece in (
        "glsl_full_p2_word vulkan 64", "118.00..122.00", "glsl_full_p2_word vulkan 256",
        "none of 1", "rejected: 3", "     2  refused  no such size", f"modelled: {MODEL.id}",
        "CPU and QPU at once",
    ):  # fmt: skip
        assert piece in text, text
    ran = tune("show", "vp9_idct9", "--journal", file)
    assert isinstance(ran.exception, UserError) and "no kernel vp9_idct9" in str(ran.exception)
    ran = tune("show", "vp9_lpf4", "--journal", file)
    assert isinstance(ran.exception, UserError) and "holds no results" in str(ran.exception)


def test_sides_hold_the_last_result_of_a_point() -> None:
    old, new = timed(90.0, input_hash="old"), timed(50.0, when="2026-11-23T00:00:00Z")
    (side,) = compare.sides([new, old]).values()
    assert list(side.results.values()) == [new]


def test_a_modelled_result_is_of_all_that_calls_a_variant() -> None:
    """What the caller is compiled of is in one list, which the fingerprint is made of, too."""
    root, includes = repo_root(), native.library_includes()
    sources = [root / name for name in cpu_program.CALLER if name.endswith(".c")]
    words = ["gcc", "-MM", *(f"-I{i}" for i in (root / "runtime", *includes)), *sources]
    rules = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    files = {Path(w).resolve() for w in rules.replace("\\\n", " ").split() if w[-1] != ":"}
    own = {f for f in files if not any(f.is_relative_to(i.resolve()) for i in includes)}
    assert own == {(root / name).resolve() for name in cpu_program.CALLER}
    assert set(cpu_program.CALLER) <= set(model_device._MODEL)
