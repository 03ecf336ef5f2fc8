# SPDX-License-Identifier: BSD-2-Clause
"""The pages: each is in the index, links lead somewhere, samples are what they say they are."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    calls,
    commands,
    fault,
    links,
    paths,
    prose,
)

from daedalus.generator.base import records
from daedalus.generator.base.braces import names_of
from daedalus.generator.cli.test import LAYERS
from daedalus.generator.compile.registry import load
from daedalus.generator.devices import vulkan
from daedalus.generator.host import native
from daedalus.generator.options import BY_TARGET, OLDER, TARGETS
from daedalus.generator.tuning.entries import VERDICTS
from daedalus.generator.tuning.rules import BANDS
from daedalus.generator.tuning.space import CONSTRAINTS
from daedalus.generator.verify.check_runs import DEFAULT_QPUS, QPUS

GROUPS = ("Use", "Write a kernel", "The GPU without a Pi", "Inside")
TUNING = DOCS / "tuning.md"
LANGUAGES = {"asm", "c", "cmake", "json", "python", "sh", "text", "toml", "yaml"}
ALL = [block for page in PAGES for block in blocks(page)]
RUN = [
    b
    for b in ALL
    if b.language in ("sh", "python") and not b.remark and b.page.parent.name != "v3d"
]
SAMPLES = [b for b in ALL if b.language == "c" and not b.remark]

INVENTED = ("language.md", "new-kernel.md")  # their examples are kernels that are not here

# What samples that are no programs stand in.
AROUND = """#include <daedalus.h>
void sample(daedalus_ctx *ctx, daedalus_batch *batch, uint8_t *dst, ptrdiff_t stride,
    int16_t *coeffs, size_t n, const daedalus_vp9_idct8_meta *meta,
    const daedalus_vp9_lpf4_v_meta *sets);
void sample(daedalus_ctx *ctx, daedalus_batch *batch, uint8_t *dst, ptrdiff_t stride,
    int16_t *coeffs, size_t n, const daedalus_vp9_idct8_meta *meta,
    const daedalus_vp9_lpf4_v_meta *sets) {
(void)ctx; (void)batch; (void)dst; (void)stride; (void)coeffs; (void)n; (void)meta; (void)sets;
%s}
"""


def _name(value: object) -> str:
    if isinstance(value, Block):
        return value.where
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


def test_every_page_is_in_one_group_of_the_index() -> None:
    index = DOCS / "index.md"
    groups = re.split(r"^## (.*)$", index.read_text(), flags=re.MULTILINE)
    assert tuple(groups[1::2]) == GROUPS
    named = [to for text in groups[2::2] for to in re.findall(r"\]\(([^)#]+)\)", text)]
    pages = {str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md")} - {"index.md"}
    inside = [to for to in named if not to.startswith("..")]
    assert sorted(inside) == sorted(pages)


def test_the_page_of_the_tuner_has_its_constraints() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \| (?:vector|neon|glsl|qpu)", TUNING.read_text(), re.MULTILINE
    )
    assert sorted(rows) == sorted(c.name for c in CONSTRAINTS)


def test_the_page_of_the_tuner_has_all_verdicts() -> None:
    table = TUNING.read_text().split("| verdict | meaning |")[1].split("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(VERDICTS)


@pytest.mark.parametrize("layer", ["check", "oracle", "fuzz", "stream"])
def test_the_page_of_the_layers_has_their_verbs(layer: str) -> None:
    table = (DOCS / "building.md").read_text()
    (row,) = [
        r for r in table.splitlines() if r.startswith("|") and f"`{layer}`" in r.split("|")[1]
    ]
    verbs = {step.name.split()[0] for step in LAYERS[layer][1]()}
    assert [v for v in verbs if not re.search(rf"`(\./daedalus )?{v}\b", row)] == []


def test_the_glossary_has_all_bands() -> None:
    (row,) = re.findall(r"^\| band \|.*", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    assert [name for name, _ in BANDS if name not in row] == []


def test_options_and_constraints_are_told_in_words_of_the_glossary() -> None:
    """A point is what is measured, a batch what is submitted."""
    told = [w.meaning for t in TARGETS for w in BY_TARGET[t].words()]
    told += [c.words for c in CONSTRAINTS]
    assert [text for text in told if re.search(r"\b(points?|batch)\b", text)] == []


def test_the_page_of_linking_has_all_headers_flags_and_errors() -> None:
    page = (DOCS / "linking.md").read_text()
    public = ROOT / "runtime" / "include" / "daedalus"
    flags = re.findall(r"DAEDALUS_CONFIG_\w+(?= = 1u)", (public / "core.h").read_text())
    errors = re.findall(r"case (-E\w+):", (ROOT / "runtime" / "base" / "error.c").read_text())
    headers = [f"<daedalus/{h.name}>" for h in public.iterdir()]
    assert flags and errors and headers
    assert [w for w in (*flags, *errors, *headers) if f"`{w}`" not in page] == []


def test_the_table_of_variants_says_all_targets() -> None:
    text = (ROOT / "runtime" / "include" / "daedalus" / "table.h").read_text()
    (target,) = re.findall(r"const char \*target; +/\*\*< (.*) \*/", text)
    assert sorted(json.loads(f"[{target}]")) == sorted(TARGETS)


def test_the_readme_says_how_many_items_check_compares() -> None:
    """By the command's own choice of devices, as `check --record` counted them."""
    found = records.by_variant(records.VERIFIED)
    other = {*vulkan.LAVAPIPE, *vulkan.V3DV, *QPUS} - {*vulkan.DEFAULT, *DEFAULT_QPUS}
    runs = [r for v in found.values() for r in v["runs"]]
    taken = [r for r in runs if r["device"] not in other and not r["device"].endswith(" frame")]
    compared = sum(r["conformant"] for r in taken)
    claim = f"{len(found)} variants, {compared / 1e6:.1f} million items compared, 0 differ"
    assert claim in (ROOT / "README.md").read_text()


def test_the_readme_says_which_targets_a_kernel_has() -> None:
    """Each kernel once."""
    table = (ROOT / "README.md").read_text().split("| kernels | variants |")[1].split("\n\n")[0]
    said: dict[str, str] = {}
    for names, targets in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", table, re.MULTILINE):
        for kernel in (k for name in re.findall(r"`([^`]+)`", names) for k in names_of(name)):
            assert kernel not in said, f"{kernel} stands there twice"
            said[kernel] = targets
    words = dict(zip(TARGETS, ("C", "vectors", "NEON", "GLSL", "QPU"), strict=True))
    for e in load():
        own = {o.target for o, _ in e.listed}
        has, lacks = ([w for t, w in words.items() if (t in own) == it] for it in (True, False))
        ways = [", ".join(has), f"all but {', '.join(lacks)}" if lacks else "all"]
        assert said.pop(e.kernel.id, "not told") in ways, e.kernel.id
    assert said == {}, "there are no such kernels"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent == DOCS], ids=_name)
def test_variants_have_their_names_of_today(page: Path) -> None:
    """`pack` is a word of today on GLSL, and not looked for."""
    older = {word for words in OLDER.values() for word in words} - {"pack"}
    text = page.read_text().split("## Words of earlier versions")[0]
    names = re.findall(r"`(?:daedalus_)?\w*?((?:_p\d+|_x\d|_word|_full)\w*)`", text)
    assert [n for n in names if older & set(n.split("_"))] == []


def test_the_page_of_glsl_has_the_statistics_on_record() -> None:
    stats = {n: s for r in records.each(records.STATS).values() for n, s in r["variants"].items()}
    row = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \| (\d+) \| ([\d.]+) \|", re.MULTILINE)
    rows = row.findall((DOCS / "glsl.md").read_text())
    assert rows
    for kernel, name, *figures in rows:
        s = stats[f"daedalus_{kernel}__glsl_{name}"]
        assert figures == [str(s["lookups"]), str(s["instructions"]), f"{s['an_item']:g}"], name


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in links(page):
        to, _, anchor = link.partition("#")
        target = (page.parent / to).resolve() if to else page
        assert target.exists(), f"{link}: there is no such file"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in INVENTED], ids=_name)
def test_paths_are_there(page: Path) -> None:
    assert [p for p in paths(page) if not (ROOT / p).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_blocks_are_fenced_and_say_what_they_are(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.where}: no language behind the fence"
        assert re.fullmatch(r"(not run: .+|from: .+)?", block.remark), f"{block.where}: remark"
    assert not re.findall(r"(?<=\n\n)    \S.*", prose(page)), "an indented block: fence it"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_command_line_takes_what_pages_call(page: Path) -> None:
    assert [f for f in map(fault, commands(page)) if f] == []


def test_faults_of_calls_are_seen() -> None:
    assert fault("chekc vp9_idct8") and fault("check --tagret c") and fault("stream --target qpu")
    assert fault("tune --devise model") and fault("tune show --dry-run")
    assert not fault("tune --device model") and not fault("v3d run -- x --any")


@pytest.mark.parametrize("block", [b for b in ALL if b.language == "text"], ids=_name)
def test_calls_are_run_or_marked(block: Block) -> None:
    assert block.remark or not calls(block), "make it `sh`, or say before it why it is not run"


def test_what_is_a_call_is_seen() -> None:
    for text in (
        "./daedalus gen", "$ ./daedalus check hevc_idst4\nvariant", "A=1 ./daedalus tune  # a Pi",
        "./daedalus tune show     # of [KERNEL]", ".venv/bin/dask scheduler", "daedalus-v3d ops",
        "./daedalus v3d run \\\n  -- ./my-program",
    ):  # fmt: skip
        assert calls(Block(DOCS, 1, "text", text, "")), text
    for text in (
        "./daedalus check [KERNEL...]", "./daedalus farm --local N check", "./daedalus new <id>",
        "daedalus-v3d-device --socket PATH", "daedalus-recipe 1", "see ./daedalus gen",
        "./daedalus bench\n    [KERNEL]",
    ):  # fmt: skip
        assert not calls(Block(DOCS, 1, "text", text, "")), text


@pytest.mark.parametrize("block", [b for b in ALL if b.source], ids=_name)
def test_excerpts_stand_in_their_files(block: Block) -> None:
    assert block.source is not None
    text = " ".join(block.source.read_text().split())
    for part in re.split(r"^\s*\.\.\.$", block.text, flags=re.MULTILINE):
        part = " ".join(part.split())
        assert part in text, f"{part!r} is not there, or not in this order"
        text = text[text.index(part) :]


@pytest.mark.parametrize("standard", ["c11", "c++17"])
@pytest.mark.parametrize("block", SAMPLES, ids=_name)
def test_samples_compile(block: Block, standard: str, tmp_path: Path) -> None:
    text = block.text if "int main(" in block.text else AROUND % block.text
    source = tmp_path / ("sample.c" if standard == "c11" else "sample.cpp")
    source.write_text(text)
    compiler = native.tool("gcc" if standard == "c11" else "g++")
    ran = subprocess.run(
        [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-fsyntax-only",
         *(f"-I{i}" for i in native.library_includes()), source],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    (program,) = [b.text for b in blocks(ROOT / "README.md") if "int main(" in b.text]
    (tmp_path / "main.c").write_text(program)
    library = native.build_library("host")
    made = native.compile_program(
        "host", tmp_path / "main", [tmp_path / "main.c"], includes=native.library_includes(),
        libraries=[library / "libdaedalus.a"],
    )  # fmt: skip
    subprocess.run([made], check=True)


@pytest.mark.parametrize("block", RUN, ids=_name)
def test_commands_run(block: Block, tmp_path: Path) -> None:
    environment = {**os.environ, "DAEDALUS_NO_SETUP": "1", "HOME": str(tmp_path)}
    words = ["bash", "-e", "-c"] if block.language == "sh" else [sys.executable, "-c"]
    ran = subprocess.run(
        [*words, block.text], cwd=ROOT, env=environment, capture_output=True,
        text=True, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_completion_is_switched_on_as_the_page_says() -> None:
    """By the page's own line; then what bash does where a word is half written."""
    (line,) = [b.text for b in RUN if "bash_source" in b.text]
    asked = (
        "COMP_WORDS=(./daedalus ch) COMP_CWORD=1; _daedalus_completion ./daedalus; echo $COMPREPLY"
    )
    ran = subprocess.run(
        ["bash", "-e", "-c", line + asked], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "DAEDALUS_NO_SETUP": "1"},
    )  # fmt: skip
    assert ran.stdout == "check\n", ran.stderr
