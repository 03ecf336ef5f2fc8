# SPDX-License-Identifier: BSD-2-Clause
"""Registers from and to lists of places: whole runs, repeated elements, or element by element."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from daedalus.dsl.ir import Buffer, DType, Node, Op, Store
from daedalus.generator.targets.c.emit import flat
from daedalus.generator.targets.neon.lanes import Place, repeat_length, run_length
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.vectors import Group, Lines, cast, combine, high, low, suffix

Text = Callable[[Place], str]
Condition = bool | str | None  # of a lane: known, or C text; None of padding


@dataclass(frozen=True)
class _Half:
    """64 bits of an item's block: which half of the 128 that begin at an element."""

    item: int
    start: int
    which: int


def load(scope: Scope, out: Lines, node: Node) -> Group:
    """The elements that a LOAD, or a PARAM of an array, has on the lanes."""
    dtype = scope.dtype(node)
    buffer = None if node.op is Op.PARAM else scope.kernel.buffer(node.attr[0])

    def text(place: Place) -> str:
        if buffer is None:
            return scope.parameter(node, place)
        return scope.element(buffer, place, node.args)

    width, sign = dtype.bits, "s" if dtype.signed else "u"
    wanted = node.name or f"t{node.seq}"
    bits, per = scope.shape.bits(width), scope.shape.per_register(width)
    count = scope.shape.count(width)
    places = scope.lanes.places(node.index)
    if buffer is not None and _is_row(scope, buffer, places, count * bits // width, count):
        first = places[0]
        assert first is not None
        vector = f"{'' if dtype.signed else 'u'}int{width}x{per}x{count}_t"
        row = scope.names.fresh(wanted)
        load_all = f"vld1q_{suffix(sign, width)}_x{count}(&{text(first)})"
        out.lines.append(f"{vector} {row} = {load_all};")
        return Group(tuple(f"{row}.val[{r}]" for r in range(count)), width, sign)
    names = []
    for r in range(count):
        name = f"{wanted}_{r}" if count > 1 else wanted
        part = places[r * per : (r + 1) * per]
        value = _adjoining(scope, out, node, part, dtype, bits)
        if value is None:
            value = _register(out, buffer, part, dtype, bits, text)
        if value is None:
            value = _from_array(scope, out, part, dtype, bits, text, wanted)
        names.append(out.let(name, sign, width, bits, value))
    return Group(tuple(names), width, sign)


def _is_row(scope: Scope, b: Buffer, places: list[Place | None], lanes: int, count: int) -> bool:
    """Whether the lanes fill four registers from elements of a plane beside each other, which one
    instruction of NEON loads or stores."""
    known = scope.shape.target.weaves is None
    return known and b.kind == "plane" and count == 4 and run_length(b, places) == lanes


def _halves(b: Buffer, places: list[Place | None], width: int) -> list[_Half] | None:
    """The two runs of 64 bits that a register of a block's elements is; None of others."""
    half, full = 64 // width, 128 // width
    if b.kind != "block" or len(places) != full or run_length(b, places) != half:
        return None
    found = []
    for place in (places[0], places[half]):
        assert place is not None
        a = flat(b, place.index)
        if a.terms or a.const % half or a.const // full * full + full > b.size:
            return None
        found.append(_Half(place.item, a.const // full * full, a.const % full // half))
    return found


def _adjoining(
    scope: Scope, out: Lines, node: Node, places: list[Place | None], dtype: DType, bits: int
) -> str | None:
    """C text of a register of two runs of 64 bits whose neighbours in memory are wanted, too, as
    such a register: both are woven from two loads of 128 bits. None of others."""
    if node.op is Op.PARAM or bits != 128:
        return None
    b = scope.kernel.buffer(node.attr[0])
    halves = _halves(b, places, dtype.bits)
    if halves is None or halves[0].which != halves[1].which:
        return None
    per = scope.shape.per_register(dtype.bits)
    wanted = [
        _halves(b, all_places[at : at + per], dtype.bits)
        for n in scope.lanes.stage.nodes()
        if n.op is Op.LOAD and n.attr[0] == b.name
        for all_places in [scope.lanes.places(n.index)]
        for at in range(0, len(all_places), per)
    ]
    if [replace(h, which=1 - h.which) for h in halves] not in wanted:
        return None
    both = []
    sign = "s" if dtype.signed else "u"
    for h in halves:
        key = (b.name, h.item, h.start)
        if key not in scope.wide:
            where = f"&{scope.pointer(b.name, h.item)}[{h.start}]"
            text = f"vld1q_{suffix(sign, dtype.bits)}({where})"
            scope.wide[key] = out.let(f"{b.name}{h.start}", sign, dtype.bits, 128, text)
        both.append(cast(scope.wide[key], (sign, dtype.bits), ("u", 64), 128))
    woven = f"vzip{halves[0].which + 1}q_u64({both[0]}, {both[1]})"
    return cast(woven, ("u", 64), (sign, dtype.bits), 128)


def _register(
    out: Lines, b: Buffer | None, places: list[Place | None], dtype: DType, bits: int, text: Text
) -> str | None:
    """C text of a register's load; None where it has no short form."""
    width = dtype.bits
    run = run_length(b, places)
    first = [p for p in places[::run] if p is not None]
    if not first:  # nothing but padding
        return (
            f"vdup{'q' if bits == 128 else ''}_n_{suffix('s' if dtype.signed else 'u', width)}(0)"
        )
    if run == len(places) or run * width in (32, 64, 128):
        return _runs([text(p) for p in first], run * width, dtype, bits)
    repeated = repeat_length(places)
    if repeated > 1:
        return _repeats(out, b, places, repeated, dtype, bits, text)
    return None


def _runs(elements: list[str], run_bits: int, dtype: DType, bits: int) -> str | None:
    """A register from runs of 128, 64 or 32 bits that begin at the given elements."""
    sign, width = "s" if dtype.signed else "u", dtype.bits
    t = suffix(sign, width)
    if run_bits == bits:
        return f"vld1{'q' if bits == 128 else ''}_{t}(&{elements[0]})"
    if run_bits == 64:
        a, b = (f"vld1_{t}(&{e})" for e in elements)
        return combine(a, b, sign, width)
    if run_bits != 32:
        return None
    q = "q" if bits == 128 else ""
    words = [f"*(const daedalus_any_u32 *)&{e}" for e in elements]
    value = f"vcreate_u32({words[0]})" if bits == 64 else f"vdupq_n_u32({words[0]})"
    for k, word in enumerate(words[1:], 1):
        value = f"vset{q}_lane_u32({word}, {value}, {k})"
    return cast(value, ("u", 32), (sign, width), bits)


def _repeats(
    out: Lines, b: Buffer | None, places: list[Place | None], times: int, dtype: DType, bits: int,
    text: Text,
) -> str | None:  # fmt: skip
    """A register whose elements stand `times` times each: a run woven with itself."""
    sign, width = "s" if dtype.signed else "u", dtype.bits
    q = "q" if bits == 128 else ""
    distinct = places[::times]
    first = distinct[0]
    assert first is not None
    if len(distinct) == 1:
        return f"vdup{q}_n_{suffix(sign, width)}({text(first)})"
    run_bits = len(distinct) * width
    if run_length(b, distinct) != len(distinct) or run_bits not in (32, 64):
        if times * width != 64 or None in distinct:
            return None
        halves = [f"vdup_n_{suffix(sign, width)}({text(p)})" for p in distinct if p is not None]
        return combine(halves[0], halves[1], sign, width)
    word = f"*(const daedalus_any_u{run_bits} *)&{text(first)}"
    value = f"vdup{q}_n_u{run_bits}({word})"
    value = cast(value, ("u", run_bits), (sign, width), bits)
    while times > 1:
        name = out.let("z", sign, width, bits, value)
        value = f"vzip1{q}_{suffix(sign, width)}({name}, {name})"
        times //= 2
    return value


def _from_array(
    scope: Scope, out: Lines, places: list[Place | None], dtype: DType, bits: int, text: Text,
    wanted: str,
) -> str:  # fmt: skip
    """Element by element through a small array; padding lanes are zero."""
    entries = ["0" if p is None else text(p) for p in places]
    return _array(scope, out, entries, dtype, bits, wanted)


def from_entries(
    scope: Scope, out: Lines, entries: list[str], dtype: DType, wanted: str
) -> tuple[str, ...]:
    """Registers of scalars, one a lane, through small arrays."""
    sign, bits = "s" if dtype.signed else "u", scope.shape.bits(dtype.bits)
    per, count = scope.shape.per_register(dtype.bits), scope.shape.count(dtype.bits)
    names = []
    for r in range(count):
        value = _array(scope, out, entries[r * per : (r + 1) * per], dtype, bits, wanted)
        name = f"{wanted}_{r}" if count > 1 else wanted
        names.append(out.let(name, sign, dtype.bits, bits, value))
    return tuple(names)


def _array(
    scope: Scope, out: Lines, entries: list[str], dtype: DType, bits: int, wanted: str
) -> str:
    """A register's load from an array of scalars."""
    entries = entries + ["0"] * (bits // dtype.bits - len(entries))
    array = scope.names.fresh(f"{wanted}_lanes")
    out.lines.append(f"const {dtype.c} {array}[{len(entries)}] = {{{', '.join(entries)}}};")
    q = "q" if bits == 128 else ""
    return f"vld1{q}_{suffix('s' if dtype.signed else 'u', dtype.bits)}({array})"


def store(scope: Scope, out: Lines, s: Store, g: Group) -> None:
    """Writes a value to the elements that a store names."""
    b = scope.kernel.buffer(s.buffer)
    dtype = scope.ranges.dtype(s.buffer)
    width, sign = dtype.bits, "s" if dtype.signed else "u"
    bits, per = scope.shape.bits(width), scope.shape.per_register(width)
    places = scope.lanes.places(s.index)
    count = scope.shape.count(width)
    # As it was loaded: of registers that are made here, compilers make such a row through memory.
    row = g.names[0].removesuffix(".val[0]")
    as_loaded = g.names == tuple(f"{row}.val[{r}]" for r in range(count))
    if as_loaded and g.sign == sign and _is_row(scope, b, places, count * per, count):
        where = scope.element(b, _there(places[0]))
        out.lines.append(f"vst1q_{suffix(sign, width)}_x{count}(&{where}, {row});")
        return
    for r in range(count):
        part = places[r * per : (r + 1) * per]
        value = scope.typed(g, r, dtype)
        run = run_length(b, part)
        if run * width == bits:
            where = scope.element(b, _there(part[0]))
            q = "q" if bits == 128 else ""
            out.lines.append(f"vst1{q}_{suffix(sign, width)}(&{where}, {value});")
        elif run * width == 64:
            for k, half in enumerate((low, high)):
                where = scope.element(b, _there(part[k * run]))
                out.lines.append(
                    f"vst1_{suffix(sign, width)}(&{where}, {half(value, sign, width)});"
                )
        elif run > 1 and run * width in (16, 32):
            _store_words(scope, out, b, part, run, dtype, value)
        else:
            _store_elements(scope, out, b, part, dtype, value)


def _there(place: Place | None) -> Place:
    assert place is not None
    return place


def _store_words(
    scope: Scope, out: Lines, b: Buffer, part: list[Place | None], run: int, dtype: DType,
    value: str,
) -> None:  # fmt: skip
    """Runs of 16 or 32 bits, each as one lane of that width."""
    bits, word = scope.shape.bits(dtype.bits), run * dtype.bits
    q = "q" if bits == 128 else ""
    reg = cast(value, ("s" if dtype.signed else "u", dtype.bits), ("u", word), bits)
    for k in range(len(part) // run):
        where = scope.element(b, _there(part[k * run]))
        out.lines.append(f"*(daedalus_any_u{word} *)&{where} = vget{q}_lane_u{word}({reg}, {k});")


def _store_elements(
    scope: Scope, out: Lines, b: Buffer, part: list[Place | None], dtype: DType, value: str
) -> None:
    bits = scope.shape.bits(dtype.bits)
    for n, place in enumerate(part):
        if place is not None:
            out.lines.append(f"{scope.element(b, place)} = {lane_of(value, dtype, bits, n)};")


def lane_of(value: str, dtype: DType, bits: int, n: int) -> str:
    """A lane of a register of that element type, as a scalar."""
    t = suffix("s" if dtype.signed else "u", dtype.bits)
    return f"vget{'q' if bits == 128 else ''}_lane_{t}({value}, {n})"


def store_where(
    scope: Scope, out: Lines, s: Store, g: Group, conditions: list[Condition], whole: str
) -> None:
    """Writes what lanes have to the elements of those whose condition holds; all of them at once
    where `whole`, a condition of C, holds."""
    if all(c is True for c in conditions):
        store(scope, out, s, g)
        return
    if whole:
        out.lines.append(f"if ({whole}) {{")
        store(scope, out, s, g)
        out.lines.append("} else {")
    b, dtype = scope.kernel.buffer(s.buffer), scope.ranges.dtype(s.buffer)
    bits, per = scope.shape.bits(dtype.bits), scope.shape.per_register(dtype.bits)
    for n, (place, on) in enumerate(zip(scope.lanes.places(s.index), conditions, strict=True)):
        if place is None or on is False:
            continue
        value = lane_of(scope.typed(g, n // per, dtype), dtype, bits, n % per)
        line = f"{scope.element(b, place)} = {value};"
        out.lines += [line] if on is True else [f"if ({on}) {{", line, "}"]
    if whole:
        out.lines.append("}")
