# SPDX-License-Identifier: BSD-2-Clause
"""What work costs: how long its steps took the last time, and how much of a call was network.

The last times lie in build/costs.json; where a step never ran here, what a caller measured on a
machine with two cores stands for it.  Both are guides, so that nobody waits in the dark.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

SET_UP = "DAEDALUS_SETUP_SECONDS"  # the launcher's: how long apt and pip took, before this process
_network = [0.0]


@contextmanager
def network() -> Iterator[None]:
    """Counts the time in the block as the network's."""
    started = time.monotonic()
    try:
        yield
    finally:
        _network[0] += time.monotonic() - started


def set_up_seconds() -> float:
    """How long the launcher installed packages for this call: network for the most part."""
    with suppress(ValueError):
        return float(os.environ.get(SET_UP, ""))
    return 0.0


def network_seconds() -> float:
    """How long this call, its launcher included, fetched and installed other people's packages."""
    return set_up_seconds() + _network[0]


def duration(seconds: float) -> str:
    """As people say it: 40 s, 4 min 10 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


class Costs:
    """How long steps take, about; `note` tells how long one took this time."""

    def __init__(self, file: Path, measured: Mapping[str, float]) -> None:
        self._file, self._known = file, dict(measured)
        self._known |= self._read()

    def about(self, step: str) -> float:
        """Seconds that a step is likely to take; 0 where nobody knows."""
        return self._known.get(step, 0.0)

    def note(self, step: str, seconds: float) -> None:
        """Keeps it for the next time; a folder that cannot be written to is no error."""
        self._known[step] = seconds
        partial = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps({**self._read(), step: round(seconds, 1)}, indent=1))
            partial.replace(self._file)

    def _read(self) -> dict[str, float]:
        try:
            return {str(k): float(v) for k, v in json.loads(self._file.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
