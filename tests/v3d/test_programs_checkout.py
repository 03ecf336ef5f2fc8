# SPDX-License-Identifier: BSD-2-Clause
"""Tests of a checkout on the simulated device: how they are judged, and a stand-in for one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import v3d_programs
from daedalus.generator.host import native
from daedalus.v3d import programs_checkout
from daedalus.v3d.programs_checkout import asserts_time, judge, run_tests

ENDED = "exit status 1"
LATE = """
    def test_delay():
        begin = time.time()
        run()
        took = time.time() - begin
        limit = 0.1
>       assert took < limit
E       assert 0.3 < 0.1
"""
OTHER = LATE.replace("assert took < limit", "assert limit == 0.2")
RAISED = LATE.replace("assert took < limit", "raise ValueError(took)")


def case(name: str, inner: str = "") -> str:
    return f'<testcase classname="test.test_x" name="{name}">{inner}</testcase>'


def failure(text: str, kind: str = "failure") -> str:
    return f'<{kind} message="said&#10;more"><![CDATA[{text}]]></{kind}>'


def verdicts(*cases: str) -> dict[str, str]:
    report = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
    return {r.what: r.verdict for r in judge(report, "1", ENDED)}


def test_an_assertion_about_the_clock_is_told_from_others() -> None:
    assert asserts_time(LATE)
    assert asserts_time(LATE.replace("time.time()", "time.perf_counter_ns()"))
    assert not asserts_time(OTHER) and not asserts_time(RAISED)
    assert not asserts_time("") and not asserts_time(">   assert took < limit")


def test_one_test_may_fail_by_the_clock_and_no_other_may() -> None:
    good, late = case("a"), case("late", failure(LATE))
    assert verdicts(good, late) == {"1 of 2 tests": "ok", "test.test_x.late": "known"}
    assert verdicts(good, case("b", "<skipped/>")) == {"1 of 2 tests": "ok"}
    for wrong in (failure(OTHER), failure(LATE, "error")):
        found = verdicts(good, late, case("b", wrong))
        assert found["1 of 3 tests"] == "failed" and found["test.test_x.b"] == "failed"
    found = verdicts(good, late, case("late_too", failure(LATE)))
    assert found["1 of 3 tests"] == "failed" and found["test.test_x.late_too"] == "failed"
    assert verdicts(late)["0 of 1 tests"] == "failed"


def test_no_report_is_a_failure() -> None:
    for report in ("", "<testsuites>", "<testsuites></testsuites>"):
        (found,) = judge(report, "1", ENDED)
        assert found.verdict == "failed" and found.detail.startswith(ENDED)


def test_what_is_no_checkout_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no folder test"):
        run_tests(tmp_path)
    done = CliRunner().invoke(v3d_programs.command, [programs_checkout.NAME])
    assert isinstance(done.exception, UserError)
    assert done.exception.exit_code == EXIT_MISSING and "--checkout" in str(done.exception.hint)


STAND_IN = """
import struct
import sys
import time
sys.path.insert(0, {examples!r})
import hypothesis
import ioctl_opt
import numpy
import pytest
from hypothesis import strategies as st
from node import CREATE_BO, Node, triple
from stand_in import NODE

@pytest.fixture
def node():
    node = Node()
    yield node
    node.close()

def test_python():
    assert sys.version_info[:2] == (3, 13)
    assert ioctl_opt.IOWR(ord("d"), 0x42, struct.Struct("4I")) == CREATE_BO
    assert numpy.__version__ < "2.3"

@pytest.mark.parametrize("n", [1, 16, 100])
def test_numbers(node, n):
    numpy.testing.assert_equal(triple(node, range(n)), 3 * numpy.arange(n) + 1)

@hypothesis.settings(max_examples=10, deadline=None, database=None)
@hypothesis.given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40))
def test_any_numbers(numbers):
    assert triple(Node(NODE), numbers) == [(3 * x + 1) % 2**32 for x in numbers]

def test_delay(node):
    begin = time.perf_counter()
    triple(node, range(16))
    took = time.perf_counter() - begin
    assert took < 1e-7

def test_product(node):
    assert triple(node, [2]) == [{expected}]
"""
MODULE = """
NODE = "/dev/dri/by-path/platform-1002000000.v3d-render"
"""


def stand_in(folder: Path, expected: int) -> Path:
    """A checkout of the shape of py-videocore7's: a package, and tests in the folder `test`."""
    (folder / "test").mkdir()
    (folder / "stand_in").mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "stand-in"\nversion = "7.1"\n')
    (folder / "stand_in" / "__init__.py").write_text(MODULE)
    examples = str(repo_root() / "examples" / "v3d")
    text = STAND_IN.format(examples=examples, expected=expected)
    (folder / "test" / "test_product.py").write_text(text)
    return folder


@pytest.mark.skipif(native.is_arm(), reason="the packages are listed for x86-64")
@pytest.mark.parametrize(("expected", "verdict"), [(7, "ok"), (8, "failed")])
def test_the_tests_of_a_checkout_run_on_the_device(
    expected: int, verdict: str, tmp_path: Path
) -> None:
    whole, *others, jobs = run_tests(stand_in(tmp_path, expected))
    assert (whole.version, whole.verdict) == ("7.1", verdict)
    assert whole.what == f"{6 if verdict == 'ok' else 5} of 7 tests"
    found = {r.what: r.verdict for r in others}
    assert found.pop("test.test_product.test_delay") == "known"
    assert found == ({} if verdict == "ok" else {"test.test_product.test_product": "failed"})
    assert jobs.verdict == "ok" and int(jobs.what.split()[0]) > 10
