# SPDX-License-Identifier: BSD-2-Clause
"""The benchmark: that its plane is right, and that nothing wrong is measured."""

import json
from pathlib import Path

import numpy as np
import pytest

from daedalus.generator.base.errors import UserError
from daedalus.generator.measure.gpu import bench_against, plane
from daedalus.generator.measure.gpu import device_bench as bench
from daedalus.v3d import vkrun


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> plane.Plane:
    return plane.make(tmp_path_factory.mktemp("plane"))


def run(work: plane.Plane, device: vkrun.Device) -> None:
    outcome = vkrun.run_cases(device, {plane.CASE: work.case}, work.folder)[plane.CASE]
    assert outcome.verdict == "ok", outcome


def test_the_shader_is_the_spec_on_lavapipe(work: plane.Plane) -> None:
    device = vkrun.lavapipe()
    run(work, device)
    work.check(device.name)
    before = np.fromfile(work.folder / "dst.bin", np.uint8).reshape(work.picture.shape)
    assert (before != work.picture).mean() > 0.3


@pytest.mark.parametrize("strict", [False, True])
def test_the_shader_is_the_spec_on_the_simulated_device(work: plane.Plane, strict: bool) -> None:
    jobs = work.folder / f"jobs-{strict}"
    device = vkrun.v3dv(strict=strict, jobs=jobs)
    run(work, device)
    work.check(device.name)
    (line,) = [x for x in map(json.loads, jobs.read_text().splitlines()) if x["queue"] == "compute"]
    assert line["result"] == 0 and line["batches"] == plane.BLOCKS // 4
    assert 2_500_000 < line["instructions"] < 4_500_000
    assert line["cpu_us"] > 0


def test_a_wrong_pixel_is_told(work: plane.Plane) -> None:
    out = work.folder / "another"
    out.mkdir()
    picture = work.picture.copy()
    (out / f"{plane.CASE}.bin").write_bytes(picture.tobytes())
    work.check("another")
    picture[1087, 1919] ^= 1
    (out / f"{plane.CASE}.bin").write_bytes(picture.tobytes())
    with pytest.raises(UserError, match="1 of 2088960 pixels wrong; the first at x 1919, y 1087"):
        work.check("another")


def test_bars_have_two_directions() -> None:
    assert bench.Figure("a", 60.0, "", 0, 0, bar=60.0, at_least=True).met is True
    assert bench.Figure("a", 59.9, "", 0, 0, bar=60.0, at_least=True).met is False
    assert bench.Figure("a", 0.3, "", 0, 0, bar=0.3).met is True
    assert bench.Figure("a", 0.31, "", 0, 0, bar=0.3).met is False
    assert bench.Figure("a", 1.0, "", 0, 0).met is None


def test_jobs_that_failed_or_never_ran_are_not_measured(tmp_path: Path) -> None:
    good = {"queue": "compute", "result": 0, "instructions": 3, "cpu_us": 1.5}
    jobs = bench.Jobs(tmp_path / "jobs")
    for lines in ([good], [good, {**good, "result": -14}], [good, {"queue": "CPU", "result": 1}]):
        jobs.path.write_text("".join(json.dumps(x) + "\n" for x in lines))
        with pytest.raises(UserError, match="compute jobs, 2 expected"):
            jobs.taken(2)
    jobs.path.write_text(2 * (json.dumps(good) + "\n"))
    taken = jobs.taken(2)
    assert (taken.instructions, taken.cpu_us) == (6, 3.0)
    assert not jobs.path.exists()


def test_the_loops_lines_are_read() -> None:
    text = (
        "                            plain   strict    timed  million instructions a second\n"
        "dual issue, integer         190.6     83.6    165.4\n"
        "u8 load and store            87.0     50.6     45.1\n"
        "an empty job                 0.41 us\n"
    )
    assert bench.LINE.findall(text) == [
        ("dual issue, integer", "190.6", "83.6", "165.4"),
        ("u8 load and store", "87.0", "50.6", "45.1"),
    ]


def test_two_checkouts_are_compared_round_by_round() -> None:
    line = "load, compute, store   {}   {}   40.0\n"
    rounds = [
        (
            bench_against.speeds_of(line.format(t, 10.0)),
            bench_against.speeds_of(line.format(h, 5.0)),
        )
        for t, h in ((100.0, 150.0), (50.0, 100.0), (10.0, 40.0), (80.0, 80.0), (20.0, 40.0))
    ]
    plain, strict, timed = bench_against.compare(rounds)
    assert plain == bench_against.Compared("load, compute, store", "plain", 50, 80, 2.0, 1.0, 4.0)
    assert (strict.mode, strict.ratio, timed.mode, timed.ratio) == ("strict", 0.5, "timed", 1.0)


def test_loops_that_only_one_checkout_has_are_left_out() -> None:
    old = bench_against.speeds_of("a   1.0   1.0   1.0\nb   2.0   2.0   2.0\n")
    new = bench_against.speeds_of("b   4.0   2.0   2.0\nc   2.0   2.0   2.0\n")
    assert [x.program for x in bench_against.compare([(old, new)])] == ["b"] * 3


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no checkout"):
        bench_against.measure(tmp_path, 1, lambda _: None)
