# SPDX-License-Identifier: BSD-2-Clause
"""Which of all attempts a schedule came from: enough to make it again without the others."""

from dataclasses import asdict, dataclass
from typing import Any

from daedalus.generator.targets.qpu.schedule import Heuristic


@dataclass(frozen=True)
class Choice:
    """What the search found best.

    heuristic  of the list scheduler
    body       number of the form of the loop's body (loop.make_bodies)
    ahead      places in that body of the nodes that a trip executes for the next one
    program    number of the program, of those that compute the same
    reload     of best.WAYS
    flags_stay whether it counts on flags at thread switches
    """

    heuristic: Heuristic
    body: int = 0
    ahead: tuple[int, ...] = ()
    program: int = 0
    reload: tuple[int, int] | None = None
    flags_stay: bool = True

    def data(self) -> dict[str, Any]:
        """As it is written to a file."""
        return {
            "program": self.program,
            "reload": None if self.reload is None else list(self.reload),
            "flags_stay": self.flags_stay,
            "body": self.body,
            "ahead": _ranges(self.ahead),
            "heuristic": asdict(self.heuristic),
        }


def choice_of(data: dict[str, Any]) -> Choice:
    """Reads back what `data` gave. Raises KeyError, TypeError or ValueError for anything else."""
    reload = data["reload"]
    return Choice(
        Heuristic(**data["heuristic"]),
        int(data["body"]),
        _numbers(data["ahead"]),
        int(data["program"]),
        None if reload is None else (int(reload[0]), int(reload[1])),
        bool(data.get("flags_stay", True)),
    )


def _ranges(numbers: tuple[int, ...]) -> str:
    """Ascending numbers as "0-3 5 7-9"."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _numbers(text: str) -> tuple[int, ...]:
    out: list[int] = []
    for run in text.split():
        first, _, last = run.partition("-")
        out += range(int(first), int(last or first) + 1)
    return tuple(out)
