# SPDX-License-Identifier: BSD-2-Clause
"""What a stream program puts into a decoder's tables."""

from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.codecs import clips
from daedalus.codecs.decoders.tables import Field
from daedalus.dsl.errors import Loc
from daedalus.generator.base.errors import UserError
from daedalus.generator.verify import stream_glue


def program(name: str) -> stream_glue._Program:
    decoder, tables = clips.tables_of(next(d for d in clips.decoders() if d.name == name))
    return stream_glue._Program(decoder, tables)


def test_every_pointer_of_a_whole_table_is_ours() -> None:
    own = program("vp9")
    (table,) = {t.type: t for t, _ in own.tables}.values()
    assert table.whole and not own.made
    for one in table.filled:
        made = own.table(table, one)
        slots = made["slots"]
        assert isinstance(slots, list)
        assert {s["slot"] for s in slots} == set(range(table.count))
    one = Field("other", table.count, None, (), (), Loc("", 1))
    with pytest.raises(UserError, match=r"at 1 of its places nothing is ours: vp9dsp\.other$"):
        own.table(replace(table, fields=(*table.fields, one)), table.filled[0])
    own.functions = own.functions[1:]
    with pytest.raises(UserError, match="is said to be whole, and at"):
        own.table(table, table.filled[0])


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


def test_what_is_made_of_calls_of_ours_says_which_way_they_come() -> None:
    own = program("h264")
    ((n, (pointer, body, _)),) = [
        (n, m) for n, m in enumerate(own.made) if m[0].place == "h264dsp.h264_idct_add16"
    ]
    (ways,) = (
        names for w, names in zip(own.functions, own.ways, strict=True) if w.short == "h264_idct4"
    )
    way = ways.index("within h264_idct_add16")
    assert way > 0 and "@" not in body
    call = f"(n_way = {way}, ours_h264_idct4)(dst + block_offset[i], block + 16 * i, stride);"
    assert body.count(call) == 1
    text = stream_glue.source(next(d for d in clips.decoders() if d.name == "h264"))
    assert call in text and f"static void made_{n}(uint8_t *dst, " in text
    assert f"slots[{pointer.slot}] = (stream_any_fn *)made_{n};" in text
    # Of calls of which one is not ours, nothing is made.
    del own.direct["h264dsp.h264_idct_add"]
    assert own._body(pointer, pointer.body[0]) == ""


def test_a_decoder_is_whole_by_all_its_tables() -> None:
    """Then damaged clips are decoded with its own transforms, too."""
    whole = {d.name: clips.is_whole(d) for d in clips.decoders()}
    assert whole == {"vp9": True, "h264": False, "av1": False}
    for decoder in clips.decoders():
        own = program(decoder.name)
        assert (decoder.transforms in own.fields) == whole[decoder.name]


def test_a_whole_decoder_without_transforms_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (clips.folder() / "clips.toml").read_text()
    (tmp_path / "clips.toml").write_text(text.replace('transforms = "itxfm_add"\n', ""))
    monkeypatch.setattr(clips, "folder", lambda: tmp_path)
    line = text[: text.index("[[decoder]]")].count("\n") + 1
    with pytest.raises(UserError, match=rf"^tools/stream/clips.toml:{line}: vp9 has no transforms"):
        clips.decoders()


def test_fields_with_functions_of_ours_are_named() -> None:
    """And those with what is made of calls of ours."""
    found = program("h264").fields
    assert {"h264_idct_add", "h264_idct_add16"} <= set(found) and found == sorted(found)


def test_the_text_has_every_table_of_the_codec() -> None:
    av1 = next(d for d in clips.decoders() if d.name == "av1")
    text = stream_glue.source(av1)
    assert "slots[1] = (stream_any_fn *)ours_av1_cdef8;" in text
    assert "dav1d_cdef_filter_8x8_8bpc_avx2" in text and "stream_decoder" not in text
