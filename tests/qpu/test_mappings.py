# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d mappings`: that it does the whole space, and sees what is wrong."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from daedalus.generator.cli import v3d_mappings
from daedalus.generator.compile.registry import find, load
from daedalus.generator.tuning.qpu_mappings import Program, Runs, parts, run_program, select_part

KERNEL, ITEMS = "h264_idct4", 16


def _programs() -> list[Program]:
    entry = find(load(), KERNEL)
    assert entry is not None
    return [p for part in parts(entry.kernel, ITEMS) for p in select_part(part).programs]


@pytest.mark.campaign
def test_every_program_is_run_for_every_number_of_threads() -> None:
    """And each variant leads to one program or is refused."""
    entry = find(load(), KERNEL)
    assert entry is not None
    wanted = parts(entry.kernel, ITEMS)
    with Runs(2) as runs:
        selections = list(runs.select(wanted))
        programs = [p for s in selections for p in s.programs]
        rows = list(runs.run(programs))
    named = [s.name for p in programs for s in p.listed]
    named += [x for s in selections for r in s.refused for x in (r.options, *r.same)]
    assert sorted(named) == sorted(s.name for part in wanted for s in part.listed(entry))
    assert {(r.options, r.threads) for r in rows} == {
        (replace(p.listed[0], four_threads=t4).name, 4 if t4 else 2)
        for p in programs
        for t4 in (False, True)
    }
    assert all(r.good for r in rows) and all(r.conformant >= ITEMS for r in rows if not r.refused)


def test_a_wrong_program_is_no_good_row() -> None:
    """That of another kernel, which reads and writes like it."""
    p, foreign = _programs()[0], find(load(), "vp9_idct8")
    assert foreign is not None
    wrong = select_part(parts(foreign.kernel, ITEMS)[0]).programs[0].made
    assert run_program(p, t4=False).good
    assert not run_program(replace(p, made=wrong), t4=False).good


def test_a_sample_is_a_part_of_the_programs() -> None:
    found = set()
    for seed in ("1", "2"):
        words = [KERNEL, "--items", "16", "--sample", "3", "--jobs", "1", "--seed", seed, "--json"]
        result = CliRunner().invoke(v3d_mappings.command, words)
        assert result.exit_code == 0, result.output
        rows = [r for r in json.loads(result.stdout) if r["threads"]]
        assert sorted(r["threads"] for r in rows) == [2, 2, 2, 4, 4, 4]
        found.add(tuple(sorted(r["options"] for r in rows)))
    assert len(found) == 2  # other ones by another seed
