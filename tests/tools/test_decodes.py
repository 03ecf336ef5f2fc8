# SPDX-License-Identifier: BSD-2-Clause
"""Whole decodes: whose functions are whose, how clips are damaged, and what of times counts."""

import struct
from pathlib import Path

import pytest

from daedalus.codecs.clips import Clip
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.host import native
from daedalus.generator.measure import count, decodes, trace
from daedalus.generator.measure.count_cases import Case, Work
from daedalus.generator.measure.neon import decoding
from daedalus.generator.measure.neon.llvm import Llvm
from daedalus.generator.verify import damage, timed


@pytest.fixture(scope="module")
def families() -> decodes.Families:
    (decoder,) = decodes.decoders()
    return decodes.Families(decoder)


NO_LLVM = Llvm("", "", "", "")
CLIP = Clip("a clip", Path("a.ivf"))
KERNELS = ("vp9_mc_8hv", "vp9_mc_8hv_avg", "vp9_lpf4_v")


@pytest.mark.parametrize(
    ("symbol", "kernel"),
    [
        ("daedalus_ffmpeg_vp9_mc_8hv_smooth", "vp9_mc_8hv"),
        ("daedalus_tall_vp9_mc_8hv_avg__neon_sub8_dot", "vp9_mc_8hv_avg"),
        ("all_items_vp9_mc_8hv__neon_sub8", "vp9_mc_8hv"),
        ("panel_of_all_vp9_mc_8hv_avg__neon_sub8.part.0", "vp9_mc_8hv_avg"),
        ("one_item_vp9_lpf4_v__neon_full", "vp9_lpf4_v"),
        ("ff_vp9_loop_filter_v_4_8_neon", None),
        ("vp9_decode_frame", None),
    ],
)
def test_a_function_of_ours_is_told_by_its_kernel(symbol: str, kernel: str | None) -> None:
    assert decodes._kernel(symbol, KERNELS) == kernel


@pytest.mark.parametrize(
    ("symbol", "family"),
    [
        ("ff_vp9_iadst_iadst_16x16_add_neon", "transforms"),
        ("idct32_odd", "transforms"),
        ("ff_vp9_loop_filter_h_44_16_neon", "loop filters"),
        ("avg_scaled_bilin_16_c.isra.0", "scaled references"),
        ("avg_8tap_16h_34", "motion compensation"),
        ("ff_vp9_copy16_neon", "motion compensation"),
        ("diag_downleft_4x4_c", "intra prediction"),
        ("daedalus_ffmpeg_vp9_mc_8hv_smooth", "motion compensation"),
        ("ff_vp9dsp_init_aarch64", ""),
        ("memset", ""),
    ],
)
def test_a_function_belongs_to_a_family(
    families: decodes.Families, symbol: str, family: str
) -> None:
    assert families.of(symbol) == family


def test_a_function_of_no_family_is_said(
    families: decodes.Families, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families, "_theirs", families._theirs | {"vp9_new_thing"})
    with pytest.raises(UserError, match="no family has the decoder's function vp9_new_thing"):
        families.of("vp9_new_thing")
    assert [families.kind(s) for s in ("idct32_odd", "memset", "printf")] == [1, 2, 0]


@pytest.mark.parametrize(
    ("executed", "cycles"), [(50, 25), (100, 50), (150, 75), (200, 100), (250, 200), (600, 600)]
)
def test_a_call_takes_what_cases_beside_it_do(executed: int, cycles: float) -> None:
    assert decoding.between([(100, 50), (200, 100), (300, 300)], executed) == cycles


def test_calls_of_both_sides_are_modelled_by_their_cases() -> None:
    ours = decoding.Model()
    ours.add("vp9_idct4", "transforms", 10, 5)
    ours.add("vp9_idct8", "transforms", 30, 25)
    assert ours.cycles("vp9_idct4", "transforms", 20) == 10
    assert ours.cycles("vp9_idct16", "transforms", 40) == 30  # without a case: the family's rate
    assert ours.cycles("vp9_mc_8h", "motion compensation", 40) is None


@pytest.mark.parametrize(
    ("whose", "executed", "pixels", "said"),
    [
        ("entry", 9, b"b", "ours, work: other pixels than theirs: row -16, column -16: 98 and 97"),
        ("theirs", 11, b"a", "theirs, work: 11 executed, 10 recorded in tools/count/cases.toml"),
    ],
)
def test_cycles_of_cases_that_are_wrong_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    families: decodes.Families,
    whose: str,
    executed: int,
    pixels: bytes,
    said: str,
) -> None:
    case = Case("vp9_idct4", "ffmpeg", "", "theirs", "work", 1.0, {}, entry="ours", anchor=10)
    by_hand = _traced(Work(case, "theirs", "theirs"), executed if whose == "theirs" else 10, b"a")
    mine = _traced(Work(case, "ours", "entry"), 9, pixels)
    counted = [count.Count(mine, by_hand), count.Count(by_hand, by_hand)]
    made_by = count.Compiler("some compiler 1.0", "-O2")
    monkeypatch.setattr(count, "count_all", lambda kernels, *, clang: (made_by, counted))
    with pytest.raises(UserError, match=f"^{said}$") as refused:
        decoding.models(NO_LLVM, families, {"vp9_idct4"}, clang=False)
    assert refused.value.exit_code == EXIT_FAILED


def _traced(work: Work, executed: int, pixels: bytes) -> count.Traced:
    return count.Traced(work, (trace.Call((0,) * executed, (0,) * executed),), pixels)


def test_without_a_case_of_what_was_called_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch, families: decodes.Families
) -> None:
    monkeypatch.delattr(count, "count_all")
    found = decoding.models(NO_LLVM, families, {"av1_sgr8"}, clang=False)
    assert found.ours.cycles("av1_sgr8", "", 40) is None


PROGRAM = """
#include <string.h>
static volatile int sink;
static char bytes[64];
__attribute__((noinline)) void inner(int n) { while (n--) sink++; }
__attribute__((noinline)) void outer(int n) { inner(n); sink++; inner(n); sink++; }
__attribute__((noinline)) void clears(int n) { memset(bytes, n, n); sink++; memset(bytes, 0, n); }
int main(void) {
  for (int i = 0; i < 3; i++) outer(5);
  outer(9); inner(5); clears(40); clears(40);
  return 0;
}
"""


def test_calls_are_counted_with_what_they_call(tmp_path: Path, families: decodes.Families) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(PROGRAM)
    native.compile_program("aarch64", program, [source])
    functions = decodes._functions(program)
    asked = ("inner", "outer", "clears")
    counts, calls = decodes._executed(
        program, functions, lambda s: 1 if s in asked else families.kind(s), ()
    )
    by_name = {name: n for (_, name), n in zip(functions, counts, strict=True)}
    ways = {(c.symbol, c.times): c.executed for c in calls}
    assert set(ways) == {("outer", 3), ("outer", 1), ("inner", 1), ("clears", 2)}
    whole = 3 * ways["outer", 3] + ways["outer", 1] + ways["inner", 1] + 2 * ways["clears", 2]
    assert whole == sum(by_name[name] for name in asked)
    assert by_name["main"] > 0 and by_name[".plt"] > 0 and sum(counts) > whole


def test_functions_of_one_name_count_together(
    monkeypatch: pytest.MonkeyPatch, families: decodes.Families
) -> None:
    """A decoder has a function for each depth, all of one name; a clip calls one of them."""
    functions = [(0, "tm_8x8_c"), (8, "main"), (16, "tm_8x8_c")]
    for counts in ([5, 7, 0], [0, 7, 5]):
        monkeypatch.setattr(decodes, "_executed", lambda *_, counts=counts: (counts, []))
        found = decodes._decoded(Path(), functions, families, CLIP, "theirs")
        assert (found.whole, found.functions) == (12, {"tm_8x8_c": 5})
        assert found.by_family(families)["intra prediction"] == 5


def test_what_the_linker_puts_in_between_ends_no_call(families: decodes.Families) -> None:
    assert [families.kind(s) for s in (".plt", "e843419@0012_000000c4_32004")] == [2, 2]
    assert [families.kind(s) for s in (".text", "e843419")] == [0, 0]


def packets(data: bytes) -> list[bytes]:
    found, at = [], 32
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 12 : at + 12 + size])
        at += 12 + size
    return found


def test_damage_is_in_few_packets_and_is_the_same_each_time() -> None:
    body = [bytes(range(n, n + 60)) for n in range(8)]
    clip = b"DKIF".ljust(32, b"\0")
    clip += b"".join(struct.pack("<IQ", len(b), n) + b for n, b in enumerate(body))
    kinds = set()
    for seed in range(40):
        made = damage.damaged(clip, seed)
        assert made == damage.damaged(clip, seed)
        now = packets(made)
        assert len(now) == len(body) and len(now[0]) == 60
        changed = [(a, b) for a, b in zip(body, now, strict=True) if a != b]
        assert 0 < len(changed) <= 4
        kinds |= {len(b) < 60 for _, b in changed}
    assert kinds == {False, True}  # flipped, and cut


def test_a_packet_of_no_bytes_stays() -> None:
    body = [bytes(range(60)), b"", bytes(range(60)), b""]
    clip = b"DKIF".ljust(32, b"\0")
    clip += b"".join(struct.pack("<IQ", len(b), n) + b for n, b in enumerate(body))
    for seed in range(40):
        now = packets(damage.damaged(clip, seed))
        assert [len(now[n]) for n in (1, 3)] == [0, 0] and now != body


def test_what_ours_save_is_of_clips_where_assembly_makes_a_difference() -> None:
    clip = Clip("one", Path("one.ivf"))
    much = timed.Times(clip, {"ours": 40.0, "portable": 100.0, "assembly": 20.0})
    little = timed.Times(clip, {"ours": 100.0, "portable": 100.0, "assembly": 90.0})
    assert timed.share([much, little]) == 60 / 80
    assert timed.share([little]) is None


def program(place: Path, name: str, frames: dict[str, str], *more: str) -> Path:
    """One that says the first of these frames whose pattern its arguments have, then an error."""
    cases = [f'{words}) echo "frame 0 {digest}";;' for words, digest in frames.items()]
    made = place / name
    made.write_text("\n".join(["#!/bin/sh", 'case "$*" in', *cases, "esac", 'echo "error 3 -1"',
                               *more, ""]))  # fmt: skip
    made.chmod(0o755)
    return made


def one_damaged(place: Path, ours: str, kept: str, *more: str) -> damage.Damaged:
    """A clip whose frame is P by portable functions, A by assembly, and so by ours: by all of them,
    and by all but those that are kept; what else ours does."""
    stock = program(place, "stock", {"*--portable*": "P", "*": "A"})
    mine = program(place, "ours", {"*--keep*": kept, "*": ours}, *more)
    return damage._one(stock, mine, place / "clip.ivf", "clip", "itxfm_add")


@pytest.mark.parametrize(
    ("ours", "kept", "kind", "failures"),
    [
        ("P", "", "portable", 0),
        ("A", "", "assembly", 0),
        ("X", "P", "neither", 0),  # by coefficients that the standard does not grant
        ("X", "X", "neither", 1),
    ],
)
def test_a_frame_of_neither_has_to_come_of_coefficients(
    tmp_path: Path, ours: str, kept: str, kind: str, failures: int
) -> None:
    found = one_damaged(tmp_path, ours, kept)
    assert found.frames == {kind: 1} and found.refused == 1
    assert len(found.failures) == failures


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("echo 'frame 1 P'", "another number of frames"),
        ("echo 'error 4 -1'", "other errors"),
        ("exit 99", "exit status 99"),
        ("echo 'x.c:1: runtime error: shift' >&2", "runtime error: shift"),
        ('case "$*" in *--slices*) exit 99;; esac', "four threads --slices: exit status 99"),
        ("sleep 5", "no end after"),
    ],
)
def test_what_ours_may_not_do_with_a_damaged_clip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, said: str
) -> None:
    monkeypatch.setattr(damage, "_PATIENCE", 2)
    (failure, *_) = one_damaged(tmp_path, "P", "", more).failures
    assert said in failure
