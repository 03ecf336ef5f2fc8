# SPDX-License-Identifier: BSD-2-Clause
"""A kernel that no options.toml speaks of gets all targets; one that refuses costs only itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from spec_support import load_text, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.base import records
from daedalus.generator.cli import gen
from daedalus.generator.compile import by_rule, emit, kept, making
from daedalus.generator.compile.by_rule import has_ladder, slots
from daedalus.generator.compile.facts import Facts
from daedalus.generator.compile.inventory import inventory
from daedalus.generator.compile.new_spec import KINDS, write_spec
from daedalus.generator.compile.registry import Entry, load, meaning, recorded
from daedalus.generator.options import CPU_TARGETS, GPU_TARGETS, QPU, TARGETS, options_of

TEXT = spec_text("with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + p)")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_kernel_gets_all_targets(kind: str, tmp_path: Path) -> None:
    """And on the GPU a ladder: other lanes an invocation, words and elements."""
    (tmp_path / "specs").mkdir()
    write_spec(tmp_path / "specs", "hevc_thing", kind)
    made = making.settle(load(tmp_path / "specs")[0])
    entry, chosen = made.entry, made.record
    assert "refused" not in chosen and entry.by_rule
    assert {o.target for o, prod in entry.listed if prod} == set(TARGETS)
    for target, fewest in (("glsl", 3), (QPU, 2)):
        own = [o for o, _ in entry.listed if o.target == target]
        assert len(own) >= fewest
        assert {o.reads_anything for o in own} == {True, False}
        assert len({o.choice("points") for o in own}) > 1


def test_a_class_gets_what_it_gains() -> None:
    """On a GPU the one for all items serves, unless a lane does less or has dot products."""

    def of(kernel: str, name: str) -> list[str]:
        (entry,) = (e for e in load() if e.kernel.id == kernel)
        found = [s for s in slots(entry.kernel) if s.choices[0].class_name == name]
        assert all(s.prod for s in found if s.target not in GPU_TARGETS)
        return [s.target for s in found]

    assert of("vp9_idct4", "dc") == ["c", "vector", "neon", "glsl", "glsl", "glsl", QPU, QPU]
    assert of("vp9_copy4", "rows8") == ["c", "vector", "neon"], "only its height is known"
    assert of("vp9_copy4", "rows4") == ["c", "vector", "neon"], "no item is of the one before"
    assert of("vp9_mc_4h", "sub8") == ["c", "vector", "neon", "neon", QPU]
    assert of("vp9_mc_4h", "rows8") == ["c"], "what it has most of, sub8 does"


TWO_STAGES = """
    q = k.param("q", u8, 1, 8)
    k.item_class("still", p=(0, 0))
    k.item_class("one", p=(1, 1))
    k.item_class("low", q=(4, 4))
    out = k.plane("out", i32, rows=(0, 8), cols=(0, 8), access="out")
    with k.stage(y=k.upto(q, 8), x=8) as (y, x):
        out[y, x] = (c[y, x] * c[y, x] >> 20) + k.lane(x) + k.lane(y) * 3 + (c[y, x] >> 3)
    with k.stage(y=8, x=8, given=p > 0) as (y, x):
        px[y, x] = clip_u8(px[y, x] * p + 5)
"""


def test_a_class_gains_by_any_stage(tmp_path: Path) -> None:
    """That lightens or drops another one than that which has most values; by none if it does
    nothing at all, or has fewer rows only."""
    (entry,) = load_text(tmp_path / "two", spec_text(TWO_STAGES))

    def of(kernel: Kernel) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for slot in slots(kernel):
            found.setdefault(slot.choices[0].class_name, set()).add(slot.target)
        return found

    assert {"glsl", QPU} <= of(entry.kernel)["still"] & of(entry.kernel)["one"]
    assert of(entry.kernel)["low"] == {"c"}
    text = TWO_STAGES.replace("k.upto(q, 8), x=8)", "k.upto(q, 8), x=8, given=p > 0)")
    (nothing,) = load_text(tmp_path / "nothing", spec_text(text))
    assert not {"glsl", QPU} & of(nothing.kernel)["still"]


def test_what_was_chosen_is_on_record_and_taken_from_there(tmp_path: Path) -> None:
    """As long as the kernel computes the same, wherever its lines stand."""
    (entry,) = load_text(tmp_path / "specs", TEXT)
    assert {o.target for o, _ in entry.listed} == {"c", "neon"}, "nothing was chosen yet"
    made = making.settle(entry)
    settled, chosen = made.entry, made.record
    (moved,) = load_text(tmp_path / "moved", "\n" + TEXT)
    (other,) = load_text(tmp_path / "other", TEXT.replace("+ p)", "- p)"))
    with records.kept_in(tmp_path):
        assert recorded(entry.kernel) is None
        records.write(entry.kernel.id, records.OPTIONS, dict(chosen))
        assert recorded(entry.kernel) == recorded(moved.kernel) == settled.listed
        assert recorded(other.kernel) is None
        broken = dict(chosen) | {"prod": ["neon_full_word"]}
        records.write(entry.kernel.id, records.OPTIONS, broken)
        assert recorded(entry.kernel) is None
    assert chosen["of"] == meaning(moved.kernel) != meaning(other.kernel)


def refusing(monkeypatch: pytest.MonkeyPatch, *refused: str) -> None:
    """Has targets, or single variants, refuse."""
    make = emit.make_variant

    def made(environment: object, kernel: Kernel, options: object, **rest: object) -> object:
        name = options.name  # type: ignore[attr-defined]
        if any(name.startswith(r) for r in refused):
            raise SpecError("options", f"{name}: no such thing here", kernel.loc, kernel.id)
        return make(environment, kernel, options, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(emit, "make_variant", made)


def test_a_target_that_refuses_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(monkeypatch, "qpu", "glsl_full_p4_word")
    (entry,) = load_text(tmp_path / "specs", TEXT)
    made = making.make([entry])
    assert {v.options.target for v in made.variants} == set(TARGETS) - {QPU}
    assert [v.options for v in made.variants] == [o for o, _ in made.entries[0].listed]
    refused = made.chosen[entry.kernel.id]["refused"]
    assert refused and all(name.startswith("qpu_full") for name in refused)
    with records.kept_in(tmp_path):
        records.write(entry.kernel.id, records.OPTIONS, dict(made.chosen[entry.kernel.id]))
    (k,) = inventory([entry], tmp_path)["kernels"]
    assert k["refused"] == refused


def test_without_c_there_is_no_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What all others fall back on."""
    refusing(monkeypatch, "c_full")
    (entry,) = load_text(tmp_path / "specs", TEXT)
    with pytest.raises(SpecError, match="c_full: no such thing here"):
        making.settle(entry)


def test_a_target_without_a_variant_for_any_memory_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry,) = load_text(tmp_path / "specs", TEXT)
    plain = [
        o.name for s in slots(entry.kernel) for o in s.choices
        if o.target in GPU_TARGETS and o.reads_anything
    ]  # fmt: skip
    kept_names = emit.make_variant

    def made(environment: object, kernel: Kernel, options: object, **rest: object) -> object:
        if options.name in plain:  # type: ignore[attr-defined]
            raise SpecError("options", "not this one", kernel.loc, kernel.id)
        return kept_names(environment, kernel, options, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(emit, "make_variant", made)
    settled = making.settle(entry).entry
    assert {o.target for o, _ in settled.listed} == {"c", "vector", "neon"}


def test_what_options_toml_lists_is_an_error_where_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(monkeypatch, "neon")
    (entry,) = load_text(tmp_path / "specs", TEXT)
    with pytest.raises(making.UserError, match="no such thing here"):
        making.make([replace(entry, by_rule=False)])


def test_gen_says_what_refuses_and_notes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(monkeypatch, "qpu")
    load_text(tmp_path / "specs", TEXT)
    words = ["--specs", str(tmp_path / "specs"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(gen.command, words)
    assert done.exit_code == 0, done.output
    assert "refused: test_it: qpu_full" in done.output
    file = records.path("test_it", tmp_path / "out")
    assert records.read("test_it", records.OPTIONS, tmp_path / "out")["refused"]
    assert CliRunner().invoke(gen.command, [*words, "--check"]).exit_code == 0
    file.unlink()
    failed = CliRunner().invoke(gen.command, [*words, "--check"])
    assert "different: records/test_it.json (options)" in failed.output


def test_a_kernel_that_options_toml_lists_now_has_no_choice_on_record(tmp_path: Path) -> None:
    load_text(tmp_path / "specs", TEXT)
    words = ["--specs", str(tmp_path / "specs"), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(gen.command, words).exit_code == 0
    (tmp_path / "specs" / "family" / "options.toml").write_text('[test_it]\nprod = ["neon_full"]\n')
    load.cache_clear()
    assert CliRunner().invoke(gen.command, words).exit_code == 0
    assert not records.read("test_it", records.OPTIONS, tmp_path / "out")


def entries() -> tuple[Entry, ...]:
    return load()


def test_kernels_of_the_tree_are_as_recorded() -> None:
    """Where rules chose, `gen` noted it: what is loaded is what was generated."""
    for e in entries():
        assert not e.by_rule or recorded(e.kernel) == e.listed, e.kernel.id


@pytest.mark.parametrize("entry", load(), ids=lambda e: e.kernel.id)
def test_every_class_of_the_library_has_its_ladder(entry: Entry) -> None:
    """Whether rules or options.toml choose: three shaders and two programs for the QPU, unless the
    back end refuses; of classes in which lanes compute as much as in `full`, those of `full`."""
    facts = Facts(entry.kernel)
    refused = records.read(entry.kernel.id, records.OPTIONS).get("refused", {})
    for name in entry.kernel.class_names:
        for target, fewest in (("glsl", 3), (QPU, 2)):
            own = [o for o, _ in entry.listed if o.target == target and o.class_name == name]
            told = any(r.startswith(f"{target}_{name}") for r in refused)
            told |= own == [options_of(target, name)]  # where no choice changes anything
            assert len(own) >= fewest or told or not has_ladder(facts, name), (target, name, own)


def test_a_large_stage_has_one_program_of_one_point_where_none_of_several_fits() -> None:
    """32 values and what they become do not fit 64 registers twice."""
    entry = next(e for e in load() if e.kernel.id == "vp9_idct32")
    own = [o for o, _ in entry.listed if o.target == QPU and o.class_name == "full"]
    assert own == [options_of(QPU, "full")]


def test_a_long_class_that_full_can_do_has_c_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless decoders call it."""
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_copy8")
    alone = replace(kernel, decoders=())

    def targets(of: Kernel) -> set[str]:
        found = (s.choices[0] for s in slots(of))
        return {o.target for o in found if o.class_name == "rows8"} & {*CPU_TARGETS}

    assert targets(kernel) == targets(alone) == {"c", "vector", "neon"}
    monkeypatch.setattr(by_rule, "_LONGEST", 0)
    assert targets(kernel) == {"c", "vector", "neon"} and targets(alone) == {"c"}


def test_values_are_set_aside_where_registers_do_for_nothing_else() -> None:
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_lpf16_high_h")
    for slot in slots(kernel):
        if slot.target == QPU:
            aside = [o.choice("aside") for o in slot.choices]
            assert len(aside) > 1 and aside == [False] * (len(aside) - 1) + [True]
