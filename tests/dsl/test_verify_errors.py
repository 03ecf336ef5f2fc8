# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are well formed but illegal: bounds, temps, races, ownership."""

from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import in_stage, kernel_of, refusal, spec_text

from daedalus.dsl.build import Builder
from daedalus.dsl.errors import Loc, VerifyError
from daedalus.dsl.ir import Affine, Kernel, Node, Op
from daedalus.dsl.verify import verify

WRITE = "with k.stage(i=8) as i:\n    px[0, i] = 1\n"
TEMP = 't = k.temp("t", (8, 8))\n'

# the body of a spec -> rule, message, hint
CASES = {
    "reads outside": (
        "with k.stage(i=8) as i:\n    px[0, i] = px[0, i + 1]  # <-",
        "bounds", "reads px at column 1..8, declared 0..7",
        "declare px larger, or change the index",
    ),
    "reads before": (
        "with k.stage(i=8) as i:\n    px[0, i] = px[-1, i]  # <-",
        "bounds", "reads px at row -1..-1, declared 0..7", "declare px larger",
    ),
    "writes outside": (
        "with k.stage(i=9) as i:\n    px[0, i] = 1  # <-",
        "bounds", "writes px at column 0..8, declared 0..7", "declare px larger",
    ),
    "block outside": (
        "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(c[i, 8])  # <-",
        "bounds", "reads c at axis 1 8..8, declared 0..7", "declare c larger",
    ),
    "slice outside": (
        "with k.stage(i=8) as i:\n    px[0:9, i] = 1  # <-",
        "bounds", "writes px at row 8..8, declared 0..7", "declare px larger",
    ),
    "never written temp": (
        TEMP + WRITE + "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(t[0, i])  # <-",
        "uninitialised", "reads t where no earlier stage wrote", "a stage's own stores take effect",
    ),
    "partly written temp": (
        TEMP + "with k.stage(i=4) as i:\n    t[0, i] = 1\n"
        "with k.stage(i=8) as i:\n    px[0, i] = t[0, i]  # <-",
        "uninitialised", "reads t where no earlier stage wrote", "a stage's own stores take effect",
    ),
    "same stage temp": (
        TEMP + "with k.stage(i=8) as i:\n    t[0, i] = 1\n    px[0, i] = t[0, i]  # <-",
        "uninitialised", "reads t where no earlier stage wrote",
        "a stage's own stores take effect at its end",
    ),
    "masked temp": (
        TEMP + "with k.stage(i=8) as i:\n    with k.when(p > 1):\n        t[0, i] = 1  # <-\n"
        + WRITE,
        "uninitialised", "a masked store may leave t unwritten", "store a select() instead",
    ),
    "masked, partly written temp": (
        TEMP + "with k.stage(i=4) as i:\n    t[0, i] = 1\n"
        "with k.stage(i=8) as i:\n    with k.when(p > 1):\n        t[0, i] = 2  # <-\n" + WRITE,
        "uninitialised", "a masked store may leave t unwritten", "store a select() instead",
    ),
    "lanes write one": (
        "with k.stage(i=8) as i:\n    px[0, 0] = 1  # <-",
        "race", "several lanes write one element of px",
        "every lane of the stage must appear in the index",
    ),
    "lanes overlap": (
        "with k.stage(y=2, x=4) as (y, x):\n    px[0, x + y] = 1  # <-",
        "race", "several lanes write one element of px", "every lane of the stage",
    ),
    "stored twice": (
        "with k.stage(i=8) as i:\n    px[0, i] = 1\n    px[0, i] = 2  # <-",
        "race", "an element of px is stored twice in this stage",
        "combine the two stores with select()",
    ),
    "stored twice by the only lane": (
        "with k.stage(i=1) as i:\n    px[0, i] = 1\n    px[0, i] = 2  # <-",
        "race", "an element of px is stored twice in this stage", "combine the two stores",
    ),
    "stored twice by others": (
        "with k.stage(i=4) as i:\n    px[0, i] = 1\n    px[0, i + 1] = 2  # <-",
        "race", "an element of px is stored twice in this stage", "combine the two stores",
    ),
    "stored under two masks": (
        "with k.stage(i=8) as i:\n    m = px[0, i] > 3\n    with k.when(m):\n        px[0, i] = 1\n"
        "    with k.when(~m):\n        px[0, i] = 2  # <-",
        "race", "an element of px is stored twice in this stage", "combine the two stores",
    ),
    "reads another's": (
        "with k.stage(i=7) as i:\n    px[0, i] = px[0, i + 1]  # <-",
        "race", "lane (i=0) reads an element of px that lane (i=1) writes",
        "put a stage boundary with a temp between them",
    ),
    "reads another's, 2D": (
        "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = px[x, y]  # <-",
        "race", "lane (y=0, x=1) reads an element of px that lane (y=1, x=0) writes",
        "put a stage boundary",
    ),
    "never stored": (
        'q = k.block("q", u8, (8,), access="out")  # <-\n' + WRITE,
        "unused", "q is out, but is never stored", "",
    ),
    "temp never stored": (
        'q = k.temp("q", (8,))  # <-\n' + WRITE, "unused", "q is a temp, but is never stored", "",
    ),
    "not owned row": (
        'q = k.plane("q", u8, rows=(0, 8), cols=(0, 8), access="inout", owns=((0, 4), (0, 8)))\n'
        + WRITE + "with k.stage(i=8) as i:\n    q[4, i] = 1  # <-",
        "ownership", "writes q at row 4..4, but the item owns 0..3", "",
    ),
    "not owned column": (
        'q = k.plane("q", u8, rows=(0, 8), cols=(0, 8), access="inout", owns=((0, 8), (2, 6)))\n'
        + WRITE + "with k.stage(i=8) as i:\n    q[i, 6] = 1  # <-",
        "ownership", "writes q at column 6..6, but the item owns 2..5", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_program_is_refused(case: str, tmp_path: Path) -> None:
    body, rule, message, hint = CASES[case]
    error = refusal(tmp_path, spec_text(body))
    assert type(error) is VerifyError
    assert (error.rule, error.kernel) == (rule, "test_it")
    assert error.message == message
    assert error.hint.startswith(hint) if hint else not error.hint


LEGAL = {
    "own element": "with k.stage(i=8) as i:\n    px[0, i] = px[0, i]",
    "whole temp": TEMP + "with k.stage(i=8) as i:\n    t[0, i] = 1\n"
    "with k.stage(i=8) as i:\n    px[0, i] = t[0, i]",
    "masked after whole": TEMP + "with k.stage(i=8) as i:\n    t[0, i] = 1\n"
    "with k.stage(i=8) as i:\n    with k.when(p > 1):\n        t[0, i] = 2\n"
    "with k.stage(i=8) as i:\n    px[0, i] = t[0, i]",
    "neighbour not written": "with k.stage(i=4) as i:\n    px[0, i] = px[0, i + 4]",
    "reversed": "with k.stage(i=8) as i:\n    px[7, i] = px[6, 7 - i]",
}


@pytest.mark.parametrize("case", LEGAL)
def test_the_nearest_legal_program_is_accepted(case: str, tmp_path: Path) -> None:
    assert kernel_of(tmp_path, spec_text(LEGAL[case])).stages


# ------------------------------------------------------------------ what only a pass could do wrong

AT = Loc("pass.py", 7)


def _kernel(tmp_path: Path) -> Kernel:
    return kernel_of(tmp_path, spec_text(in_stage("pass")))


def _with_store(kernel: Kernel, **changes: object) -> Kernel:
    """The kernel with its store changed."""
    stage = kernel.stages[0]
    store = replace(stage.stores[0], loc=AT, **changes)  # type: ignore[arg-type]
    return replace(kernel, stages=(replace(stage, stores=(store,)),))


def _node(op: Op, *args: Node, attr: tuple[object, ...] = ()) -> Node:
    return Node(op, args, attr, AT, 100 + len(args))


def _refused(kernel: Kernel) -> VerifyError:
    with pytest.raises(VerifyError) as caught:
        verify(kernel)
    assert caught.value.loc == AT and caught.value.kernel == kernel.id
    return caught.value


def test_arity(tmp_path: Path) -> None:
    one = Builder({}).const(1, AT)
    error = _refused(_with_store(_kernel(tmp_path), value=_node(Op.ADD, one)))
    assert (error.rule, error.message) == ("arity", "add takes 2 operands")


@pytest.mark.parametrize(
    ("op", "booleans", "message"),
    [
        (Op.ADD, (0, 1), "operand 1 of add is a boolean, not an integer"),
        (Op.AND, (1, 0), "operand 1 of and is an integer, not a boolean"),
        (Op.SELECT, (0, 0, 0), "operand 0 of select is an integer, not a boolean"),
        (Op.SELECT, (1, 1, 0), "operand 1 of select is a boolean, not an integer"),
    ],
)
def test_kinds(op: Op, booleans: tuple[int, ...], message: str, tmp_path: Path) -> None:
    build = Builder({})
    one = build.const(1, AT)
    truth = build.make(Op.LE, (one, one), (), AT)
    value = _node(op, *(truth if b else one for b in booleans))
    kernel = _kernel(tmp_path)
    changed = {"mask": value} if op is Op.AND else {"value": value}
    error = _refused(_with_store(kernel, **changed))
    assert (error.rule, error.message) == ("kind", message)


def test_boolean_value_and_integer_mask(tmp_path: Path) -> None:
    build = Builder({})
    one = build.const(1, AT)
    truth = build.make(Op.LE, (one, one), (), AT)
    kernel = _kernel(tmp_path)
    assert _refused(_with_store(kernel, value=truth)).message == "stores a boolean into px"
    error = _refused(_with_store(kernel, mask=one))
    assert (error.rule, error.message) == ("mask", "the mask of a store is not boolean")


def test_foreign_lane(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path)
    index = (Affine(0, (("gone", 1),)), Affine(0))
    error = _refused(_with_store(kernel, index=index))
    assert (error.rule, error.message) == ("lane", "lane gone is not of this stage")
    load = Node(Op.LOAD, (), ("px", index), AT, 0)
    assert _refused(_with_store(kernel, value=load)).rule == "lane"


def test_the_first_error_does_not_depend_on_hashing(tmp_path: Path) -> None:
    """Two buffers with a race each: the one stored first is reported."""
    body = "".join(
        f'{q} = k.plane("{q}", u8, rows=(0, 1), cols=(0, 8), access="out")\n' for q in "defg"
    )
    body += "with k.stage(i=8) as i:\n    g[0, 0] = 1  # <-\n"
    body += "".join(f"    {q}[0, 0] = 1\n" for q in "fed")
    assert refusal(tmp_path, spec_text(body)).message == "several lanes write one element of g"
