# SPDX-License-Identifier: BSD-2-Clause
"""What is said about how long work takes, and what `build` need not do again."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.generator.base import costs
from daedalus.generator.base.costs import Costs, duration
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.verify import compared
from daedalus.generator.verify.crosscheck import Device, Outcome

GOOD = Outcome("k", "c", "v", "native", 300, 200, wanted=200)
NATIVE = Device("native", "c", "host")


def test_durations_read_as_people_say_them() -> None:
    said = [duration(s) for s in (0.4, 59.4, 59.6, 250, 3600)]
    assert said == ["0 s", "59 s", "1 min 0 s", "4 min 10 s", "60 min 0 s"]


def test_the_last_time_counts_and_else_what_was_measured(tmp_path: Path) -> None:
    file = tmp_path / "build" / "costs.json"
    first = Costs(file, {"a": 20, "b": 30})
    assert [first.about(s) for s in ("a", "b", "c")] == [20, 30, 0]
    first.note("a", 7.04)
    Costs(file, {}).note("c", 1)
    assert [Costs(file, {"a": 20, "b": 30}).about(s) for s in ("a", "b", "c")] == [7, 30, 1]


@pytest.mark.parametrize("text", ["", "[]", '{"a": "long"}', '{"a":'])
def test_a_file_of_costs_that_cannot_be_read_is_none(text: str, tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(text)
    assert Costs(file, {"a": 20}).about("a") == 20


def test_network_is_what_the_launcher_and_fetching_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(costs.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(costs, "_network", [0.0])
    monkeypatch.setenv("DAEDALUS_SETUP_SECONDS", "12.5")
    with pytest.raises(OSError, match="refused"), costs.network():
        now[0] = 3.0
        raise OSError("refused")
    assert costs.network_seconds() == 15.5
    monkeypatch.setenv("DAEDALUS_SETUP_SECONDS", "soon")
    assert costs.network_seconds() == 3.0


def test_a_comparison_is_known_by_all_that_it_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("dsl", "generated/records"):
        (tmp_path / folder).mkdir(parents=True)
    program, spec = tmp_path / "program", tmp_path / "dsl" / "spec.py"
    records = tmp_path / "generated" / "records" / "k.json"
    files = (program, spec, records)
    for file in files:
        file.write_text("1")
    monkeypatch.setattr(compared, "repo_root", lambda: tmp_path)
    first = compared.key([program], [NATIVE], "wish")
    assert compared.key([program], [NATIVE], "wish") == first
    assert compared.key([program], [NATIVE], "another") != first
    assert compared.key([program], [replace(NATIVE, target="vector")], "wish") != first
    driver = replace(NATIVE, gpu=GpuDevice("lavapipe-8", "host", made_of=("1",)))
    other = replace(NATIVE, gpu=GpuDevice("lavapipe-8", "host", made_of=("2",)))
    assert len({compared.key([program], [d], "wish") for d in (NATIVE, driver, other)}) == 3
    for file in files:
        file.write_text("2")
        assert compared.key([program], [NATIVE], "wish") != first, file
        file.write_text("1")


def test_what_was_good_is_remembered_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compared, "build_dir", lambda: tmp_path)
    assert compared.recall("a") is None
    compared.keep("a", [GOOD])
    compared.keep("bad", [GOOD, replace(GOOD, mismatches=1)])
    compared.keep("few", [replace(GOOD, conformant=199)])
    assert compared.recall("a") == [GOOD]
    assert compared.recall("bad") is None and compared.recall("few") is None
    for n in range(4):
        compared.keep(str(n), [GOOD])
    assert compared.recall("a") is None and compared.recall("3") == [GOOD]
    (tmp_path / "check" / "compared.json").write_text('{"3": [{"kernel": 1}]}')
    assert compared.recall("3") is None


def test_the_launcher_tells_the_verb_how_long_it_set_up(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "daedalus").read_text()
    script = tmp_path / "daedalus"
    script.write_text(text.replace('if __name__ == "__main__":', "if False:"))
    code = (
        "from importlib.machinery import SourceFileLoader; import os\n"
        f"m = SourceFileLoader('m', {str(script)!r}).load_module()\n"
        "m.is_ready = lambda *a: False; m.set_up = lambda *a: None\n"
        "m.sys.argv = ['daedalus', 'list']\n"
        "m.os.execv = lambda *a: print(os.environ['DAEDALUS_SETUP_SECONDS'])\n"
        "m.main()\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True,
                          text=True)  # fmt: skip
    assert done.stdout.strip() == "0.0", done.stderr
