# SPDX-License-Identifier: BSD-2-Clause
"""What a board is, as far as it decides results: its fingerprint, and what works there.

A result of another kind of board, another driver or another compiler is another result, so jobs
are for one kind, and have its `Board` among their inputs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import UserError
from daedalus.generator.farm.about import code_digest, tools
from daedalus.generator.farm.jobs import manifest_stamp
from daedalus.generator.tuning import kit
from daedalus.generator.tuning.board import of_board
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.verify import qpu_check

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
    """That of this machine now; `device` as `check` names it, "" for the processor's.

    Looked at anew each time, as a worker lives longer than a governor or a driver stays; only the
    engine that looks is built once for the code and the tools that are there.
    """
    code, versions = code_digest(), tools()
    state = (manifest_stamp(), code, versions)
    name = "" if device in _NO_GPU else device
    return Board(of_board(name, lambda arch: _engine(state, arch)), code, versions)


@cache
def _engine(_state: object, arch: str) -> Path:
    return kit.build_program(arch)


def require(board: Board, device: str) -> None:
    """Raises UserError where this machine is not, or no longer, that board."""
    here = board_of(device)
    if here != board:
        raise UserError(
            f"this board is now {here.words()}, and was {board.words()}",
            "begin again: its results are other ones",
        )


async def boards_aside(devices: Sequence[str]) -> dict[str, Board | str]:
    """`boards_of` in a thread: what builds for minutes must not keep a worker's event loop, by
    which its scheduler sees that it is there."""
    return await asyncio.to_thread(boards_of, devices)


def boards_of(devices: Sequence[str]) -> dict[str, Board | str]:
    """Those of several devices of this machine; of one that is not here, why."""
    found: dict[str, Board | str] = {}
    for device in devices:
        try:
            found[device] = board_of(device)
        except UserError as e:
            found[device] = f"{e.message}; {e.hint}" if e.hint else e.message
    return found
