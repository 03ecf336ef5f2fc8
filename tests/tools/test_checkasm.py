# SPDX-License-Identifier: BSD-2-Clause
"""Decoders' own tests with our functions in the tables: what is put there, and what is seen."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from pages import ROOT

from daedalus.codecs import clips
from daedalus.codecs.decoders.reading import described
from daedalus.codecs.decoders.tables import Decoder, Table
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.decoder_wrappers import Wrapped, wrapped
from daedalus.generator.compile.registry import load
from daedalus.generator.host import native
from daedalus.generator.verify import checkasm, oracle, stream_glue


def functions(decoder: str) -> list[Wrapped]:
    return [wrapped(e.kernel, d) for e in load() for d in e.kernel.decoders if d.decoder == decoder]


def of(name: str) -> Decoder:
    found = described(name)
    assert found is not None
    return found


def test_every_pointer_is_put_where_its_spec_says() -> None:
    ours = functions("ffmpeg")
    text = checkasm.source(of("ffmpeg"), ours)
    place = 0
    for number, w in enumerate(ours):
        assert f"((n_type_{number} *)n_called)({w.call});" in text
        for pointer in w.signature.pointers:
            fill = f"daedalus_ffmpeg_fill_{pointer.filled.name}"
            assert f'n_own[{place}] = stored(ours, {pointer.slot}, "{fill}");' in text
            assert f'(any_fn *)at_{place}, "{pointer.place}", {number}}}' in text
            assert f"take(&slots[{pointer.slot}], {place}, extended);" in text
            place += 1
    assert place > len(ours) == len(re.findall(r"^typedef void n_type_\d+\(", text, re.MULTILINE))
    names = re.search(r"n_own\[\] = \{(.*?)\};", text, re.DOTALL)
    assert names is not None
    stands = [f"(any_fn *){w.function}" for w in ours for _ in w.signature.pointers]
    assert [n.strip() for n in names[1].split(",") if n.strip()] == stands
    assert "daedalus_ffmpeg_fill_vp9dsp(ours, sizeof(ours), (unsigned)fills) != " in text
    assert [int(n) for n in re.findall(r"if \(bpp == (\d+)\) \{", text)] == [8, 10, 12]
    assert "__real_ff_vp9dsp_init(table, bpp, bitexact);" in text


def compiled(text: str, folder: Path) -> None:
    (folder / "made.c").write_text(text)
    includes = [*native.library_includes(), ROOT / "tools" / "stream"]
    native.run(
        [
            native.compiler("host"), "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror",
            *(f"-I{i}" for i in includes), folder / "made.c",
        ]
    )  # fmt: skip


# What functions with a spec's arguments might call.
@pytest.mark.parametrize(
    "word", ["spoils", "counted", "ours_av1_cdef8", "type_0", "take", "stream_count"]
)
def test_an_argument_may_have_any_name(word: str, tmp_path: Path) -> None:
    av1 = next(d for d in clips.decoders() if d.name == "av1")
    for text in (checkasm.source(of("dav1d"), functions("dav1d")), stream_glue.source(av1)):
        assert "int pri," in text and not re.search(rf"\bint {word}\b", text)
        compiled(re.sub(r"\bpri\b", word, text), tmp_path)


# What the program is linked with: a library that stores a pointer somewhere, and says so.
OTHERS = """
#include <stddef.h>
#include <stdint.h>
uint32_t daedalus_cpu_features;
unsigned dav1d_cpu_flags, dav1d_cpu_flags_mask;
void daedalus_dav1d_av1_cdef8(void) {}
void __real_dav1d_cdef_dsp_init_8bpc(void *table) { (void)table; }
void *__real_checkasm_check_func(void *func) { return func; }
int daedalus_dav1d_fill_cdef(void *table, size_t size, unsigned features) {
  (void)size, (void)features;
  ((void **)table)[WHERE] = table;
  return 1;
}
void __wrap_dav1d_cdef_dsp_init_8bpc(void *table);
int main(void) {
  void *table[4];
  __wrap_dav1d_cdef_dsp_init_8bpc(table);
  return 0;
}
"""


@pytest.mark.parametrize(("where", "said"), [(1, ""), (2, "does not store pointer 1")])
def test_what_the_library_does_not_store_is_noticed(where: int, said: str, tmp_path: Path) -> None:
    """However many pointers it says that it stored."""
    (tmp_path / "made.c").write_text(checkasm.source(of("dav1d"), functions("dav1d")))
    (tmp_path / "others.c").write_text(OTHERS.replace("WHERE", str(where)))
    made = native.compile_program(
        "host", tmp_path / "made", [tmp_path / "made.c", tmp_path / "others.c"],
        includes=native.library_includes(),
    )  # fmt: skip
    ran = subprocess.run(
        [made], env={"CHECKASM_FILL": "0"}, check=False, capture_output=True, text=True
    )
    assert (ran.returncode, said in ran.stderr) == (bool(said), True), ran.stderr


def test_classes_are_those_that_the_decoder_calls_with() -> None:
    by_name = {w.short: w for w in functions("ffmpeg")}
    assert [n for n, _ in by_name["vp9_idct8"].classes] == ["dc", "eob12", "full"]
    # Where mx is 0 another pointer is called: what is left of rows8 is a part of sub8.
    assert [n for n, _ in by_name["vp9_mc_8h_sharp"].classes] == ["sub8", "sub4", "full"]
    assert by_name["vp9_idct8"].class_index == "eob <= 1 ? 0 : eob >= 2 && eob <= 12 ? 1 : 2"
    assert by_name["vp9_idct8"].spoil == "((uint8_t *)dst)[2 * dst_stride + 3] ^= 1;"


def outcome(
    reached: list[str], *, passed: bool = True, same: dict[str, str] | None = None
) -> checkasm.Outcome:
    return checkasm.Outcome(
        "dav1d", "cdef_8bpc", "arm64", "all", 3, passed, {p: ["name"] for p in reached},
        same or {}, "said",
    )  # fmt: skip


def two_places() -> tuple[checkasm.Program, Table, str, str]:
    """A program with one function at two places."""
    decoder = of("dav1d")
    (own,) = functions("dav1d")
    both = tuple(decoder.pointers("cdef.fb[*]")[:2])
    two = replace(own, signature=replace(own.signature, pointers=both))
    program = checkasm.Program(decoder, "host", checkasm.build_dir(), (two,))
    first, second = (p.place for p in both)
    assert program.of_table(both[0].table) == dict.fromkeys((first, second), own.function)
    return program, both[0].table, first, second


def test_both_lists_are_compared_as_sets() -> None:
    """Of pointers: a function that stands at two places is not reached by one of them."""
    program, table, first, second = two_places()
    assert checkasm.failures(program, table, [outcome([first, second])]) == []
    (missing,) = checkasm.failures(program, table, [outcome([first])])
    assert f"seed 3: checkasm checks no name of {second}" in missing
    (other,) = checkasm.failures(program, table, [outcome([first, second, "x"])])
    assert "x is not of this table" in other
    (failed,) = checkasm.failures(program, table, [outcome([first, second], passed=False)])
    assert failed.endswith("seed 3: checkasm fails:\nsaid")


def test_a_place_with_the_function_that_was_checked_elsewhere_is_reached() -> None:
    """Their C says so: a program that draws one of four types of a transform reaches all."""
    program, table, first, second = two_places()
    assert checkasm.failures(program, table, [outcome([first], same={second: first})]) == []
    (missing,) = checkasm.failures(program, table, [outcome([first], same={second: "x"})])
    assert missing.endswith(f"checkasm checks no name of {second}")


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="no decoder vlc has a test program") as caught:
        checkasm.chosen("vlc", "")
    assert "dav1d, ffmpeg" in caught.value.hint
    with pytest.raises(UserError, match="there is no test vp8dsp"):
        checkasm.chosen("ffmpeg", "vp8dsp")
    ((decoder, (table,)),) = checkasm.chosen("", "h264qpel")
    assert (decoder.name, table.type) == ("ffmpeg", "H264QpelContext")


def test_a_program_that_does_not_end_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(checkasm.native, "runner", lambda arch: [])
    monkeypatch.setattr(checkasm, "_SECONDS", 0.2)
    decoder = of("dav1d")
    program = checkasm.Program(decoder, "host", hanging, ())
    ended = checkasm.run(program, decoder.tables[0], 3)
    assert not ended.passed and ended.said == "it did not end in 0.2 s"


# ------------------------------------------------------------------ the programs


# Faults that no seed of checkasm shows, as patterns, and why; `oracle` shows them.
NOT_DRAWN = {
    "h264_deblock_*:some quarters off": "tc0 is never negative",
    **dict.fromkeys(
        (
            "vp9_copy*:full", "vp9_avg*:full", "vp9_mc_*:full",
            "vp9_copy4:rows8", "vp9_avg4:rows8", "vp9_mc_4*:sub8",
            "vp9_copy8:rows4", "vp9_avg8:rows4", "vp9_mc_8*:sub4",
        ),
        "blocks are as high as wide",
    ),
    "vp9_scaled_*": "it has no test of them",
}  # fmt: skip


def test_a_place_that_no_test_looks_at_is_said_and_not_looked_at() -> None:
    program, table, first, second = two_places()
    (own,) = program.functions
    pointers = tuple(
        replace(p, field=replace(p.field, untested="why")) if p.place == second else p
        for p in own.signature.pointers
    )
    own = replace(own, signature=replace(own.signature, pointers=pointers))
    program = replace(program, functions=(own,))
    assert program.untested(table) == {second: "why"}
    assert checkasm.failures(program, table, [outcome([first])]) == []
    (looked,) = checkasm.failures(program, table, [outcome([first, second])])
    assert looked.endswith(f"seed 3: {second} is checked, though said not to be")
    (missing,) = checkasm.failures(program, table, [outcome([])])
    assert missing.endswith(f"checkasm checks no name of {first}")


def faults() -> Iterator[tuple[str, str]]:
    for decoder in ("dav1d", "ffmpeg"):
        for w in functions(decoder):
            for name, _ in w.classes:
                yield decoder, f"{w.short}:{name}"


def drawn(fault: str) -> bool:
    return not any(fnmatch(fault, pattern) for pattern in NOT_DRAWN)


def test_every_fault_is_planted_in_one_of_two() -> None:
    """In all of them by `oracle`, which fails where it does not see one; in most by checkasm."""
    every = {fault for _, fault in faults()}
    planted = [f for p in oracle.programs() for e in p.entries for f in oracle.spoilt(e)]
    assert set(planted) == every
    assert all(any(fnmatch(f, pattern) for f in every) for pattern in NOT_DRAWN)
    assert not drawn("vp9_copy8:rows4") and drawn("vp9_copy8:rows8") and drawn("vp9_idct8:full")


@pytest.mark.campaign
@pytest.mark.parametrize("arch", checkasm.architectures())
@pytest.mark.parametrize("decoder", ["dav1d", "ffmpeg"])
def test_decoders_tests_pass(decoder: str, arch: str) -> None:
    program = checkasm.build(of(decoder), arch)
    for table in of(decoder).tables:
        outcomes = [
            checkasm.run(program, table, seed, features=features)
            for features in checkasm.kinds(arch)
            for seed in range(1, 21)
        ]
        assert checkasm.failures(program, table, outcomes) == []


@pytest.mark.campaign
@pytest.mark.parametrize("arch", checkasm.architectures())
@pytest.mark.parametrize(("decoder", "fault"), [f for f in faults() if drawn(f[1])])
def test_a_spoiled_element_is_seen_by_checkasm(decoder: str, fault: str, arch: str) -> None:
    """By one of ten seeds: strengths and limits are drawn. If by none, it is of NOT_DRAWN."""
    program = checkasm.build(of(decoder), arch)
    (own,) = (w for w in program.functions if w.short == fault.partition(":")[0])
    places = {p.place for p in own.signature.pointers}
    table = own.signature.pointers[0].table
    runs = (checkasm.run(program, table, seed, spoil=fault) for seed in range(1, 11))
    seen = next((o for o in runs if not o.passed), None)
    assert seen is not None and places & set(seen.reached), seen and seen.said
