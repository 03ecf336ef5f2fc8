# SPDX-License-Identifier: BSD-2-Clause
"""What Python would do silently or obscurely with traced values is refused, at its line."""

from pathlib import Path

import pytest
from spec_support import in_stage, kernel_of, refusal, spec_text

from daedalus.dsl.errors import TraceError

TRUTH = "a traced value has no truth at tracing time"
USE_SELECT = "use select(), when(), & | ~ instead of if, and, or, not"
NO_INTEGER = "a traced value has no integer at tracing time"
LANE = "every lane runs the same program: use a stage of fewer lanes, or compare"
AFFINE = "an index is a sum of lanes, each times an integer; add a lane axis to split one"
BUILTINS = "what is known while tracing is computed with Python's own"

# statements of a stage with lanes y and x -> rule, message, beginning of the hint
CASES = {
    "if": ("if px[y, x] > 3:  # <-\n    pass", "data-dependent-python", TRUTH, USE_SELECT),
    "and": ("v = px[y, x] > 3 and p > 1  # <-", "data-dependent-python", TRUTH, USE_SELECT),
    "or": ("v = px[y, x] > 3 or p > 1  # <-", "data-dependent-python", TRUTH, USE_SELECT),
    "not": ("v = not px[y, x] > 3  # <-", "data-dependent-python", TRUTH, USE_SELECT),
    "while": ("while px[y, x] > 3:  # <-\n    pass", "data-dependent-python", TRUTH, USE_SELECT),
    "chain": ("v = 1 < px[y, x] < 3  # <-", "data-dependent-python", TRUTH, USE_SELECT),
    "in a list": ("v = px[y, x] in [1, 2]  # <-", "data-dependent-python", TRUTH, USE_SELECT),
    "python's max": (
        "import builtins\nv = builtins.max(px[y, x], 3)  # <-",
        "data-dependent-python", TRUTH, USE_SELECT,
    ),
    "list index": ("v = [1, 2][p]  # <-", "data-dependent-python", NO_INTEGER, "only lanes"),
    "range": ("v = range(p)  # <-", "data-dependent-python", NO_INTEGER, "only lanes"),
    "int": ("v = int(p)  # <-", "data-dependent-python", NO_INTEGER, "only lanes"),
    "float": ("v = float(p)  # <-", "data-dependent-python", "a traced value has no float",
            "kernels"),
    "round": ("v = round(p)  # <-", "data-dependent-python", "a traced value has no float",
            "kernels"),
    "iterate": ("for v in p: pass  # <-", "data-dependent-python", "a traced value has no elements",
                "slice the buffer instead, as in px[-4:4, i]"),
    "unpack": ("a, b = px[y, x]  # <-", "data-dependent-python", "a traced value has no elements",
               "slice the buffer instead"),
    "len": ("v = len(p)  # <-", "data-dependent-python", "a traced value has no length", "slice"),
    "subscript": ("v = p[0]  # <-", "data-dependent-python", "a traced value has no elements",
                  "only buffers and tables are indexed"),
    "contains": ("v = 3 in p  # <-", "data-dependent-python", "a traced value has no elements",
                 "only buffers"),
    "/": ("v = p / 2  # <-", "data-dependent-python", "a traced value has no fraction",
          "use >> or round_shift()"),
    "2 /": ("v = 2 / p  # <-", "data-dependent-python", "a traced value has no fraction", "use >>"),
    "//": ("v = p // 2  # <-", "data-dependent-python", "a traced value has no division", "use >>"),
    "2 //": ("v = 2 // p  # <-", "data-dependent-python", "a traced value has no division", "use"),
    "%": ("v = p % 2  # <-", "data-dependent-python", "a traced value has no remainder",
            "use wrap"),
    "2 %": ("v = 2 % p  # <-", "data-dependent-python", "a traced value has no remainder", "use"),
    "**": ("v = p ** 2  # <-", "data-dependent-python", "a traced value has no power", "multiply"),
    "2 **": ("v = 2 ** p  # <-", "data-dependent-python", "a traced value has no power",
            "multiply"),
    "mask ^": ("v = (p > 1) ^ (p > 2)  # <-", "boolean", "^ takes integers, not a comparison",
               "of comparisons (a & ~b) | (~a & b) is the same"),
    "p ^ mask": ("v = p ^ (p > 2)  # <-", "boolean", "bitxor takes integers, not a comparison",
                 "use select()"),
    "p & lane": ("v = p & x  # <-", "lane-value", "a lane is an index, not a value", "k.lane"),
    "p & float": ("v = p & 1.5  # <-", "operand", "float is not an integer value", "operands"),
    "p | True": ("v = p | True  # <-", "data-dependent-python",
                 "a traced value has no boolean from Python beside it", "select() and & |"),
    "bit 32": ("v = bit(p, 32)  # <-", "shift", "cannot shift by 32", "shift amounts are 0..31"),
    "bit of plain": ("v = bit(3, p)  # <-", "operand", "bit takes a traced value, not int",
                     BUILTINS),
    "bit of mask": ("v = bit(p > 1, 0)  # <-", "boolean", "shr takes integers, not a comparison",
                    "use select()"),
    "True &": ("v = True & (p > 1)  # <-", "data-dependent-python",
               "a traced value has no boolean from Python beside it", "select() and & |"),
    "mask <<": ("v = (p > 1) << p  # <-", "boolean", "shlv takes integers, not a comparison",
                "use select()"),
    "<< mask": ("v = p << (p > 1)  # <-", "boolean", "shlv takes integers, not a comparison",
                "use select()"),
    "<< lane": ("v = p << x  # <-", "shift",
                "cannot shift by a value known only when the kernel runs", "shift amounts"),
    "lane in if": ("if x:  # <-\n    pass", "data-dependent-python",
                   "a lane has no truth at tracing time", LANE),
    "lane ==": ("if x == 0:  # <-\n    pass", "data-dependent-python",
                "a lane cannot be compared", LANE),
    "lane !=": ("if x != 0:  # <-\n    pass", "data-dependent-python",
                "a lane cannot be compared", LANE),
    "lane <": ("v = select(x < 4, 1, 2)  # <-", "data-dependent-python",
               "a lane has no order at tracing time", LANE),
    "lane as index": ("v = [1, 2][x]  # <-", "data-dependent-python",
                      "a lane has no integer at tracing time", LANE),
    "lane float": ("v = float(x)  # <-", "data-dependent-python", "a lane has no float", "kernels"),
    "lane //": ("v = px[y, x // 2]  # <-", "data-dependent-python",
                "a lane has no quotient or bits", AFFINE),
    "lane >>": ("v = px[y, x >> 1]  # <-", "data-dependent-python",
                "a lane has no quotient or bits", AFFINE),
    "lane &": ("v = px[y, x & 1]  # <-", "data-dependent-python",
               "a lane has no quotient or bits", AFFINE),
    "lane /": ("v = px[y, x / 2]  # <-", "data-dependent-python",
               "a lane has no quotient or power", AFFINE),
    "lane unpack": ("a, b = x  # <-", "data-dependent-python", "a lane has no elements", "a stage"),
    "lane * lane": ("v = px[y, x * x]  # <-", "index", "a lane is multiplied by LaneIndex",
            "an in"),
    "lane * value": ("v = px[y, x * p]  # <-", "index", "a lane is multiplied by Value",
            "an index"),
    "lane * float": ("v = px[y, x * 0.5]  # <-", "index", "a lane is multiplied by float", "an in"),
    "lane as value": ("v = px[y, x] * x  # <-", "lane-value", "a lane is an index, not a value",
                      "k.lane(...) makes a value of it"),
    "store at a value": ("px[y, p] = 0  # <-", "index",
                         "a place known only at run time cannot be stored to", "store to a place"),
    "index float": ("v = px[y, 0.5]  # <-", "index", "cannot index with float", "use a lane"),
    "index bool": ("v = px[y, True]  # <-", "index", "cannot index with bool", "use a lane"),
    "axes": ("v = px[x]  # <-", "index", "px has 2 axes, 1 given", ""),
    "two slices": ("v = px[:, :]  # <-", "index", "only one axis can be a slice", ""),
    "lane slice": ("v = px[y, x:x + 2]  # <-", "index",
                   "a slice of px needs integers, and a step other than 0", "a lane stands alone"),
    "step 0": ("v = px[y, 0:8:0]  # <-", "index",
               "a slice of px needs integers, and a step other than 0", "a lane"),
    "too few values": ("px[y, 0:3] = [1, 2]  # <-", "index", "2 values for 3 elements", ""),
    "buffer for": ("for v in px: pass  # <-", "data-dependent-python",
                   "a buffer has no elements to run through", "slice it, as in px[-4:4, i]"),
    "buffer len": ("v = len(px)  # <-", "data-dependent-python",
                   "a buffer has no length at tracing time", "its bounds are the ones declared"),
    "shift 32": ("v = p >> 32  # <-", "shift", "cannot shift by 32", "shift amounts are 0..31"),
    "shift -1": ("v = p << -1  # <-", "shift", "cannot shift by -1", "shift amounts are 0..31"),
    "shift 1.5": ("v = p >> 1.5  # <-", "shift", "cannot shift by 1.5", "shift amounts are 0..31"),
    "round_shift": ("v = round_shift(p, 40)  # <-", "shift", "cannot shift by 40", "shift amounts"),
    "round_shift value": ("v = round_shift(p, p)  # <-", "shift",
                          "cannot shift by a value known only when the kernel runs", "shift"),
    "mask + 1": ("v = (p > 1) + 1  # <-", "boolean", "add takes integers, not a comparison",
                 "use select()"),
    "mask > 1": ("v = (p > 1) > 1  # <-", "boolean", "gt takes integers, not a comparison", "use"),
    "clip mask": ("v = clip_u8(p > 1)  # <-", "boolean", "clip takes integers, not",
            "use select()"),
    "p & mask": ("v = p & (p > 1)  # <-", "boolean", "and takes comparisons, not integers",
                 "compare first"),
    "mask | 1": ("v = (p > 1) | 1  # <-", "boolean", "or takes comparisons, not integers",
                 "compare first"),
    "select p": ("v = select(p, 1, 2)  # <-", "boolean", "select takes comparisons, not integers",
                 "compare first"),
    "select arms": ("v = select(p > 1, p > 2, 1)  # <-", "boolean", "select takes integers, not",
                    "use select()"),
    "store mask": ("px[y, x] = p > 1  # <-", "boolean", "a comparison cannot be stored",
                   "use select()"),
    "select python": ("v = select(True, p, 1)  # <-", "operand",
                      "select takes a traced value, not bool", BUILTINS),
    "float operand": ("v = p + 0.5  # <-", "operand", "float is not an integer value", "operands"),
    "none operand": ("v = p == None  # <-", "operand", "NoneType is not an integer value", "oper"),
    "list operand": ("px[y, x] = [p]  # <-", "operand", "list is not an integer value", "operands"),
    "buffer operand": ("v = p + px  # <-", "operand", "BufferRef is not an integer value", "oper"),
    "min of plain": ("v = min(1, 2)  # <-", "operand", "min of int and int: none is a traced value",
                     BUILTINS),
    "clip of plain": ("v = clip(3, 0, 1)  # <-", "operand", "clip takes a traced value, not int",
                      BUILTINS),
    "clip to value": ("v = clip(px[y, x], 0, p)  # <-", "operand",
                      "clip to int and Value, not to integers", "use min(max(x, lo), hi)"),
    "clip empty": ("v = clip(p, 5, 4)  # <-", "operand", "clip to [5, 4], which is empty", ""),
    "wrap bits": ("v = wrap(p, 8)  # <-", "declaration", "wrap: 8 is not an element type",
                  "element types are u8, i8, u16, i16, u32, i32"),
    "wrap plain": ("v = wrap(3, u8)  # <-", "operand", "wrap takes a traced value, not int",
            "what"),
    "rshift plain": ("v = round_shift(3, 1)  # <-", "operand",
                     "round_shift takes a traced value, not int", BUILTINS),
    "all_le none": ("v = all_le([], 1)  # <-", "operand", "all_le of no values", ""),
    "any_gt none": ("v = any_gt([], 1)  # <-", "operand", "any_gt of no values", ""),
    "dot no table": ("v = dot([1, 2], 0, [p, p])  # <-", "dot", "list is not a table",
                     "use k.table(...)"),
    "when value": ("with k.when(p):  # <-\n    pass", "mask",
                   "when() needs a comparison or a combination of comparisons", ""),
    "when python": ("with k.when(True):  # <-\n    pass", "mask", "when() needs a comparison", ""),
    "when alone": ("k.when(p > 1)  # <-\npx[y, 0] = 1", "with", "when() does nothing by itself",
                   "write: with k.when(...):"),
    "when last": ("px[y, x] = 1\nk.when(p > 1)  # <-", "with", "when() does nothing by itself",
                  "write: with k.when(...):"),
    "write in": ("c[0, x] = 1  # <-", "access", "c is declared in, and is written here",
                 'declare it with access="out"'),
    "nested": ("with k.stage(z=2) as z:  # <-\n    pass", "stage", "stages do not nest",
               "end the first, with a temp between them"),
    "declare inside": ("k.param('q', u8, 0, 1)  # <-", "declaration",
                       "declare q outside the stages", ""),
    # What Python itself refuses, with a hint that knows the language.
    "unknown name": ("v = undefined_name  # <-", "python",
                     "NameError: name 'undefined_name' is not defined",
                     "undefined_name is neither assigned before this line nor imported"),
    "misspelt word": ("v = clip8(px[y, x])  # <-", "python", "NameError: name 'clip8' is not",
                      "perhaps clip"),
    "method without k": ("v = param('q', u8, 0, 1)  # <-", "python",
                         "NameError: name 'param' is not defined",
                         "it belongs to the kernel's builder: k.param(...)"),
    "unpack too many": ("a, b = px[y, 0:3]  # <-", "python",
                        "ValueError: too many values to unpack",
                        "as many names as values: a slice px[a:b, x] of a buffer gives b - a"),
    "unpack too few": ("a, b, c2 = px[y, 0:2]  # <-", "python",
                       "ValueError: not enough values to unpack (expected 3, got 2)",
                       "as many names as values: a slice"),
    "list too short": ("v = px[y, 0:3][3]  # <-", "python", "IndexError: list index out of range",
                       "a list of n values has the indices 0 to n - 1; a slice px[a:b, x]"),
    "value's method": ("v = px[y, x].clip(0, 9)  # <-", "python",
                       "AttributeError: 'Value' object has no attribute 'clip'",
                       "it is a function, not a method of a value: clip(x, ...)"),
    "value's attribute": ("v = px[y, x].foo  # <-", "python",
                          "AttributeError: 'Value' object has no attribute 'foo'",
                          "a value has no such attribute; values have operators, and what"),
    "buffer's attribute": ("v = px.rows  # <-", "python",
                           "AttributeError: 'BufferRef' object has no attribute 'rows'",
                           "a buffer has no such attribute; index it: px[y, x]"),
    "builder's attribute": ("v = k.tabel('t', u8, [1])  # <-", "python",
                            "AttributeError: 'KernelBuilder' object has no attribute 'tabel'",
                            "perhaps k.table"),
    "missing argument": ("v = round_shift(px[y, x])  # <-", "python",
                         "TypeError: round_shift() missing 1 required positional argument: 'n'",
                         "write round_shift(x, n)"),
    "one too many": ("v = absdiff(px[y, x], 1, 2)  # <-", "python",
                     "TypeError: absdiff() takes 2 positional arguments but 3 were given",
                     "write absdiff(a, b)"),
    "max of a list": ("v = max(px[y, 0:3])  # <-", "python",
                      "TypeError: max() missing 1 required positional argument: 'b'",
                      "write max(a, b), and more of them one after the other"),
    "own helper": ("def f(a, b): return a\nv = f(p)  # <-", "python",
                   "f() missing 1 required positional argument: 'b'",
                   "look at how f is defined, and at what this line gives it"),
    "buffer + 1": ("v = px + 1  # <-", "python",
                   "TypeError: unsupported operand type(s) for +: 'BufferRef' and 'int'",
                   "a buffer has no such operation; index it: px[y, x]"),
    "list - list": ("v = px[y, 0:2] - px[y, 2:4]  # <-", "python",
                    "TypeError: unsupported operand type(s) for -: 'list' and 'list'",
                    "a list has no such operation; a slice of a buffer is a list"),
    "call of a value": ("v = px[y, x](1)  # <-", "python",
                        "TypeError: 'Value' object is not callable", "a value cannot be called"),
    "value changed": ("v = px[y, x]\nv[0] = 1  # <-", "python",
                      "TypeError: 'Value' object does not support item assignment",
                      "a value is never changed: give the new value a name of its own"),
    "python's own": ("v = {}['a']  # <-", "python", "KeyError: 'a'",
                     "Python raised this while it ran the spec"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_statement_is_refused(case: str, tmp_path: Path) -> None:
    body, rule, message, hint = CASES[case]
    error = refusal(tmp_path, spec_text(in_stage(body)))
    assert type(error) is TraceError
    assert (error.rule, error.kernel) == (rule, "test_it")
    assert message in error.message
    assert error.hint.startswith(hint) if hint else not error.hint


DECLARATIONS = {
    "missing bounds": ("q = k.param('q', u8)  # <-", "KernelBuilder.param() missing 2 required",
                       "write k.param(name, dtype, lo, hi, *, why='')"),
    "unknown keyword": ("q = k.temp('q', (8, 8), value=0)  # <-",
                        "KernelBuilder.temp() got an unexpected keyword argument 'value'",
                        "write k.temp(name, shape, *, init=None)"),
    "class": ("k.item_class()  # <-", "KernelBuilder.item_class() missing 1 required",
              "write k.item_class(name, *, nonzero=None, why='', when=...)"),
}  # fmt: skip


@pytest.mark.parametrize("case", DECLARATIONS)
def test_a_declaration_called_wrongly_shows_how(case: str, tmp_path: Path) -> None:
    body, message, hint = DECLARATIONS[case]
    error = refusal(tmp_path, spec_text(f"{body}\n{in_stage('pass')}"))
    assert error.rule == "python" and message in error.message and error.hint == hint


IMPORTS = {
    "a word that is not imported": (
        "from daedalus.dsl.lang import KernelBuilder, kernel, u8\n\n"
        '@kernel(clause="a test")\ndef test_it(k):\n'
        '    px = k.plane("px", u8, rows=(0, 8), cols=(0, 8), access="inout")\n'
        "    with k.stage(i=8) as i:\n        px[0, i] = clip_u8(px[0, i])  # <-\n",
        "test_it", "NameError: name 'clip_u8' is not defined",
        "import it: from daedalus.dsl.lang import clip_u8",
    ),
    "a word that there is not": (
        "from daedalus.dsl.lang import clip_u9  # <-\n",
        "", "ImportError: cannot import name 'clip_u9'", "perhaps clip_u8 or clip is meant",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", IMPORTS)
def test_words_and_their_imports(case: str, tmp_path: Path) -> None:
    text, kernel, message, hint = IMPORTS[case]
    error = refusal(tmp_path, text)
    assert (error.rule, error.kernel, error.hint) == ("python", kernel, hint)
    assert error.message.startswith(message)


def test_the_helper_itself_is_accepted(tmp_path: Path) -> None:
    """What the cases add their statement to is legal, so the statement is what is refused."""
    assert kernel_of(tmp_path, spec_text(in_stage("v = px[y, x]"))).id == "test_it"
