# SPDX-License-Identifier: BSD-2-Clause
"""Random programs on record: what back ends refuse of them, and that they come back as they were.

`990001.jsonl` has the 200 programs that seed 990001 drew at commit acebae9, with their variants and
the QPU's forms, as `./daedalus fuzz --seed 990001 --programs 200 --freeze FILE` put them there.
`990002.jsonl` has 200 that draw what the language got after that: bits one by one, shifts by a
value, weights that add up, gathers, rows that belong together; the command has `--additions`.
"""

from collections import Counter
from pathlib import Path

import pytest

from daedalus.dsl.ir import Kernel, Op
from daedalus.dsl.show import show
from daedalus.dsl.verify import uniform, verify
from daedalus.generator.base.errors import UserError
from daedalus.generator.verify.fuzz.campaign import Campaign
from daedalus.generator.verify.fuzz.cpu import Cpu, CpuTally
from daedalus.generator.verify.fuzz.frozen import opened, text_of
from daedalus.generator.verify.fuzz.programs import Drawn
from daedalus.generator.verify.fuzz.qpu import Qpu, QpuTally, forms_of

PROGRAMS = Path(__file__).parent / "data" / "programs"
FIRST, SECOND = PROGRAMS / "990001.jsonl", PROGRAMS / "990002.jsonl"
MANY = 200  # programs of each


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


@pytest.mark.parametrize("path", [FIRST, SECOND])
def test_what_is_on_record_is_legal(path: Path) -> None:
    source = opened(path)
    assert len(source) == MANY
    programs = [source.make(n) for n in range(0, MANY, 10)]
    for p in programs:
        verify(p.kernel)
        assert p.seed == int(path.stem) and p.listed and p.forms


def test_the_second_ones_draw_the_additions() -> None:
    """Each of them occurs in a twentieth of the programs at least."""
    first, second = opened(FIRST), opened(SECOND)
    drawn = Counter(what for n in range(MANY) for what in _additions(second.make(n).kernel))
    assert set(drawn) == {"bits", "shift", "gather", "rows", "merge", "masked", "lane"}
    assert min(drawn.values()) >= MANY // 20, drawn
    before = Counter(w for n in range(40) for w in _additions(first.make(n).kernel))
    assert not {"bits", "shift", "gather"} & set(before)


def _additions(kernel: Kernel) -> set[str]:
    """Which of the language's additions a program has."""
    found = set()
    for stage in kernel.stages:
        nodes = list(stage.nodes())
        ops = {n.op for n in nodes}
        differ = [n for n in nodes if n.op is Op.LOAD and not all(map(uniform, n.args))]
        for what, there in (
            ("bits", ops & {Op.BITAND, Op.BITOR, Op.BITXOR}),
            ("shift", Op.SHLV in ops),
            ("gather", differ),
            ("rows", any(limit.op is not Op.PARAM for _, limit in stage.limits)),
            ("merge", any(s.combine for s in stage.stores)),
            ("masked", any(s.mask is not None for s in stage.stores)),
            ("lane", Op.LANE in ops),
        ):
            found |= {what} if there else set()
    return found


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


def _on_the_cpu(path: Path) -> CpuTally:
    tally = CpuTally()
    for found in Campaign((Cpu(only_make=True),), opened(path), 0).run(0, MANY):
        tally.add(found[0])  # type: ignore[arg-type]
    assert tally.failures == []
    return tally


def _on_the_qpu(path: Path) -> QpuTally:
    tally = QpuTally()
    for found in Campaign((Qpu(only_make=True),), opened(path), 0).run(0, MANY):
        tally.add(found[0])  # type: ignore[arg-type]
    assert tally.failures == []
    return tally


@pytest.mark.campaign
@pytest.mark.parametrize("path", [FIRST, SECOND])
def test_what_is_refused_on_the_cpu(path: Path) -> None:
    tally = _on_the_cpu(path)
    assert (tally.asked["neon"], _of(tally.illegal, "neon")) == ASKED[path]
    for target in ("neon", "vector"):
        assert tally.without_form[target] == 0
        assert _of(tally.refused, target) <= REFUSED[path][target]


@pytest.mark.campaign
@pytest.mark.parametrize("path", [FIRST, SECOND])
def test_what_is_refused_on_the_qpu(path: Path) -> None:
    tally = _on_the_qpu(path)
    assert tally.programs_without_form.total() == 0
    assert tally.forms_refused.total() <= REFUSED[path]["qpu"]


# NEON's variants, and those of them whose options do not suit their program.
ASKED = {FIRST: (916, 93), SECOND: (925, 103)}
# Other variants that are refused, or forms of the QPU. Every program has a form on every target.
REFUSED = {
    FIRST: {"neon": 6, "vector": 0, "qpu": 9},
    SECOND: {"neon": 10, "vector": 0, "qpu": 11},
}
