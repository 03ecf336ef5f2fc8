# SPDX-License-Identifier: BSD-2-Clause
"""What there is: kernels, their stages with proven ranges, their variants, and what is verified.

An *operation* is a value that is computed: no constant, parameter, lane, load or assumption. They
are counted in the program as the author wrote it (TRACED), and for a variant in what its back end
gets, after the last pass. A lane of a stage executes each of them once, so an item costs lanes
times operations; unrolling changes the first factor, a class the second.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daedalus.dsl.ir import Kernel, Node, Op, Stage, smallest_dtype
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import node_kind
from daedalus.generator.base import records
from daedalus.generator.compile import kept
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import QPU, Options, variant_name
from daedalus.generator.passes.pipeline import lower, passes

TRACED = "trace"
VERSION = 1  # of the JSON that `list` prints

_GIVEN = frozenset({Op.CONST, Op.PARAM, Op.LANE, Op.LOAD, Op.ASSUME})


@dataclass(frozen=True)
class Known:
    """By variant, what a folder of generated code says: the record of its comparison, if that is
    of the code that lies there; of those in machine code, their figures in the manifest. By
    kernel, what targets said that have no variant of it."""

    verified: dict[str, dict[str, Any]]
    figures: dict[str, dict[str, Any]]
    refused: dict[str, dict[str, str]]


def is_operation(node: Node) -> bool:
    """Whether a lane computes something for this value."""
    return node.op not in _GIVEN


def bits_needed(r: Interval) -> int:
    """The bits of the smallest two's complement, or unsigned, number that holds the interval."""
    if r.lo >= 0:
        return max(r.hi.bit_length(), 1)
    return max((-r.lo - 1).bit_length(), max(r.hi, 0).bit_length()) + 1


def operations(stage: Stage) -> Counter[str]:
    """Operation -> how often a lane executes it."""
    return Counter(str(n.op) for n in stage.nodes() if is_operation(n))


def operations_an_item(kernel: Kernel) -> int:
    """Operations of all lanes of all stages; stages under a condition count in full."""
    return sum(s.lanes * operations(s).total() for s in kernel.stages)


def widest(stage: Stage, ranges: Ranges) -> Node | None:
    """The computed or loaded value that needs most bits; the first of those that do."""
    values = [n for n in stage.nodes() if not n.is_bool and n.op is not Op.CONST]
    return max(values, key=lambda n: bits_needed(ranges.of(n))) if values else None


def _figures(folder: Path) -> dict[str, dict[str, Any]]:
    """Variant in machine code -> what the manifest in `folder` says of its program."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        variants = [v for k in manifest["kernels"] for v in k["variants"]]
        return {v["name"]: v["figures"] for v in variants if "figures" in v}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _verified(folder: Path) -> dict[str, dict[str, Any]]:
    """Variant -> its record, of those whose record is of the code that lies in `folder`."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        hashes = {v["name"]: v["input_hash"] for k in manifest["kernels"] for v in k["variants"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {
        name: record
        for name, record in records.by_variant(records.VERIFIED, folder).items()
        if record["input_hash"] == hashes.get(name)
    }


def stage_record(stage: Stage, ranges: Ranges) -> dict[str, Any]:
    """The data of a stage: lanes, operations of a lane, the widest value."""
    counts = operations(stage)
    top = widest(stage, ranges)
    widest_value = None
    if top is not None:
        r = ranges.of(top)
        dtype = smallest_dtype(r.lo, r.hi)
        widest_value = {
            "lo": r.lo, "hi": r.hi, "bits": bits_needed(r),
            "dtype": None if dtype is None else dtype.name,
            "value": top.name or node_kind(top), "at": str(top.loc),
        }  # fmt: skip
    return {
        "lanes": dict(stage.dims),
        "lane_count": stage.lanes,
        "conditional": stage.given is not None or bool(stage.limits),
        "operations": dict(sorted(counts.items())),
        "operation_count": counts.total(),
        "loads": sum(n.op is Op.LOAD for n in stage.nodes()),
        "stores": len(stage.stores),
        "widest": widest_value,
    }


def variant_record(kernel: Kernel, options: Options, prod: bool, known: Known) -> dict[str, Any]:
    """The data of a variant: its choices, the size of its program, whether it was compared; of one
    in machine code its figures, None where generated/ has it not."""
    name = variant_name(kernel.id, options)
    record = known.verified.get(name)
    return {
        "name": name,
        "options": options.name,
        "target": options.target,
        "class": options.class_name,
        "items": options.choice("items"),
        "rows": options.choice("rows"),
        "assume": list(options.assume),
        "early": options.choice("early_out"),
        "needs": list(options.needs),
        "prod": prod,
        "operations_an_item": kept.once(
            kernel, f"operations of {options}", lambda: operations_an_item(lower(kernel, options))
        ),
        "counted_after": passes(kernel, options)[-1][0],
        "verified": record is not None,
        "devices": [] if record is None else [r["device"] for r in record["runs"]],
        "conformant": 0 if record is None else min(r["conformant"] for r in record["runs"]),
    } | ({"figures": known.figures.get(name)} if options.target == QPU else {})


def kernel_record(entry: Entry, known: Known) -> dict[str, Any]:
    """The data of a kernel, as `list --json` prints it."""
    k = entry.kernel
    ranges = Ranges(k)
    return {
        "id": k.id,
        "aliases": list(k.aliases),
        "codec": k.codec,
        "family": k.family,
        "member": dict(k.member),
        "clause": k.clause,
        "doc": k.doc.splitlines()[0],
        "spec": entry.spec,
        "line": k.loc.line,
        "item": k.item_noun,
        "classes": list(k.class_names),
        "assumptions": [{"name": a.name, "default": a.default} for a in k.assumptions],
        "decoders": sorted({d.decoder for d in k.decoders}),
        "temps": {
            t.name: [ranges.temps[t.name].lo, ranges.temps[t.name].hi]
            for t in k.temps
            if t.name in ranges.temps
        },
        "operations_an_item": operations_an_item(k),
        "counted_after": TRACED,
        "stages": [stage_record(s, ranges) for s in k.stages],
        "variants": [variant_record(k, s, prod, known) for s, prod in entry.listed],
        "refused": known.refused.get(k.id, {}) if entry.by_rule else {},
    }


def inventory(entries: list[Entry], generated: Path) -> dict[str, Any]:
    """The whole list. `verified` is about the code that lies in the folder `generated`."""
    refused = {k: r.get("refused", {}) for k, r in records.each(records.OPTIONS, generated).items()}
    known = Known(_verified(generated), _figures(generated), refused)
    return {"version": VERSION, "kernels": [kernel_record(e, known) for e in entries]}
