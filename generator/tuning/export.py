# SPDX-License-Identifier: BSD-2-Clause
"""Results in the form that other autotuners read: Kernel Tuner's T4 results, version 1.0.0."""

from typing import Any

from daedalus.generator.tuning.compare import Side
from daedalus.generator.tuning.entries import OK, Result
from daedalus.generator.tuning.point import parse_point

VERSION = "1.0.0"
# Verdict -> what T4 calls it. A device that was lost or throttled says nothing of the code.
INVALIDITY = {
    OK: "correct", "wrong": "correctness", "failed": "runtime", "timeout": "timeout",
    "spills": "constraints", "refused": "constraints", "lost": "runtime", "throttled": "runtime",
    "unavailable": "runtime",
}  # fmt: skip
_TIMES = ("median", "mad", "low", "high", "empty", "cpu", "gpu")


def t4(side: Side) -> dict[str, Any]:
    """The results of one fingerprint as a T4 results document.

    `times.runtimes` is empty: the journal keeps what samples amount to, not the samples. That is in
    `measurements`, in nanoseconds an item; the objective is `time`, the median.
    """
    machine: dict[str, str] = vars(side.described) if side.described else {}
    return {
        "schema_version": VERSION,
        "metadata": {
            "timeunit": "nanoseconds", "fingerprint": {"id": side.fingerprint, **machine},
            "modelled": side.modelled,
        },
        "results": [_result(r) for r in side.results.values()],
    }  # fmt: skip


def _result(r: Result) -> dict[str, Any]:
    return {
        "timestamp": r.when,
        "configuration": _configuration(r),
        "times": {"runtimes": []},
        "invalidity": INVALIDITY[r.verdict],
        "correctness": 1 if r.verdict == OK else 0,
        "measurements": _measurements(r),
        "objectives": ["time"],
    }


def _configuration(r: Result) -> dict[str, Any]:
    point = parse_point(r.point)
    return {
        "kernel": point.kernel, "class": point.item_class, "target": point.target,
        "options": point.options, "compiler": point.compiler, "route": point.route,
        "workgroup": point.workgroup, "scenario": r.scenario,
    }  # fmt: skip


def _measurements(r: Result) -> list[dict[str, Any]]:
    if r.verdict != OK:
        return [
            {"name": "verdict", "value": r.verdict, "unit": ""},
            {"name": "reason", "value": r.reason, "unit": ""},
        ]
    names = {"median": "time"}
    return [
        *({"name": names.get(n, n), "value": getattr(r, n), "unit": "nanoseconds"}
          for n in _TIMES if getattr(r, n) is not None),
        {"name": "samples", "value": r.samples, "unit": ""},
    ]  # fmt: skip
