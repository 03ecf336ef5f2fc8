# SPDX-License-Identifier: BSD-2-Clause
"""Descriptions of decoders' tables: what they hold, what is refused, and how specs meet them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from spec_support import HEAD, in_stage, spec_text, write_spec

from daedalus.codecs.decoders.reading import all_described, read_decoder
from daedalus.codecs.decoders.tables import BadPlace, Decoder
from daedalus.dsl.errors import SpecError
from daedalus.generator.base.errors import UserError
from daedalus.generator.compile import decoder_wrappers, decoders, kept, signatures
from daedalus.generator.compile.decoder_calls import called
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.signatures import Signature


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made by the descriptions here is kept for nothing else."""
    monkeypatch.setattr(kept, "build_dir", lambda: tmp_path / "build")


DECODER = 'declare = ""\nextended = "1"\nplain = "off();"\nbest = "on();"\n'
TABLE = """\
type = "Context"
codec = "test"
init = "void fill(void *table, int depth)"

[[filled]]
name = "dsp"
depth = 8
call = "fill(table, 8)"

[[filled]]
name = "dsp10"
depth = 10
call = "fill(table, 10)"

[functions.add]
arguments = "uint8_t *dst, int16_t *block, int stride, unsigned strength"
clears = "block"

[[field]]
name = "other"

[[field]]
name = "add"
function = "add"
indices = [
  { name = "size", values = ["4", "8"] },
  { name = "mode", values = ["0", "1"], argument = "strength" },
]
rules = [
  { ranges = { strength = [0, 60] }, symbols.arm64 = ["add_{size}"] },
  { where = { size = ["8"] }, assembly = { strength = [1, 2] }, c_only = ["amd64"] },
]
"""


def described(folder: Path, table: str = TABLE, decoder: str = DECODER) -> Decoder:
    place = folder / "described" / "dec"
    place.mkdir(parents=True, exist_ok=True)
    (place / "decoder.toml").write_text(decoder)
    (place / "dsp.toml").write_text(table)
    return read_decoder(place)


def test_pointers_have_slots_and_what_rules_say(tmp_path: Path) -> None:
    decoder = described(tmp_path)
    (table,) = decoder.tables
    assert (table.count, table.init_name) == (5, "fill")
    (one,) = decoder.pointers("dsp.add[8][1]")
    assert (one.slot, one.place) == (4, "dsp.add[8][1]")
    assert one.ranges == {"strength": (1, 60)} and one.assembly == {"strength": (1, 2)}
    assert one.c_only == ("amd64",) and one.symbols("arm64") == ("add_8",)
    assert [(a, p.place) for a, p in one.switches()] == [("strength", "dsp.add[8][0]")]
    (other,) = decoder.pointers("dsp10.add[4][0]")
    assert other.ranges == {"strength": (0, 0)} and other.switches() == []
    assert other.symbols("arm64") == ()  # they are known for 8 bits
    assert [p.place for p in decoder.pointers("dsp.add[*][1]")] == [
        "dsp.add[4][1]", "dsp.add[8][1]"
    ]  # fmt: skip


# place -> message, hint
PLACES = {
    "dsp": ("'dsp' names no pointer", "table.field[index]"),
    "dsq.add[4][0]": ("dec has no table dsq", "dsp, dsp10"),
    "dsp.sub[4][0]": ("Context has no field sub", "other, add"),
    "dsp.other": ("Context.other has no function in the description", "dsp.toml:19"),
    "dsp.add[4]": ("add has 2 indices, and 'dsp.add[4]' has 1", "[size][mode]"),
    "dsp.add[5][0]": ("the index size has no value 5", "4, 8, or *"),
}


@pytest.mark.parametrize("place", PLACES)
def test_places_are_refused(place: str, tmp_path: Path) -> None:
    message, hint = PLACES[place]
    with pytest.raises(BadPlace) as caught:
        described(tmp_path).pointers(place)
    assert message in caught.value.args[0] and hint in caught.value.args[1]


# what stands there -> what takes its place, line, message
FAULTS = {
    "toml": ('codec = "test"', "codec = test", "", "Invalid value"),
    "no key": ('codec = "test"\n', "", ":1: ", "dsp has no codec"),
    "unknown key": ('codec = "test"', 'codec = "test"\nsize = 3', ":1: ", "dsp has size"),
    "type": ("depth = 8", 'depth = "8"', ":5: ", "depth = '8' is no int"),
    "function": ('function = "add"', 'function = "sub"', ":22: ", "function sub, which is not"),
    "argument": ("int stride, unsigned", "int, unsigned", ":15: ", "'int' is no argument of C"),
    "clears": ('clears = "block"', 'clears = "blocks"', ":15: ", "clears blocks, which is none"),
    "index": ('values = ["4", "8"]', 'values = ["4", "4"]', ":22: ", "no values, or one twice"),
    "decides": ('argument = "strength"', 'argument = "eob"', ":22: ", "argument eob decides"),
    "where": ('size = ["8"] }', 'width = ["8"] }', ":22: ", "a rule asks for the index width"),
    "where value": ('size = ["8"] }', 'size = ["9"] }', ":22: ", "a rule asks for size 9"),
    "range": ("strength = [0, 60]", "strength = [60]", ":22: ", "ranges of strength = [60]"),
    "architecture": ('["amd64"]', '["x86"]', ":22: ", "the architecture x86"),
    "pattern": ("add_{size}", "add_{width}", ":22: ", "pattern 'add_{width}' cannot be filled in"),
    "init": (
        'init = "void fill(void *table, int depth)"',
        'init = "fill"',
        ":3: ",
        "'fill' declares",
    ),
    "init's arguments": ("*table, int depth", "*table, int", ":3: ", "with named arguments"),
    "call": ("fill(table, 8)", "fill(8)", ":8: ", "does not call fill with table"),
    "call of another": ("fill(table, 8)", "refill(table, 8)", ":8: ", "does not call fill"),
    "body": (
        "ranges = {",
        'body = "@nowhere[1](dst);", ranges = {',
        ":22: ",
        "the body of dsp.add[4][0]: Context has no field nowhere",
    ),
    "body's index": ("ranges = {", 'body = "f(<width>);", ranges = {', ":22: ", "has <width>, no"),
    "body of several": (
        "ranges = {",
        'body = "@add[*][0](dst);", ranges = {',
        ":22: ",
        "@add[*][0] are 2 pointers",
    ),
    "field twice": ('name = "other"', 'name = "add"', ":22: ", "field add is described twice"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_descriptions_are_refused_with_their_line(fault: str, tmp_path: Path) -> None:
    old, new, line, message = FAULTS[fault]
    assert old in TABLE
    with pytest.raises(UserError) as caught:
        described(tmp_path, TABLE.replace(old, new, 1))
    assert f"dsp.toml{line}" in caught.value.message and message in caught.value.message
    assert caught.value.hint


WHOLE = TABLE.replace('codec = "test"', 'codec = "test"\nwhole = true')


def test_all_pointers_of_a_table_have_slots(tmp_path: Path) -> None:
    """Also those without a function, of which a whole table has none."""
    levels = 'levels = { last = 3, take = "up_to(N);" }\n'
    decoder = described(tmp_path, WHOLE, DECODER + levels)
    (table,) = decoder.tables
    assert table.whole and decoder.levels is not None and decoder.levels.last == 3
    pointers = table.pointers(table.filled[0])
    assert [p.slot for p in pointers] == list(range(table.count))
    assert [p.place for p in pointers][:2] == ["dsp.other", "dsp.add[4][0]"]
    assert decoder.every_pointer(table.filled[0]) == pointers[1:]


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("", "dsp.toml:1: whole: dec has no levels"),
        ("levels = 3\n", "decoder.toml:1: dec: levels = 3 is no dict"),
        ('levels = { take = "up_to(N);" }\n', "decoder.toml:5: levels has no last"),
        ('levels = { last = 3, take = "best();" }\n', "take nothing by N from 0 on"),
        ('levels = { last = -1, take = "up_to(N);" }\n', "take nothing by N from 0 on"),
        ('levels = { last = 32, take = "up_to(N);" }\n', "decoder.toml:5: levels: last = 32 is"),
    ],
)
def test_a_whole_table_needs_levels(levels: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        described(tmp_path, WHOLE, DECODER + levels)
    assert message in caught.value.message and caught.value.hint


# ------------------------------------------------------------------ specs and descriptions


def declared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: str, table: str = TABLE
) -> tuple[str, str]:
    """Header and source of a kernel's entry at a place of the table above."""
    decoder = described(folder, table)
    for module in (signatures, decoders):
        monkeypatch.setattr(module, "described", lambda name: decoder if name == "dec" else None)
    head = HEAD.replace('"a test"', f'"a test", decoders={{"dec": {value}}}')
    body = 'k.item_class("low", p=(0, 0))\nk.item_class("some", p=(1, 100))\n'
    path = write_spec(folder, spec_text(body + in_stage("pass")).replace(HEAD, head))
    names = re.findall(r"^def (\w+)\(k\)", path.read_text(), re.MULTILINE)
    (path.parent / "options.toml").write_text(f'[{names[0]}]\nprod = ["c_full"]\n')
    files = generate(load(folder)).files
    header, source = files["include/daedalus/dec.h"], files["src/decoder_dec.c"]
    return " ".join(header.split()), " ".join(source.split())


def test_types_are_the_decoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header, source = declared(tmp_path, monkeypatch, '"dsp.add[4][1](px c! px.stride p)"')
    assert "test_it(uint8_t *px, int16_t *c, int px_stride, unsigned p);" in header
    assert "p must be 1..60." in header.replace(" * ", " ")
    # The decoder's callers have no p of 0 here, so that the class of all others is what is left.
    entry = source.partition("typedef void any_fn(void);")[0]  # what follows fills tables
    assert "if (" not in entry and "test_it__c_some" in entry


def test_a_table_is_filled_for_sets_of_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, source = declared(tmp_path, monkeypatch, '"dsp.add[8][1](px c! px.stride p)"')
    assert "int daedalus_dec_fill_dsp(void *table, size_t bytes, unsigned features);" in header
    assert "daedalus_dec_fill_dsp10" not in header  # there is nothing of ours for 10 bits
    # Where there is no code for NEON, portable code is all there is.
    own = "(any_fn *)daedalus_dec_test_it"
    assert f"{{4, {{{own}, {own}, {own}, }}}}" in source
    assert f"{{4, {{{own}, NULL, NULL}}}}" in source


# value -> message
REFUSED = {
    '"dsp.add[4][1](px c px.stride p)"': "dsp.add[4][1] clears block: write c!",
    '"dsp.add[4][1](px c! px.stride p -)"':
        "dsp.add[4][1] takes 4 arguments (dst block stride strength), and 5 are named",
    '"dsp.add[4][1](c! px px.stride p)"': "dsp.add[4][1] has uint8_t * for c, not int16_t *",
    '"dsp.add[4][1](px px.stride c! p)"': "dsp.add[4][1] has int16_t * for px_stride, not",
    '"dsp.add[4](px c! px.stride p)"': "add has 2 indices",
    '"dsp.add[4][1](px c! p px.stride)"': "dsp.add[4][1] has a stride, stride, for p",
    '"dsp.add[4][1](px c! px.stride p:int8_t)"': "'p:int8_t': the description has the types of",
    '"px c! px.stride p"': "names no pointer of its tables",
}  # fmt: skip


@pytest.mark.parametrize("value", REFUSED)
def test_specs_that_do_not_suit_are_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SpecError) as caught:
        declared(tmp_path, monkeypatch, value)
    assert REFUSED[value] in caught.value.message, caught.value.message
    assert caught.value.loc.line == 3 and caught.value.hint


def test_two_functions_cannot_stand_at_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = "(px c! px.stride p)"
    value = f'{{"a": "dsp.add[*][1]{arguments}", "b": "dsp.add[8][1]{arguments}"}}'
    with pytest.raises(SpecError) as caught:
        declared(tmp_path, monkeypatch, value)
    message = "daedalus_dec_test_it_b and daedalus_dec_test_it_a stand both at dsp.add[8][1]"
    assert caught.value.message == message and caught.value.loc.line == 3


def test_a_case_has_the_entrys_names_for_the_decoders(tmp_path: Path) -> None:
    """Also where they are each other's."""
    cases = 'cases = [["low", "stride < strength"], ["others", ""]]\n\n[[field]]'
    decoder = described(tmp_path, TABLE.replace("[[field]]", cases, 1))
    pointers = tuple(decoder.pointers("dsp.add[4][1]"))
    signature = Signature(names=["px", "c", "strength", "stride"], pointers=pointers)
    assert decoder_wrappers._cases(signature) == [("low", "strength < stride"), ("others", "")]


def test_parts_of_one_packed_pointer_share_its_memory() -> None:
    (kernel,) = (e.kernel for e in load() if e.kernel.id == "av1_cdef8")
    (entry,) = kernel.decoders
    halves = tuple(
        (plane, tuple(
            replace(p, rows=rows)
            for p in parts
            for rows in (((0, 4), (4, 8)) if isinstance(p.stride, int) else (p.rows,))
        ))
        for plane, parts in entry.planes
    )  # fmt: skip
    (whole,) = called(kernel, entry)
    (split,) = called(kernel, replace(entry, planes=halves))
    assert split.in_place == whole.in_place and whole.in_place is not None
    assert whole.in_place.static == ("static uint8_t kept_left[MOST][8][2];",)


# description: old, new -> message
UNSUITABLE = {
    "returns": (
        'clears = "block"',
        'clears = "block"\nreturns = "int"',
        "returns int, and no entry",
    ),
    "const": ("uint8_t *dst", "const uint8_t *dst", "const uint8_t * for px, which is written"),
    "number": ("int stride", "int lines", "has no stride, lines, for px_stride"),
}


@pytest.mark.parametrize("which", UNSUITABLE)
def test_functions_that_do_not_suit_are_refused(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, message = UNSUITABLE[which]
    table = TABLE.replace(old, new, 1)
    with pytest.raises(SpecError) as caught:
        declared(tmp_path, monkeypatch, '"dsp.add[4][1](px c! px.stride p)"', table)
    assert message in caught.value.message and caught.value.loc.line == 3


def test_a_place_without_a_description_is_refused(tmp_path: Path) -> None:
    head = HEAD.replace('"a test"', '"a test", decoders={"dec": "dsp.add(px px.stride c p)"}')
    write_spec(tmp_path, spec_text(in_stage("pass")).replace(HEAD, head))
    with pytest.raises(SpecError, match="no description in codecs/decoders has dsp.add"):
        generate(load(tmp_path))


# ------------------------------------------------------------------ what is checked in


def test_all_places_of_the_tables_are_pointers_of_their_own() -> None:
    every = all_described()
    assert {d.name for d in every} == {"dav1d", "ffmpeg"}
    for decoder in every:
        for table in decoder.tables:
            (first, *_) = table.filled
            slots = [
                p.slot
                for field in table.fields
                if field.function is not None
                for p in decoder.pointers(f"{first.name}.{field.name}" + "[*]" * len(field.indices))
            ]
            assert len(set(slots)) == len(slots) and max(slots) < table.count
