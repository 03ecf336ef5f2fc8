# SPDX-License-Identifier: BSD-2-Clause
"""Decoders' own tests with our functions in the tables: what is put there, and what is seen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.codecs.decoders.reading import described
from daedalus.codecs.decoders.tables import Decoder
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.decoder_wrappers import Wrapped, wrapped
from daedalus.generator.compile.registry import load
from daedalus.generator.verify import checkasm


def functions(decoder: str) -> list[Wrapped]:
    return [wrapped(e.kernel, d) for e in load() for d in e.kernel.decoders if d.decoder == decoder]


def of(name: str) -> Decoder:
    found = described(name)
    assert found is not None
    return found


def test_every_function_is_put_where_its_spec_says() -> None:
    ours = functions("ffmpeg")
    text = checkasm.source(of("ffmpeg"), ours)
    for number, w in enumerate(ours):
        assert f"{w.function}({w.call});" in text
        for pointer in w.signature.pointers:
            assert f"slots[{pointer.slot}] = (any_fn *)ours_{number};" in text
    assert "if (bpp == 8) {" in text and "if (bpp == 10) {" not in text
    assert "__real_ff_vp9dsp_init(table, bpp, bitexact);" in text


def test_classes_are_those_that_the_decoder_calls_with() -> None:
    by_name = {w.short: w for w in functions("ffmpeg")}
    assert [n for n, _ in by_name["vp9_idct8"].classes] == ["dc", "eob12", "full"]
    # Where mx is 0 another pointer is called: what is left of rows8 is a part of sub8.
    assert [n for n, _ in by_name["vp9_mc_8h_sharp"].classes] == ["sub8", "full"]
    assert by_name["vp9_idct8"].class_index == "eob <= 1 ? 0 : eob >= 2 && eob <= 12 ? 1 : 2"
    assert by_name["vp9_idct8"].spoil == "((uint8_t *)dst)[2 * dst_stride + 3] ^= 1;"


def outcome(reached: list[str], *, passed: bool = True) -> checkasm.Outcome:
    return checkasm.Outcome(
        "dav1d", "cdef_8bpc", "arm64", "all", 3, passed, {f: ["name"] for f in reached}, "said"
    )


def test_both_lists_are_compared_as_sets() -> None:
    decoder = of("dav1d")
    (table,) = decoder.tables
    (own,) = functions("dav1d")
    two = (own, replace(own, short="av1_another"))
    program = checkasm.Program(decoder, "host", checkasm.build_dir(), two)
    everything = ["av1_cdef8", "av1_another"]
    assert checkasm.failures(program, table, [outcome(everything)]) == []
    (missing,) = checkasm.failures(program, table, [outcome(["av1_cdef8"])])
    assert "seed 3: checkasm checks no name of av1_another" in missing
    (other,) = checkasm.failures(program, table, [outcome([*everything, "x"])])
    assert "x is not of this table" in other
    (failed,) = checkasm.failures(program, table, [outcome(everything, passed=False)])
    assert failed.endswith("seed 3: checkasm fails:\nsaid")


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


def faults() -> Iterator[tuple[str, str]]:
    for decoder in ("dav1d", "ffmpeg"):
        for w in functions(decoder):
            for name, _ in w.classes:
                yield decoder, f"{w.short}:{name}"


@pytest.mark.campaign
@pytest.mark.parametrize("arch", checkasm.architectures())
@pytest.mark.parametrize("decoder", ["dav1d", "ffmpeg"])
def test_decoders_tests_pass(decoder: str, arch: str) -> None:
    program = checkasm.build(of(decoder), arch)
    for table in of(decoder).tables:
        outcomes = [
            checkasm.run(program, table, seed, features=features)
            for features in ("all", "none")
            for seed in range(1, 21)
        ]
        assert checkasm.failures(program, table, outcomes) == []


@pytest.mark.campaign
@pytest.mark.parametrize("arch", checkasm.architectures())
@pytest.mark.parametrize(("decoder", "fault"), list(faults()))
def test_a_spoiled_element_is_seen(decoder: str, fault: str, arch: str) -> None:
    """By one of ten seeds: heights and strengths are drawn."""
    program = checkasm.build(of(decoder), arch)
    name = fault.partition(":")[0]
    (table,) = (t for t in of(decoder).tables if name in program.of_table(t))
    runs = (checkasm.run(program, table, seed, spoil=fault) for seed in range(1, 11))
    seen = next((o for o in runs if not o.passed), None)
    assert seen is not None and name in seen.reached, seen and seen.said
