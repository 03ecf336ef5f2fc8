# SPDX-License-Identifier: BSD-2-Clause
"""Everything below generated/, as text: variants, headers, tables, the manifest.

The result is a pure function of specs, variants, templates and generator.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import jinja2

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Buffer, Kernel, Op
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.verify import is_read, written_box
from daedalus.generator.base.json_text import json_text
from daedalus.generator.compile import kept, sources
from daedalus.generator.compile.decoders import decoder_files, function_name
from daedalus.generator.compile.items import items_functions, tall_entry
from daedalus.generator.compile.pieces import rows_more
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.text import comment, tidy
from daedalus.generator.compile.variants import GUARDS, Variant, by_kernel, make_variant
from daedalus.generator.options import QPU, TARGETS, Options
from daedalus.generator.passes.pipeline import Lowered
from daedalus.generator.targets.glsl.spirv import Modules
from daedalus.generator.targets.shell import Field, meta_fields

# Sources that are compiled alike, as the manifest lists them: Variant.group.
_GROUPS = ("any", "neon", "neon_dotprod", "vector", "glsl", "qpu")
# How the table's entries name the code of a target's variants.
_CODE = {"c": "cpu = ", "vector": "cpu = ", "neon": "cpu = ", "glsl": "gpu = &", QPU: "qpu = &"}
_RANKS = {"neon": 100, "vector": 400, "c": 500, "glsl": 900, "qpu": 1300}

T = TypeVar("T")


@dataclass(frozen=True)
class Generated:
    """Path below generated/ -> text; and what stands behind it.

    taken       variants whose SPIR-V was taken as it is, since the tools that made it are not here
    unrecorded  variants that options.toml lists, whose best schedule is not on record
    chosen      of kernels whose variants were chosen by rule, what is to be on record
    """

    files: dict[str, str]
    variants: tuple[Variant, ...]
    manifest: dict[str, object]
    taken: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@cache
def environment() -> jinja2.Environment:
    """The template environment: strict, and nothing escaped."""
    folder = str(files("daedalus") / "templates")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
    )
    made.filters["comment"] = comment
    return made


def generate(
    entries: tuple[Entry, ...],
    variants: tuple[Variant, ...] | None = None,
    checked_in: Path | None = None,
) -> Generated:
    """All files for these kernels. Raises SpecError where a back end cannot follow a spec.

    `variants` are theirs, if they are made already; `checked_in` is the folder of generated code
    that SPIR-V may be taken from where the pinned tools are not installed.
    """
    modules = Modules(checked_in)
    if variants is None:
        variants = tuple(v for e in entries for v in entry_variants(e))
    texts = sources.texts(environment(), variants, modules)
    of = by_kernel(variants)
    codecs = sorted({e.kernel.codec for e in entries})
    digest = hashlib.sha256("".join(v.input_hash for v in variants).encode()).hexdigest()[:16]
    for codec in codecs:
        members = [e for e in entries if e.kernel.codec == codec]
        own = [v for v in variants if v.kernel.codec == codec]
        texts[f"include/daedalus/{codec}.h"] = _render(
            "codec.h.j2",
            codec=codec,
            kernels=[
                _kernel_data(e.kernel)
                | {"items": items_functions(e.kernel, of.get(e.kernel.id, ()))}
                for e in members
            ],
        )
        texts[f"src/{codec}/dispatch.c"] = _render(
            "dispatch.c.j2", codec=codec, kernels=[_kernel_data(e.kernel) for e in members]
        )
        functions = [
            f for f in (items_functions(e.kernel, of.get(e.kernel.id, ())) for e in members) if f
        ]
        texts[f"src/{codec}/items.c"] = _render("items.c.j2", codec=codec, kernels=functions)
        texts[f"src/{codec}/variants.h"] = _render("variants.h.j2", codec=codec, variants=own)
    decoders, decoder_sources = decoder_files(_render, entries, variants)
    texts |= decoders
    texts["include/daedalus.h"] = _render(
        "daedalus.h.j2",
        headers=sorted(
            p.removeprefix("include/") for p in texts if p.startswith("include/daedalus/")
        ),
    )
    texts["src/table.c"] = _table(entries, variants, codecs, digest)
    manifest = _manifest(entries, variants, texts, decoder_sources, codecs, digest)
    texts["manifest.json"] = json_text(manifest)
    ruled = {e.kernel.id for e in entries if e.by_rule}
    unrecorded = tuple(v.name for v in variants if not v.recorded and v.kernel.id not in ruled)
    return Generated(
        dict(sorted(texts.items())), variants, manifest, tuple(modules.taken), unrecorded
    )


def entry_variants(entry: Entry, targets: Sequence[str] = TARGETS) -> list[Variant]:
    """The variants of one kernel for these targets, ranked; made now, or taken from what is kept.

    Raises SpecError where a back end refuses one.
    """
    rank = dict(_RANKS)
    known: Lowered = {}
    keys = kept.Keys(entry.kernel, entry.spec)
    out = []
    # Those for any items last: they do a class's only where no variant of the class can.
    for options, prod in sorted(entry.listed, key=lambda x: x[0].class_name == FULL):
        at = rank[options.target] + (0 if prod else 200)
        rank[options.target] += 1
        if options.target in targets:
            out.append(one_variant(entry, options, prod, at, keys, known))
    refuse_same(out)
    return out


def one_variant(
    entry: Entry, options: Options, prod: bool, rank: int, keys: kept.Keys, known: Lowered
) -> Variant:
    """A variant, made now or taken from what is kept. Raises SpecError where it is refused."""
    key = keys.of(options, prod)
    found = kept.recall(key, entry.kernel, rank)
    if found is not None:
        return found
    try:
        made = make_variant(
            environment(), entry.kernel, options, prod=prod, rank=rank, spec=entry.spec, known=known
        )
    except SpecError as e:
        kept.keep(key, e)
        raise
    kept.keep(key, made)
    return made


def refuse_same(variants: Sequence[Variant]) -> None:
    """A word of a variant that changes nothing makes the same machine code under another name,
    which would be checked, ranked and measured as if it were something else."""
    first: dict[tuple[str, str], Variant] = {}
    for v in variants:
        if v.code is None:
            continue
        other = first.setdefault((v.options.class_name, v.program), v)
        if other is not v:
            raise SpecError(
                "options", f"{v.options.name} is the same program as {other.options.name}",
                v.kernel.loc, v.kernel.id,
                hint="leave one of them out of options.toml: what tells their names apart"
                " changes nothing in this kernel",
            )  # fmt: skip


def _render(template: str, **data: object) -> str:
    return tidy(environment().get_template(template).render(**data))


# ------------------------------------------------------------------ headers


def _buffer_doc(b: Buffer) -> str:
    what = {"in": "read", "out": "written", "inout": "read and written"}[b.access]
    if b.kind == "plane":
        (r0, r1), (c0, c1) = b.shape
        where = f"rows {r0}..{r1 - 1}, columns {c0}..{c1 - 1} around an item's origin are {what}"
    else:
        where = f"packed, {b.size} elements an item, {what}"
    limits = "" if (b.lo, b.hi) == (b.dtype.lo, b.dtype.hi) else f"; values {b.lo}..{b.hi}"  # type: ignore[union-attr]
    return where + limits + (f"; {b.note}" if b.note else "")


def _arguments(kernel: Kernel) -> list[str]:
    out = []
    for b in kernel.buffers:
        assert b.dtype is not None
        const = "const " if b.access == "in" else ""
        out.append(f"{const}{b.dtype.c} *{b.name}")
        if b.kind == "plane":
            out.append(f"ptrdiff_t {b.name}_stride")
    return [*out, f"size_t n_{kernel.item_noun}", f"const daedalus_{kernel.id}_meta *meta"]


def _kernel_data(kernel: Kernel) -> dict[str, object]:
    fields, size = meta_fields(kernel)
    params = {p.name: p for p in kernel.params}

    def doc(f: Field) -> str:
        if f.name.endswith("_off"):
            return f"byte offset of the item's origin in {f.name.removesuffix('_off')}"
        if f.name in params:
            p = params[f.name]
            return f"{p.lo}..{p.hi}" + (f"; {p.why}" if p.why else "")
        return "zero"

    return {
        "id": kernel.id,
        "aliases": kernel.aliases,
        "clause": kernel.clause,
        "doc": kernel.doc.splitlines(),
        "fields": [(f, doc(f)) for f in fields],
        "size": size,
        "buffers": [(b.name, b.kind == "plane", _buffer_doc(b)) for b in kernel.buffers],
        "arguments": _arguments(kernel),
        "count": f"n_{kernel.item_noun}",
        "classes": [(c.name, c.why) for c in kernel.classes],
    }


# ------------------------------------------------------------------ table


def _rect(bounds: tuple[tuple[int, int], ...] | None, b: Buffer) -> str:
    """A daedalus_rect initialiser; a block is one row."""
    if bounds is None:
        return "{0, 0, 0, 0}"
    if b.kind == "plane":
        (r0, r1), (c0, c1) = bounds
        return f"{{{r0}, {r1}, {c0}, {c1}}}"
    return f"{{0, 1, 0, {b.size}}}"


def _table_buffer(kernel: Kernel, b: Buffer, offsets: dict[str, int]) -> tuple[object, ...]:
    """The members of a daedalus_buffer_desc, in their order."""
    assert b.dtype is not None
    access = {"in": "READ", "out": "WRITE", "inout": "READ | DAEDALUS_ACCESS_WRITE"}[b.access]
    reads = b.shape if is_read(kernel, b) else None
    return (
        f'"{b.name}"',
        f"DAEDALUS_TYPE_{b.dtype.name.upper()}",
        "true" if b.kind == "plane" else "false",
        f"DAEDALUS_ACCESS_{access}",
        offsets.get(f"{b.name}_off", 0),
        b.size if b.kind == "block" else 0,
        b.lo,
        b.hi,
        # Loads may take the whole declared window; stores exactly what is stored.
        _rect(reads if b.access != "out" else None, b),
        _rect(written_box(kernel, b), b),
        _rows_param(kernel, b),
    )


def _rows_param(kernel: Kernel, b: Buffer) -> int:
    """1 + the number of the parameter that says how many rows of a plane count; 0 for all.

    Every access to the plane has to be one of a row that an axis of that many coordinates counts,
    or of some more, as filters that go down the rows have them.
    """
    found: set[str] = set()
    for stage in kernel.stages:
        rows = [s.index[0] for s in stage.stores if s.buffer == b.name]
        rows += [n.index[0] for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == b.name]
        counted = {
            p.name
            for lane, limit in stage.limits
            for p in kernel.params
            if (more := rows_more(limit, p.name)) is not None
            and p.hi + more <= stage.extents[lane]
            and all(r.coefficient(lane) == 1 for r in rows)
        }
        if rows:
            found.add(min(counted, default=""))
    if len(found) != 1 or found == {""} or b.kind != "plane":
        return 0
    return 1 + [p.name for p in kernel.params].index(found.pop())


def _table(
    entries: tuple[Entry, ...],
    variants: tuple[Variant, ...],
    codecs: list[str],
    digest: str,
) -> str:
    kernels = []
    of = by_kernel(variants)
    for e in entries:
        k = e.kernel
        fields, size = meta_fields(k)
        offsets = {f.name: f.offset for f in fields}
        numbers = {p.name: n for n, p in enumerate(k.params)}
        classes = [(c.name, [(numbers[p], lo, hi) for p, lo, hi in c.when]) for c in k.classes]
        own = of.get(k.id, ())
        kernels.append(
            {
                "id": k.id,
                "meta_size": size,
                "buffers": [_table_buffer(k, b, offsets) for b in k.buffers],
                "params": [
                    (p.name, p.dtype.name.upper(), offsets[p.name], p.count, p.lo, p.hi)
                    for p in k.params
                ],
                "classes": [*classes, (FULL, [])],
                "variants": [(v, k.class_names.index(v.options.class_name)) for v in own],
            }
        )
    aliases = [(a, n) for n, e in enumerate(entries) for a in e.kernel.aliases]
    return _render(
        "table.c.j2",
        codecs=codecs,
        digest=digest,
        kernels=kernels,
        aliases=aliases,
        kinds=[
            (v, GUARDS[v.options.target], _CODE[v.options.target])
            for v in {(v.options.target, v.prod): v for v in variants}.values()
        ],
        **_items_entries(entries, of),
    )


def _items_entries(
    entries: tuple[Entry, ...], of: Mapping[str, tuple[Variant, ...]]
) -> dict[str, object]:
    """For the library of all variants: what calls the functions for many items, and their list."""
    functions: list[dict[str, object]] = []
    listed: list[tuple[str, tuple[str, ...]]] = []  # guard, entry
    for e in entries:
        own = of.get(e.kernel.id, ())
        public = items_functions(e.kernel, own)
        if not public:
            continue
        functions += [f | {"guard": ""} for f in public]
        names = [str(f["name"]) for f in public]
        listed.append(("", (e.kernel.id, names[0], names[1] if len(names) > 1 else "", "")))
        for v in own:
            if v.is_gpu:
                continue
            names = [n for n in (v.items_name, v.clearing_items_name) if n]
            functions += [
                f | {"guard": v.guard, "name": n} for f, n in zip(public, names, strict=False)
            ]
            functions += [tall_entry(v)] if v.rows else []
            entry = (v.name, v.items_name, v.clearing_items_name, v.tall_name)
            listed.append((v.guard, entry))
    alike: dict[tuple[str, ...], list[tuple[str, str]]] = {}  # guard, name; by how they are called
    for f in functions:
        called = (str(f["passed"]), *f["ignores"])  # type: ignore[misc]
        alike.setdefault(called, []).append((str(f["guard"]), str(f["name"])))
    return {
        "functions": [
            {"passed": passed, "ignores": ignores, "names": _by_guard(names)}
            for (passed, *ignores), names in alike.items()
        ],
        "all_items": _by_guard(listed),
    }


def _by_guard(found: Iterable[tuple[str, T]]) -> list[tuple[str, list[T]]]:
    """What stands in the same #if, together."""
    groups: dict[str, list[T]] = {}
    for guard, what in found:
        groups.setdefault(guard, []).append(what)
    return list(groups.items())


# ------------------------------------------------------------------ manifest


def _manifest(
    entries: tuple[Entry, ...],
    variants: tuple[Variant, ...],
    texts: dict[str, str],
    decoder_sources: list[str],
    codecs: list[str],
    digest: str,
) -> dict[str, Any]:
    own = [f"src/{f}/{name}.c" for f in codecs for name in ("dispatch", "items")]
    common = own + decoder_sources

    def listed(*, prod: bool) -> dict[str, list[str]]:
        """The files with prod variants, or those with others."""
        groups: dict[str, list[str]] = {g: [] for g in _GROUPS}
        groups["any"] = ["src/table.c", *(common if prod else ())]
        for v in variants:
            if v.prod == prod and v.file not in groups[v.group]:
                groups[v.group].append(v.file)
        return groups

    of = by_kernel(variants)
    return {
        "version": 1,
        "generator": digest,
        "kernels": [_manifest_kernel(e, of.get(e.kernel.id, ())) for e in entries],
        "sources": {"prod": listed(prod=True), "others": listed(prod=False)},
        "files": {
            path: hashlib.sha256(text.encode()).hexdigest() for path, text in sorted(texts.items())
        },
    }


def _manifest_kernel(e: Entry, variants: tuple[Variant, ...]) -> dict[str, object]:
    k = e.kernel
    fields, size = meta_fields(k)
    ranges = Ranges(k)
    return {
        "id": k.id,
        "aliases": list(k.aliases),
        "codec": k.codec,
        "family": k.family,
        "member": dict(k.member),
        "clause": k.clause,
        "spec": e.spec,
        "stages": [
            {"lanes": dict(s.dims), "values": len(s.nodes()), "stores": len(s.stores)}
            for s in k.stages
        ],
        "temps": {t.name: [ranges.temps[t.name].lo, ranges.temps[t.name].hi] for t in k.temps},
        "assumptions": [
            {"name": a.name, "why": a.why, "default": a.default} for a in k.assumptions
        ],
        "decoders": {
            decoder: {function_name(k, d): str(d) for d in k.decoders if d.decoder == decoder}
            for decoder in sorted({d.decoder for d in k.decoders})
        },
        "meta": [
            {"name": f.name, "type": f.type, "offset": f.offset}
            | ({"count": f.count} if f.count else {})
            for f in fields
        ],
        "meta_size": size,
        "classes": [
            *({"name": c.name, "when": {p: [lo, hi] for p, lo, hi in c.when}} for c in k.classes),
            {"name": FULL, "when": {}},
        ],
        "variants": [
            {
                "name": v.name,
                "target": v.options.target,
                "class": v.options.class_name,
                "items": v.options.choice("items"),
                "rows": v.options.choice("rows"),
                "points": v.options.choice("points"),
                "needs": list(v.options.needs),
                "assume": list(v.options.assume),
                "prod": v.prod,
                "rank": v.rank,
                "file": v.file,
                "input_hash": v.input_hash,
            }
            | ({} if v.code is None else {"figures": asdict(v.code.figures)})
            | ({"forms": list(v.forms)} if v.forms else {})
            for v in variants
        ],
    }
