# SPDX-License-Identifier: BSD-2-Clause
"""What pytest and ctest print of the tests that they left out, with `-rs` and as they are."""

import re
from collections import Counter

_PYTEST = re.compile(r"^SKIPPED \[(\d+)\] \S+?: (.*)$", re.MULTILINE)
_CTEST = re.compile(r"^\t *\d+ - (\S+) \((Skipped|Disabled)\)$", re.MULTILINE)


def skips(said: str) -> str:
    """How many tests a step skipped and why, as "3 skipped: REASON (2); REASON"; "" if none.

    ctest tells no reason: there it is the test's name.
    """
    found: Counter[str] = Counter()
    for count, reason in _PYTEST.findall(said):
        found[reason] += int(count)
    for name, how in _CTEST.findall(said):
        found[f"{name} ({how.lower()})"] += 1
    reasons = (f"{why} ({n})" if n > 1 else why for why, n in found.most_common())
    return f"{found.total()} skipped: {'; '.join(reasons)}" if found else ""
