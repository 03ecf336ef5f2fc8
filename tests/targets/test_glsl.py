# SPDX-License-Identifier: BSD-2-Clause
"""The GLSL back end: what its shaders hold to, whatever they compute, and what it refuses."""

import re
from functools import cache
from pathlib import Path

import pytest
from spec_support import HEAD, load_text, marked_line, spec_text

from daedalus.dsl.errors import SpecError
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.emit import entry_variants, environment
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import Options, options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.glsl import spirv
from daedalus.generator.targets.gpu import device
from daedalus.generator.targets.gpu.device import NotLowerable


@cache
def variants() -> tuple[Variant, ...]:
    return tuple(v for e in load() for v in entry_variants(e, ("glsl",)))


def names() -> list[str]:
    return [
        f"daedalus_{e.kernel.id}__{s.name}"
        for e in load()
        for s, _ in e.listed
        if s.target == "glsl"
    ]


def made(entry: Entry, options: Options) -> Variant:
    return make_variant(
        environment(), entry.kernel, options, prod=False, rank=1, spec=entry.spec
    )  # fmt: skip


def variant(name: str) -> Variant:
    return next(v for v in variants() if v.name == name)


def body(text: str) -> list[str]:
    """The statements of main, comments left out."""
    lines = text[text.index("void main()") :].splitlines()[1:-1]
    return [line for line in lines if not line.strip().startswith("//")]


# ------------------------------------------------------------------ every shader


@pytest.mark.parametrize("name", names())
def test_text(name: str) -> None:
    """Scalars only, the storage extensions only, no subgroup operation."""
    v = variant(name)
    assert v.shader is not None
    code = "\n".join(body(v.text))
    assert not re.search(r"\b(?:u?int|bool|uvec\d)\s+\w+\s*\[", code), "a local array"
    assert "subgroup" not in v.text and "for (" not in code and "while" not in code
    extensions = set(re.findall(r"#extension (\w+)", v.text))
    assert extensions <= {"GL_EXT_shader_8bit_storage", "GL_EXT_shader_16bit_storage"}
    assert {f"STORAGE{n}" for n in (8, 16) if f"{n}bit" in str(extensions)} == set(
        v.shader.features
    )
    assert max(map(len, v.text.splitlines())) <= 100


@pytest.mark.parametrize("name", names())
def test_barriers_are_under_no_condition(name: str) -> None:
    depth = 0
    for line in body(variant(name).text):
        if "barrier();" in line.lower():
            assert depth == 0, line
        depth += line.count("{") - line.count("}")


@pytest.mark.parametrize("name", names())
def test_buffers_are_stored_to_where_there_is_an_item(name: str) -> None:
    """Every statement that writes to a buffer stands below `if (live...`."""
    v = variant(name)
    assert v.shader is not None
    written = [view.name for view in v.shader.views if view.written]
    assert written
    under: list[bool] = []
    stores = 0
    for line in body(v.text):
        text = line.strip()
        if re.match(rf"(?:{'|'.join(written)})\[[^=]*\] =", text):
            assert any(under), text
            stores += 1
        for brace in re.findall(r"[{}]", text):
            if brace == "{":
                under.append(text.startswith("if (live"))
            else:
                under.pop()
    assert stores


@pytest.mark.parametrize("name", names())
def test_limits(name: str) -> None:
    v = variant(name)
    shader = v.shader
    assert shader is not None
    count = shader.workgroup // shader.invocations
    assert shader.workgroup % shader.invocations == 0
    assert shader.invocations & (shader.invocations - 1) == 0
    assert shader.invocations <= shader.workgroup_min <= shader.workgroup <= device.INVOCATIONS
    assert count * shader.shared_bytes <= device.SHARED_BYTES
    assert len(shader.push) + 1 + bool(shader.constants) <= device.STORAGE_BUFFERS
    assert 8 + 8 * len(shader.push) <= device.PUSH_BYTES
    assert len(shader.record.words) in (1, 2, *range(4, 64, 4))
    for a, b in zip(shader.align, v.kernel.buffers, strict=True):
        assert b.dtype is not None and a % b.dtype.bytes == 0 and a & (a - 1) == 0


def test_a_variant_of_any_alignment_is_there_for_every_kernel() -> None:
    anything = {
        v.kernel.id
        for v in variants()
        if v.options.class_name == "full"
        and v.shader is not None
        and list(v.shader.align) == [b.dtype.bytes for b in v.kernel.buffers if b.dtype is not None]
    }
    assert anything == {v.kernel.id for v in variants()}


def test_constants_say_what_the_tables_say() -> None:
    v = variant("daedalus_vp9_mc_8h__glsl_full_p8_word_unaligned_swar")
    assert v.shader is not None
    taps = v.kernel.table("taps")
    flat = [x & 0xFFFFFFFF for row in taps.rows for x in row]
    assert list(v.shader.constants) == flat and "constants[" in v.text


# ------------------------------------------------------------------ SPIR-V

pinned = pytest.mark.skipif(
    spirv.toolchain() != spirv.PINNED, reason=f"the SPIR-V is of {spirv.PINNED}"
)
# OpCapability of what the modules may need: Shader, StorageBuffer8BitAccess, 16BitAccess and the
# uniform one that glslang declares with it.
CAPABILITIES = {1, 4433, 4434, 4448, 4449}


@pinned
@pytest.mark.parametrize("name", names()[::5])
def test_modules(name: str) -> None:
    v = variant(name)
    module = spirv.compile_shader(v.text, v.file)
    words = [int.from_bytes(module[k : k + 4], "little") for k in range(0, len(module), 4)]
    assert words[:2] == [0x07230203, 0x00010300]
    at, capabilities = 5, set()
    while at < len(words):
        if words[at] & 0xFFFF == 17:
            capabilities.add(words[at + 1])
        at += words[at] >> 16
    assert capabilities <= CAPABILITIES


def test_modules_are_taken_where_other_tools_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spirv, "toolchain", lambda: "")
    monkeypatch.setattr(spirv, "_compiled", lambda *_: pytest.fail("there are no tools"))
    entry = find(load(), "vp9_idct8")
    assert entry is not None
    for v in entry_variants(entry, ("glsl",)):
        modules = spirv.Modules(repo_root() / "generated")
        module = modules.of(v.file, v.name, v.text)
        assert module.words[0] == 0x07230203 and module.made_by == spirv.PINNED
        assert modules.taken == [v.name]
        with pytest.raises(UserError, match=f"not installed, and needed to make {v.name}"):
            modules.of(v.file, v.name, f"{v.text} ")


# ------------------------------------------------------------------ refusals


def refused(tmp_path: Path, text: str, options: Options) -> NotLowerable:
    (entry,) = load_text(tmp_path, text)
    with pytest.raises(NotLowerable) as caught:
        made(entry, options)
    return caught.value


def test_wide_values_are_refused(tmp_path: Path) -> None:
    text = spec_text(
        "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(c[0, i] * c[1, i] * c[2, i])\n"
    )
    text = text.replace('clause="a test"', 'clause="a test", wide=True')
    error = refused(tmp_path, text, options_of("glsl"))
    assert error.message == "values of more than 32 bits have no GLSL form"


def test_more_invocations_than_a_workgroup_has_are_cut_into_several_stages(tmp_path: Path) -> None:
    text = spec_text(
        'big = k.plane("big", u8, rows=(0, 32), cols=(0, 16), access="inout")\n'
        "with k.stage(y=32, x=16) as (y, x):\n    big[y, x] = big[y, x] >> 1\n"
        "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = px[y, x] >> 1\n"
    )
    (entry,) = load_text(tmp_path, text)
    for points, stages in ((1, [256, 256, 64]), (2, [256, 32])):
        options = options_of("glsl", points=points)
        assert [s.lanes for s in lower(entry.kernel, options).stages] == stages
        shader = made(entry, options).shader
        assert shader is not None and shader.invocations == 256


def test_more_shared_memory_than_there_is(tmp_path: Path) -> None:
    text = spec_text(
        't = k.temp("t", (68, 64))\n'
        "with k.stage(i=64) as i:\n    for n in range(68):\n        t[n, i] = n\n"
        "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = t[y, x]\n"
    )
    error = refused(tmp_path, text, options_of("glsl"))
    assert "17408, and maxComputeSharedMemorySize is 16384" in error.message


def test_workgroups_are_as_large_as_shared_memory_allows(tmp_path: Path) -> None:
    text = spec_text(
        't = k.temp("t", (20, 64))\n'
        "with k.stage(i=64) as i:\n    for n in range(20):\n        t[n, i] = n\n"
        "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = t[y, x]\n"
    )
    (entry,) = load_text(tmp_path, text)
    sizes = [made(entry, options_of("glsl", points=p)).shader for p in (1, 8)]
    # 5120 bytes an item: three of them, at least one
    assert [(s.invocations, s.workgroup, s.workgroup_min) for s in sizes if s is not None] == [
        (64, 64, 64), (8, 16, 16),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "limit"), [(6, ""), (7, "9, and maxPerStageDescriptorStorageBuffers is 8")]
)
def test_more_buffers_than_a_stage_has(count: int, limit: str, tmp_path: Path) -> None:
    planes = "".join(
        f'    p{n} = k.plane("p{n}", u8, rows=(0, 1), cols=(0, 8), access="out")\n'
        for n in range(count)
    )
    stores = "".join(f"        p{n}[0, x] = {n}\n" for n in range(count))
    text = HEAD + planes + "    with k.stage(x=8) as x:\n" + stores
    if limit:
        assert limit in refused(tmp_path, text, options_of("glsl")).message
    else:
        (entry,) = load_text(tmp_path, text)
        assert made(entry, options_of("glsl")).shader is not None


def test_values_of_two_signs_that_no_type_holds(tmp_path: Path) -> None:
    text = spec_text(
        'w = k.block("w", u32, (8,))\n'
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = select(w[x] <= c[y, x], 1, 0)  # <-\n"
    )
    error = refused(tmp_path, text, options_of("glsl"))
    assert "no type of 32 bits holds both" in error.message
    assert error.loc.line == marked_line(text)


def test_a_kernel_needs_a_variant_for_any_alignment(tmp_path: Path) -> None:
    text = spec_text("with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = px[y, x] >> 1\n")
    load_text(tmp_path, text)
    folder = next(tmp_path.rglob("spec.py")).parent
    (folder / "options.toml").write_text('[test_it]\nprod = ["glsl_full_word"]\n')
    with pytest.raises(SpecError, match="needs memory aligned to words"):
        load.__wrapped__(tmp_path)


def test_an_item_of_another_class_reads_nothing_else(tmp_path: Path) -> None:
    """What a class says of a parameter is enforced where it decides a place in memory."""
    text = spec_text(
        'k.item_class("low", p=(0, 3))\n'
        't = k.table("t", u16, [n * 301 for n in range(101)])\n'
        "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = clip_u8(px[y, x] + t[p])\n"
    )
    (entry,) = load_text(tmp_path, text)
    low, full = (made(entry, options_of("glsl", name)).text for name in ("low", "full"))
    assert "constants[p_]" in low and "constants[p_]" in full
    assert re.search(r"p_ = clamp\(.*, 0, 3\);", low) and "clamp(" not in full.split("p_ =")[1][:40]
