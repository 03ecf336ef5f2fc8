# SPDX-License-Identifier: BSD-2-Clause
"""Random programs on record: what back ends refuse of them, and that they come back as they were.

`990001.jsonl` has the 200 programs that seed 990001 drew at commit acebae9, with their variants and
the QPU's forms, as `./daedalus fuzz --seed 990001 --programs 200 --freeze FILE` put them there.
"""

from pathlib import Path

import pytest

from daedalus.dsl.show import show
from daedalus.dsl.verify import verify
from daedalus.generator.base.errors import UserError
from daedalus.generator.verify.fuzz.campaign import Campaign
from daedalus.generator.verify.fuzz.cpu import Cpu, CpuTally
from daedalus.generator.verify.fuzz.frozen import opened, text_of
from daedalus.generator.verify.fuzz.programs import Drawn
from daedalus.generator.verify.fuzz.qpu import Qpu, QpuTally, forms_of

FIRST = Path(__file__).parent / "data" / "programs" / "990001.jsonl"


def test_programs_come_back_as_they_were(tmp_path: Path) -> None:
    drawn = [Drawn(7).make(n) for n in range(12)]
    path = tmp_path / "some.jsonl"
    path.write_text(text_of(drawn))
    for n, p in enumerate(drawn):
        again = opened(path).make(n)
        assert show(again.kernel) == show(p.kernel)
        assert (again.seed, again.number, again.listed) == (7, n, p.listed)
        assert again.forms == tuple(forms_of(p)) == tuple(forms_of(again))
    assert text_of([opened(path).make(n) for n in range(12)]) == path.read_text()


def test_what_is_on_record_is_legal() -> None:
    source = opened(FIRST)
    assert len(source) == 200
    programs = [source.make(n) for n in range(0, 200, 10)]
    for p in programs:
        verify(p.kernel)
        assert p.seed == 990001 and p.listed and p.forms


def test_its_failures_are_replayed_from_the_file() -> None:
    command = Campaign((Cpu(),), opened(FIRST), 64).replay(3)
    assert "--programs 1 --file tests/data/programs/990001.jsonl --first 3" in command


@pytest.mark.parametrize("text", ["", "{}\n", "no JSON\n"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other").write_text(text)
    with pytest.raises(UserError, match="no program"):
        opened(tmp_path / "other")


def test_refusals_are_counted_by_target() -> None:
    """Illegal options are listed apart, and vectors' refusals are not NEON's."""
    tally = CpuTally()
    for found in Campaign((Cpu(only_make=True),), opened(FIRST), 0).run(0, 12):
        tally.add(found[0])  # type: ignore[arg-type]
    assert tally.failures == [] and tally.comparisons == 0
    for target in ("neon", "vector"):
        assert tally.asked[target] > 0
    assert {k.partition(": ")[0] for k in (tally.illegal | tally.refused)} <= {"neon", "vector"}
    assert tally.illegal and all("several items side by side" in k for k in tally.illegal)
    assert not any("several items side by side" in k for k in tally.refused)


def _of(found: dict[str, int], target: str) -> int:
    return sum(n for k, n in found.items() if k.startswith(f"{target}: "))


@pytest.mark.campaign
def test_what_is_refused_on_the_cpu() -> None:
    tally = CpuTally()
    for found in Campaign((Cpu(only_make=True),), opened(FIRST), 0).run(0, 200):
        tally.add(found[0])  # type: ignore[arg-type]
    assert tally.failures == []
    assert tally.asked["neon"] == 916
    assert _of(tally.illegal, "neon") == 94
    for target in ("neon", "vector"):
        assert tally.without_form[target] <= NONE[target]
        assert _of(tally.refused, target) <= REFUSED[target]


@pytest.mark.campaign
def test_what_is_refused_on_the_qpu() -> None:
    tally = QpuTally()
    for found in Campaign((Qpu(only_make=True),), opened(FIRST), 0).run(0, 200):
        tally.add(found[0])  # type: ignore[arg-type]
    assert tally.failures == []
    assert tally.programs_without_form.total() <= NONE["qpu"]
    assert tally.forms_refused.total() <= REFUSED["qpu"]


NONE = {"neon": 0, "vector": 0, "qpu": 0}  # programs without any form
REFUSED = {"neon": 6, "vector": 0, "qpu": 9}  # variants, or forms of the QPU
