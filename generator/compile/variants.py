# SPDX-License-Identifier: BSD-2-Clause
"""From a kernel and a variant's options to its text."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import jinja2

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Kernel, Op
from daedalus.dsl.show import show
from daedalus.generator.compile import qpu_choices, qpu_text
from daedalus.generator.compile.classes import of_whole_rows
from daedalus.generator.compile.clearing import cleared_blocks, clearing
from daedalus.generator.compile.pieces import counted
from daedalus.generator.compile.text import fold_comment, tidy
from daedalus.generator.options import GPU_TARGETS, QPU, Options, variant_name
from daedalus.generator.passes.loops import crowded
from daedalus.generator.passes.pipeline import Lowered, lower
from daedalus.generator.targets import shell
from daedalus.generator.targets.c.emit import emit as emit_c
from daedalus.generator.targets.glsl import spirv
from daedalus.generator.targets.glsl.emit import Choices, Shader
from daedalus.generator.targets.glsl.emit import emit as emit_glsl
from daedalus.generator.targets.neon.emit import emit as emit_neon
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.targets.neon.tall import emit_tall
from daedalus.generator.targets.neon.target import NEON, Target
from daedalus.generator.targets.qpu.emit import Emitted
from daedalus.generator.targets.qpu.emit import emit as emit_qpu
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.select import Selected, select_for
from daedalus.generator.targets.qpu.virtual import Program
from daedalus.generator.targets.vector.target import VECTOR

TARGET_TEXT = {
    "c": "portable scalar C", "vector": "C with vectors", "neon": "NEON intrinsics", "glsl": "GLSL",
    QPU: "machine code of V3D 7.1",
}  # fmt: skip
# CPU targets, the one that a build takes first: as their variants are ranked.
PREFERRED = ("neon", "vector", "c")
# What of the library's build has variants of a target.
GUARDS = {
    "neon": "DAEDALUS_HAVE_NEON", "vector": "DAEDALUS_HAVE_VECTORS", "c": "",
    "glsl": "DAEDALUS_HAVE_VULKAN", QPU: "DAEDALUS_HAVE_DRM",
}  # fmt: skip
_VECTORS = {t.name: t for t in (NEON, VECTOR)}
_PLACE = "@input-hash@"


@dataclass(frozen=True)
class Variant:
    """One generated implementation."""

    kernel: Kernel
    options: Options
    prod: bool
    rank: int
    text: str  # its functions in C, its GLSL, or its assembly
    input_hash: str
    includes: tuple[str, ...] = ()  # of a CPU variant: the headers that its functions need,
    tables: tuple[str, ...] = ()  # and the definitions of the tables that they read
    shader: Shader | None = None  # of a GLSL variant
    code: Emitted | None = None  # of one in machine code
    recorded: bool = True  # of that, whether its schedule is the one that a search found
    program: str = ""  # of that, what was scheduled, whatever its name
    forms: tuple[dict[str, int | str], ...] = ()  # of a NEON variant, by stage: Selection.record
    spec: str = ""  # where its kernel stands
    rows: str = ""  # what counts the rows of a block that its function for tall ones does

    @property
    def is_gpu(self) -> bool:
        return self.options.target in GPU_TARGETS

    @property
    def guard(self) -> str:
        """The macro of builds that have it; "" where all do."""
        return GUARDS[self.options.target]

    @property
    def name(self) -> str:
        return variant_name(self.kernel.id, self.options)

    @property
    def needs(self) -> str:
        """C expression of the processor features that it cannot run without."""
        return " | ".join(f"DAEDALUS_NEEDS_{n.upper()}" for n in self.options.needs) or "0"

    @property
    def item_name(self) -> str:
        """The function for a single item."""
        return self.name.replace("daedalus_", "daedalus_item_", 1)

    @property
    def clearing_name(self) -> str:
        """The same, which zeroes the blocks that decoders want zeroed; "" where none does."""
        if not _cleared(self.kernel, self.options, prod=self.prod):
            return ""
        return self.name.replace("daedalus_", "daedalus_clearing_", 1)

    @property
    def clearing_arguments(self) -> list[str]:
        """Its parameters."""
        return writable(self.kernel, shell.item_arguments(self.kernel))

    @property
    def items_name(self) -> str:
        """The function for many items, laid out regularly."""
        return self.name.replace("daedalus_", "daedalus_items_", 1)

    @property
    def items_arguments(self) -> list[str]:
        """Its parameters."""
        return shell.items_arguments(self.kernel)

    @property
    def clearing_items_name(self) -> str:
        """The same, which zeroes blocks; "" where no function for one item does."""
        name = self.name.replace("daedalus_", "daedalus_clearing_items_", 1)
        return name if self.clearing_name else ""

    @property
    def clearing_items_arguments(self) -> list[str]:
        """Its parameters."""
        return writable(self.kernel, self.items_arguments)

    @property
    def tall_name(self) -> str:
        """The function for items one below the other, as decoders' blocks of more rows than an
        item has are; "" where there are none."""
        return self.name.replace("daedalus_", "daedalus_tall_", 1) if self.rows else ""

    @property
    def tall_arguments(self) -> list[str]:
        """Its parameters."""
        return shell.tall_arguments(self.kernel, self.rows)

    @property
    def item_arguments(self) -> list[str]:
        """Its parameters."""
        return shell.item_arguments(self.kernel)

    @property
    def group(self) -> str:
        """The sources that are compiled alike, as the manifest has them, that it is among."""
        return _group(self.options)

    @property
    def file(self) -> str:
        """The path of the C file that holds it below generated/, with all others of its group."""
        return f"src/{self.kernel.codec}/{file_name(self.kernel.id, self.options)}"

    @property
    def reason(self) -> str:
        """Why the runtime takes it when it does."""
        if not self.prod:
            return "not a prod variant: chosen for lack of another"
        if self.options.target == "c":
            return "portable C, the fallback everywhere"
        name = {"glsl": "GLSL", "neon": "NEON", "vector": "vector", QPU: "QPU"}[self.options.target]
        return f"the first of the {name} variants for such items"


def _group(options: Options) -> str:
    return "any" if options.target == "c" else "_".join([options.target, *options.needs])


def file_name(kernel: str, options: Options) -> str:
    """The name of the C file that holds such a variant of the kernel of that id."""
    group = _group(options)
    return f"{kernel}.c" if group == "any" else f"{kernel}.{group}.c"


def make_variant(
    environment: jinja2.Environment,
    kernel: Kernel,
    options: Options,
    *,
    prod: bool,
    rank: int,
    spec: str,
    watch: Callable[[Selection], None] | None = None,
    known: Lowered | None = None,
) -> Variant:
    """Lowers and renders one variant. Raises SpecError where a back end cannot.

    `watch` sees what a back end selects for every stage of every body; `known` is for lower().
    """
    lowered = lower(kernel, options, known=known)
    if options.target == "glsl":
        return _make_shader(environment, kernel, lowered, options, prod=prod, rank=rank, spec=spec)
    if options.target == QPU:
        return _make_machine_code(
            environment, kernel, lowered, options, prod=prod, rank=rank, spec=spec
        )
    vectors = _VECTORS.get(options.target)
    if options.choice("dot") and not has_dots(lowered):
        raise SpecError(
            "options", f"{options.name}: no dot product is one of 4 or 8 adjacent bytes with"
            " taps of 8 bits and equal sums", kernel.loc, kernel.id,
            hint="leave out dot, or give the class a narrower range of taps",
        )  # fmt: skip
    selections: list[Selection] = []
    rows = counted(kernel) if options.class_name in of_whole_rows(kernel) else ""

    def see(selection: Selection) -> None:
        selections.append(selection)
        if watch is not None:
            watch(selection)

    name = variant_name(kernel.id, options)
    emitted = emit_neon(lowered, see, vectors) if vectors else emit_c(lowered)
    bodies = [shell.named(b, name.removeprefix("daedalus_")) for b in emitted]
    tall_body = None
    if rows and vectors:
        found = emit_tall(lowered, kernel.param(rows).hi, vectors)
        tall_body = found and shell.named(found, name.removeprefix("daedalus_"))
        if tall_body is not None:  # one item is one of several
            (one,) = bodies
            call = f"{tall_body.name}({', '.join([*shell.item_call(lowered), '1'])});"
            bodies = [replace(one, lines=(call,), panel=None)]
    of_all = [*bodies, *([] if tall_body is None else [tall_body])]
    written = "\n".join(line for b in of_all for line in b.every_line)
    # Filters of rows read what the next rows read again, in an order that registers hold.
    in_order = tall_body is not None or (rows != "" and crowded(lowered))
    in_order = in_order or any(s.loops for s in lowered.stages)
    headers = tuple(vectors.headers(written, in_order=in_order)) if vectors else ()
    single = next((b for b in bodies if b.items == 1), None)
    cleared = _cleared(kernel, options, prod=prod)
    clear = clearing(kernel, options.class_name, cleared)
    apart, beside = shell.plane_steps(kernel), shell.adjoining_steps(kernel)
    used_planes = [b.name for b in shell.used_buffers(lowered) if b.kind == "plane"]
    text = environment.get_template("variant.c.j2").render(
        kernel=kernel,
        options=options,
        class_when=class_condition(kernel, options.class_name),
        assumptions=_assumption_lines(kernel, options),
        input_hash=_PLACE,
        bodies=[
            {
                "name": b.name,
                "per_call": b.items,
                "lines": b.lines,
                "panel": b.panel,
                "arguments": b.arguments,
                "call_arguments": shell.batch_arguments(lowered, b.items),
                "share": _share(b.items, bodies[0].items),
                "clearing": clearing(kernel, options.class_name, cleared, b.items),
                **{
                    way: {
                        "call": shell.items_call(lowered, b.items, steps),
                        "advance": shell.items_advance(lowered, str(b.items), steps),
                    }
                    for way, steps in (("apart", apart), ("beside", beside))
                },
            }
            for b in bodies
        ],
        single=single,
        name=name,
        item_name=name.replace("daedalus_", "daedalus_item_", 1),
        item_arguments=shell.item_arguments(kernel),
        clearing_name=name.replace("daedalus_", "daedalus_clearing_", 1),
        clearing_arguments=writable(kernel, shell.item_arguments(kernel)),
        clearing=clear,
        tall=_tall(kernel, lowered, rows, tall_body) if rows else None,
        tall_name=name.replace("daedalus_", "daedalus_tall_", 1),
        items_name=name.replace("daedalus_", "daedalus_items_", 1),
        items_arguments=shell.items_arguments(kernel),
        clearing_items_name=name.replace("daedalus_", "daedalus_clearing_items_", 1),
        clearing_items_arguments=writable(kernel, shell.items_arguments(kernel)),
        items_unused=shell.unused_items_arguments(kernel, lowered),
        # Where it is known that items side by side in a vector adjoin in memory, compilers make
        # one access of two.
        gaps=" || ".join(f"{apart[n]} != {beside[n]}" for n in used_planes),
        item_call=shell.item_call(lowered),
        unused=shell.unused_arguments(lowered),
        uses_meta=any(
            "meta[" in a for b in bodies for a in shell.batch_arguments(lowered, b.items)
        ),
        meta_type=f"daedalus_{kernel.id}_meta",
    )
    text = tidy(text)
    includes = tuple(_includes(kernel, headers, bool(clear)))
    tables = tuple(tidy(shell.table_text(t)) for t in shell.used_tables(lowered))
    meaning = show(kernel) + "\n".join((*includes, *tables, text))
    meaning += _header_texts(headers, vectors)
    digest = hashlib.sha256(meaning.encode()).hexdigest()[:16]
    forms = tuple(s.record() for s in selections[: len(lowered.stages)])  # of the first body
    return Variant(
        kernel, options, prod, rank, text.replace(_PLACE, digest), digest, includes, tables,
        forms=forms, spec=spec, rows=rows,
    )  # fmt: skip


def _tall(kernel: Kernel, lowered: Kernel, rows: str, own: shell.Body | None) -> dict[str, object]:
    """The function for items one below the other, as far as the kernel decides it."""
    most = kernel.param(rows).hi
    return {
        "body": own,
        "arguments": shell.tall_arguments(kernel, rows),
        "unused": shell.unused_tall_arguments(kernel, lowered, rows),
        "call": shell.tall_call(lowered, rows, most),
        "advance": shell.tall_advance(lowered, most),
    }


def _make_shader(
    environment: jinja2.Environment,
    kernel: Kernel,
    lowered: Kernel,
    options: Options,
    *,
    prod: bool,
    rank: int,
    spec: str,
) -> Variant:
    """A GPU variant."""
    declared = {p.name: (p.lo, p.hi) for p in kernel.params}
    choices = Choices(
        words=not options.reads_anything,
        shifted=options.choice("unaligned"),
        signs=options.choice("signs"),
        packed=options.choice("pack"),
        narrowed=frozenset(p.name for p in lowered.params if (p.lo, p.hi) != declared[p.name]),
    )
    shader = emit_glsl(lowered, choices)
    text = tidy(
        environment.get_template("variant.comp.j2").render(
            kernel=kernel,
            options=options,
            spec=spec,
            class_when=class_condition(kernel, options.class_name),
            assumptions=_assumption_lines(kernel, options),
            input_hash=_PLACE,
            shader=shader,
        )
    )
    wrapping = str(shader.record.words) + str(shader.constants) + str(shader.align)
    meaning = show(kernel) + text + wrapping + spirv.PINNED
    digest = hashlib.sha256(meaning.encode()).hexdigest()[:16]
    return Variant(
        kernel, options, prod, rank, text.replace(_PLACE, digest), digest, shader=shader,
        spec=spec,
    )  # fmt: skip


def _make_machine_code(
    environment: jinja2.Environment,
    kernel: Kernel,
    lowered: Kernel,
    options: Options,
    *,
    prod: bool,
    rank: int,
    spec: str,
) -> Variant:
    """A variant in machine code, by its recorded schedule where there is one."""
    name = variant_name(kernel.id, options)
    selected = _selected(lowered, options)
    try:
        found = qpu_choices.schedule(name, selected.programs, options.threads)
    except NoSchedule as e:
        raise SpecError(
            "options", str(e), kernel.loc, kernel.id,
            hint=f"leave {options.name} out of options.toml, or give each element fewer points"
            + (", or leave out threads4" if options.choice("four_threads") else ""),
        ) from None  # fmt: skip
    code = emit_qpu(kernel, selected, found.code)
    digest = code_hash(kernel, code)
    text = environment.get_template("variant.s.j2").render(
        kernel=kernel,
        options=options,
        spec=spec,
        class_when=class_condition(kernel, options.class_name),
        assumptions=_assumption_lines(kernel, options),
        input_hash=digest,
        facts=qpu_text.facts(kernel, code),
        uniforms=qpu_text.uniform_lines(code),
        lines=code.lines,
    )
    folded = [x for line in text.splitlines() for x in _fold_head(line)]
    text = "\n".join(folded) + "\n"
    return Variant(
        kernel, options, prod, rank, text, digest, code=code, recorded=found.recorded,
        spec=spec,
        program=qpu_choices.digest([replace(p, name="") for p in selected.programs],
                                   options.threads),
    )  # fmt: skip


def code_hash(kernel: Kernel, code: Emitted) -> str:
    """The input hash of a variant in machine code."""
    wrapping = (code.words, code.uniforms, code.record.words, code.constants, code.align)
    shape = (code.items, code.scratch_bytes, code.forms, code.figures.threads)
    return hashlib.sha256(f"{show(kernel)}{wrapping}{shape}".encode()).hexdigest()[:16]


def _fold_head(line: str) -> list[str]:
    return fold_comment(line, "#   ") if line.startswith("# ") else [line]


def _selected(lowered: Kernel, options: Options) -> Selected:
    return select_for(lowered, f"{lowered.id}__{options.name}", options)


def selected_programs(kernel: Kernel, options: Options) -> tuple[Program, ...]:
    """The programs of a variant in machine code, before they are scheduled."""
    return _selected(lower(kernel, options), options).programs


def has_dots(lowered: Kernel) -> bool:
    """Whether dot products are left to DOT instructions."""
    return any(n.op is Op.DOT for s in lowered.stages for n in s.nodes())


def by_kernel(variants: Iterable[Variant]) -> dict[str, tuple[Variant, ...]]:
    """The variants of each kernel, in their order."""
    found: dict[str, list[Variant]] = {}
    for v in variants:
        found.setdefault(v.kernel.id, []).append(v)
    return {kernel: tuple(own) for kernel, own in found.items()}


@cache
def _header_texts(own: tuple[str, ...], vectors: Target | None) -> str:
    """The headers whose functions generated code computes with."""
    folder = files("daedalus") / "support" / "daedalus"
    first, *beside = own or (NEON.header,)
    names = ("lane.h", first, *(vectors.parts if vectors else ()), *beside)
    return "".join((folder / name).read_text() for name in names)


def _cleared(kernel: Kernel, options: Options, *, prod: bool) -> tuple[str, ...]:
    """The blocks that a variant has a function to clear for: of those that decoder entries may
    call, and of those that are to be compared with decoders' own, which take as much for granted.
    """
    return cleared_blocks(kernel) if prod or options.assume else ()


def _share(items: int, most: int) -> str:
    """How often a body is called for some number of items, as what follows the number in C: those
    that do the `most` do as many items as they can, those that do one the rest."""
    if most == 1:
        return ""
    return f" / {items}" if items == most else f" % {most}"


def writable(kernel: Kernel, arguments: list[str]) -> list[str]:
    """Arguments with the blocks that are cleared writable."""
    blocks = cleared_blocks(kernel)
    return [a.removeprefix("const ") if shell.argument_name(a) in blocks else a for a in arguments]


def _includes(kernel: Kernel, headers: tuple[str, ...], clears: bool) -> list[str]:
    own = ["<stdint.h>", "<string.h>" if clears else "", "<daedalus/lane.h>"]
    own += [f"<daedalus/{h}>" for h in headers]
    own += [f"<daedalus/{kernel.codec}.h>", "<daedalus/table.h>", '"variants.h"']
    return [i for i in own if i]


def class_condition(kernel: Kernel, class_name: str) -> str:
    """The class's precondition as text; empty for the full class."""
    if class_name == FULL:
        return ""
    c = kernel.item_class(class_name)
    return " and ".join(f"{lo} <= {p} <= {hi}" for p, lo, hi in c.when)


def _assumption_lines(kernel: Kernel, options: Options) -> list[str]:
    in_force = [a for a in kernel.assumptions if a.default or a.name in options.assume]
    return [f"assumes {a.name}: {a.why}" for a in in_force]
