# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus stats`: what Mesa's driver makes of the GLSL variants on V3D."""

import json
from dataclasses import asdict

import click

from daedalus.generator.base.console import fail
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.compile.emit import entry_variants, environment
from daedalus.generator.compile.kernels import chosen, options_named
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.measure.gpu import statistics
from daedalus.v3d import vkrun

_COLUMNS = (
    "an_item", "instructions", "threads", "temps", "uniforms", "spills", "fills", "lookups", "nops"
)  # fmt: skip


@click.command(name="stats")
@click.argument("kernels", nargs=-1)
@click.option("--options", "listed", multiple=True, metavar="NAME",
              help="Compile these variants of the KERNELS, listed or not.")  # fmt: skip
@click.option("--workgroup", type=click.IntRange(16, 256), default=None,
              help="Invocations of a workgroup; else each variant's own number.")  # fmt: skip
@click.option("--record", is_flag=True, help="Write generated/records/.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    kernels: tuple[str, ...], listed: tuple[str, ...], workgroup: int | None, record: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Compiles GLSL variants with Mesa's v3dv for V3D 7.1 and prints its statistics.

    Without KERNELS, all. Instructions an item are those of a batch of 16 invocations, divided by
    the items that these do. Exit code 1 if a prod variant spills or keeps an array in memory, 3
    without the driver of `setup --native`.
    """
    if record and (listed or workgroup):
        raise UserError(
            "--record is of all variants of a kernel", "leave out --options and --workgroup"
        )
    if listed and not kernels:
        raise UserError("--options needs the kernels to compile", "name one or more")
    variants = _variants(kernels, listed)
    device = vkrun.v3dv("host")
    found: dict[str, statistics.Statistics] = {}
    with progress(len(variants), quiet=as_json) as shown:
        for v in variants:
            found[v.name] = statistics.measure(device, v, workgroup or 0)
            shown.advance(1)
    name = statistics.driver(device)
    if record:
        for kernel in dict.fromkeys(v.kernel.id for v in variants):
            mine = {v.name: found[v.name] for v in variants if v.kernel.id == kernel}
            statistics.record(kernel, name, mine)
    if as_json:
        rows = {n: asdict(s) for n, s in found.items()}
        print(json.dumps({"driver": name, "variants": rows}, indent=1))
    else:
        headings = ["variant", *(c.replace("_", " ") for c in _COLUMNS)]
        print_table(headings, [[n, *(getattr(s, c) for c in _COLUMNS)] for n, s in found.items()])
        print(name)
    fail(f"{v.name} keeps values in memory" for v in variants if v.prod and found[v.name].memory)


def _variants(kernels: tuple[str, ...], listed: tuple[str, ...]) -> list[Variant]:
    """The GLSL variants that are asked for."""
    entries = chosen(kernels)
    if not listed:
        return [v for e in entries for v in entry_variants(e, ("glsl",))]
    found = []
    for entry in entries:
        for options_name in listed:
            options = options_named(entry, options_name)
            if options.target != "glsl":
                raise UserError(f"{options_name} is no GLSL variant", "they begin with glsl_")
            found.append(
                make_variant(
                    environment(), entry.kernel, options, prod=False, rank=1, spec=entry.spec
                )
            )
    return found
