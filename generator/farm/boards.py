# SPDX-License-Identifier: BSD-2-Clause
"""What a board is, as far as it decides results: its fingerprint, and what works there.

A result of another kind of board, another driver or another compiler is another result, so jobs
are for one kind, and have its `Board` among their inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from daedalus.generator import qpu_check
from daedalus.generator.cli.common import UserError, repo_root
from daedalus.generator.farm.about import code_digest, tools
from daedalus.generator.farm.jobs import manifest_stamp
from daedalus.generator.tuning.board import of_board
from daedalus.generator.tuning.fingerprint import Fingerprint, generator_hash

# Devices that are no GPU with a driver: the processor, and the simulator inside the check program.
_NO_GPU = ("", qpu_check.SIMULATOR.name)


@dataclass(frozen=True)
class Board:
    """A kind of board with one of its GPU's devices.

    fingerprint  the engine's (tuning/board.py), with that device's driver
    code, tools  as in a line of a check: hash of what compares, and versions of all else
    """

    fingerprint: Fingerprint
    code: str
    tools: str

    def words(self) -> str:
        """It in a line, for people."""
        f = self.fingerprint
        return f"{f.id} ({f.words()}, {f.compiler}), code {self.code}, {self.tools}"


def board_of(device: str) -> Board:
    """That of this machine; `device` as `check` names it, "" for the processor's."""
    name = "" if device in _NO_GPU else device
    fingerprint = _fingerprint(name, generator_hash(repo_root()), manifest_stamp())
    return Board(fingerprint, code_digest(), tools())


@cache
def _fingerprint(device: str, _generator: str, _stamp: int) -> Fingerprint:
    return of_board(device)


def boards_of(devices: Sequence[str]) -> dict[str, Board | str]:
    """Those of several devices of this machine; of one that is not here, why."""
    found: dict[str, Board | str] = {}
    for device in devices:
        try:
            found[device] = board_of(device)
        except UserError as e:
            found[device] = f"{e.message}; {e.hint}" if e.hint else e.message
    return found
