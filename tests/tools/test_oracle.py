# SPDX-License-Identifier: BSD-2-Clause
"""The check of the oracle: what it compares is what callers pass, and it sees what is wrong."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from daedalus.codecs.data import data
from daedalus.codecs.decoders.reading import described
from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.decoder_calls import called
from daedalus.generator.compile.registry import load
from daedalus.generator.verify import oracle, oracle_glue

KERNELS = {e.kernel.id: e.kernel for e in load()}
PROGRAMS = {p.oracle: p for p in oracle.programs()}
FFMPEG = PROGRAMS["ffmpeg"]
COUNT = 100


def _entry(name: str) -> oracle.Entry:
    (found,) = (e for p in PROGRAMS.values() for e in p.entries if e.name == name)
    return found


def _compared(
    entry: oracle.Entry, mode: str, items: interp.Items | None = None
) -> oracle.Comparison:
    """One comparison on this machine; without items, with those that the verb would draw."""
    kernel: Kernel = KERNELS[entry.kernel]
    if items is None:
        items = oracle._items(kernel, entry, COUNT, 1, mode=mode)
    path = oracle.build(FFMPEG.only([entry]), "host")
    expected = interp.run(kernel, items)
    return oracle._compare(FFMPEG, entry, kernel, mode, "host", path, items, expected)


def test_every_function_is_of_a_kernel_and_has_a_name_of_its_own() -> None:
    entries = [e for p in PROGRAMS.values() for e in p.entries]
    assert {e.kernel for e in entries} <= set(KERNELS)
    assert len({e.name for e in entries}) == len(entries)
    for e in entries:
        kernel = KERNELS[e.kernel]
        assert {*e.params, *e.fixed} == {p.name for p in kernel.params}, e.name
        assert {b.name for b in kernel.buffers} == {*e.planes, *filter(None, [e.block])}, e.name


def test_the_program_says_what_of_a_table_is_not_as_described() -> None:
    kernel = KERNELS["vp9_idct8"]
    decoder = described("ffmpeg")
    assert decoder is not None
    text = oracle_glue.source(decoder, called(kernel, kernel.decoders[0]))
    assert '*wrong = "vp9dsp is larger than 296 pointers";' in text
    place = "vp9dsp.itxfm_add[8][dct_dct]"
    assert f'*wrong = "{place} holds none of the symbols of vp9dsp.toml";' in text


def test_every_case_of_cdef_is_drawn() -> None:
    """All edges and directions, with primary, secondary and both strengths."""
    items = vectors.make_items(KERNELS["av1_cdef8"], 10_000, 1, "typical")
    p = items.params
    kind = (p["pri"] > 0) * 1 + (p["sec"] > 0) * 2
    cases = set(zip(p["edges"].tolist(), p["dir"].tolist(), kind.tolist(), strict=True))
    assert cases == {(e, d, k) for e in range(16) for d in range(8) for k in (1, 2, 3)}
    assert set(p["sec"].tolist()) == {0, 1, 2, 4} and set(p["damping"].tolist()) == {2, 3, 4, 5, 6}


def test_every_position_and_height_is_drawn() -> None:
    entry = _entry("vp9_mc_8h_avg_sharp")
    kernel = KERNELS[entry.kernel]
    items = oracle._items(kernel, entry, 10_000, 1, mode="c")
    cases = set(zip(items.params["mx"].tolist(), items.params["rows"].tolist(), strict=True))
    assert cases == {(mx, rows) for mx in range(16) for rows in range(1, 9)}
    assert set(items.params["filter"].tolist()) == {2}
    items = oracle._items(kernel, entry, 1000, 1, mode="asm")
    assert set(items.params["rows"].tolist()) == {4, 8}
    items = oracle._items(kernel, entry, 1000, 1, mode="ours")
    assert set(items.params["mx"].tolist()) == set(range(1, 16))  # 0: another place of the table


def test_samples_are_kept_by_the_parameter_that_says_their_depth() -> None:
    """Another one that is fixed at as much, as it happens, says nothing of them."""
    kernel = KERNELS["vp9_lpf4_high_v"]
    entry = next(
        e for e in FFMPEG.entries
        if e.kernel == kernel.id and e.called is not None and e.called.pointer.filled.depth == 10
    )  # fmt: skip
    assert entry.fixed == {"bits": 10}
    drawn = vectors.make_items(kernel, COUNT, 1, "typical")
    kept = oracle._of_depth(kernel, drawn, entry).buffers["dst"]
    same = (kept == drawn.buffers["dst"]).reshape(COUNT, -1).all(axis=1)
    assert same.sum() > COUNT / 10 and (kept < 1 << 10).all()
    other = next(n for n in drawn.params if n != "bits")
    entry = replace(entry, fixed={"bits": 10, other: 10})
    assert (oracle._of_depth(kernel, drawn, entry).buffers["dst"] == kept).all()


@pytest.mark.parametrize("mode", ["c", "asm", "ours"])
def test_another_function_is_seen(mode: str) -> None:
    entry = _entry("vp9_mc_8h_smooth")
    assert _compared(entry, mode).good
    wrong = _compared(replace(entry, fixed={"filter": 2}), mode)
    assert not wrong.good and wrong.mismatches > COUNT / 2 and wrong.strayed == 0
    assert "row 0, column " in wrong.first and "of its region of dst: interpreter " in wrong.first


def test_writing_outside_is_seen() -> None:
    """Items that are higher than the kernel's rectangle."""
    entry = _entry("vp9_mc_8h_smooth")
    items = oracle._items(KERNELS[entry.kernel], entry, COUNT, 1, mode="c")
    high = interp.Items(items.buffers, {**items.params, "rows": np.full(COUNT, 12)})
    wrong = _compared(entry, "ours", high)
    assert wrong.strayed == COUNT and not wrong.good


def test_coefficients_that_are_left_are_seen() -> None:
    """eob 1 on blocks that hold more than the DC: all functions clear only that."""
    entry = _entry("vp9_idct8")
    items = oracle._items(KERNELS[entry.kernel], entry, COUNT, 1, mode="c")
    lying = interp.Items(
        {**items.buffers, "coeffs": np.full((COUNT, 8, 8), 3)}, {"eob": np.ones(COUNT, np.int64)}
    )
    assert _compared(entry, "c", lying).uncleared == COUNT


@pytest.mark.parametrize("fault", ["dc", "eob12", "full"])
def test_a_spoiled_element_is_seen(fault: str) -> None:
    entry = _entry("vp9_idct8")
    kernel = KERNELS[entry.kernel]
    assert f"vp9_idct8:{fault}" in oracle.spoilt(entry)
    items = oracle._items(kernel, entry, COUNT, 1, mode="c")
    of_class = {"dc": (1, 1), "eob12": (2, 12), "full": (13, 64)}[fault]
    eob = items.params["eob"]
    inside = (of_class[0] <= eob) & (eob <= of_class[1])
    path = oracle.build(FFMPEG.only([entry]), "host")
    expected = interp.run(kernel, items)
    found = oracle._compare(
        FFMPEG, entry, kernel, "ours", "host", path, items, expected, spoil=f"vp9_idct8:{fault}"
    )
    assert found.mismatches == inside.sum() > 0


def test_a_fault_that_no_item_shows_is_a_failure() -> None:
    good = _compared(_entry("vp9_idct8"), "ours")
    assert good.good and replace(good, faults={"vp9_idct8:dc": True}).good
    assert not replace(good, faults={"vp9_idct8:dc": True, "vp9_idct8:full": False}).good


def test_functions_that_are_only_compared_are_not_run_as_ours() -> None:
    alone = {e.kernel: p for p in PROGRAMS.values() for e in p.entries if not e.ours}
    assert {"av1_cdef_dir", "av1_sgr8"} <= set(alone)
    assert all(e.ours for e in FFMPEG.entries)


def test_an_unknown_word_of_what_is_only_compared_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match="one: got an unexpected keyword argument 'plane'") as e:
        oracle._worded({"kernel": "av1_sgr8", "name": "one", "plane": ["dst"]})
    assert e.value.hint.startswith("the words of [[program.entry]]: kernel, name, planes, block")
    assert "ours" not in e.value.hint


@pytest.mark.parametrize(
    ("file", "path", "key", "stands"),
    [
        ("compared.toml", ("program", 0, "entry", 1), "kernel", "av1_sgr8"),
        ("plain.toml", ("entry", 1), "kernel", "sand128_p010"),
    ],
)
def test_what_is_said_of_nothing_there_is_is_refused(
    file: str, path: tuple[str | int, ...], key: str, stands: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With file and line: it would not be compared, and nobody would be told."""
    wrong: Any = deepcopy(data(file))
    entry = wrong
    for step in path:
        entry = entry[step]
    assert entry[key] == stands
    entry[key] = "other"
    monkeypatch.setattr(oracle, "data", lambda name: wrong if name == file else data(name))
    oracle.programs.cache_clear()
    with pytest.raises(UserError) as caught:
        oracle.programs()
    monkeypatch.undo()
    lines = (repo_root() / "codecs" / file).read_text().splitlines()
    line = lines.index(f'{key} = "{stands}"') + 1
    assert caught.value.message == f"codecs/{file}:{line}: there is no {key} other"


@pytest.mark.campaign
def test_another_result_of_a_block_is_seen() -> None:
    """A function that returns what the kernel writes into a block."""
    entry = _entry("cdef_dir")
    kernel, program = KERNELS[entry.kernel], PROGRAMS["compared_dav1d"].only([entry])
    items = oracle._items(kernel, entry, COUNT, 1, mode="c")
    path = oracle.build(program, "host")
    expected = interp.run(kernel, items)
    assert oracle._compare(program, entry, kernel, "c", "host", path, items, expected).good
    expected.buffers["found"][7, 1] += 1
    wrong = oracle._compare(program, entry, kernel, "c", "host", path, items, expected)
    assert wrong.mismatches == 1 and wrong.first.startswith("item 7: interpreter [")


def test_missing_assembly_is_seen() -> None:
    """What a description says of a decoder's assembly must be so."""
    with pytest.raises(UserError, match="c and asm are the same function on this processor"):
        _compared(replace(_entry("vp9_mc_8h_bilinear"), c_only=()), "c")
    with pytest.raises(UserError, match="its description says that it has none"):
        _compared(replace(_entry("vp9_mc_8h_smooth"), c_only=("amd64", "arm64")), "c")
