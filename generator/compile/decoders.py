# SPDX-License-Identifier: BSD-2-Clause
"""Functions with a decoder's own signatures, from what the specs declare of them.

What a spec declares stands in dsl/decoders.py, how signatures are read in signatures.py. A
function picks the item's class and calls the best item function compiled in, one that clears blocks
where it is to. Where a plane is put together it copies the parts first. Where there are more rows
than an item has, a variant's function for such blocks does them, an item below the other.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from daedalus.codecs.decoders.reading import described
from daedalus.dsl.decoders import DecoderEntry, Part
from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Buffer, Kernel
from daedalus.generator.compile.classes import Known, classes_of
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.signatures import BUFFER, VALUE, Signature, read_signature
from daedalus.generator.compile.variants import GUARDS, PREFERRED, Variant, by_kernel
from daedalus.generator.targets import shell

_PITCH = 16  # bytes; rows of a plane that is put together begin at multiples of it


def decoder_files(
    render: Callable[..., str], entries: tuple[Entry, ...], variants: tuple[Variant, ...]
) -> tuple[dict[str, str], list[str]]:
    """Header and source for every decoder that a spec names; and the list of sources."""
    declared = [(e.kernel, d) for e in entries for d in e.kernel.decoders]
    _check_names(declared)
    texts: dict[str, str] = {}
    sources: list[str] = []
    of = by_kernel(variants)
    for decoder in sorted({d.decoder for _, d in declared}):
        own = [(k, d) for k, d in declared if d.decoder == decoder]
        functions, shared = _functions(own, of)
        data = {
            "decoder": decoder,
            "functions": functions,
            "shared": shared,
            "codecs": sorted({k.codec for k, _ in own}),
            "tables": _tables(decoder, own, functions),
        }
        texts[f"include/daedalus/{decoder}.h"] = render("decoder.h.j2", **data)
        texts[f"src/decoder_{decoder}.c"] = render("decoder.c.j2", **data)
        sources.append(f"src/decoder_{decoder}.c")
    return texts, sources


def _tables(
    decoder: str, own: list[tuple[Kernel, DecoderEntry]], functions: list[dict[str, Any]]
) -> list[dict[str, object]]:
    """The decoder's tables with places of ours: slot, and the function for each set of features."""
    known = described(decoder)
    if known is None:
        return []
    found: list[dict[str, object]] = []
    for name, (table, one) in known.filled().items():
        slots = [
            {"slot": p.slot, "place": p.place, "sets": f["sets"], "self": f["name"]}
            for (kernel, entry), f in zip(own, functions, strict=True)
            for p in read_signature(kernel, entry).pointers
            if p.filled is one
        ]
        if slots:
            found.append({
                "name": name, "type": table.type, "depth": one.depth, "pointers": table.count,
                "slots": slots,
            })  # fmt: skip
    return found


def function_name(kernel: Kernel, entry: DecoderEntry) -> str:
    """The C name of a decoder entry."""
    return "_".join(w for w in ("daedalus", entry.decoder, kernel.id, entry.suffix) if w)


def _check_names(declared: list[tuple[Kernel, DecoderEntry]]) -> None:
    seen: dict[str, Kernel] = {}
    places: dict[tuple[str, str], str] = {}
    for kernel, entry in declared:
        name = function_name(kernel, entry)
        if name in seen:
            raise SpecError(
                "name", f"{name} is also the name of a function of {seen[name].id}",
                entry.loc or kernel.loc, kernel.id, hint="choose another name for one of the two",
            )  # fmt: skip
        seen[name] = kernel
        for pointer in read_signature(kernel, entry).pointers:
            other = places.setdefault((entry.decoder, pointer.place), name)
            if other != name:
                raise SpecError(
                    "decoder", f"{name} and {other} stand both at {pointer.place}",
                    entry.loc or kernel.loc, kernel.id, hint="a place is for one function",
                )  # fmt: skip


def _functions(
    own: list[tuple[Kernel, DecoderEntry]], of: Mapping[str, tuple[Variant, ...]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is said of each function; and of those that do the work of several, which differ by
    their names, and by the values of parameters, alone."""
    alike: dict[tuple[str, object, str], list[dict[str, Any]]] = {}
    functions = []
    for kernel, entry in own:
        signature = read_signature(kernel, entry)
        function = _function(kernel, entry, signature, of.get(kernel.id, ()))
        functions.append(function)
        same = replace(signature, pointers=(), fixed=dict.fromkeys(signature.fixed, 0), values={})
        alike.setdefault((kernel.id, entry.planes, repr(same)), []).append(function)
    shared = []
    numbers: Counter[str] = Counter()
    for (kernel_id, *_), group in ((k, g) for k, g in alike.items() if len(g) > 1):
        numbers[kernel_id] += 1
        number = numbers[kernel_id]
        one = _shared(group[0], of, f"n_{kernel_id}" + (f"__{number}" if number > 1 else ""))
        shared.append(one)
        for function in group:
            function["shared"] = one["name"]
    return functions, shared


def _shared(
    function: dict[str, Any], of: Mapping[str, tuple[Variant, ...]], name: str
) -> dict[str, Any]:
    """Of a function of that name that takes as arguments what others have fixed values of."""
    kernel, entry, signature = function["kernel"], function["entry"], function["signature"]
    names = list(signature.fixed)
    free = replace(
        signature,
        arguments=[*signature.arguments, *(f"int {n}" for n in names)],
        names=[*signature.names, *names],
        roles=[*signature.roles, *((VALUE, n) for n in names)],
        values={**signature.values, **{n: n for n in names}},
        fixed={},
    )
    made = _function(kernel, entry, free, of.get(kernel.id, ()))
    bodies = _bodies(name, made["classes"], made["pieces"])
    return {**made, "name": name, "bodies": list(bodies.values())}


def _function(
    kernel: Kernel, entry: DecoderEntry, signature: Signature, variants: tuple[Variant, ...]
) -> dict[str, Any]:
    assembled = dict(entry.planes)
    call: list[str] = []
    for b in kernel.buffers:
        if b.name in assembled:
            call += [f"&{b.name}[{-b.shape[0][0]}][{-b.shape[1][0]}]", f"sizeof({b.name}[0])"]
            continue
        call.append(b.name)
        if b.kind == "plane":
            call.append(signature.values[f"{b.name}.stride"])
    call += [signature.values[p.name] for p in kernel.params]
    pieces = _pieces(kernel, signature, variants)
    classes = ways(kernel, variants, _item_function(signature), known_values(kernel, signature))
    name = function_name(kernel, entry)
    bodies = _bodies(name, classes, pieces)
    return {
        "name": name,
        "kernel": kernel,
        "entry": entry,
        "signature": signature,
        "shared": "",
        "fixed": list(signature.fixed.values()),
        "arguments": signature.arguments,
        "names": signature.names,
        "unused": signature.unused,
        "cleared": signature.cleared,
        "copies": [_copies(kernel.buffer(name), parts) for name, parts in entry.planes],
        "notes": [
            *_notes(kernel, signature),
            *(_origin(n, p) for n, ps in entry.planes for p in ps),
        ],
        "call": ", ".join(call),
        "pieces": pieces,
        "steps": _steps(kernel, signature),
        "classes": classes,
        "bodies": list(bodies.values()),
        "sets": _of_sets(name, bodies),
        "casts": [
            *(
                f"{kind}{name} = ({kind})(void *){name}_bytes;"
                for name, kind in signature.casts.items()
            ),
            *(_unpacked(kernel, name, bits) for name, bits in signature.packed.items()),
        ],
    }


def _unpacked(kernel: Kernel, name: str, bits: int) -> str:
    """The declaration of an array parameter whose values an argument holds."""
    p = kernel.param(name)
    values = ", ".join(
        f"({p.dtype.c})({name}_packed >> {n * bits} & {(1 << bits) - 1})" for n in range(p.count)
    )
    return f"const {p.dtype.c} {name}[{p.count}] = {{{values}}};"


def known_values(kernel: Kernel, signature: Signature, **values: int) -> Known:
    """What values the parameters have when the function is called, with some of known value."""
    known = {p.name: (p.lo, p.hi) for p in kernel.params if p.count == 1}
    known |= {name: (v, v) for name, v in {**signature.fixed, **values}.items()}
    return known | {p: r for p, r in signature.ranges.items() if p not in values}


def _item_function(signature: Signature) -> Callable[[Variant], str]:
    """Which of a variant's functions does an item for the entry."""
    return lambda v: v.clearing_name if signature.cleared else v.item_name


def _notes(kernel: Kernel, signature: Signature) -> list[str]:
    """For the header: what the arguments' names do not say."""
    notes = [f"{name} is {value}." for name, value in signature.fixed.items()]
    for name, (lo, hi) in signature.ranges.items():
        if (lo, hi) != (kernel.param(name).lo, kernel.param(name).hi):
            notes.append(f"{name} must be {lo}..{hi}.")
    if signature.unused:
        notes.append(f"{', '.join(signature.unused)}: not read.")
    if signature.pieces:
        name = signature.pieces
        notes.append(f"{name} may be more than {kernel.param(name).hi}, too.")
    return notes


@dataclass(frozen=True)
class Build:
    """What a kind of build calls.

    guard     the macro of such builds; "" where it is what all others do
    special   functions for some processors only, by the condition in C; they come first
    function  the one for all processors
    """

    guard: str
    special: Mapping[str, str]
    function: str

    @property
    def either(self) -> str:
        """The macro of daedalus/best.h that takes the function or, in other builds, another."""
        return f"{self.guard.replace('HAVE_', '')}_OR"


@dataclass(frozen=True)
class Way:
    """What is done with items of a class: by the first of the kinds of builds that it is.

    condition  in C, of the class; "" for one that takes all that is left
    """

    condition: str
    builds: tuple[Build, ...]


# Sets of processor features: a processor has those before it, too.
SETS = ("plain", "neon", "dotprod")
_NEON = GUARDS["neon"]


def _restricted(way: Way, features: str) -> Way:
    """What is done with a class by a processor that has just these features."""
    if features == "plain":
        return Way(way.condition, tuple(b for b in way.builds if b.guard != _NEON))
    one = next((b for b in way.builds if b.guard == _NEON), None)
    if one is None:
        return way
    function = one.special.get(_has(features), one.function)
    return Way(way.condition, (Build("", {}, function),))


def _has(need: str) -> str:
    """In C, whether the processor has something."""
    return f"daedalus_cpu_features & DAEDALUS_NEEDS_{need.upper()}"


def _bodies(
    name: str, classes: list[Way], pieces: dict[str, Any] | None
) -> dict[str, dict[str, object]]:
    """Functions for sets of features, of builds with NEON; those that differ from the one that
    chooses itself."""
    every: list[Way] = [*classes, *(pieces["classes"] if pieces else ())]
    neon = [b for w in every for b in w.builds if b.guard == _NEON]
    special = any(b.special for b in neon)
    wanted = {"plain": bool(neon), "neon": special, "dotprod": special}
    out: dict[str, dict[str, object]] = {}
    for features in (s for s in SETS if wanted[s]):
        own = [_restricted(w, features) for w in classes]
        other = pieces
        if pieces is not None:
            other = {**pieces, "classes": [_restricted(w, features) for w in pieces["classes"]]}
        out[features] = {"name": f"{name}__{features}", "classes": own, "pieces": other}
    return out


def _of_sets(name: str, bodies: Mapping[str, dict[str, object]]) -> list[str]:
    """For each set the function; that which chooses itself where nothing is left to choose."""
    return [str(bodies[features]["name"]) if features in bodies else name for features in SETS]


def ways(
    kernel: Kernel,
    variants: tuple[Variant, ...],
    function: Callable[[Variant], str],
    known: Known,
) -> list[Way]:
    """The classes an item can have where some parameters have known ends, with what is done.

    `function` names the one of a prod variant's functions that does it.
    """
    return [
        _class(kernel, name, variants, function, condition)
        for name, condition in classes_of(kernel, known)
    ]


def _class(
    kernel: Kernel,
    class_name: str,
    variants: tuple[Variant, ...],
    function: Callable[[Variant], str],
    condition: str,
) -> Way:
    """How the items of a class are done, which the condition tells.

    What a target's variants of the class cannot do everywhere, those for any items do.
    """
    best: dict[str, str] = {}  # by target
    special: dict[str, dict[str, str]] = {}  # condition -> function for some processors only
    own = [v for v in variants if not v.is_gpu and v.prod and v.kernel.id == kernel.id]
    for target in PREFERRED:
        of_it = [v for v in own if v.options.target == target]
        for v in (v for c in dict.fromkeys((class_name, FULL)) for v in of_it
                  if v.options.class_name == c):  # fmt: skip
            name = function(v)
            if not name:
                continue
            if not v.options.needs:
                best.setdefault(target, name)
            elif target not in best:
                has = " && ".join(_has(n) for n in v.options.needs)
                special.setdefault(target, {}).setdefault(has, name)
    builds = tuple(
        # Scalar C, where processors that have not what it needs have nothing of the target.
        Build(GUARDS[target], special.get(target, {}), best.get(target, best["c"]))
        for target in PREFERRED
        if target in best or target in special
    )
    return Way(condition, builds)


# ------------------------------------------------------------------ more rows than an item has


def _pieces(
    kernel: Kernel, signature: Signature, variants: tuple[Variant, ...]
) -> dict[str, Any] | None:
    """How blocks of more rows than an item has are done.

    That is what counts the rows, an item's rows, and the call of a variant's function for whole
    items one below the other; and the calls of the entry itself for the `whole` items and for the
    rows that are `left`. What begins with `n_` is the name of nothing in a spec.
    """
    if not signature.pieces or signature.steps is not None:
        return None
    name = signature.pieces
    rows = kernel.param(name).hi
    call: list[str] = []
    for b in kernel.buffers:
        call += [b.name, signature.values[f"{b.name}.stride"]]
    call += [signature.values[p.name] for p in kernel.params if p.name != name]
    return {
        "name": name,
        "rows": rows,
        "call": ", ".join([*call, f"(size_t){name} / {rows}"]),
        "classes": ways(
            kernel,
            variants,
            lambda v: v.tall_name,
            known_values(kernel, signature, **{name: rows}),
        ),
        "whole": ", ".join("n_whole" if n == name else n for n in signature.names),
        "left": ", ".join(_below(kernel, signature)),
    }


def _steps(kernel: Kernel, signature: Signature) -> dict[str, Any] | None:
    """How blocks of more rows than an item has are done where a plane is read in steps.

    That is what counts the rows, an item's rows, and assignments that lead to the next item.
    """
    if signature.steps is None:
        return None
    rows, steps = signature.pieces, signature.steps
    most = kernel.param(rows).hi

    def moved(name: str, by: str) -> str:
        return f"{name} = {shell.moved(kernel.buffer(name), by)};"

    next_item = [
        moved(b.name, f"{most} * {signature.values[f'{b.name}.stride']}")
        for b in kernel.buffers
        if b.name != steps.plane
    ]
    position = signature.values[steps.position]
    next_item += [
        f"{position} += {most} * {signature.values[steps.step]};",
        moved(
            steps.plane, f"{position} / {steps.parts} * {signature.values[f'{steps.plane}.stride']}"
        ),
        f"{position} %= {steps.parts};",
    ]
    return {"name": rows, "rows": most, "next": next_item}


def _below(kernel: Kernel, signature: Signature) -> list[str]:
    """The entry's arguments for the rows that are left below the whole pieces."""
    own = []
    for (role, of), name in zip(signature.roles, signature.names, strict=True):
        by = f"n_whole * {signature.values[f'{of}.stride']}" if role == BUFFER else ""
        if role == BUFFER and of not in signature.casts:
            name = shell.moved(kernel.buffer(of), by)
        elif role == BUFFER:
            name = f"{name} + {by}"
        own.append(f"{of} - n_whole" if (role, of) == (VALUE, signature.pieces) else name)
    return own


# ------------------------------------------------------------------ planes that are put together


def _copies(plane: Buffer, parts: tuple[Part, ...]) -> dict[str, object]:
    """The declaration of the plane's array, and the copies: condition and lines, in order."""
    assert plane.dtype is not None
    size = plane.dtype.bytes
    rows, cols = plane.extents
    pitch = -(-cols * size // _PITCH) * _PITCH // size
    groups: list[tuple[str, list[str]]] = []
    for p in parts:
        condition = ""
        if p.given is not None:
            name, bits = p.given
            one = bits & (bits - 1) == 0
            condition = f"{name} & {bits}" if one else f"({name} & {bits}) == {bits}"
        if not groups or groups[-1][0] != condition:
            groups.append((condition, []))
        for row in range(*p.rows):
            place = f"&{plane.name}[{row - plane.shape[0][0]}][{p.cols[0] - plane.shape[1][0]}]"
            n = (p.cols[1] - p.cols[0]) * size
            groups[-1][1].append(f"memcpy({place}, {_read(p, row, size)}, {n});")
    return {"declaration": f"{plane.dtype.c} {plane.name}[{rows}][{pitch}];", "groups": groups}


def _read(p: Part, row: int, size: int) -> str:
    """Where the part's row begins, in the decoder's memory."""
    down, right = row - p.at[0], p.cols[0] - p.at[1]
    if isinstance(p.stride, int):
        return f"&{p.pointer}[{down}][{right}]"
    text = p.pointer if size == 1 else f"(const uint8_t *){p.pointer}"
    for n, unit in ((down, f" * {p.stride.replace('.', '_')}"), (right * size, "")):
        if n:
            text += f" {'-' if n < 0 else '+'} {abs(n)}{unit}"
    return text


def _origin(plane: str, p: Part) -> str:
    """For the header: where a part is read."""
    stands = f", which stands at row {p.at[0]}, column {p.at[1]}" if p.at != (0, 0) else ""
    where = f", if all bits of {p.given[1]} are set in {p.given[0]}" if p.given else ""
    return f"{plane}, {p}: read from {p.pointer}{stands}{where}."
