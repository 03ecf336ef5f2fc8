# SPDX-License-Identifier: BSD-2-Clause
"""Compares the reference interpreter with the functions of independent implementations.

Items that a conformant stream can hold are written to a file, a small C program linked with a
decoder's static archive runs them through its functions, once without processor extensions and
once with, and once through our decoder entries in their place; what comes back must be what the
interpreter says.  Once more an element of what ours write is spoiled, for each class of items: that
must be seen.  Which function belongs to which kernel follows from the specs and from the
descriptions of decoders (docs/decoders.md); those that ours cannot take the place of stand in
codecs/compared.toml, what no decoder has in codecs/plain.toml.  The format of the files stands in
tools/oracle/main.c.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from daedalus.codecs import oracles
from daedalus.codecs.data import data, line_in
from daedalus.codecs.decoders.reading import all_described
from daedalus.codecs.decoders.tables import Decoder
from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.compile.decoder_calls import Called, called, given_params
from daedalus.generator.compile.decoder_wrappers import wrapped
from daedalus.generator.compile.kernels import chosen as entries_of
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.signatures import VALUE
from daedalus.generator.host import native
from daedalus.generator.verify import oracle_glue, part
from daedalus.generator.verify.oracle_files import Array, decode, encode, stored_type

PLAIN = "plain"  # the oracle that is no decoder, but implementations of our own
COMPARED = "compared"  # begins the names of programs of codecs/compared.toml
PART = "oracle-part"  # below build/: the code of the kernels that were asked for
OURS = "ours"  # the mode that runs the decoder entries
_MAIN = "main.c"
_FEW = 300  # items that show most faults
_TRIES = 8  # batches of vectors until enough of them are conformant


@dataclass(frozen=True)
class Entry:
    """A function, and the kernel that it is to be compared with.

    kernel   id or alias
    name     of the function in the C program
    planes   in the order in which the C program takes them
    block    its packed input, or what it writes, where it has one
    params   in the order in which the C program takes them
    clears   whether the function leaves the block zeroed
    fixed    parameters that are no arguments of the function, and their values
    ranges   parameters that callers of our function have some values of only; theirs takes others
             by another function
    asm_only values of a parameter that its assembly is written for, as no caller has others
    c_only   architectures on which the decoder has no assembly for it, which is checked
    written  whether the function writes the block, which is compared
    ours     whether a decoder entry can take its place
    """

    kernel: str
    name: str
    planes: tuple[str, ...] = ("dst",)
    block: str = ""
    params: tuple[str, ...] = ()
    clears: bool = False
    fixed: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    asm_only: Mapping[str, list[int]] = field(default_factory=dict)
    c_only: tuple[str, ...] = ()
    called: Called | None = None  # of a decoder
    written: bool = False
    ours: bool = True


@dataclass(frozen=True)
class Program:
    """A C program for the functions of one oracle; its sources in tools/oracle, or a decoder.

    links  the decoder that the sources call
    """

    oracle: str
    sources: tuple[str, ...]
    modes: tuple[str, ...]
    entries: tuple[Entry, ...]
    decoder: Decoder | None = None
    links: str = ""

    def only(self, entries: Sequence[Entry]) -> "Program":
        """The program for some of its functions."""
        return replace(self, entries=tuple(entries))


@dataclass(frozen=True)
class Comparison:
    """One function against the interpreter."""

    kernel: str
    function: str  # the entry's name
    architecture: str
    mode: str
    version: str
    items: int
    mismatches: int
    strayed: int  # items for which it wrote outside the kernel's rectangle
    uncleared: int  # items whose block it did not leave zeroed, though it should
    first: str  # the first mismatch, in words
    faults: Mapping[str, bool] = field(default_factory=dict)  # that were planted; whether seen

    @property
    def good(self) -> bool:
        """Whether the two agree in everything, and each fault is seen."""
        alike = self.mismatches == self.strayed == self.uncleared == 0
        return alike and all(self.faults.values())


def _folder() -> Path:
    return repo_root() / "tools" / "oracle"


@cache
def programs() -> tuple[Program, ...]:
    """A program for each decoder of codecs/decoders, those of codecs/compared.toml, and that of
    codecs/plain.toml."""
    _of_known_kernels()
    own = data("plain.toml")
    plain = tuple(
        Entry(e["kernel"], e["name"], tuple(e["planes"]), params=tuple(e["params"]))
        for e in own["entry"]
    )
    kernels = [e.kernel for e in load()]
    found = [_program(d, kernels) for d in all_described()]
    return (*(p for p in found if p.entries), *_called(),
            Program(PLAIN, tuple(own["sources"]), ("c",), plain))  # fmt: skip


def _of_known_kernels() -> None:
    """Refuses what is said of a kernel or a decoder that there is not: it would not be compared."""
    kernels = {n for e in load() for n in (e.kernel.id, *e.kernel.aliases)}
    calls = [e for p in data("compared.toml")["program"] for e in p["entry"]]
    for name, header, said in (
        ("compared.toml", "[[program.entry]]", calls),
        ("plain.toml", "[[entry]]", data("plain.toml")["entry"]),
    ):
        for n, entry in enumerate(said):
            if entry["kernel"] not in kernels:
                line = line_in(name, header, n, "kernel")
                raise UserError(
                    f"codecs/{name}:{line}: there is no kernel {entry['kernel']}",
                    f"take this {header} out, or name one of: {', '.join(sorted(kernels))}",
                )


def _called() -> Iterator[Program]:
    """Programs that call a decoder's functions in a way of their own."""
    for p in data("compared.toml")["program"]:
        entries = tuple(_worded(e) for e in p["entry"])
        name = f"{COMPARED}_{p['decoder']}"
        yield Program(name, tuple(p["sources"]), ("c", "asm"), entries, links=p["decoder"])


def _worded(words: Mapping[str, Any]) -> Entry:
    """An entry of compared.toml, in the words of `Entry`."""
    given: dict[str, Any] = {w: tuple(v) if isinstance(v, list) else v for w, v in words.items()}
    try:
        return Entry(**given, ours=False)
    except TypeError as e:
        known = ", ".join(f.name for f in fields(Entry) if f.name not in ("called", "ours"))
        raise UserError(
            f"codecs/compared.toml: {words.get('name')}: {str(e).partition('() ')[2]}",
            f"the words of [[program.entry]]: {known}",
        ) from None


def _program(decoder: Decoder, kernels: Sequence[Kernel]) -> Program:
    entries = [
        _entry(one)
        for k in kernels
        for d in k.decoders
        if d.decoder == decoder.name
        for one in called(k, d)
    ]
    return Program(decoder.name, (_MAIN,), ("c", "asm", OURS), tuple(entries), decoder)


def _entry(one: Called) -> Entry:
    kernel, signature = one.kernel, one.signature
    by_argument = dict(zip((a.name for a in one.pointer.function.arguments), signature.roles,
                           strict=True))  # fmt: skip
    asm_only = {}
    for argument, values in one.pointer.assembly.items():
        role, of = by_argument[argument]
        if role == VALUE:
            p = kernel.param(of)
            asm_only[of] = [v for v in values if p.lo <= v <= p.hi]
    blocks = [b.name for b in kernel.buffers if b.kind == "block"]
    return Entry(
        kernel.id,
        oracle_glue.short_name(one),
        tuple(b.name for b in kernel.buffers if b.kind == "plane"),
        blocks[0] if blocks else "",
        tuple(p.name for p in given_params(kernel, signature)),
        bool(signature.cleared),
        signature.fixed,
        signature.ranges,
        asm_only,
        one.pointer.c_only,
        one,
    )


def not_compared() -> list[str]:
    """Kernels that no oracle knows."""
    known = {e.kernel for p in programs() for e in p.entries}
    return [k.id for k in (e.kernel for e in load()) if not known & {k.id, *k.aliases}]


def compare(wanted: tuple[str, ...], count: int, seed: int) -> list[Comparison]:
    """Compares the wanted kernels (none named: all that an oracle knows) on `count` items each."""
    with native.alone(part.lock(PART)) if wanted else nullcontext():
        return _compared(wanted, count, seed)


def _compared(wanted: tuple[str, ...], count: int, seed: int) -> list[Comparison]:
    by_name = {name: k for k in (e.kernel for e in load()) for name in (k.id, *k.aliases)}
    known = list(dict.fromkeys(e.kernel for p in programs() for e in p.entries))
    ids = {by_name[w].id if w in by_name else w for w in wanted}
    unknown = ids - {by_name[k].id for k in known}
    if unknown:
        raise UserError(
            f"no function to compare with for: {', '.join(sorted(unknown))}",
            f"the oracles know: {', '.join(known)}",
        )
    own = tuple(sorted(by_name[i].id for i in ids))
    generated = part.generate(entries_of(own), PART) if own else None
    comparisons: list[Comparison] = []
    for program in programs():
        chosen = [e for e in program.entries if not wanted or by_name[e.kernel].id in ids]
        if not chosen:
            continue
        program = program.only(chosen)
        built = [(arch, build(program, arch, generated=generated)) for arch in _architectures()]
        tried: set[str] = set()  # of our functions
        for entry in chosen:
            kernel = by_name[entry.kernel]
            drawn: dict[str, tuple[interp.Items, interp.Result]] = {}
            for mode in (m for m in program.modes if m != OURS or entry.ours):
                asm = mode == "asm"
                kind = "c" if mode == OURS and not entry.ranges else mode
                if kind not in drawn:
                    items = _items(kernel, entry, count, seed, mode=kind)
                    drawn[kind] = items, interp.run(kernel, items)
                items, expected = drawn[kind]
                for arch, path in built:
                    debian = native.debian_arch(arch)
                    absent = asm and debian in entry.c_only
                    what = "has no assembly" if absent else mode
                    say(f"{entry.name}: {what}, {debian}")
                    if absent:
                        continue
                    found = _compare(program, entry, kernel, mode, arch, path, items, expected)
                    faulty = spoilt(entry) if mode == OURS and arch == built[-1][0] else []
                    if not tried & set(faulty):
                        tried |= set(faulty)
                        faults = {
                            f: sees(program, entry, kernel, arch, path, items, expected, f)
                            for f in faulty
                        }
                        found = replace(found, faults=faults)
                    comparisons.append(found)
    return comparisons


def spoilt(entry: Entry) -> list[str]:
    """The faults that can be planted in our function: its name, and a class of items."""
    if entry.called is None or not entry.ours:
        return []
    own = wrapped(entry.called.kernel, entry.called.entry)
    return [f"{own.short}:{name}" for name, _ in own.classes]


def sees(
    program: Program, entry: Entry, kernel: Kernel, arch: str, path: Path, items: interp.Items,
    expected: interp.Result, fault: str,
) -> bool:  # fmt: skip
    """Whether some items show a fault: few of them, or else all."""
    for count in sorted({min(_FEW, items.count), items.count}):
        some = items.take(np.arange(count))
        results = replace(
            expected,
            buffers={n: a[:count] for n, a in expected.buffers.items()},
            written={n: a[:count] for n, a in expected.written.items()},
        )
        found = _compare(program, entry, kernel, OURS, arch, path, some, results, spoil=fault)
        if not found.good:
            return True
    return False


def _architectures() -> tuple[str, ...]:
    return ("host",) if native.is_arm() else ("aarch64", "host")


def build(
    program: Program, arch: str, *, path: Path | None = None, sources: Sequence[Path] = (),
    includes: Sequence[Path] = (), flags: Sequence[str] = (), generated: Path | None = None,
) -> Path:  # fmt: skip
    """The C program, with the oracle's archives and the library as `gen` left it, or with that of
    the code `generated` for some kernels alone (part.py, for PART).

    With `sources` another one of the same functions: these take the place of main.c.
    """
    debian = native.debian_arch(arch)
    system: list[Path] = []
    # An error is to be found, not refused.
    options: tuple[str, ...] = ("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    folder = ""
    if generated is not None:
        options, folder = (*options, *part.options(generated)), f"{PART}/{arch}"
    libraries = [native.build_library(arch, options=options, folder=folder) / "libdaedalus.a"]
    made: list[Path] = []
    linked = program.links or (program.decoder.name if program.decoder is not None else "")
    if linked:
        system, archives = oracles.linked(linked, debian)
        libraries += archives
    if program.decoder is not None:
        functions = [e.called for e in program.entries if e.called is not None]
        made = [oracle_glue.write(program.decoder, functions, _made(program, debian))]
    return native.compile_program(
        arch,
        path or _made(program, debian) / program.oracle,
        [_folder() / s for s in program.sources if not (sources and s == _MAIN)]
        + [*made, *sources],
        includes=[
            *includes,
            _folder(),
            *native.library_includes(generated and generated / "include"),
        ],
        system_includes=system,
        libraries=libraries,
        flags=flags,
        static=not sources,
    )


def _made(program: Program, debian: str) -> Path:
    """The folder of a program for the functions that it has."""
    names = " ".join(e.name for e in program.entries)
    return build_dir() / "oracle" / debian / hashlib.sha256(names.encode()).hexdigest()[:12]


def _version(program: Program, arch: str) -> str:
    if program.oracle == PLAIN:
        return "tools/oracle"
    return oracles.version(program.links or program.oracle, arch)


# ------------------------------------------------------------------------------- the items


def _items(kernel: Kernel, entry: Entry, count: int, seed: int, *, mode: str) -> interp.Items:
    """At least `count` conformant items that the function may be called with.

    Assembly takes more for granted than the standard says, so it gets only items that meet the
    assumptions which are not made by default, too.
    """
    assume = frozenset(a.name for a in kernel.assumptions if a.default or mode == "asm")
    batches: list[interp.Items] = []
    have = 0
    for attempt in range(_TRIES):
        items = vectors.make_items(kernel, count, seed + attempt, "typical")
        items = _of_depth(kernel, items, entry)  # by the parameters that were drawn
        items = _suited(items, entry, np.random.default_rng(seed + attempt), mode=mode)
        good = items.take(interp.run(kernel, items).conformant(assume))
        batches.append(good)
        have += good.count
        if have >= count:
            break
    else:
        raise UserError(
            f"{kernel.id}: only {have} of {_TRIES * count} vectors are conformant",
            "dsl/vectors.py does not suit this kernel",
            EXIT_FAILED,
        )
    joined = interp.Items(
        {n: np.concatenate([b.buffers[n] for b in batches]) for n in batches[0].buffers},
        {n: np.concatenate([b.params[n] for b in batches]) for n in batches[0].params},
    )
    return joined.take(np.arange(count))


def _suited(
    items: interp.Items, entry: Entry, rng: np.random.Generator, *, mode: str
) -> interp.Items:
    """The items with parameters as the entry says that its function gets them."""
    params = dict(items.params)
    for name, value in entry.fixed.items():
        params[name] = np.full(items.count, value)
    for name, values in entry.asm_only.items() if mode == "asm" else ():
        params[name] = rng.choice(values, items.count)
    for name, (lo, hi) in entry.ranges.items() if mode == OURS else ():
        inside = (lo <= params[name]) & (params[name] <= hi)
        params[name] = np.where(inside, params[name], rng.integers(lo, hi + 1, items.count))
    return interp.Items(items.buffers, params)


def _of_depth(kernel: Kernel, items: interp.Items, entry: Entry) -> interp.Items:
    """The items with samples of as many bits as the decoder's table is for, and coefficients.

    Those that were drawn for that depth, and fit, stay as they are: their parameters suit them.
    """
    if entry.called is None or entry.called.pointer.filled.depth == 8:
        return items  # planes of 16 bits may hold more than samples
    depth, says = entry.called.pointer.filled.depth, entry.called.pointer.table.depth_parameter
    white = max(b.hi for b in kernel.buffers if b.kind == "plane")
    more = white.bit_length() - depth
    fits = items.params[says] == depth if says in entry.fixed else np.zeros(items.count, bool)
    for b in kernel.buffers:
        inside = (b.lo >> more <= items.buffers[b.name]) & (items.buffers[b.name] <= b.hi >> more)
        fits &= inside.reshape(items.count, -1).all(axis=1)
    shifted = {
        n: np.where(fits.reshape(-1, *(1,) * (a.ndim - 1)), a, a >> more)
        for n, a in items.buffers.items()
    }
    return interp.Items(shifted, items.params)


# ------------------------------------------------------------------------------- comparing


def _compare(
    program: Program,
    entry: Entry,
    kernel: Kernel,
    mode: str,
    arch: str,
    path: Path,
    items: interp.Items,
    expected: interp.Result,
    *,
    spoil: str = "",
) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        given, back = Path(folder, "in"), Path(folder, "out")
        assembly = None
        if "asm" in program.modes:
            assembly = native.debian_arch(arch) not in entry.c_only
        given.write_bytes(
            encode(kernel, items, entry.planes, entry.block, entry.params, assembly=assembly)
        )
        run(
            [*native.runner(arch), path, mode, entry.name, given, back],
            what=f"{entry.name}: the {program.oracle} oracle ({mode}, {arch})",
            env={**os.environ, "ORACLE_SPOIL": spoil} if spoil else None,
        )
        answer = decode(back.read_bytes(), kernel, entry.planes, items.count)
    different = np.zeros(items.count, dtype=bool)
    first = ""
    for name in entry.planes:
        wanted = _after(name, items, expected)
        wrong = answer.planes[name] != wanted
        different |= wrong.reshape(items.count, -1).any(axis=1)
        first = first or _first(name, wrong, answer.planes[name], wanted, entry, items)
    if entry.written:
        b = kernel.buffer(entry.block)
        found = answer.blocks.view(stored_type(b)).reshape(items.count, -1)
        wanted = expected.buffers[entry.block].reshape(items.count, -1)
        different |= (found != wanted).any(axis=1)
        for item in np.flatnonzero((found != wanted).any(axis=1))[: 0 if first else 1]:
            first = f"item {item}: interpreter {wanted[item]}, function {found[item]}"
    return Comparison(
        kernel.id,
        entry.name,
        native.debian_arch(arch),
        mode,
        _version(program, arch) if mode != OURS else "this checkout",
        items.count,
        int(different.sum()),
        answer.strayed,
        int(answer.blocks.any(axis=1).sum()) if entry.clears else 0,
        first,
    )


def _after(plane: str, items: interp.Items, expected: interp.Result) -> Array:
    """What a plane holds afterwards: the interpreter's result where it stores, else as before."""
    before = items.buffers[plane]
    if plane not in expected.buffers:
        return before
    return np.where(expected.written[plane], expected.buffers[plane], before)


def _first(
    plane: str, wrong: Array, found: Array, wanted: Array, entry: Entry, items: interp.Items
) -> str:
    if not wrong.any():
        return ""
    item, row, col = (int(x) for x in np.argwhere(wrong)[0])
    params = ", ".join(f"{p} = {items.params[p][item].tolist()}" for p in entry.params)
    return (
        f"item {item} ({params}), row {row}, column {col} of its region of {plane}: interpreter"
        f" {int(wanted[item, row, col])}, function {int(found[item, row, col])}"
    )
