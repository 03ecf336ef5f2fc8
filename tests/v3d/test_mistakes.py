# SPDX-License-Identifier: BSD-2-Clause
"""Drivers' known mistakes are still there, and a campaign explains differences by them alone."""

import hashlib
import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli.v3d_corpus import command
from daedalus.v3d import campaign, comparison, driver, opinions, shaders, tools, vkrun
from daedalus.v3d.corpus import CORNERS, FAMILIES, Program, random_program
from daedalus.v3d.corpus.known import Mistake, folder, mistakes

KNOWN = mistakes()
TURN = 2 * (len(FAMILIES) + len(CORNERS))  # seeds in which every family has its turn
# A seed whose program shows each mistake.
SHOWN_BY = {
    "barrier-of-some-groups": 55,
    "sign-of-minus-zero": 57,
    "indirect-shared-memory": 59,
    "pushed-index": 127,
    "half-of-integer": 189,
    "shared-value-of-group": 570,
    "loaded-place": 3766,
}


def native() -> vkrun.Device:
    """The driver built for this machine, strict: barriers of some groups are told."""
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")
    return vkrun.v3dv("host", strict=True)


def reduced(device: vkrun.Device, place: Path) -> tuple[dict[str, vkrun.Outcome], dict[str, str]]:
    """Runs the shaders that show a mistake each; outcomes, and what the driver said, by case."""
    for m in KNOWN:
        shaders.compile_glsl(m.shader.read_text(), place / m.name)
    cases = {m.name: m.case() for m in KNOWN}
    log = place / "log"
    outcomes = vkrun.run_cases(device, cases, place, options=["--announce"], log=log)
    jobs = campaign.jobs_by_case(log.read_text())
    return outcomes, {name: "\n".join(jobs.get(name, [])) for name in cases}


def words(mistake: Mistake, file: Path) -> tuple[int, ...]:
    """What a device left where the result is expected."""
    at = opinions.start_of(mistake) // 4
    found = np.fromfile(file, dtype="<u4")[at : at + len(mistake.right)]
    return tuple(int(w) for w in found)


def test_every_shader_is_in_the_list() -> None:
    assert {m.shader for m in KNOWN} == set(folder().glob("*.comp"))
    assert set(SHOWN_BY) <= {m.name for m in KNOWN}
    assert all(m.clause and m.what and m.right != m.wrong for m in KNOWN)


def test_lavapipe_errs_where_the_list_says_so_only(tmp_path: Path) -> None:
    device = vkrun.lavapipe()
    outcomes, _ = reduced(device, tmp_path)
    for m in KNOWN:
        assert outcomes[m.name].verdict == "ok"
        expected = m.wrong if m.of == "lavapipe" else m.right
        assert words(m, tmp_path / device.name / f"{m.name}.bin") == expected, m.name


def test_v3dv_errs_where_the_list_says_so_only(tmp_path: Path) -> None:
    device = native()
    outcomes, failed = reduced(device, tmp_path)
    for m in KNOWN:
        outcome, left = outcomes[m.name], tmp_path / device.name / f"{m.name}.bin"
        if m.of != "v3dv":
            assert not failed[m.name] and words(m, left) == m.right, m.name
        elif m.symptoms[0] == "refused":
            assert outcome.verdict == "failed" and m.says in outcome.detail, outcome
        elif m.symptoms[0] == "job":
            assert m.says in failed[m.name], m.name
        else:
            assert not failed[m.name] and words(m, left) == m.wrong, m.name


def test_another_machine_is_asked_by_one_command(tmp_path: Path) -> None:
    """Here the other machine is the simulated device."""
    native()
    assert opinions.export(tmp_path) == len(KNOWN)
    argv, environment = tools.on_device([sys.executable, str(tmp_path / opinions.SCRIPT), "v3d"])
    done = subprocess.run(argv, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 1, done
    opinion = json.loads((tmp_path / "opinion.json").read_text())
    assert "V3D 7.1" in opinion["device"]
    found = {name: f["verdict"] for name, f in opinion["found"].items()}
    assert found["pushed-index"] == "right"
    assert found["sign-of-minus-zero"] == "wrong as v3dv's"
    assert found["indirect-shared-memory"] == "another result"
    assert "VK_ERROR_UNKNOWN" in found["half-of-integer"]


def test_a_random_program_is_a_function_of_its_seed() -> None:
    first = [random_program(seed) for seed in range(1, TURN + 1)]
    assert first == [random_program(seed) for seed in range(1, TURN + 1)]
    families = {p.name.partition("-")[2] for p in first}
    assert families == {"free", *FAMILIES, *CORNERS}
    assert len({p.kernels for p in first}) == len(first)
    text = "".join(k.glsl for p in first for k in p.kernels)
    data = b"".join(i.data for p in first for i in p.inputs)
    digest = hashlib.sha256(text.encode() + data).hexdigest()
    assert digest[:16] == "99e2597d632cc233"


def test_every_corner_is_reached_by_chance() -> None:
    features = frozenset[str]().union(*(random_program(s).features for s in range(1, 4 * TURN)))
    assert features >= {m.corner for m in KNOWN}


def test_a_rewritten_program_computes_the_same(tmp_path: Path) -> None:
    """On lavapipe, which is right of what v3dv is not."""
    everything = [random_program(seed) for seed in range(1, 4 * TURN)]
    pairs: list[tuple[Program, Program]] = []
    for m in (m for m in KNOWN if m.of == "v3dv"):
        pairs += [
            (p, replace(m.rewritten(p), name=f"{p.name}-{m.name}"))
            for p in [p for p in everything if m.corner in p.features][:2]
        ]
    assert all(p.kernels != other.kernels or p.indirect for p, other in pairs)
    device = vkrun.lavapipe()
    cases = {p.name: p for pair in pairs for p in pair}
    comparison.run(device, list(cases.values()), tmp_path)
    drivers = campaign.Drivers(device, tmp_path)
    for p, other in pairs:
        assert not drivers.differences((device, p), (device, other)), other.name


def test_differences_are_explained_by_what_provokes_them(tmp_path: Path) -> None:
    drivers = campaign.Drivers(native(), tmp_path)
    programs = [random_program(seed) for seed in SHOWN_BY.values()]
    seen = drivers.observe(programs)
    results = campaign.explained(drivers, programs, seen)
    assert [r.mistakes for r in results] == [(name,) for name in SHOWN_BY]
    # Where the other driver had computed something else before, too, it is no explanation.
    (sign,) = (p for p in programs if "zeros" in p.name)
    file = tmp_path / drivers.reference(sign).name / f"{sign.name}.bin"
    left = bytearray(file.read_bytes())
    left[-4] ^= 1
    file.write_bytes(left)
    (result,) = campaign.explained(drivers, [sign], seen)
    assert not result.mistakes


def test_inputs_are_written_once_before_any_driver_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that read a file while another's thread wrote it again had zeros for inputs."""
    did: list[str] = []
    write = Path.write_bytes

    def written(path: Path, data: bytes) -> int:
        did.append(path.name)
        return write(path, data)

    def started(
        device: vkrun.Device, cases: dict[str, str], place: Path, **_: object
    ) -> dict[str, vkrun.Outcome]:
        did.append(device.name)
        comparison.log_of(device, place).write_text("")
        return {name: vkrun.Outcome("failed") for name in cases}

    monkeypatch.setattr(Path, "write_bytes", written)
    monkeypatch.setattr(vkrun, "run_cases", started)
    programs = [random_program(seed) for seed in (127, 9526)]
    assert [p.subgroup for p in programs] == [0, 16]
    drivers = campaign.Drivers(replace(vkrun.lavapipe(), name="another"), tmp_path)
    assert set(drivers.observe(programs)) == {p.name for p in programs}
    files = [f"{p.name}.{i.name}.bin" for p in programs for i in p.inputs]
    assert did[: len(files)] == files
    assert sorted(did[len(files) :]) == ["another", "lavapipe-128", "lavapipe-512"]


def test_a_program_without_a_corner_explains_nothing(tmp_path: Path) -> None:
    program = random_program(1)
    assert not {m.corner for m in KNOWN} & program.features
    seen = {program.name: campaign.Observation("ok", "ok", [], ["r-0[0] is another"])}
    drivers = campaign.Drivers(vkrun.lavapipe(256), tmp_path)
    (result,) = campaign.explained(drivers, [program], seen)
    assert result.symptoms == {"words": "r-0[0] is another"} and not result.mistakes
    summary = campaign.Summary(1)
    summary.add([program], [result])
    assert (summary.seeds, summary.equal, summary.good) == (1, 0, False)
    summary.add([random_program(seed) for seed in range(2, 101)], [])
    assert summary.good and summary.unexplained == [result]
    summary.add([], [replace(result, name="r00002-free")])
    assert not summary.good  # 2 % of 100


def test_random_programs_are_for_v3dv() -> None:
    outcome = CliRunner().invoke(command, ["--random", "3"])
    assert isinstance(outcome.exception, UserError) and "--random" in str(outcome.exception)


def test_a_campaign_tells_what_differs_and_why() -> None:
    native()
    sign = SHOWN_BY["sign-of-minus-zero"]
    options = ["--random", "2", "--first", str(sign), "--on", "v3dv-native", "--strict", "--json"]
    outcome = CliRunner().invoke(command, options)
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(outcome.stdout)
    assert told["good"] and (told["first"], told["seeds"]) == (sign, 2)
    assert told["families"]["zeros"] == [1, 0]
    assert told["results"][0]["mistakes"] == ["sign-of-minus-zero"]


def test_failed_jobs_are_those_of_the_case_before() -> None:
    report = "daedalus-v3d-device: compute job {} failed: lane 3 writes"
    lines = ["vkrun: case one", "vkrun: case two", report.format(4), "MESA: a remark",
             report.format(5), "vkrun: case three"]  # fmt: skip
    failed = campaign.jobs_by_case("\n".join(lines))
    assert failed == {"two": [f"compute job {n} failed: lane 3 writes" for n in (4, 5)]}
