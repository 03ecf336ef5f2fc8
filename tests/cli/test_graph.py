# SPDX-License-Identifier: BSD-2-Clause
"""The drawings of `explain --svg`: complete, placed as textbooks do, and drawn by Graphviz."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from spec_support import kernel_of, spec_text

from daedalus.dsl.ir import Kernel, Op, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.cli import explain as explain_verb
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.host import native
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.report.graph.model import Graph, Vertex, graph_of
from daedalus.generator.report.graph.place import place
from daedalus.generator.report.graph.svg import graph_text
from daedalus.generator.verify.fuzz.programs import make_program

LINEAR = ["vp9_idct8", "h264_idct4", "h264_idct8", "h264_qpel_mc20"]


def graphs(kernel: Kernel) -> list[Graph]:
    ranges = Ranges(kernel)
    return [graph_of(kernel, s, ranges) for s in kernel.stages]


def the(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


def is_complete(kernel: Kernel) -> None:
    """Every load and store has its vertex, and every value leads to a store."""
    for g in graphs(kernel):
        outputs = [v for v in g.vertices if v.kind == "output"]
        assert len(outputs) == len(g.stage.stores)
        for v, s in zip(outputs, g.stage.stores, strict=True):
            assert v.text.startswith(s.buffer + "[")
            edges = g.into(v)
            assert sum(e.mask for e in edges) == (s.mask is not None)
            assert " = " in v.text or len(edges) == 1 + (s.mask is not None)
        stored = [n for s in g.stage.stores for n in (s.value, s.mask) if n is not None]
        loads = [n for n in walk(stored) if n.op is Op.LOAD]
        assert sum(v.kind == "input" for v in g.vertices) == len(loads)
        for v in g.vertices:
            assert v.kind == "output" or g.out_of(v), f"{v} leads nowhere"


@pytest.mark.of_many
@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_everything_is_drawn(entry: Entry) -> None:
    is_complete(entry.kernel)


@pytest.mark.of_many
@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_every_kernel_and_variant_can_be_drawn(entry: Entry) -> None:
    for k in (entry.kernel, *(lower(entry.kernel, s) for s, _ in entry.listed)):
        text, placed = graph_text(k)
        assert text.startswith("digraph") and placed == all(g.linear for g in graphs(k))


def test_random_programs_can_be_drawn() -> None:
    for n in range(60):
        made = make_program(1, n).kernel
        is_complete(made)
        graph_text(made)


def test_only_linear_kernels_are_flow_graphs() -> None:
    drawn = {e.kernel.id for e in load() if graph_text(e.kernel)[1]}
    assert drawn >= set(LINEAR) and not drawn & {"vp9_lpf4_h", "av1_cdef8", "h264_deblock_luma_v"}


def rows(g: Graph, kind: str) -> list[str]:
    """The texts of vertices of a kind, from the top."""
    placed = place(g)
    own = [v for v in g.vertices if v.kind == kind and v in placed.row]
    return [v.text for v in sorted(own, key=lambda v: placed.row[v])]


def test_an_inverse_dct_has_its_inputs_in_the_usual_order() -> None:
    """Outputs in order, inputs by bit-reversed frequency: the textbook's graph."""
    first, second = graphs(the("vp9_idct8"))
    assert rows(first, "output") == [f"rows[v, {n}]" for n in range(8)]
    assert rows(first, "input") == [f"coeffs[{n}, v]" for n in (0, 4, 2, 6, 1, 5, 3, 7)]
    assert rows(second, "input") == [f"rows[{n}, x]" for n in (0, 4, 2, 6, 1, 5, 3, 7)]
    assert {v.text for v in place(second).beside} == {f"dst[{n}, x]" for n in range(8)}


@pytest.mark.parametrize("name", LINEAR)
def test_wires_do_not_run_through_vertices(name: str) -> None:
    for g in graphs(the(name)):
        placed = place(g)
        assert len(set(zip(placed.row.values(), map(placed.column.get, placed.row), strict=True))) \
            == len(placed.row)  # fmt: skip
        spots = {(placed.row[v], placed.column[v]): v for v in placed.row}
        for e in g.edges:
            if e.tail in placed.beside:
                continue
            row, start, end = placed.row[e.tail], placed.column[e.tail], placed.column[e.head]
            assert start < end
            assert not any((row, c) in spots for c in range(start + 1, end))


@pytest.mark.parametrize("name", ["vp9_idct8", "h264_idct4", "h264_idct8"])
def test_a_transform_in_place_needs_no_row_more(name: str) -> None:
    for g in graphs(the(name)):
        assert place(g).rows == len(g.stage.stores)


def test_gains_and_steps(tmp_path: Path) -> None:
    kernel = kernel_of(
        tmp_path,
        spec_text(
            "with k.stage(i=8) as i:\n"
            "    a, b = px[0, i], px[1, i]\n"
            "    px[0, i] = clip_u8(round_shift(5 * a - b * 3, 2) + 7)\n"
            "    px[1, i] = clip_u8((a - (b >> 1)) >> 1)\n"
        ),
    )
    (g,) = graphs(kernel)
    first, second = (v for v in g.vertices if v.kind == "sum")
    assert [e.gain for e in g.into(first)] == ["5", "−3"]
    assert first.steps == ["≫2r", "+7", "clip u8"]
    assert [e.gain for e in g.into(second)] == ["", "−≫1"]
    assert second.steps == ["≫1", "clip u8"]
    assert g.linear


def test_a_dataflow_graph_has_the_authors_names() -> None:
    text, placed = graph_text(the("vp9_lpf4_h"))
    assert not placed
    for label in ("steps0 = |p1 − p0|", "f1 = min(f +4, 127) ≫3", "steps1 = |p2 − p1| ≤ limit",
                  "p0 = dst[i, −1]"):  # fmt: skip
        assert f'label="{label}"' in text


def test_names_that_occur_twice_are_told_apart() -> None:
    text, _ = graph_text(the("av1_cdef8"))
    labels = re.findall(r'label="([\w%.]+) = ', text)
    assert len(labels) > 50 and max(Counter(labels).values()) == 1


def test_what_steps_do_on_the_way_to_a_store_is_shown() -> None:
    text, _ = graph_text(the("sand128_p010"))
    assert 'label=" ≫20 wrap u10 ×64 "' in text


def test_graphviz_draws_it(tmp_path: Path) -> None:
    for name in ("h264_idct4", "vp9_lpf4_h"):
        file = tmp_path / f"{name}.svg"
        result = CliRunner().invoke(explain_verb.command, [name, "--svg", str(file)])
        assert result.exit_code == 0, result.exception
        root = ET.parse(file).getroot()
        texts = {t.text for t in root.iter("{http://www.w3.org/2000/svg}text")}
        assert any(t and t.startswith(f"{name}: ") for t in texts)
        tips = [t.attrib.get("{http://www.w3.org/1999/xlink}title", "")
                for t in root.iter("{http://www.w3.org/2000/svg}a")]  # fmt: skip
        assert any(re.search(r"\[-?\d+, -?\d+\] dsl/kernels/.*:\d+", t) for t in tips)


def test_graphviz_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native.shutil, "which", lambda _: None)
    file = tmp_path / "x.svg"
    error = CliRunner().invoke(explain_verb.command, ["h264_idct4", "--svg", str(file)]).exception
    assert isinstance(error, UserError) and error.exit_code == EXIT_MISSING
    assert error.message == "dot is not installed" and error.hint == "run ./daedalus setup"
    assert not file.exists()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "none").write_text("")  # no folder can be made there
    file = tmp_path / "none" / "x.svg"
    error = CliRunner().invoke(explain_verb.command, ["h264_idct4", "--svg", str(file)]).exception
    assert isinstance(error, UserError) and error.message.startswith(f"cannot write {file}: ")


def test_vertices_are_told_apart_by_identity() -> None:
    assert Vertex("op", "a") != Vertex("op", "a")
