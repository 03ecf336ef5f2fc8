# SPDX-License-Identifier: BSD-2-Clause
"""Random programs on record, so that what is drawn today and what was drawn then can differ.

A file has a line a program, as JSON: the kernel, the variants it is run with, and the ways in which
the QPU is tried. Source lines are left out, as in `show`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import (
    DTYPES,
    Affine,
    Assumption,
    Buffer,
    DType,
    ItemClass,
    Kernel,
    Node,
    Op,
    Param,
    Stage,
    Store,
    Table,
)
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.options.names import parse_variant, variant_name
from daedalus.generator.verify.fuzz.programs import Program, Source
from daedalus.generator.verify.fuzz.qpu import Form, forms_of

_NOWHERE = Loc("a random program on record", 0)
_BY_NAME = {t.name: t for t in DTYPES}


@dataclass(frozen=True)
class Frozen(Source):
    """The programs of a file."""

    path: Path

    @cached_property
    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines()

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def label(self) -> str:
        return self.path.stem

    @property
    def words(self) -> str:
        path = self.path.resolve()
        root = repo_root()
        return f"--file {path.relative_to(root) if path.is_relative_to(root) else path}"

    def make(self, number: int) -> Program:
        return program_of(json.loads(self._lines[number]))


def opened(path: Path) -> Frozen:
    """The programs of a file; UserError where it holds none."""
    made = Frozen(path)
    try:
        if len(made):
            made.make(0)
            return made
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise UserError(
            f"{path}: no programs can be read: {e}", "--freeze writes such files"
        ) from e
    raise UserError(f"{path}: no program is in it", "--freeze writes such files")


def text_of(programs: Sequence[Program]) -> str:
    """What a file of these programs holds."""
    lines = (json.dumps(_program(p), separators=(",", ":")) for p in programs)
    return "".join(f"{line}\n" for line in lines)


# ------------------------------------------------------------------ a program as JSON


def _program(p: Program) -> dict[str, Any]:
    forms = [
        [variant_name(p.kernel.id, f.options), f.jobs, f.pairs, f.flags_stay, f.seed, f.order]
        for f in forms_of(p)
    ]
    return {
        "seed": p.seed,
        "number": p.number,
        "kernel": _kernel(p.kernel),
        "variants": [variant_name(p.kernel.id, o) for o in p.listed],
        "forms": forms,
    }


def _kernel(k: Kernel) -> dict[str, Any]:
    return {
        "id": k.id,
        "codec": k.codec,
        "wide": k.wide,
        "buffers": [_buffer(b) for b in k.buffers],
        "params": [[p.name, p.dtype.name, p.lo, p.hi, p.count] for p in k.params],
        "tables": [[t.name, t.dtype.name, t.rows, t.vector] for t in k.tables],
        "temps": [_buffer(b) for b in k.temps],
        "assumptions": [[a.name, a.default] for a in k.assumptions],
        "classes": [[c.name, c.when, c.nonzero] for c in k.classes],
        "stages": [_stage(s) for s in k.stages],
    }


def _buffer(b: Buffer) -> list[Any]:
    dtype = None if b.dtype is None else b.dtype.name
    return [b.name, b.kind, dtype, b.shape, b.access, b.lo, b.hi, b.owns, b.init]


def _stage(s: Stage) -> dict[str, Any]:
    number = {n: at for at, n in enumerate(s.nodes())}

    def at(n: Node | None) -> int | None:
        return None if n is None else number[n]

    return {
        "dims": s.dims,
        "given": at(s.given),
        "limits": [[axis, number[n]] for axis, n in s.limits],
        "nodes": [
            [n.op.value, [number[a] for a in n.args], _plain(n.attr), n.seq, n.name]
            for n in s.nodes()
        ],
        "stores": [
            [x.buffer, _plain(x.index), number[x.value], at(x.mask), x.combine] for x in s.stores
        ],
    }


def _plain(value: Any) -> Any:
    """An attribute of a node: numbers and words as they are, others as objects."""
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Affine):
        return {"at": value.const, "by": value.terms}
    if isinstance(value, DType):
        return {"type": value.name}
    return value


# ------------------------------------------------------------------ and back


def program_of(found: dict[str, Any]) -> Program:
    """The program that a line describes."""
    forms = tuple(
        Form(parse_variant(name)[1], jobs, pairs, stay, seed, _tuple(order))
        for name, jobs, pairs, stay, seed, order in found["forms"]
    )
    listed = tuple(parse_variant(name)[1] for name in found["variants"])
    return Program(found["seed"], found["number"], _made(found["kernel"]), listed, forms)


def _made(k: dict[str, Any]) -> Kernel:
    return Kernel(
        k["id"], k["codec"], "nothing: a random program", "A random program.", _NOWHERE,
        tuple(_made_buffer(*b) for b in k["buffers"]),
        tuple(Param(n, _BY_NAME[t], lo, hi, _NOWHERE, count=c) for n, t, lo, hi, c in k["params"]),
        tuple(Table(n, _BY_NAME[t], _tuple(r), _NOWHERE, v) for n, t, r, v in k["tables"]),
        tuple(_made_buffer(*b) for b in k["temps"]),
        tuple(Assumption(n, "random", d, _NOWHERE) for n, d in k["assumptions"]),
        tuple(ItemClass(n, _tuple(w), _tuple(z), _NOWHERE) for n, w, z in k["classes"]),
        tuple(_made_stage(s) for s in k["stages"]),
        wide=k["wide"],
    )  # fmt: skip


def _made_buffer(
    name: str, kind: str, dtype: str | None, shape: list[Any], access: str, lo: int, hi: int,
    owns: list[Any] | None, init: int | None,
) -> Buffer:  # fmt: skip
    return Buffer(
        name, kind, None if dtype is None else _BY_NAME[dtype], _tuple(shape), access, _NOWHERE,
        lo, hi, None if owns is None else _tuple(owns), init=init,
    )  # fmt: skip


def _made_stage(s: dict[str, Any]) -> Stage:
    nodes: list[Node] = []
    for op, args, attr, seq, name in s["nodes"]:
        made = tuple(nodes[a] for a in args)
        nodes.append(Node(Op(op), made, _tuple(attr), _NOWHERE, seq, name))
    stores = tuple(
        Store(b, _tuple(index), nodes[v], None if m is None else nodes[m], _NOWHERE, combine)
        for b, index, v, m, combine in s["stores"]
    )
    given = None if s["given"] is None else nodes[s["given"]]
    limits = tuple((axis, nodes[n]) for axis, n in s["limits"])
    return Stage(_tuple(s["dims"]), stores, _NOWHERE, given=given, limits=limits)


def _type(name: str) -> DType:
    """An element type, or one of few bits, as low_bits() has."""
    return _BY_NAME.get(name) or DType(name, int(name[1:]), name[0] == "i")


def _tuple(value: Any) -> Any:
    """What `_plain` made plain."""
    if isinstance(value, list):
        return tuple(_tuple(v) for v in value)
    if isinstance(value, dict):
        if "type" in value:
            return _type(value["type"])
        return Affine(value["at"], tuple((lane, c) for lane, c in value["by"]))
    return value
