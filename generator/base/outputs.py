# SPDX-License-Identifier: BSD-2-Clause
"""Writes what a verb makes into the file that the user names: whole, or not at all."""

import os
import stat
import tempfile
from pathlib import Path

from daedalus.generator.base.errors import UserError


def write_output(path: Path, content: str | bytes) -> None:
    """Makes `path` hold the content; a failure leaves what was there, and nothing beside it.

    A symlink stays, and its target is written. Missing parent folders are made. What is there and
    is no regular file (a folder, a device, a FIFO) is refused. Raises UserError.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = path.resolve()
        refuse_special(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data)
    except OSError as e:
        raise UserError(f"cannot write {path}: {e.strerror}", "name another file") from None
    except RuntimeError:  # Python 3.11's word for a symlink that leads to itself
        raise UserError(f"cannot write {path}: its symlinks form a circle") from None


def refresh(path: Path, text: str) -> None:
    """As write_output; a file that holds the text already is left as it is, with its time.

    For what is made again on each run and what others may be reading or compiling meanwhile.
    """
    if not path.is_file() or path.read_bytes() != text.encode():
        write_output(path, text)


def refuse_special(path: Path) -> None:
    """Refuses what is there and is no regular file: reading could block, writing could harm."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as e:
        raise UserError(f"cannot use {path}: {e.strerror}", "name another file") from None
    if not stat.S_ISREG(mode):
        raise UserError(f"{path} is no regular file", "name a regular file, or one to be made")


def _replace(target: Path, data: bytes) -> None:
    """Writes a file beside the target and puts it in its place, with the target's mode."""
    fd, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".new", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        fresh.chmod(_mode(target))
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
