# SPDX-License-Identifier: BSD-2-Clause
"""Functions for many items: their arguments, their loops, and what the public ones choose."""

from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import HEAD, load_text

from daedalus.generator.compile.decoders import ways
from daedalus.generator.compile.emit import Generated, entry_variants, generate
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import PREFERRED
from daedalus.generator.options import options_of
from daedalus.generator.targets import shell

TEXT = (
    HEAD
    + """\
    px = k.plane("px", u8, rows=(0, 1), cols=(0, 8), access="inout")
    q = k.plane("q", i16, rows=(0, 1), cols=(0, 4))
    c = k.block("c", i16, (4,))
    p = k.param("p", u8, 0, 9)
    ts = k.params("ts", i8, 2, -4, 4)
    k.item_class("low", p=(0, 3))
    with k.stage(x=4) as x:
        px[0, x] = clip_u8(q[0, x] + c[x] + p + ts[0])
"""
)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    folder: Path = tmp_path_factory.mktemp("items")
    return generate(load_text(folder, TEXT))


def _only(generated: Generated, folder: str, *words: str) -> str:
    """The only file below a folder that has all of the words."""
    (text,) = (
        t for p, t in generated.files.items() if p.startswith(folder) and all(w in t for w in words)
    )
    return text


def _function(text: str, name: str) -> str:
    """A function's text, on one line."""
    start = text.index(f"void {name}(")
    return " ".join(text[start : text.index("\n}\n", start)].split())


def test_planes_have_steps_and_parameters_one_struct_or_many(generated: Generated) -> None:
    header = " ".join(_only(generated, "include/daedalus/", "_it_meta").split())
    assert (
        "void daedalus_items_test_it(uint8_t *px, ptrdiff_t px_stride, ptrdiff_t px_step,"
        " const int16_t *q, ptrdiff_t q_stride, ptrdiff_t q_step, const int16_t *c,"
        " size_t n_blocks, const daedalus_test_it_meta *meta, size_t meta_step);"
    ) in header
    assert "daedalus_clearing_items" not in header  # of no decoder that clears


def test_a_variant_goes_on_by_steps_in_bytes(generated: Generated) -> None:
    text = _only(generated, "src/", "void daedalus_items_test_it__c_full(", "one_item_test_it")
    body = _function(text, "daedalus_items_test_it__c_full")
    for line in (
        "one_item_test_it__c_full(px, px_stride, q, q_stride, c, meta->p, meta->ts);",
        "px += px_step;",
        "q = (const int16_t *)((const uint8_t *)q + q_step);",
        "c += 4;",
        "meta += meta_step;",
    ):
        assert line in body


def test_the_public_function_makes_runs_of_a_class(generated: Generated) -> None:
    body = _function(_only(generated, "src/", "class_of_test_it"), "daedalus_items_test_it")
    assert "class_of_test_it(&meta[n_run * meta_step]) != n_class" in body
    for name in ("low", "full"):
        assert f"daedalus_items_test_it__c_{name}" in body
    assert (
        body.count("(px, px_stride, px_step, q, q_stride, q_step, c, n_run, meta, meta_step)") == 2
    )
    assert "px += (ptrdiff_t)n_run * px_step;" in body


def test_several_items_a_vector(tmp_path: Path) -> None:
    (entry,) = load_text(tmp_path, TEXT)
    kernel = entry.kernel
    calls = shell.items_call(kernel, 2, shell.plane_steps(kernel))
    assert "(uint8_t *const [2]){px, px + px_step}" in calls
    assert "(const int16_t *const [2]){c, c + 4}" in calls
    assert "(const int32_t [2]){meta->p, meta[meta_step].p}" in calls
    assert "(const int8_t *const [2]){meta->ts, meta[meta_step].ts}" in calls
    assert shell.adjoining_steps(kernel) == {"px": "8", "q": "8"}
    assert shell.items_advance(kernel, "2", shell.adjoining_steps(kernel))[:2] == [
        "px += 16;",
        "q = (const int16_t *)((const uint8_t *)q + 16);",
    ]


def test_every_cpu_variant_is_in_the_table_of_functions(generated: Generated) -> None:
    table = generated.files["src/table.c"]
    names = [v.name for v in generated.variants if not v.is_gpu]
    assert names
    for name in (*names, "test_it"):
        assert f'{{ "{name}", call_' in table
    guarded = table[table.index("#ifdef DAEDALUS_OTHERS") : table.rindex("#endif")]
    assert table.count("call_") == guarded.count("call_") > 0


# ------------------------------------------------------------------------------ the best one


def _entry(folder: Path, *targets: str) -> Entry:
    """The kernel with variants of these targets in each class."""
    (entry,) = load_text(folder, TEXT)
    classes = entry.kernel.class_names
    return replace(entry, listed=tuple((options_of(t, c), True) for t in targets for c in classes))


@pytest.mark.parametrize(
    ("targets", "chosen"),
    [
        (("c",), "{c}"),
        (("vector", "c"), "DAEDALUS_VECTORS_OR({vector}, {c})"),
        (("neon", "c"), "DAEDALUS_NEON_OR({neon}, {c})"),
        (
            ("c", "vector", "neon"),
            "DAEDALUS_NEON_OR({neon}, DAEDALUS_VECTORS_OR({vector}, {c}))",
        ),
    ],
)
def test_each_build_takes_its_best(targets: tuple[str, ...], chosen: str, tmp_path: Path) -> None:
    files = generate((_entry(tmp_path, *targets),)).files
    body = _function(
        next(t for p, t in files.items() if p.endswith("/items.c")), "daedalus_items_test_it"
    )
    names = {t: f"daedalus_items_test_it__{t}_low" for t in targets}
    call = "(px, px_stride, px_step, q, q_stride, q_step, c, n_run, meta, meta_step);"
    assert "{ " + chosen.format(**names) + call + " }" in body


def test_what_a_build_prefers_is_what_the_runtime_does(tmp_path: Path) -> None:
    entry = _entry(tmp_path, "c", "vector", "neon")
    ranked = sorted(entry_variants(entry), key=lambda v: v.rank)
    assert tuple(dict.fromkeys(v.options.target for v in ranked)) == PREFERRED
    (low, _) = ways(entry.kernel, tuple(ranked), lambda v: v.items_name, {})
    assert [b.guard for b in low.builds] == [
        v.guard for v in ranked if v.options.class_name == "low"
    ]


def test_what_some_processors_lack_has_scalar_code_behind_it(tmp_path: Path) -> None:
    entry = _entry(tmp_path, "neon", "c")
    variants = [
        replace(v, options=replace(v.options, dot=True)) if v.options.target == "neon" else v
        for v in entry_variants(entry)
    ]
    (low, _) = ways(entry.kernel, tuple(variants), lambda v: v.item_name, {})
    neon, plain = low.builds
    assert neon.special == {
        "daedalus_cpu_features & DAEDALUS_NEEDS_DOTPROD": "daedalus_item_test_it__neon_low_dot"
    }
    assert neon.function == plain.function == "daedalus_item_test_it__c_low"
