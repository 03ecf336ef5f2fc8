# SPDX-License-Identifier: BSD-2-Clause
"""Lines of a tuning journal, for the tests of what reads and writes them."""

from typing import Any

from daedalus.generator.tuning import entries
from daedalus.generator.tuning.entries import Check, Entry, Mixed, Result, Run
from daedalus.generator.tuning.fingerprint import Fingerprint

BOARD = Fingerprint(
    "BCM2712", "d04170", "Linux 6.12", "v3dv 25.0.7", "gcc 14.2", "0123456789abcdef", "2400 MHz"
)
NEON = "vp9_idct8/full/daedalus_vp9_idct8__neon_full/gcc/-/0"
QPU = "vp9_idct8/full/daedalus_vp9_idct8__qpu_full_p8_word_keep/-/drm/0"
WHEN = "2026-11-22T12:00:00Z"


def result(point: str = NEON, scenario: str = "m3 items=64", **more: Any) -> Result:
    """A good result, or one that differs in `more`."""
    values: dict[str, Any] = {
        "fingerprint": BOARD.id, "point": point, "scenario": scenario, "verdict": "ok",
        "modelled": False, "median": 93.4, "mad": 0.5, "low": 93.1, "high": 93.9, "samples": 12,
        "items": 64, "seeds": (1, 2), "verified_before": True, "verified_after": True,
        "input_hash": "aabb", "when": WHEN,
    }  # fmt: skip
    values |= more
    if values["verdict"] != "ok":
        values |= {n: None for n in ("median", "mad", "low", "high")}
    key = entries.result_key(values["point"], values["scenario"], values["input_hash"])
    return Result(**{"key": key} | values)


def every_type() -> list[Entry]:
    m4 = "m4 cpu=vp9_idct8 qpu=vp9_idct8 threads=3 core=3 seconds=6"
    code = dict(zip(entries.MIXED_CODE, (NEON, "aabb", "ccdd", "aabb"), strict=True))
    mixed = Mixed(
        fingerprint=BOARD.id, key=entries.mixed_key(NEON, QPU, m4, *code.values()), scenario=m4,
        cpu_point=NEON, qpu_point=QPU, **code, verdict="ok", threads=3, qpu_core=3, duration=6.0,
        cpu_alone=1e7, cpu_with=9e6, qpu_alone=3e6, qpu_with=2.5e6, cpu_time=0.01,
        cpu_time_alone=0.012, samples=3, when=WHEN,
    )  # fmt: skip
    variant = ("vp9_idct8", "c", "daedalus_vp9_idct8__c_full", "native")
    what: dict[str, Any] = dict(
        zip(entries.CHECK_KEY, (*variant, 8, 1, "aabb", BOARD.generator), strict=True)
    )
    what |= {"code": "0123456789abcdef", "tools": "gcc 14.2"}
    check = Check(
        fingerprint=BOARD.id, key=entries.check_key(**what), verdict="wrong",
        reason="item 3 differs", items=10, conformant=8, mismatches=1, out_of_bounds=0,
        when=WHEN, **what,
    )  # fmt: skip
    run = Run(
        fingerprint=BOARD.id, command="tune", points=4, done=2, ended="interrupted",
        seconds=1.5, when=WHEN,
    )  # fmt: skip
    slow = result(
        scenario="m3 items=1", verdict="timeout", reason="no answer after 10 s", samples=0
    )
    extra = result(QPU, "m2 items=8160", empty=22700.0, cpu=1.25, gpu=240)
    return [entries.described(BOARD), result(), extra, slow, mixed, check, run]
