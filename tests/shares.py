# SPDX-License-Identifier: BSD-2-Clause
"""Which tests a run takes, by what they cost: a pytest plugin.

`costs.json` has the processor seconds of the tests that took more than `COSTLY`, as they were
measured last. `--share 2/4` runs the second of four parts of these alone, and of those that are
marked `of_many`: hundreds alike, each of which costs little. Other tests always run if they cost
less, or are new. The marker `costly` stands for both kinds, so `-m "campaign or costly"` runs all.
`--note-costs` writes down what the tests of this run took, builds in them included.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

_LEFT_OUT = pytest.StashKey[int]()
FILE = Path(__file__).with_name("costs.json")
COSTLY = 0.2  # seconds of processor time
_MEASURED = "processor seconds"


def shares(costs: Mapping[str, float], days: int) -> list[set[str]]:
    """The tests of each day, such that every day costs about the same."""
    found: list[set[str]] = [set() for _ in range(days)]
    spent = [0.0] * days
    for name in sorted(costs, key=lambda n: (-costs[n], n)):
        least = spent.index(min(spent))
        found[least].add(name)
        spent[least] += costs[name]
    return found


def read() -> dict[str, float]:
    """Processor seconds by the test's id."""
    found: dict[str, float] = json.loads(FILE.read_text())
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=_share, metavar="N/DAYS", help="a part of the costly tests")
    parser.addoption("--note-costs", action="store_true", help=f"write {FILE.name} anew")


def _share(text: str) -> tuple[int, int]:
    number, _, days = text.partition("/")
    if not 1 <= int(number) <= int(days):
        raise ValueError(text)
    return int(number), int(days)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "costly: a part of them runs each day; see tests/shares.py")
    config.addinivalue_line("markers", "of_many: one of hundreds alike; see tests/shares.py")
    if config.getoption("--note-costs"):
        config.pluginmanager.register(_Notes(), "notes of costs")


@pytest.hookimpl(tryfirst=True)  # before pytest looks at markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    costs = read()
    for item in items:
        if item.nodeid in costs or item.get_closest_marker("of_many"):
            item.add_marker("costly")
    if config.getoption("--share"):
        others = [i for i in items if i.get_closest_marker("costly")]
        left_out = _of_other_days(config, costs, [i.nodeid for i in others])
        config.stash[_LEFT_OUT] = len(left_out)
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in left_out])
        items[:] = [i for i in items if i.nodeid not in left_out]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where several processes run tests, each tells the one that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if hasattr(node, "workeroutput"):  # all of them collect the same tests
        node.config.stash[_LEFT_OUT] = node.workeroutput.get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says how many were left out, in the words of a skipped test."""
    if config.getoption("--share"):
        left_out = config.stash.get(_LEFT_OUT, 0)
        terminalreporter.write_line(f"SKIPPED [{left_out}] {FILE.name}: costly, of other days")


def _of_other_days(
    config: pytest.Config, costs: Mapping[str, float], names: Iterable[str]
) -> set[str]:
    """Of costly tests; the day of one whose costs are not noted is its name's."""
    number, days = config.getoption("--share")
    own = shares(costs, days)[number - 1]
    return {
        n for n in names if (n not in own if n in costs else crc32(n.encode()) % days != number - 1)
    }


class _Notes:
    """Measures the tests themselves, without their fixtures, and the programs that they start."""

    def __init__(self) -> None:
        self._found = read()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        before = _processor_time()
        yield
        item.user_properties.append((_MEASURED, _processor_time() - before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Where several processes run tests, the one that started them sees these reports too."""
        took: dict[str, Any] = dict(report.user_properties)
        if report.when == "call" and _MEASURED in took:
            self._found.pop(report.nodeid, None)
            if took[_MEASURED] > COSTLY:
                self._found[report.nodeid] = round(took[_MEASURED], 1)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            FILE.write_text(json.dumps(self._found, indent=0, sort_keys=True) + "\n")


def _processor_time() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
