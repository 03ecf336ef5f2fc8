# SPDX-License-Identifier: BSD-2-Clause
"""What a line of the journal may be, as Python values that refuse what a line must not have.

`journal.schema.json` beside this file is the statement of the format; a test holds the two to the
same. The order of the members here is that in the line.
"""

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import Any, ClassVar, get_args, get_type_hints

from daedalus.generator.tuning.fingerprint import Fingerprint, fnv64
from daedalus.generator.tuning.point import parse_point

VERSION = 1
OK = "ok"
# Verdicts that say nothing of the point, after which it is measured again.
AGAIN = ("timeout", "lost", "throttled", "unavailable")
VERDICTS = (OK, "wrong", "failed", "spills", "refused", *AGAIN)
ENDINGS = ("done", "interrupted", "budget", "failed")
_WHEN = "%Y-%m-%dT%H:%M:%SZ"
_MAY_BE_EMPTY = ("reason", "input_hash", "command")
_HASH = re.compile(r"[0-9a-f]{16}")


def now() -> str:
    """The time as lines tell it: UTC, to the second."""
    return datetime.now(UTC).strftime(_WHEN)


def result_key(point: str, scenario: str, input_hash: str) -> str:
    """What a result is of: the point, how it was measured, and the variant's code."""
    return fnv64(f"{point}|{scenario}|{input_hash}".encode())


MIXED_CODE = ("instead_point", "cpu_hash", "qpu_hash", "instead_hash")


def mixed_key(cpu_point: str, qpu_point: str, scenario: str, *code: str) -> str:
    """What a mixed result is of; `code` are the members MIXED_CODE of Mixed, those that are
    there."""
    return fnv64("|".join((cpu_point, qpu_point, scenario, *code)).encode())


CHECK_KEY = ("kernel", "target", "variant", "device", "asked", "seed", "input_hash", "generator")


def check_key(
    kernel: str, target: str, variant: str, device: str, asked: int, seed: int, input_hash: str,
    generator: str, code: str | None = None, tools: str | None = None,
) -> str:  # fmt: skip
    """What a check is of; the arguments are members of Check, in the order of CHECK_KEY, and those
    that it may have."""
    parts = (kernel, target, variant, device, asked, seed, input_hash, generator)
    more = (p for p in (code, tools) if p is not None)
    return fnv64("|".join(map(str, (*parts, *more))).encode())


class Line(ABC):
    """What the entries have in common. Raises ValueError for values that a line must not have."""

    type: ClassVar[str]

    def __post_init__(self) -> None:
        for name, hint in members(self.type).items():
            _check(name, getattr(self, name), hint)

    def as_members(self) -> dict[str, Any]:
        """The members of the line, less version, type and sum; what is not there is left out."""
        return {n: v for n in members(self.type) if (v := getattr(self, n)) is not None}

    @property
    @abstractmethod
    def identity(self) -> tuple[str, ...]:
        """Two lines with the same say the same, and are kept once."""


@dataclass(frozen=True, kw_only=True)
class Described(Line):
    """A fingerprint, spelled out: once a journal, before the first line that has its id."""

    type: ClassVar[str] = "fingerprint"
    id: str
    soc: str
    revision: str
    kernel: str
    driver: str
    compiler: str
    generator: str
    clocks: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fingerprint.id != self.id:
            raise ValueError(f"id is {self.id}, of its parts {self.fingerprint.id}")

    @property
    def fingerprint(self) -> Fingerprint:
        parts = {f.name: getattr(self, f.name) for f in fields(Fingerprint)}
        return Fingerprint(**parts)

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.type, self.id)


def described(fingerprint: Fingerprint) -> Described:
    """The line that spells a fingerprint out."""
    return Described(id=fingerprint.id, **vars(fingerprint))


@dataclass(frozen=True, kw_only=True)
class _Judged(Line):
    """A line with a verdict: figures only with "ok", a reason with every other."""

    figures: ClassVar[tuple[str, ...]] = ()  # that "ok" has,
    may_have: ClassVar[tuple[str, ...]] = ()  # and may have
    fingerprint: str
    key: str

    def __post_init__(self) -> None:
        super().__post_init__()
        verdict, reason = vars(self)["verdict"], vars(self)["reason"]
        there = [n for n in (*self.figures, *self.may_have) if getattr(self, n) is not None]
        if verdict == OK:
            missing = [n for n in self.figures if n not in there]
            if missing:
                raise ValueError(f"verdict ok without {', '.join(missing)}")
        elif there:
            raise ValueError(f"verdict {verdict} with {', '.join(there)}")
        elif not reason:
            raise ValueError(f"verdict {verdict} without a reason")

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.type, self.fingerprint, self.key, vars(self)["when"])

    def _check_key(self, key: str) -> None:
        if self.key != key:
            raise ValueError(f"key is {self.key}, of what it names {key}")


@dataclass(frozen=True, kw_only=True)
class Result(_Judged):
    """One point, measured or modelled.

    point            text of a point.Point
    scenario         how: "m2 items=N", "m3 items=N", "model items=N"
    modelled         by the model, not on the hardware
    median, mad      ns an item
    low, high        ns an item: the 95 % interval of the median, or the model's interval
    samples          that the median is of; discarded: taken while the board was throttled
    seconds          spent on them; None where that is not told, as of modelled results
    empty            ns of an empty dispatch measured beside it
    cpu, gpu         ns an item of the caller's CPU time, and by the GPU's own timestamps
    items            a sample
    seeds            of the items that were verified
    verified_before  the variant's output was right before timing,
    verified_after   and in the very buffers that were timed
    input_hash       of the variant's code, as the manifest has it
    """

    type: ClassVar[str] = "result"
    figures: ClassVar[tuple[str, ...]] = ("median", "mad", "low", "high")
    may_have: ClassVar[tuple[str, ...]] = ("seconds", "empty", "cpu", "gpu")
    point: str
    scenario: str
    verdict: str
    reason: str = ""
    modelled: bool
    unit: str = "ns"
    median: float | None = None
    mad: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int
    discarded: int = 0
    seconds: float | None = None
    empty: float | None = None
    cpu: float | None = None
    gpu: float | None = None
    items: int
    seeds: tuple[int, ...]
    verified_before: bool
    verified_after: bool
    input_hash: str
    when: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_key(result_key(self.point, self.scenario, self.input_hash))
        if self.unit != "ns":
            raise ValueError(f"unit is {self.unit!r}, not ns")
        if self.low is not None and self.median is not None and self.high is not None:
            if not self.low <= self.median <= self.high:
                raise ValueError(f"median {self.median} is not in [{self.low}, {self.high}]")
            if not self.modelled and not (self.verified_before and self.verified_after):
                raise ValueError("a time whose output was not verified before and after")


@dataclass(frozen=True, kw_only=True)
class Mixed(_Judged):
    """CPU and QPU at work at once (M4).

    instead_point          the QPU's items on the CPU, which cpu_time_alone has
    cpu_hash, .., ..       input_hash of the code of the three points; these four members are None
                           in lines that are older than they are
    duration               seconds
    cpu_alone, cpu_with    items a second on the CPU, without and with the QPU at work
    qpu_alone, qpu_with    the same of the QPU
    cpu_time, .._alone     seconds of CPU a frame's worth of items, with the QPU and without
    """

    type: ClassVar[str] = "mixed"
    figures: ClassVar[tuple[str, ...]] = (
        "cpu_alone", "cpu_with", "qpu_alone", "qpu_with", "cpu_time", "cpu_time_alone",
    )  # fmt: skip
    scenario: str
    cpu_point: str
    qpu_point: str
    instead_point: str | None = None
    cpu_hash: str | None = None
    qpu_hash: str | None = None
    instead_hash: str | None = None
    verdict: str
    reason: str = ""
    threads: int
    qpu_core: int
    duration: float
    cpu_alone: float | None = None
    cpu_with: float | None = None
    qpu_alone: float | None = None
    qpu_with: float | None = None
    cpu_time: float | None = None
    cpu_time_alone: float | None = None
    discarded: int = 0
    samples: int
    when: str

    def __post_init__(self) -> None:
        super().__post_init__()
        code = (c for n in MIXED_CODE if (c := getattr(self, n)) is not None)
        self._check_key(mixed_key(self.cpu_point, self.qpu_point, self.scenario, *code))


@dataclass(frozen=True, kw_only=True)
class Check(_Judged):
    """A variant compared with the reference interpreter on one device.

    variant      its name, or what `check` shows in its place ("dispatch", "witnesses")
    device       as `check` names it
    asked        conformant items that were asked for, drawn from seed
    items        compared in all; conformant: of them, those that must be bit-exact
    mismatches, out_of_bounds  conformant items that differ; elements written outside
    input_hash   of the variant's code; "" for what is no variant
    generator    as in fingerprints
    code         hash of what compared, Python and C; None in lines that are older than it
    tools        versions of what compiled and ran the variant, the same
    """

    type: ClassVar[str] = "check"
    kernel: str
    target: str
    variant: str
    device: str
    verdict: str
    reason: str = ""
    asked: int
    items: int
    conformant: int
    mismatches: int
    out_of_bounds: int
    seed: int
    input_hash: str
    generator: str
    code: str | None = None
    tools: str | None = None
    when: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_key(check_key(*(getattr(self, n) for n in (*CHECK_KEY, "code", "tools"))))


@dataclass(frozen=True, kw_only=True)
class Run(Line):
    """The end of a command that measured.

    points  there were; done: measured by this run; ended: one of ENDINGS; seconds: it took
    """

    type: ClassVar[str] = "run"
    fingerprint: str
    command: str
    points: int
    done: int
    ended: str
    seconds: float
    when: str

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.type, self.fingerprint, self.command, self.when)


Entry = Described | Result | Mixed | Check | Run
TYPES: dict[str, type[Entry]] = {t.type: t for t in (Described, Result, Mixed, Check, Run)}


def entry_of(kind: str, found: dict[str, Any]) -> Entry:
    """The entry of a line's members, less version, type and sum.

    Raises ValueError that says which member breaks the format.
    """
    names = members(kind)
    unknown = [n for n in found if n not in names]
    if unknown:
        raise ValueError(f"a {kind} has no member {', '.join(unknown)}")
    nothing = [n for n, v in found.items() if v is None]
    if nothing:
        raise ValueError(f"{', '.join(nothing)} is null")
    optional = {n for n, hint in names.items() if NoneType in get_args(hint)}
    missing = [n for n in names if n not in found and n not in optional]
    if missing:
        raise ValueError(f"a {kind} without {', '.join(missing)}")
    made: Any = TYPES[kind]  # what it is called with is checked there
    entry: Entry = made(**{n: tuple(v) if isinstance(v, list) else v for n, v in found.items()})
    return entry


@cache
def members(kind: str) -> dict[str, Any]:
    """Name -> type of the members of a type of line, in the line's order."""
    hints = get_type_hints(TYPES[kind])
    return {f.name: hints[f.name] for f in fields(TYPES[kind])}


def _check(name: str, value: object, hint: Any) -> None:
    if value is None and NoneType in get_args(hint):
        return
    if not _fits(value, hint):
        raise ValueError(f"{name} is {value!r}")
    if value == "" and name not in _MAY_BE_EMPTY:
        raise ValueError(f"{name} is empty")
    if name in ("fingerprint", "key", "id") and not _HASH.fullmatch(str(value)):
        raise ValueError(f"{name} is {value!r}, not 16 hex digits")
    choices = {"verdict": VERDICTS, "ended": ENDINGS}.get(name, ())
    if choices and value not in choices:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(choices)}")
    if name in ("point", "cpu_point", "qpu_point", "instead_point"):
        parse_point(str(value))
    if name == "when":
        datetime.strptime(str(value), _WHEN)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a member's type; numbers are finite and not negative."""
    if hint is bool or hint in (str, str | None):
        return isinstance(value, hint)
    if hint == tuple[int, ...]:
        return isinstance(value, tuple) and all(_fits(v, int) for v in value)
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value >= 0
    return hint is not int and isinstance(value, float) and math.isfinite(value) and value >= 0
