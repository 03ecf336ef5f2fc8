# SPDX-License-Identifier: BSD-2-Clause
"""A mode of `daedalus bench`: conversions of column-tiled frames on the CPU, beside memcpy."""

import json

from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import native
from daedalus.generator.measure.native import layouts


def measure(*, as_json: bool) -> None:
    """Measures, and prints."""
    with progress(quiet=as_json):
        speeds = layouts.measure()
    if as_json:
        data = vars(speeds) | {"rows": [vars(r) for r in speeds.rows]}
        print(json.dumps(data, indent=1))
        return
    print_table(
        ("kernel", "frame", "way", "", "MB written", "GB/s", "+-", "of memcpy"),
        [
            (r.kernel, r.frame, r.way, r.order, f"{r.written / 1e6:.2f}", f"{r.gb_per_s:.2f}",
             f"{r.spread:.2f}", f"{r.of_copy:.2f}")
            for r in speeds.rows
        ],
    )  # fmt: skip
    through = "" if native.is_arm() else ", NEON through SIMDe"
    print(
        f"medians of {speeds.rounds} interleaved rounds, each verified; GB/s of bytes written"
        f"\n{speeds.compiler}: {speeds.flags}{through}"
    )
