# SPDX-License-Identifier: BSD-2-Clause
"""What is timed, as codecs/timed.toml has it."""

from daedalus.codecs.data import data
from daedalus.generator.measure.native.items import Case

CASES: tuple[Case, ...] = tuple(
    Case(
        c["kernel"], c["class"], c.get("theirs", ""), c["what"], c.get("fixed", {}),
        {name: (low, high) for name, (low, high) in c.get("ranges", {}).items()},
        c.get("counts", True), c.get("filtered", False),
    )
    for c in data("timed.toml")["case"]
)  # fmt: skip
