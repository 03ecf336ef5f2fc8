# SPDX-License-Identifier: BSD-2-Clause
"""What may vary without changing results: the options of a variant, one class for each target.

A class is the table of its target: fields in the order of the name, each with its word, meaning and
what it needs. Names, the parser, the tuning space and docs/options.md follow from these tables.
"""

from daedalus.generator.options.names import (
    OLDER,
    OlderWord,
    parse_variant,
    refuse_older,
    variant_name,
)
from daedalus.generator.options.table import THREADS, Options, Word
from daedalus.generator.options.targets import (
    BY_TARGET,
    CPU_TARGETS,
    ELEMENTS,
    GPU_TARGETS,
    INVOCATIONS,
    ITEMS,
    PLAIN_TARGETS,
    POINTS,
    QPU,
    ROWS,
    TARGETS,
    VECTOR_TARGETS,
    COptions,
    GlslOptions,
    GpuOptions,
    NeonOptions,
    QpuOptions,
    VectorOptions,
    options_of,
    table,
)

__all__ = [
    "BY_TARGET",
    "CPU_TARGETS",
    "ELEMENTS",
    "GPU_TARGETS",
    "INVOCATIONS",
    "ITEMS",
    "OLDER",
    "PLAIN_TARGETS",
    "POINTS",
    "QPU",
    "ROWS",
    "TARGETS",
    "THREADS",
    "VECTOR_TARGETS",
    "COptions",
    "GlslOptions",
    "GpuOptions",
    "NeonOptions",
    "OlderWord",
    "Options",
    "QpuOptions",
    "VectorOptions",
    "Word",
    "options_of",
    "parse_variant",
    "refuse_older",
    "table",
    "variant_name",
]
