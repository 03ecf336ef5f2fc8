# SPDX-License-Identifier: BSD-2-Clause
"""M4 of `tune`: short names, which pairs of kernels, and the engine's lines on what is here."""

import json
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tuning_lines import result

from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import tune_mixed
from daedalus.generator.cli.main import cli
from daedalus.generator.cli.tune_mixed import Asked
from daedalus.generator.compile.registry import load
from daedalus.generator.tuning import engine_device, journal, overnight, rules
from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import Mixed
from daedalus.generator.tuning.names import named
from daedalus.generator.tuning.overnight import Settings
from daedalus.generator.tuning.recipe import Recipe
from daedalus.v3d import vkrun

NAMES = {n: e.kernel.id for e in load() for n in (e.kernel.id, *e.kernel.aliases)}


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("mc_8h", "vp9_mc_8h"),
        ("lpf4", "vp9_lpf4_h"),
        ("vp9_lpf8", "vp9_lpf8_h"),
        ("lpf4_v", "vp9_lpf4_v"),
        ("mc_8h_avg", "vp9_mc_8h_avg"),
        ("cdef8", "av1_cdef8"),
        ("deblock", "h264_deblock_luma_v"),
        ("vp9_idct8", "vp9_idct8"),
    ],
)
def test_short_names(text: str, kernel: str) -> None:
    assert named(text, NAMES) == kernel


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("idct8", "several kernels: h264_idct8, .*vp9_idct8"),
        ("vp9", "several kernels"),
        ("lp", "no word of a kernel's name"),
        ("", "no kernel"),
    ],
)
def test_names_that_say_too_little(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        named(text, NAMES)


def decision(kernel: str, cpu_ns: float, qpu_ns: float) -> rules.Decision:
    cpu = result(point=f"{kernel}/full/daedalus_{kernel}__neon_full/gcc/-/0", median=cpu_ns,
                 mad=0.1, low=cpu_ns, high=cpu_ns, scenario="m3 items=32640")  # fmt: skip
    qpu = result(point=f"{kernel}/full/daedalus_{kernel}__glsl_full_p2/-/vulkan/64",
                 median=qpu_ns, mad=0.1, low=qpu_ns, high=qpu_ns,
                 scenario="m2 items=32640")  # fmt: skip
    return rules.decide(cpu, qpu, [])


def test_pairs_that_the_rules_need() -> None:
    """Below GREEN each beside the kernel of lowest R, then beside itself; nothing that the program
    has not."""
    made = [decision("vp9_idct8", 100, 90), decision("vp9_lpf4_h", 100, 250),
            decision("vp9_mc_8h", 10, 150)]  # fmt: skip
    recipe = Recipe(Side("0" * 16, None, {}), "vulkan", "gcc", tuple(made), {})
    settings = Settings(items=64, mixed_seconds=2, qpu_core=1)

    def pairs(*variants: str) -> list[tuple[str, str]]:
        jobs = overnight.together(recipe, settings, variants or None)
        words = [dict(zip(j.words[::2], j.words[1::2], strict=True)) for j in jobs]
        for w in words:
            assert w["--scenario"] == "m4" and "--neon-threads" not in w
            assert (w["--items"], w["--duration"], w["--qpu-core"]) == ("64", "2", "1")
            instead = w["--cpu-instead"].split("/")
            assert instead[:2] == w["--qpu-kernel"].split("/")[:2] and "neon" in instead[2]
        return [(w["--cpu-kernel"].split("/")[0], w["--qpu-kernel"].split("/")[0]) for w in words]

    mc, lpf = "vp9_mc_8h", "vp9_lpf4_h"
    assert pairs() == [(mc, lpf), (lpf, lpf), (lpf, mc), (mc, mc)]
    own = [f"daedalus_{mc}__neon_full", f"daedalus_{mc}__glsl_full_p2"]
    assert pairs(*own) == [(mc, mc)]


def test_m4_has_a_share_of_the_budget() -> None:
    assert overnight.shares(100, mixed=True) == (80, 20)
    assert overnight.shares(100, mixed=False) == (100, 0)
    (first,) = overnight.alone(Settings(budget=100), mixed=True)
    assert first.words[-2:] == ("--budget", "80")
    jobs = overnight.bounded([overnight.pair("mc", "lpf4", Settings())] * 4, 20)
    assert [j.words[-2:] for j in jobs] == [("--budget", "5")] * 4
    (whole,) = overnight.alone(Settings(), mixed=True)
    assert "--budget" not in whole.words and overnight.bounded([whole], 0) == [whole]
    assert overnight.bounded([], 20) == []


class NoTime:
    """A device that takes all the time there is for one pair."""

    def __init__(self) -> None:
        self.done = 0

    def mixed(self, words: Sequence[str], budget: float = 0) -> int:
        self.done += 1
        time.sleep(budget)
        return 0


def test_m4_that_the_budget_ends_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place: Any = NoTime()
    jobs = [overnight.pair("mc", "lpf4", Settings())] * 3
    until = time.monotonic() + 0.05
    assert tune_mixed._run(place, tmp_path / "journal", jobs, until, quiet=True) == 0
    assert place.done == 1
    shown = capsys.readouterr()
    assert "of 3 pairs 2 were not begun" in shown.out + shown.err


@pytest.mark.parametrize(
    ("settings", "why"),
    [(Settings(threads=5), "--neon-threads 5: pi has 4 cores"),
     (Settings(qpu_core=4), "--qpu-core 4: pi has cores 0, 1, 2, 3")],
)  # fmt: skip
def test_cores_that_are_not_there(settings: Settings, why: str) -> None:
    tune_mixed.check_cores(Settings(threads=4, qpu_core=3), range(4), "pi")
    with pytest.raises(UserError, match=why):
        tune_mixed.check_cores(settings, range(4), "pi")


def test_options_of_a_pair() -> None:
    asked = Asked("mc_8h", "lpf4", 3, 3, 6)
    job = asked.job(asked.settings(Settings(), quick=False))
    assert job.words == (
        "--scenario", "m4", "--cpu-kernel", "vp9_mc_8h", "--qpu-kernel", "vp9_lpf4_h",
        "--neon-threads", "3", "--duration", "6", "--qpu-core", "3",
    )  # fmt: skip
    assert [e.kernel.id for e in asked.entries] == ["vp9_mc_8h", "vp9_lpf4_h"]
    with pytest.raises(UserError, match="several kernels"):
        Asked("idct8", "lpf4").job(Settings())


def test_an_engine_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_device, "_ENDING", 0.3)
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        engine_device._stop(process)
    assert process.returncode == -signal.SIGKILL


def mixed_lines(path: Path) -> list[Mixed]:
    found = journal.read(path)
    assert not found.problems
    return [e for e in found.entries if isinstance(e, Mixed)]


@pytest.mark.campaign
def test_a_pair_is_measured_here(tmp_path: Path) -> None:
    """On a rasteriser: what `./daedalus tune` does of M4 on a board."""
    path = tmp_path / "journal"
    vkrun.lavapipe()  # fetches it
    words = ["tune", "--device", "board", "--vulkan", "lavapipe-8", "--cpu-kernel", "h264_idct4",
             "--qpu-kernel", "h264_idct4", "--items", "256", "--duration", "0.2",
             "--journal", str(path)]  # fmt: skip
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output + str(done.exception)
    lines = mixed_lines(path)
    assert lines and [m.threads for m in lines] == list(range(1, len(lines) + 1))
    for m in lines:
        assert m.verdict == "ok" and m.samples >= 10, m.reason
        assert " items=256 samples=10 seconds=0.2" in m.scenario
    again = CliRunner().invoke(cli, words)
    assert again.exit_code == 0 and len(mixed_lines(path)) == len(lines)


@pytest.mark.campaign
def test_a_board_measures_m4_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    vkrun.lavapipe()  # fetches it
    words = ["tune", "h264_idct4", "--device", "board", "--vulkan", "lavapipe-8", "--quick",
             "--items", "256", "--duration", "0.1", "--journal", str(path)]  # fmt: skip
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output + str(done.exception)
    lines = mixed_lines(path)
    assert lines and {m.cpu_point.split("/")[0] for m in lines} == {"h264_idct4"}
    for m in lines:
        assert m.verdict == "ok", m.reason
        assert m.instead_point is not None
        assert m.instead_point.split("/")[:2] == m.qpu_point.split("/")[:2]
    made = CliRunner().invoke(cli, ["recipe", "--journal", str(path), "--output",
                                    str(tmp_path / "recipe"), "--json"])  # fmt: skip
    below = [d for d in json.loads(made.stdout)["decisions"] if d["r"] and d["r"][0] < 1]
    assert below
    assert {m.qpu_point.split("/")[1] for m in lines} == {d["class"] for d in below}
