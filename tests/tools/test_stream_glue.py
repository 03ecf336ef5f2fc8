# SPDX-License-Identifier: BSD-2-Clause
"""What a stream program puts into a decoder's tables."""

from daedalus.codecs import clips
from daedalus.generator.verify import stream_glue


def program(name: str) -> stream_glue._Program:
    decoder, tables = stream_glue.tables_of(next(d for d in clips.decoders() if d.name == name))
    return stream_glue._Program(decoder, tables)


def test_functions_are_made_of_calls_of_ours() -> None:
    made = {p.place: body for p, body, _ in program("vp9").made}
    mixed = made["vp9dsp.loop_filter_mix2[4][8][h]"]
    first, second = mixed.splitlines()
    assert first.endswith("(dst, stride, E & 0xff, I & 0xff, H & 0xff);")
    assert second.endswith("(dst + 8 * stride, stride, E >> 8, I >> 8, H >> 8);")
    assert first.split("(dst")[0] != second.split("(dst")[0]  # the 4-tap and the 8-tap one
    assert first.startswith("(n_way = ")  # one expression, behind an if as well
    assert not any(place.startswith("vp9dsp.mc[") for place in made)  # kernels' own functions


def test_every_pointer_that_ours_are_called_through_is_a_way() -> None:
    own = program("h264")
    ways = {w.short: names for w, names in zip(own.functions, own.ways, strict=True)}
    assert set(ways["h264_idct4"]) == {
        "h264_idct_add",
        *(f"within h264_idct_{n}" for n in ("dc_add", "add16", "add8", "add16intra")),
    }
    assert [w for p, _, w in own.made if p.field.name == "h264_idct_add8"] == [
        "chroma_format_idc <= 1"
    ]


def test_the_text_has_every_table_of_the_codec() -> None:
    av1 = next(d for d in clips.decoders() if d.name == "av1")
    text = stream_glue.source(av1)
    assert "slots[1] = (stream_any_fn *)ours_av1_cdef8;" in text
    assert "dav1d_cdef_filter_8x8_8bpc_avx2" in text and "stream_decoder" not in text
