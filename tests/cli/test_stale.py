# SPDX-License-Identifier: BSD-2-Clause
"""`check` without kernels: what has no record, and a sample of the others that goes round."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base import records
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import check
from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import Entry, load
from daedalus.generator.compile.variants import Variant
from daedalus.generator.verify import check_runs, part, stale
from daedalus.generator.verify.crosscheck import Outcome

DAY = date(2026, 1, 1)
ENTRIES = load()
SMALL = "h264_idct4"


@pytest.fixture(scope="module")
def variants() -> dict[str, list[Variant]]:
    return {e.kernel.id: emit.entry_variants(e, ("c",)) for e in ENTRIES}


def ids(entries: object) -> list[str]:
    return [e.kernel.id for e in entries]  # type: ignore[attr-defined]


def test_every_kernel_is_once_in_so_many_days() -> None:
    days = [ids(stale.sample(ENTRIES, DAY + timedelta(n))) for n in range(stale.DAYS)]
    assert sorted(k for of_a_day in days for k in of_a_day) == sorted(ids(ENTRIES))
    assert max(map(len, days)) - min(map(len, days)) <= 1
    assert days[0] == ids(stale.sample(ENTRIES, DAY + timedelta(stale.DAYS)))


def test_what_has_no_record_of_its_code_is_compared(
    variants: dict[str, list[Variant]], tmp_path: Path
) -> None:
    known = {
        k: {v.name: {"input_hash": v.input_hash, "runs": []} for v in mine}
        for k, mine in variants.items()
    }
    first, second, *_ = ids(ENTRIES)
    next(iter(known[first].values()))["input_hash"] = "of other code"
    known[second] = {}
    with records.kept_in(tmp_path):
        for kernel, data in known.items():
            records.write(kernel, records.VERIFIED, data)
        found = stale.choose(ENTRIES, variants, DAY)
        build = stale.one_a_family(ENTRIES, [v for mine in variants.values() for v in mine])
    assert ids(found.stale) == [first, second]
    assert ids(found.sample) == [k for k in ids(stale.sample(ENTRIES, DAY)) if k not in known or
                                 k not in (first, second)]  # fmt: skip
    assert f"{len(ENTRIES)} kernels: 2 have" in str(found)
    assert {first, second} < set(ids(build))
    known_only = [e for e in build if e.kernel.id not in (first, second)]
    families = {e.kernel.family for e in ENTRIES if e.kernel.id not in (first, second)}
    assert sorted(e.kernel.family for e in known_only) == sorted(families)


Asked = tuple[list[str], bool, int]


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> Asked:
    """The one run that the verb has made."""
    (one,) = runs(monkeypatch, *words)
    return one


def runs(monkeypatch: pytest.MonkeyPatch, *words: str, stale_one: str = "") -> list[Asked]:
    """Which kernels each run has compared, whether their code alone is built, and by how many
    items; one may have a variant without a record."""
    seen: list[Asked] = []

    def run(
        entries: list[Entry], wish: check_runs.Wish, *, apart: bool, **_: object
    ) -> tuple[list, list]:
        seen.append((ids(entries), apart, wish.items))
        return [Outcome(SMALL, "c", "v", "native", conformant=1)], []

    made = {e.kernel.id: [] for e in ENTRIES}
    monkeypatch.setattr(check, "run_checks", run)
    monkeypatch.setattr(check, "require_generated", lambda *_: made)
    monkeypatch.setattr(stale, "_on_record", lambda v: v is not made.get(stale_one))
    monkeypatch.setattr(check, "record_verified", lambda _: None)
    monkeypatch.setattr(stale, "today", lambda: DAY)
    done = CliRunner().invoke(check.command, [*words])
    assert done.exit_code == 0, done.output
    return seen


def test_the_verb_takes_a_sample_unless_it_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = ids(ENTRIES)
    some = ids(stale.sample(ENTRIES, DAY))
    few, many = check.SAMPLED_ITEMS, check.RECORDED_ITEMS
    assert asked(monkeypatch) == (some, False, few)
    assert asked(monkeypatch, "--sanitize") == (some, True, few)
    assert asked(monkeypatch, "--items", "500") == (some, False, 500)
    assert asked(monkeypatch, "--all") == (every, False, many)
    assert asked(monkeypatch, SMALL) == ([SMALL], True, many)
    assert asked(monkeypatch, "--frame", "--target", "glsl")[0] == every
    assert asked(monkeypatch, "--device", "simulator", "--target", "qpu")[0] == every


def test_what_has_no_record_is_compared_by_all_items_and_recorded_without_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = ids(stale.sample(ENTRIES, DAY))
    one = next(k for k in ids(ENTRIES) if k not in some)
    whole = ([one], False, check.RECORDED_ITEMS)
    few = (some, False, check.SAMPLED_ITEMS)
    assert runs(monkeypatch, stale_one=one) == [whole, few]
    assert runs(monkeypatch, "--record", stale_one=one) == [whole]
    assert runs(monkeypatch, "--record") == []
    assert runs(monkeypatch, "--items", "500", stale_one=one) == [([one, *some], False, 500)]


def test_of_some_kernels_nothing_else_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(part, "build_dir", lambda: tmp_path)
    first, second = (e for e in ENTRIES if e.kernel.id in (SMALL, "h264_idct8"))
    folder = part.generate([first])

    def own() -> dict[Path, int]:
        """The files of the first one's variants, and when they were written."""
        return {p: p.stat().st_mtime_ns for p in folder.rglob(f"{SMALL}*.c")}

    before = own()
    of_variants = {v.file for v in emit.entry_variants(first)}
    assert {p.relative_to(folder).as_posix() for p in before} == of_variants
    part.generate([first, second])
    assert own() == before
    part.generate([second])
    assert own() == {}


def test_what_cannot_be_compared_keeps_nothing_else_from_it() -> None:
    """And kernels are compared in order, whatever process does it."""

    def one(number: int) -> list[Outcome]:
        return [Outcome(f"k{number}", "c", "v", "native", conformant=1)]

    found = [o.kernel for done in check_runs._beside_each_other(one, 5) for o in done]
    assert found == ["k0", "k1", "k2", "k3", "k4"]

    def fail() -> list[Outcome]:
        raise UserError("no tool", "install it")

    wrong = Outcome(SMALL, "c", "v", "native", conformant=1, mismatches=1)
    found = check_runs._of_each(ENTRIES[0], [lambda: [wrong], fail])
    assert found[0] is wrong and not found[0].good
    failed = found[1]
    assert not failed.good and failed.failures == ["no tool; install it"]
    with pytest.raises(UserError, match="1 of 2 comparisons failed"):
        check.report([*one(1), failed], 1, table=False)
