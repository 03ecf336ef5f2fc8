# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus list`: kernels, variants, stages, operation counts, proven ranges."""

import json
from typing import Any

import click

from daedalus.generator.base.paths import repo_root
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.inventory import inventory
from daedalus.generator.compile.kernels import chosen

Record = dict[str, Any]


@click.command("list")
@click.argument("kernels", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def command(kernels: tuple[str, ...], as_json: bool) -> None:
    """Lists the kernels, a line each; KERNELS in full, with their stages and variants.

    Kernels of one spec are a family and stand together.

    Operations are what a lane computes: no constants, parameters, loads. They are counted in the
    program as it is traced, for a variant after its last pass, and multiplied by the lanes.
    "verified" means that generated/records/ vouches for the code that lies in generated/;
    `gen --check` says whether that is what the specs give.
    """
    data = inventory(chosen(kernels), repo_root() / "generated")
    if as_json:
        click.echo(json.dumps(data, indent=1))
    elif kernels:
        for n, k in enumerate(data["kernels"]):
            if n:
                click.echo()
            _in_full(k)
    else:
        _overview(data["kernels"])


def _overview(kernels: list[Record]) -> None:
    rows = []
    for k in sorted(kernels, key=lambda k: (k["codec"], k["family"])):
        top = max(
            (s["widest"] for s in k["stages"] if s["widest"]),
            key=lambda w: w["bits"], default=None,
        )  # fmt: skip
        rows.append(
            (
                k["id"], ", ".join(k["aliases"]), k["family"], len(k["stages"]),
                k["operations_an_item"], top["bits"] if top else 0, _targets(k),
                _short(k["clause"]),
            )
        )  # fmt: skip
    headings = ("kernel", "alias", "family", "stages", "operations", "bits", "variants", "clause")
    print_table(headings, rows)
    variants = [v for k in kernels for v in k["variants"]]
    counts = (sum(v["prod"] for v in variants), sum(v["verified"] for v in variants))
    print(
        f"{len(kernels)} kernels, {len(variants)} variants, {counts[0]} prod, {counts[1]} verified;"
        " operations are an item's, bits are what the widest value needs"
    )


def _member(k: Record) -> str:
    """A kernel's family, and which of its members it is."""
    axes = ", ".join(f"{axis} {value}" for axis, value in k["member"].items())
    return f"{k['family']}: {axes}" if axes else ""


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."


def _lanes(stage: Record) -> str:
    return " x ".join(f"{axis}={n}" for axis, n in stage["lanes"].items())


def _targets(kernel: Record) -> str:
    """How many variants a target has, prod ones first: c 1, neon 3 + 2."""
    parts = []
    for target in dict.fromkeys(v["target"] for v in kernel["variants"]):
        own = [v["prod"] for v in kernel["variants"] if v["target"] == target]
        more = f"+{len(own) - sum(own)}" if not all(own) else ""
        parts.append(f"{target} {sum(own)}{more}")
    return ", ".join(sorted(parts))


def _in_full(k: Record) -> None:
    print(f"{k['id']}: {k['doc']}")
    facts = [
        ("aliases", ", ".join(k["aliases"])), ("codec", k["codec"]), ("family", _member(k)),
        ("clause", k["clause"]),
        ("spec", f"{k['spec']}:{k['line']}"), ("classes", ", ".join(k["classes"])),
        ("assumptions", ", ".join(_assumption(a) for a in k["assumptions"])),
        ("decoders", ", ".join(k["decoders"])),
        ("temps", ", ".join(f"{t} [{lo}, {hi}]" for t, (lo, hi) in k["temps"].items())),
    ]  # fmt: skip
    for what, text in facts:
        if text:
            print(f"  {what + ':':13}{text}")
    print()
    rows = []
    for n, s in enumerate(k["stages"], 1):
        w = s["widest"]
        rows.append(
            (
                n, _lanes(s) + (", conditional" if s["conditional"] else ""),
                s["operation_count"], s["loads"], s["stores"],
                f"[{w['lo']}, {w['hi']}]" if w else "", w["bits"] if w else 0,
                f"{w['value']}, {w['at']}" if w else "",
                ", ".join(f"{n} {op}" for op, n in s["operations"].items()),
            )
        )  # fmt: skip
    headings = ("stage", "lanes", "operations a lane", "loads", "stores", "widest", "bits", "which",
                "operations")  # fmt: skip
    print_table(headings, rows)
    print(f"{k['operations_an_item']} operations an item, as traced")
    print()
    print_table(
        ("variant", "target", "class", "options", "library", "operations", "verified"),
        [
            (
                v["name"], v["target"], v["class"], v["options"],
                "prod" if v["prod"] else "variants", v["operations_an_item"],
                f"{v['conformant']} items on {', '.join(v['devices'])}" if v["verified"] else "no",
            )
            for v in k["variants"]
        ],
    )  # fmt: skip
    print(f"operations an item, after {', '.join({v['counted_after'] for v in k['variants']})}")
    for name, why in k["refused"].items():
        print(f"no {name}: {why}")
    _machine_code(k)


def _machine_code(k: Record) -> None:
    """The programs of the variants for the QPU."""
    found = [(v["name"], v["figures"]) for v in k["variants"] if v.get("figures")]
    if not found:
        return
    print()
    print_table(
        ("variant", "an item", "a trip", "at least", "registers", "lookups", "nops", "all"),
        [
            (
                name, f["an_item"], f["trip"], f["bound"], f["registers"], f["loads"] + f["stores"],
                f["nops"], f["instructions"],
            )
            for name, f in found
        ],
    )  # fmt: skip
    print("instructions an item, of a trip of the loop, and of the program; lookups of a trip")


def _assumption(a: Record) -> str:
    return a["name"] if a["default"] else f"{a['name']} (off)"
