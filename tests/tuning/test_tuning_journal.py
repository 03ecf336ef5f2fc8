# SPDX-License-Identifier: BSD-2-Clause
"""The journal's lines: what Python writes is what the schema says, and survives what happens to
files."""

import json
import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tuning_lines import BOARD, NEON, QPU, every_type, result

from daedalus.generator.tuning import entries, journal
from daedalus.generator.tuning.entries import Entry, Result
from daedalus.generator.tuning.fingerprint import fnv64, of_model
from daedalus.generator.tuning.journal import Terms
from daedalus.generator.tuning.point import parse_point


@pytest.fixture
def schema() -> jsonschema.Draft202012Validator:
    path = Path(entries.__file__).with_name("journal.schema.json")
    found = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("entry", every_type(), ids=lambda e: e.type)
def test_lines_are_as_the_schema_says_and_read_back(
    entry: Entry, schema: jsonschema.Draft202012Validator
) -> None:
    line = journal.line_of(entry)
    assert line.startswith(b'{"v":1,"type":"') and line.endswith(b'"}\n') and line.count(b"\n") == 1
    schema.validate(json.loads(line))
    assert journal.parse_line(line[:-1]) == entry


def _changes(members: dict[str, Any]) -> list[dict[str, Any]]:
    """What differs from a good line in one member: left out, of another type or out of range."""
    changed: list[dict[str, Any]] = [{**members, "more": 1}]
    others: tuple[Any, ...] = ("", "text", 1.5, -1, True, None, [], {}, ["a"], [1, -1])
    for name in members:
        if name not in ("sum", "key", "id"):
            changed.append({n: v for n, v in members.items() if n != name})
            changed += [{**members, name: o} for o in others]
    return changed


def _signed(members: dict[str, Any]) -> bytes:
    """A line of any members, with keys and sum made right."""
    found = {n: v for n, v in members.items() if n != "sum"}
    if found.get("type") == "result":
        key = entries.result_key(*(str(found.get(n)) for n in ("point", "scenario", "input_hash")))
        found["key"] = key
    if found.get("type") == "mixed":
        names = ("cpu_point", "qpu_point", "scenario")
        code = (str(found[n]) for n in entries.MIXED_CODE if n in found)
        found["key"] = entries.mixed_key(*(str(found.get(n)) for n in names), *code)
    if found.get("type") == "check":
        parts = [found.get(n) for n in entries.CHECK_KEY]
        parts += [found[n] for n in ("code", "tools") if n in found]
        found["key"] = fnv64("|".join(map(str, parts)).encode())
    if found.get("type") == "fingerprint":
        parts = [f"{n}={v}\n" for n, v in found.items() if n not in ("v", "type", "id")]
        found["id"] = fnv64("".join(parts).encode())
    body = json.dumps(found, separators=(",", ":")).encode()[:-1]
    return body + b',"sum":"' + fnv64(body).encode() + b'"}'


# What the schema does not say: an interval holds its median, and what is timed is verified.
BEYOND = ("is not in [", "not verified before and after")


@pytest.mark.parametrize("entry", every_type(), ids=lambda e: e.type)
def test_python_and_the_schema_refuse_the_same(
    entry: Entry, schema: jsonschema.Draft202012Validator
) -> None:
    good = json.loads(journal.line_of(entry))
    refused = 0
    for members in _changes(good):
        line = _signed(members)
        legal = schema.is_valid(json.loads(line))
        refused += not legal
        try:
            journal.parse_line(line)
        except ValueError as e:
            assert not legal or any(b in str(e) for b in BEYOND), (members, e)
        else:
            assert legal, members
    assert refused > len(good)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "wrong", "reason": "x", "median": 1.0}, "verdict wrong with median"),
        ({"verdict": "wrong"}, "verdict wrong without a reason"),
        ({"median": None}, "verdict ok without median"),
        ({"median": float("nan")}, "median is nan"),
        ({"low": 94.0}, "is not in"),
        ({"verified_after": False}, "not verified before and after"),
        ({"key": "0" * 16}, "of what it names"),
        ({"when": "yesterday"}, "does not match format"),
    ],
)
def test_a_time_needs_what_makes_it_one(changes: dict[str, Any], message: str) -> None:
    values = vars(result()) | changes
    if values["verdict"] != "ok" and "median" not in changes:
        values |= {n: None for n in ("median", "mad", "low", "high")}
    elif values["verdict"] != "ok":
        values |= {n: None for n in ("mad", "low", "high")}
    with pytest.raises(ValueError, match=message):
        Result(**values)


def test_a_modelled_fingerprint_is_never_a_measured_one() -> None:
    model = of_model("BCM2712", "profiles 12", "gcc 14.2", BOARD.generator)
    assert model.modelled and not BOARD.modelled and model.id != BOARD.id
    parts = vars(BOARD)
    assert len({replace(BOARD, **{n: "other"}).id for n in parts} | {BOARD.id}) == len(parts) + 1
    with pytest.raises(ValueError, match="one line of text"):
        replace(BOARD, soc="two\nlines")


def test_bad_lines_are_reported_and_skipped(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    good = journal.line_of(result())
    changed = good.replace(b"93.4", b"13.4")
    future = _signed({"v": 2, "type": "result"})
    foreign = _signed({"v": 1, "type": "song"})
    file.write_bytes(
        b"\n".join([good[:-1], changed[:-1], future, foreign, b"not json", b"\xff\xfe", b'{"a":1}'])
        + b"\n" + good[:60]
    )  # fmt: skip
    before = file.read_bytes()
    journal.append(file, result(QPU, "m2 items=1"))
    found = journal.read(file)
    assert file.read_bytes().startswith(before + b"\n")
    assert found.entries == (result(), result(QPU, "m2 items=1"))
    assert [p.at.line for p in found.problems] == [2, 3, 4, 5, 6, 7, 8]
    told = [str(p) for p in found.problems]
    assert f"{file}:2: changed or torn" in told[0] and "version 2" in told[1]
    assert "unknown type 'song'" in told[2] and all("is skipped" in t for t in told)


def test_a_line_nested_too_deeply_is_one_bad_line(tmp_path: Path) -> None:
    """With a sum that is right."""
    file = tmp_path / "journal.jsonl"
    body = b'{"v":1,"type":' + b"[" * 200_000 + b"]" * 200_000
    deep = body + b',"sum":"' + fnv64(body).encode() + b'"}'
    file.write_bytes(b"\n".join([deep, journal.line_of(result())]))
    found = journal.read(file)
    assert found.entries == (result(),)
    assert [str(p) for p in found.problems] == [
        f"{file}:1: not a journal's: its JSON is nested too deeply; the line is skipped"
    ]


def test_any_torn_end_loses_only_its_own_line(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    first, second = journal.line_of(result()), journal.line_of(result(QPU, "m2 items=1"))
    for length in (*range(0, len(second) - 3, 17), *range(len(second) - 3, len(second))):
        file.write_bytes(first + second[:length])
        journal.append(file, result(QPU, "m2 items=2"))
        found = journal.read(file)
        whole = length >= len(second) - 1
        assert len(found.entries) == 2 + whole and len(found.problems) == (not whole and length > 0)


def _write_many(file: Path, seed: int) -> None:
    n = 0
    while True:
        journal.append(file, result(scenario=f"m3 items={n}", seeds=(seed,)))
        n += 1


def test_killed_writers_lose_at_most_the_line_in_flight(tmp_path: Path) -> None:
    """Several processes append at once, and are killed at any moment; each one's lines are whole
    and without gaps."""
    file = tmp_path / "journal.jsonl"
    context = multiprocessing.get_context("fork")
    for n in range(6):
        writers = [context.Process(target=_write_many, args=(file, 10 * n + w)) for w in range(3)]
        for w in writers:
            w.start()
        size = file.stat().st_size if file.exists() else 0
        while not file.exists() or file.stat().st_size < size + 20_000:
            os.sched_yield()
        for w in writers:
            assert w.pid is not None
            os.kill(w.pid, signal.SIGKILL)
            w.join()
    found = journal.read(file)
    assert len(found.problems) <= 18
    counted: dict[int, int] = {}
    for e in found.entries:
        assert isinstance(e, Result)
        n = counted.setdefault(e.seeds[0], 0)
        assert e.scenario == f"m3 items={n}"
        counted[e.seeds[0]] += 1
    assert sum(counted.values()) > 100


def test_what_is_not_measured_again(tmp_path: Path) -> None:
    again = [result(scenario=v, verdict=v, reason="r") for v in entries.AGAIN]
    never = [
        result(scenario=v, verdict=v, reason="r")
        for v in entries.VERDICTS
        if v not in (*entries.AGAIN, "ok")
    ]
    done = [e for e in (*again, *never, result()) if journal.settled(e, Terms())]
    assert done == [*never, result()]


def test_what_a_run_asks_of_a_time() -> None:
    """Samples, and an interval that is narrow enough or the seconds that the run would spend."""
    r = result(median=100.0, low=98.0, high=101.0, samples=10, seconds=0.3)
    for terms, holds in (
        (Terms(), True), (Terms(10, 0.02, 3), True), (Terms(10, 0.01, 0.3), True),
        (Terms(11, 0.02, 0.3), False), (Terms(10, 0.01, 3), False),
    ):  # fmt: skip
        assert journal.settled(r, terms) == holds, terms
        assert journal.settled(replace(r, modelled=True, samples=1), terms)
    assert not journal.settled(replace(r, seconds=None), Terms(10, 0.01, 3))


def test_points_read_as_they_are_written() -> None:
    for text in (NEON, QPU, "a_b/row1/daedalus_a_b__glsl_row1_p2/-/vulkan/64"):
        assert str(parse_point(text)) == text
    assert parse_point(QPU).target == "qpu" and parse_point(NEON).options == "neon_full"
    for bad in (
        "a/full/daedalus_b__c_full/gcc/-/0", NEON + "0/", NEON[:-1] + "00", NEON[:-1] + "-1",
        NEON.replace("gcc", "-"), NEON.replace("gcc", "icc"), NEON.replace("/-/", "/drm/"),
        NEON.replace("/-/", "//"), NEON.replace("full", "FULL"), "",
    ):  # fmt: skip
        with pytest.raises(ValueError):
            parse_point(bad)


def test_lines_of_older_words_are_one_message_that_says_what_to_do(tmp_path: Path) -> None:
    point = "vp9_idct8/full/daedalus_vp9_idct8__{}/-/vulkan/64"
    names = ("glsl_full_p2_word", "glsl_full_p2_shift", "glsl_full_p2_word_mask")
    lines = []
    for at in (point.format(n) for n in names):
        key = entries.result_key(at, result().scenario, result().input_hash)
        lines.append(replace(result(), point=at, key=key))
    file = tmp_path / "journal"
    file.write_bytes(b"".join(map(journal.line_of, lines)))
    found = journal.read(file)
    assert [f.point for f in found.entries if isinstance(f, Result)] == [point.format(names[0])]
    (problem,) = found.problems
    assert problem.at.line == 2
    assert "'shift' is 'word_unaligned' now" in problem.what
    assert "measured anew by ./daedalus tune" in problem.what
    assert "so are 2 lines of the file" in problem.what
