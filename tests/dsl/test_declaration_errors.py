# SPDX-License-Identifier: BSD-2-Clause
"""Declarations that make no sense, or that would not do as C, are refused at their line."""

from pathlib import Path

import pytest
from spec_support import HEAD, in_stage, marked_line, refusal, spec_text, write_spec

from daedalus.dsl.errors import SpecError, TraceError
from daedalus.generator.compile.registry import load

RUN = in_stage("pass")

# statements before the stage -> rule, message, beginning of the hint
CASES = {
    "twice": ('k.param("p", u8, 0, 1)  # <-', "declaration", "p is declared twice", ""),
    "buffer twice": ('k.block("px", u8, (8,))  # <-', "declaration", "px is declared twice", ""),
    "temp twice": ('k.temp("c", (8, 8))  # <-', "declaration", "c is declared twice", ""),
    "table twice": ('k.table("p", u8, [1])  # <-', "declaration", "p is declared twice", ""),
    "plane offset": ('k.param("px_off", u8, 0, 1)  # <-', "declaration",
                     "px_off is declared twice", ""),
    "stride": ('k.param("px_stride", u8, 0, 1)  # <-', "declaration",
               "px_stride is declared twice", ""),
    "step": ('k.param("px_step", u8, 0, 1)  # <-', "declaration",
             "px_step is declared twice", ""),
    "offset first": ('k.param("q_off", u8, 0, 1)\nk.plane("q", u8, rows=(0, 1), cols=(0, 1))  # <-',
                     "declaration", "q_off is declared twice", ""),
    "name": ('k.param("a b", u8, 0, 1)  # <-', "declaration", "'a b' is not a plain identifier",
            ""),
    "unicode": ('k.param("größe", u8, 0, 1)  # <-', "declaration", "is not a plain identifier", ""),
    "underscore": ('k.param("_a", u8, 0, 1)  # <-', "declaration",
                   "'_a' is not a plain identifier", ""),
    "C word": ('k.param("int", u8, 0, 1)  # <-', "declaration",
               "int means something else in C or in generated code", ""),
    "generated": ('k.param("meta", u8, 0, 1)  # <-', "declaration",
                  "meta means something else", ""),
    "of GPUs": ('k.block("scratch", u8, (8,))  # <-', "declaration",
                "scratch means something else", ""),
    "temp of shaders": ('k.temp("filter", (8, 8))  # <-', "declaration",
                        "filter means something else in shaders", ""),
    "padding": ('k.param("reserved0", u8, 0, 1)  # <-', "declaration",
                "reserved0 means something else", ""),
    "lane word": ("with k.stage(int=8) as i: pass  # <-", "declaration", "int means something", ""),
    "type": ('k.param("q", "u8", 0, 1)  # <-', "declaration", "q: 'u8' is not an element type",
             "element types are u8, i8"),
    "buffer type": ('k.block("q", int, (8,))  # <-', "declaration", "is not an element type",
                    "element types are"),
    "table type": ('k.table("q", 8, [1])  # <-', "declaration", "q: 8 is not an element type",
            "el"),
    "param range": ('k.param("q", u8, 0, 256)  # <-', "declaration",
                    "q: [0, 256] is not a range within u8", ""),
    "empty param": ('k.param("q", u8, 2, 1)  # <-', "declaration",
                    "q: [2, 1] is not a range within u8", ""),
    "buffer range": ('k.block("q", u8, (8,), lo=-1)  # <-', "declaration",
                     "q: [-1, 255] is not a range within u8", ""),
    "access": ('k.block("q", u8, (8,), access="rw")  # <-', "declaration",
               "q: access is \"in\", \"out\" or \"inout\", not 'rw'", ""),
    "bounds": ('k.plane("q", u8, rows=(0, 8), cols=(4, 4))  # <-', "declaration",
               "q: empty bounds", ""),
    "no bounds": ('k.plane("q", u8, rows=(0, 8))  # <-', "declaration",
                  "plane q needs rows and cols, or across and along", ""),
    "rows": ('k.plane("q", u8, rows=8, cols=(0, 8))  # <-', "declaration",
             "plane q: 8 is not (first, one past the last)", ""),
    "shape": ('k.block("q", u8, 64)  # <-', "declaration",
              "block q: shape 64 is not a tuple of sizes, as (8, 8)", ""),
    "temp shape": ('k.temp("q", (8, 0))  # <-', "declaration",
                   "temp q: shape (8, 0) is not a tuple of sizes", ""),
    "across": ('k.plane("q", u8, across=(-4, 4), along=(0, 8))  # <-', "declaration",
               "plane q: across and along need an orientation", "declare it: @kernel(axes="),
    "owns": ('k.plane("q", u8, rows=(0, 8), cols=(0, 8), owns="across")  # <-', "declaration",
             'plane q: owns is "all" or bounds of rows and columns', ""),
    "owns more": ('k.plane("q", u8, rows=(0, 8), cols=(0, 8), owns=((0, 8), (0, 9)))  # <-',
                  "declaration", "plane q: owns (0, 9) of (0, 8): more than declared", ""),
    "owns form": ('k.plane("q", u8, rows=(0, 8), cols=(0, 8), owns=(0, 8))  # <-',
                  "declaration", "plane q: owns: 0 is not (first, one past the last)", ""),
    "ragged": ('k.table("t", u8, [[1, 2], [3]])  # <-', "declaration",
               "table t: rows must be of one, non-zero length", ""),
    "no rows": ('k.table("t", u8, [])  # <-', "declaration",
                "table t: rows must be of one, non-zero length", ""),
    "empty rows": ('k.table("t", u8, [[], []])  # <-', "declaration",
                   "table t: rows must be of one, non-zero length", ""),
    "wide entry": ('k.table("t", u8, [1, 256])  # <-', "declaration",
                   "table t: an entry does not fit u8", ""),
    "float entry": ('k.table("t", u8, [1, 2.5])  # <-', "declaration",
                    "table t: an entry is not an integer", ""),
    "dot length": ('t = k.table("t", u8, [[1, 2], [3, 4]])\ndot(t, 0, [p])  # <-', "dot",
                   "1 values for rows of 2", ""),
    "dot vector": ('t = k.table("t", u8, [1, 2])\ndot(t, 0, [p])  # <-', "dot",
                   "table t has no rows", "declare it as a list of lists"),
    "dot mask": ('t = k.table("t", u8, [[1, 2]])\ndot(t, 0, [p, p > 1])  # <-', "boolean",
                 "dot takes integers, not a comparison", "use select()"),
    "indices": ('t = k.table("t", u8, [[1, 2]])\nt[0]  # <-', "index",
                "table t: wrong number of indices", ""),
    "table mask": ('t = k.table("t", u8, [1, 2])\nt[p > 1]  # <-', "boolean",
                   "table takes integers, not a comparison", "use select()"),
    "table for": ('t = k.table("t", u8, [1, 2])\nfor v in t: pass  # <-', "data-dependent-python",
                  "a table has no elements to run through", "index it"),
    "table len": ('t = k.table("t", u8, [1, 2])\nlen(t)  # <-', "data-dependent-python",
                  "a table has no length at tracing time", "take that of the Python list"),
    "assumption": ('k.assumption("a-b", 0, 1, why="")  # <-', "declaration",
                   "assumption 'a-b': letters and digits only", ""),
    "assumption twice": ('k.assumption("a", 0, 1, why="")\nk.assumption("a", 0, 2, why="")  # <-',
                         "declaration", "assumption 'a' is declared twice", ""),
    "assumption empty": ('k.assumption("a", 2, 1, why="")  # <-', "declaration",
                         "assumption a: [2, 1] is empty", ""),
    "assume mask": ('a = k.assumption("a", 0, 1, why="")\na(p > 1)  # <-', "boolean",
                    "assume takes integers, not a comparison", "use select()"),
    "class name": ('k.item_class("a_b", p=(1, 2))  # <-', "declaration",
                   "class 'a_b': a fresh name of letters and digits", ""),
    "class full": ('k.item_class("full", p=(1, 2))  # <-', "declaration",
                   "class 'full': a fresh name", ""),
    "class twice": ('k.item_class("a", p=(1, 2))\nk.item_class("a", p=(1, 3))  # <-',
                    "declaration", "class 'a': a fresh name", ""),
    "class param": ('k.item_class("a", q=(1, 2))  # <-', "declaration", "class a: no parameter q",
                    "declared before it are p"),
    "class value": ('k.item_class("a", p=1)  # <-', "declaration",
                    "class a: p=1 is not a range (lo, hi) within [0, 100]", ""),
    "class outside": ('k.item_class("a", p=(101, 102))  # <-', "declaration",
                      "class a: p=(101, 102) is not a range (lo, hi) within [0, 100]", ""),
    "class empty": ('k.item_class("a", p=(3, 2))  # <-', "declaration", "is not a range", ""),
    "class of all": ('k.item_class("a", p=(0, 100))  # <-', "declaration",
                     "class a: its ranges hold for every item", "narrow one"),
    "class without range": ('k.item_class("a", nonzero={"c": (1, 1)})  # <-', "declaration",
                            "class a: nothing tells its items from others", "state a range"),
    "class plane": ('k.item_class("a", p=(0, 1), nonzero={"px": (1, 1)})  # <-', "declaration",
                    "class a: px is not a block of that many axes", ""),
    "class axes": ('k.item_class("a", p=(0, 1), nonzero={"c": (1,)})  # <-', "declaration",
                   "class a: c is not a block of that many axes", ""),
    "class extent": ('k.item_class("a", p=(0, 1), nonzero={"c": (1, 9)})  # <-', "declaration",
                     "class a: c is only (8, 8), not (1, 9)", ""),
    "read outside": ("px[0, 0]  # <-", "stage", "px can be read only inside a stage", ""),
    "write outside": ("px[0, 0] = 1  # <-", "stage", "px can be written only inside a stage", ""),
    "stage alone": ("k.stage(i=8)  # <-", "with", "stage() does nothing by itself",
                    "write: with k.stage(...):"),
    "no lanes": ("with k.stage() as i: pass  # <-", "stage",
                 "a stage needs at least one lane axis of at least one lane", ""),
    "lanes 0": ("with k.stage(i=0) as i: pass  # <-", "stage",
                "a stage needs at least one lane axis of at least one lane", ""),
    "stores nothing": ("with k.stage(i=8) as i:  # <-\n    v = px[0, i]", "stage",
                       "this stage stores nothing", ""),
    "read out": (
        'q = k.block("q", u8, (8,), access="out")\nwith k.stage(i=8) as i:\n    q[i] = q[i]  # <-',
        "access", "q is declared out, and is read here", 'declare it with access="inout"',
    ),
    "old lane": (
        "with k.stage(i=8) as i:\n    px[0, i] = 1\n"
        "with k.stage(j=8) as j:\n    px[0, j] = px[0, i]  # <-",
        "index", "lane i belongs to another stage", "",
    ),
    "old value": (
        "with k.stage(i=8) as i:\n    v = px[0, i]\n    px[0, i] = 1\n"
        "with k.stage(i=8) as i:\n    px[1, i] = v  # <-",
        "stage", "this value was computed in another stage", "store it in a temp there",
    ),
    "old mask": (
        "with k.stage(i=8) as i:\n    v = px[0, i] > 1\n    px[0, i] = 1\n"
        "with k.stage(i=8) as i:\n    with k.when(v):  # <-\n        px[1, i] = 1",
        "stage", "this value was computed in another stage", "store it in a temp there",
    ),
    "value outside": (
        "with k.stage(i=8) as i:\n    v = px[0, i]\n    px[0, i] = 1\nw = v + 1  # <-",
        "stage", "this value was computed in another stage", "store it in a temp there",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_declaration_is_refused(case: str, tmp_path: Path) -> None:
    body, rule, message, hint = CASES[case]
    error = refusal(tmp_path, spec_text(f"{body}\n{RUN}"))
    assert type(error) is TraceError
    assert (error.rule, error.kernel) == (rule, "test_it")
    assert message in error.message
    assert error.hint.startswith(hint) if hint else not error.hint


def _file(text: str) -> str:
    return "from daedalus.dsl.lang import *\n" + text


BODY = "def test_it(k):\n    pass\n"
MEMBERS = (
    "def test_it(k, n):\n"
    '    px = k.plane("px", u8, rows=(0, 8), cols=(0, 8), access="inout")\n'
    "    with k.stage(i=n) as i:\n        px[0, i] = 1\n"
)

# whole files -> type, rule, message
FILES = {
    "no stage": (_file('@kernel(clause="a test")  # <-\n' + BODY), TraceError, "stage",
                 "the kernel has no stage"),
    "syntax": (_file("def f(:  # <-\n    pass"), SpecError, "python", "not valid Python: "),
    "import": (_file("import no_such_module  # <-"), TraceError, "python",
               "ModuleNotFoundError: No module named 'no_such_module'"),
    "name": (_file("x = undefined  # <-"), TraceError, "python", "NameError"),
    "no clause": (_file('@kernel(clause=" ")  # <-\n' + BODY), TraceError, "declaration",
                  "@kernel: name the normative clause"),
    "missing clause": (_file("@kernel()  # <-\n" + BODY), TraceError, "python",
                       "missing 1 required keyword-only argument: 'clause'"),
    "no call": (_file("@kernel  # <-\n" + BODY), TraceError, "python", "TypeError: kernel() takes"),
    "only a stage alone": (_file('@kernel(clause="a")\ndef test_it(k):\n    k.stage(i=8)  # <-\n'),
                           TraceError, "with", "stage() does nothing by itself"),
    "axes": (_file('@kernel(clause="a", axes=("v", "h"))  # <-\n' + BODY), TraceError,
             "declaration", "@kernel: axes=('v', 'h') is not a table of axes"),
    "axis name": (_file('@kernel(clause="a", axes={"a b": (1,)})  # <-\n' + BODY), TraceError,
                  "declaration", "@kernel: axis 'a b' is not a plain identifier"),
    "axis of text": (_file('@kernel(clause="a", axes={"n": "vh"})  # <-\n' + BODY), TraceError,
                     "declaration", "@kernel: axis n: 'vh' is not a tuple of values"),
    "orientations": (_file('@kernel(clause="a", axes={"orientation": ("x",)})  # <-\n' + BODY),
                     TraceError, "declaration", "@kernel: orientations are \"v\" and \"h\""),
    "axis twice": (_file('@kernel(clause="a", axes={"orientation": ("v", "v")})  # <-\n' + BODY),
                   TraceError, "declaration", "@kernel: axis orientation has a value twice: v, v"),
    "axis not taken": (_file('@kernel(clause="a", axes={"n": (4, 8)})  # <-\n' + BODY), TraceError,
                       "declaration", "@kernel: test_it does not take its axis n"),
    "no such axis": (_file('@kernel(clause="a", axes={"n": (4, 8)})  # <-\n'
                           "def test_it(k, n, m):\n    pass\n"), TraceError,
                     "declaration", "@kernel: test_it takes m, which is none of its axes"),
    "members alike": (_file('@kernel(clause="a", axes={"n": (4, 8)}, id="test_same")  # <-\n'
                            + MEMBERS), TraceError,
                      "declaration", "@kernel: two members are called test_same"),
    "pattern": (_file('@kernel(clause="of {size}", axes={"n": (4, 8)})  # <-\n' + MEMBERS),
                TraceError, "declaration",
                "@kernel: the pattern 'of {size}' cannot be filled in: KeyError: 'size'"),
    "axis of a sampler's": (_file('@kernel(clause="a", axes={"count": (4, 8)})  # <-\n' + MEMBERS),
                            TraceError, "declaration", "@kernel: axis count is also what"),
    "without takes": (_file('@kernel(clause="a", axes={"n": (4, 8)}, without=lambda m: m)  # <-\n'
                            + MEMBERS), TraceError,
                      "declaration", "@kernel: without takes m, which is none of its axes"),
    "without fails": (_file('@kernel(clause="a", axes={"n": (4, 8)}, without=lambda n: n.m)  # <-\n'
                            + MEMBERS), TraceError, "python", "AttributeError"),
    "format": (_file('@kernel(clause="a {n:>4}", axes={"n": ((1, 2),)})  # <-\n' + MEMBERS),
               TraceError, "declaration", "@kernel: the pattern 'a {n:>4}' cannot be filled in"),
    "decoders give": (_file('@kernel(clause="a", axes={"n": (4, 8)}, decoders=lambda n: n)  # <-\n'
                            + MEMBERS), TraceError,
                      "declaration", "@kernel: decoders=4 is no table of decoders"),
    "sampler takes": (_file('@kernel(clause="a")\ndef test_it(k):\n    pass\n'
                            "@test_it.inputs  # <-\ndef drawn(rng, count, n):\n    pass\n"),
                      TraceError, "declaration", "drawn takes n, which is none of its axes"),
    "no member": (_file('@kernel(clause="a", axes={"n": (4, 8)}, without=lambda n: n > 2)  # <-\n'
                        + MEMBERS), TraceError,
                  "declaration", "@kernel: no member is left"),
    "name of a member": (_file('@kernel(clause="a", axes={"n": (4, 8)}, id="test_{n}x-")  # <-\n'
                               + MEMBERS), TraceError,
                         "declaration", "@kernel: test_4x- is not a name like"),
    "bare": (_file('@kernel(clause="a", axes={"orientation": ("v",)}, bare="h")  # <-\n' + BODY),
             TraceError, "declaration", "@kernel: bare='h' is none of its orientations"),
    "bare alone": (_file('@kernel(clause="a", bare="h")  # <-\n' + BODY), TraceError,
                   "declaration", "@kernel: bare='h' is none of its orientations"),
    "bare inside": (_file('@kernel(clause="a", axes={"orientation": ("v", "h")}, bare="h",'
                          ' id="test_{orientation}_a")  # <-\n' + BODY),
                    TraceError, "declaration", "@kernel: bare='h', and the id"),
    "items": (_file('@kernel(clause="a", items="two words")  # <-\n' + BODY), TraceError,
              "declaration", "@kernel: items='two words' is not a plain identifier"),
    "function": (_file('@kernel(clause="a")  # <-\ndef test_It(k):\n    pass\n'), TraceError,
                 "declaration", "@kernel: test_It is not a name like <codec>_<operation>"),
    "no family": (_file('@kernel(clause="a")  # <-\ndef idct(k):\n    pass\n'), TraceError,
                  "declaration", "@kernel: idct is not a name like"),
    "two underscores": (_file('@kernel(clause="a")  # <-\ndef a__b(k):\n    pass\n'), TraceError,
                        "declaration", "@kernel: a__b is not a name like"),
    "arguments": (_file('@kernel(clause="a")  # <-\ndef test_it(k, extra):\n    pass\n'),
                  TraceError, "declaration", "@kernel: test_it takes extra, which is none of its"),
    "no argument": (_file('@kernel(clause="a")  # <-\ndef test_it():\n    pass\n'),
                    TraceError, "python", "takes 0 positional arguments but 1 was given"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_file_is_refused(case: str, tmp_path: Path) -> None:
    text, kind, rule, message = FILES[case]
    error = refusal(tmp_path, text)
    assert type(error) is kind and error.rule == rule
    assert message in error.message


def test_python_errors_keep_their_traceback(tmp_path: Path) -> None:
    error = refusal(tmp_path, spec_text("k.no_such_thing()  # <-"))
    assert isinstance(error.__cause__, AttributeError)


def test_endless_recursion_is_the_specs_error(tmp_path: Path) -> None:
    write_spec(tmp_path, _file('@kernel(clause="a")\ndef test_it(k):\n    test_it.fn(k)\n'))
    with pytest.raises(TraceError, match="RecursionError") as caught:
        load(tmp_path)
    assert caught.value.loc.file == "spec.py"


def test_duplicate_ids(tmp_path: Path) -> None:
    run = spec_text(RUN)
    write_spec(tmp_path, run, "a.py")
    write_spec(tmp_path, run, "b.py")
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert caught.value.rule == "name"
    assert caught.value.message == "test_it is also the name of a kernel in family/a.py"
    assert (caught.value.loc.file, caught.value.loc.line) == ("b.py", 3)


def test_an_alias_is_a_name_too(tmp_path: Path) -> None:
    both = HEAD.replace('"a test"', '"a test", axes={"orientation": ("v", "h")}, bare="h"') + (
        '    px = k.plane("px", u8, across=(0, 8), along=(0, 8), access="inout")\n'
        "    with k.stage(i=8) as i:\n        px[0, i] = 1\n"
    )
    write_spec(tmp_path, both, "a.py")
    write_spec(tmp_path, spec_text(RUN), "b.py")
    with pytest.raises(SpecError, match="test_it is also the name of a kernel in"):
        load(tmp_path)


def test_imported_and_renamed_kernels_count_once(tmp_path: Path) -> None:
    text = spec_text(RUN) + "\nanother_name = test_it\n"
    text += "from daedalus.dsl.kernels.h264.idct import h264_idct4\n"
    write_spec(tmp_path, text)
    assert [e.kernel.id for e in load(tmp_path)] == ["test_it"]


def test_marked_line_wants_one_mark() -> None:
    """The helper that all these tests rely on."""
    assert marked_line("a\nb  # <-\n") == 2
    with pytest.raises(AssertionError):
        marked_line("a\nb\n")
