# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that cost nothing but their latency, for the tests of the farm; workers import them."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tuning_lines import BOARD

from daedalus.generator.base.errors import UserError
from daedalus.generator.farm.jobs import Judged, Known
from daedalus.generator.tuning.entries import CHECK_KEY, Check, Entry, check_key, described, now


@dataclass(frozen=True)
class StepJob:
    """Judges its number: wrong where that is a multiple of three.

    log     a file that gets a line when the job starts, and one when it ends
    harm    numbers by which the worker ends, and by which it says it cannot
    """

    number: int
    latency: float = 0.0
    log: str = ""
    harm: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[object, ...]:
        return (self.number, self.log)

    @property
    def title(self) -> str:
        return f"step {self.number}"

    @property
    def key(self) -> str:
        """Of the line that it gives."""
        return check_key(**self._what())  # type: ignore[arg-type]

    @property
    def verdict(self) -> str:
        return "ok" if self.number % 3 else "wrong"

    def is_done(self, known: frozenset[Known]) -> bool:
        return (BOARD.id, self.key) in known

    def gave(self, result: Judged) -> bool:
        return (result.fingerprint, result.key) == (BOARD.id, self.key)

    def _what(self) -> dict[str, object]:
        values = ("step", "c", f"step{self.number}", "native", 1, self.number, "aa", "bb")
        return dict(zip(CHECK_KEY, values, strict=True))

    def run(self) -> Iterable[Entry]:
        self._note("start")
        if self.number in self.harm[:1]:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number in self.harm[1:]:
            raise UserError("this board has no such thing", "plug it in")
        time.sleep(0.01)
        self._note("end")
        return [described(BOARD), Check(
            fingerprint=BOARD.id, key=self.key, verdict=self.verdict,
            reason="" if self.verdict == "ok" else "three divides it", items=1, conformant=1,
            mismatches=0, out_of_bounds=0, when=now(), **self._what(),  # type: ignore[arg-type]
        )]  # fmt: skip

    def _note(self, what: str) -> None:
        if self.log:
            with open(self.log, "a") as f:
                f.write(f"{what} {self.number} {os.getpid()}\n")
