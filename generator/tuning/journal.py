# SPDX-License-Identifier: BSD-2-Clause
"""The journal: what was measured, a JSON object a line, only ever appended to.

Every line is complete by itself and ends with a sum over its own bytes, so that a torn or changed
one is found; it is reported, skipped, and left where it is. docs/tuning-journal.md tells of it.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from daedalus.generator.base.inputs import read_input
from daedalus.generator.options import OlderWord, refuse_older
from daedalus.generator.tuning.entries import (
    AGAIN,
    OK,
    TYPES,
    VERSION,
    Check,
    Entry,
    Mixed,
    Result,
    entry_of,
)
from daedalus.generator.tuning.fingerprint import fnv64

J = TypeVar("J", bound=Result | Check | Mixed)
_NAME = re.compile(r"daedalus_[a-z0-9_]+?__[a-z0-9_]+")
_SUM = b',"sum":"'
_CLOSING = len(_SUM) + 16 + len(b'"}')


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """A line that is skipped, and why."""

    at: Place
    what: str

    def __str__(self) -> str:
        return f"{self.at}: {self.what}; the line is skipped"


@dataclass(frozen=True)
class Found:
    """An entry as it lies in a file: `text` are the line's bytes without the newline."""

    entry: Entry
    at: Place
    text: bytes


@dataclass(frozen=True)
class Journal:
    """What a file holds: its whole lines in their order, and what is wrong with the others."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(f.entry for f in self.found)


def line_of(entry: Entry) -> bytes:
    """The line of an entry, with its newline."""
    members = {"v": VERSION, "type": entry.type, **entry.as_members()}
    text = json.dumps(members, separators=(",", ":"), allow_nan=False).encode()
    body = text[:-1]
    return body + _SUM + fnv64(body).encode() + b'"}\n'


def parse_line(line: bytes) -> Entry:
    """The entry of a line without its newline; raises ValueError that says what is wrong."""
    found = _checked_members(line)
    version = found.pop("v", None)
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"version {version!r}, this program reads {VERSION}")
    kind = found.pop("type", None)
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"unknown type {kind!r}")
    return entry_of(kind, found)


def _checked_members(line: bytes) -> dict[str, Any]:
    """The members of a line whose sum is right, without the sum."""
    body, closing = line[:-_CLOSING], line[-_CLOSING:]
    if not line.startswith(b"{") or not (closing.startswith(_SUM) and closing.endswith(b'"}')):
        raise ValueError("torn, or no journal's: it does not end with its sum")
    told, own = closing[len(_SUM) : -2].decode("ascii", "replace"), fnv64(body)
    if told != own:
        raise ValueError(f"changed or torn: its sum is {told}, of its bytes {own}")
    try:
        found = json.loads(body + b"}", parse_constant=_refuse)
    except (UnicodeDecodeError, json.JSONDecodeError) as e:
        raise ValueError(f"not JSON: {e}") from None
    except RecursionError:
        raise ValueError("not a journal's: its JSON is nested too deeply") from None
    assert isinstance(found, dict)  # it begins with a brace
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def read(path: Path) -> Journal:
    """What a journal holds; nothing of one that does not exist yet. Raises UserError."""
    return parsed(read_input(path), str(path)) if path.exists() else Journal((), ())


def parsed(data: bytes, name: str) -> Journal:
    """What the bytes of a journal of that name hold."""
    found: list[Found] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        at = Place(name, number)
        try:
            found.append(Found(parse_line(line), at, line))
        except ValueError as e:
            problems.append(Problem(at, str(e)))
    older = [(f, what) for f in found for what in (_older(f.text),) if what]
    if older:  # one message for all of them
        first, what = older[0]
        problems.append(Problem(first.at, f"{what}; so are {len(older)} lines of the file"))
        places = {f.at for f, _ in older}
        found = [f for f in found if f.at not in places]
    return Journal(tuple(found), tuple(problems))


def _older(text: bytes) -> str:
    """What is wrong with the words of a line's variants; "" where nothing is."""
    try:
        for name in _NAME.findall(text.decode()):
            refuse_older(name)
    except OlderWord as e:
        return str(e)
    return ""


def append(path: Path, *entries: Entry) -> None:
    """Adds entries; once this returns they are on the disk.

    Other programs may append to the file at the same time. Raises OSError where not all could be
    written.
    """
    append_lines(path, [line_of(e) for e in entries])


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Adds lines as `line_of` gives them, in one write."""
    data = b"".join(lines)
    if data:
        with _locked(path) as fd:
            _write(fd, data, path)


class Union:
    """A journal that gets each line once, whoever else appends to it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = path, 0
        self._have: set[tuple[str, ...]] = set()

    def add(self, found: Iterable[Found]) -> int:
        """Adds what the file does not hold yet, as it stands where it was found.

        Nothing comes in between the look and the addition. Returns how many lines were added.
        """
        with _locked(self._path) as fd:
            more = os.pread(fd, os.fstat(fd).st_size, self._read)
            whole = more.rfind(b"\n") + 1  # a torn end is looked at again, with what follows it
            self._read += whole
            self._have |= {e.identity for e in parsed(more[:whole], "").entries}
            torn = {e.identity for e in parsed(more[whole:], "").entries}
            new: dict[tuple[str, ...], bytes] = {}
            for f in found:
                if f.entry.identity not in self._have | torn:
                    new.setdefault(f.entry.identity, f.text + b"\n")
            if new:
                _write(fd, b"".join(new.values()), self._path)
        return len(new)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, made if need be, open to append to; nobody else appends until the block ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _write(fd: int, data: bytes, path: Path) -> None:
    """Adds lines at once and waits until they are on the disk."""
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        data = b"\n" + data  # whoever wrote last was killed in the middle of a line
    try:
        written = os.write(fd, data)
        os.fdatasync(fd)
    except OSError:
        os.ftruncate(fd, size)
        raise
    if written != len(data):
        os.ftruncate(fd, size)  # a line in part is none
    if not size:
        _sync_folder(path.parent)
    if written != len(data):
        raise OSError(f"{path}: only {written} of {len(data)} bytes could be written")


def _sync_folder(folder: Path) -> None:
    """Makes a new file's name last."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@dataclass(frozen=True)
class Terms:
    """What a run asks of a time: at least so many samples, and an interval that is within a share
    of the median, or so many seconds spent on it."""

    samples: int = 0
    precision: float = 0.0
    seconds: float = 0.0

    def met_by(self, result: Result) -> bool:
        """Whether a result with a time is as good as this run would have it."""
        if result.modelled:
            return True
        assert result.median is not None and result.low is not None and result.high is not None
        aside = max(result.median - result.low, result.high - result.median)
        precise = aside <= self.precision * result.median
        return result.samples >= self.samples and (
            precise or (result.seconds or 0.0) >= self.seconds
        )


def replaces(new: Result | Check | Mixed, old: Result | Check | Mixed) -> bool:
    """Whether of two lines of the same thing the first counts: the later one, in their order where
    both are as late; but a verdict that says nothing (AGAIN) never takes the place of another."""
    says_nothing = new.verdict in AGAIN
    if says_nothing != (old.verdict in AGAIN):
        return not says_nothing
    return new.when >= old.when


def latest(lines: Iterable[J]) -> list[J]:
    """The line of each fingerprint and key that counts: the last, see `replaces`."""
    found: dict[tuple[str, str], J] = {}
    for line in lines:
        have = found.get((line.fingerprint, line.key))
        if have is None or replaces(line, have):
            found[line.fingerprint, line.key] = line
    return list(found.values())


def settled(result: Result, terms: Terms) -> bool:
    """Whether a result needs no measuring again by a run of these terms."""
    return terms.met_by(result) if result.verdict == OK else result.verdict not in AGAIN
