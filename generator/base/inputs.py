# SPDX-License-Identifier: BSD-2-Clause
"""Reads what the user names: a regular file, as anything else could block or never end."""

import os
import stat
from pathlib import Path

from daedalus.generator.base.errors import UserError


def read_input(path: Path, hint: str = "") -> bytes:
    """All of a file; `hint` says what to do where there is none to read.

    A folder, a device or a FIFO is refused unread. Raises UserError.
    """
    refuse_unreadable(path, hint)
    try:
        return path.read_bytes()
    except OSError as e:
        raise UserError(f"cannot read {path}: {e.strerror}", hint) from None


def refuse_unreadable(path: Path, hint: str = "") -> None:
    """Refuses what is there and cannot be read without a doubt; see `read_input`."""
    try:
        # A FIFO that nobody writes to would keep a plain open() for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        raise UserError(f"cannot read {path}: {e.strerror}", hint) from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UserError(f"{path} is no regular file", "name a regular file to be read")
    finally:
        os.close(fd)
