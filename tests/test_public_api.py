# SPDX-License-Identifier: BSD-2-Clause
"""The public interface is what tests/data/public_symbols.txt lists; a ledger tells changes."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "runtime" / "include" / "daedalus"
LISTED = ROOT / "tests" / "data" / "public_symbols.txt"
LEDGER = ROOT / "docs" / "api-ledger.md"
HEADERS = ("core.h", "gpu.h", "table.h")
WHAT_TO_DO = (
    "the public headers and tests/data/public_symbols.txt differ: add a line a change to "
    "docs/api-ledger.md, then write the list anew with "
    "DAEDALUS_WRITE_PUBLIC_SYMBOLS=1 pytest tests/test_public_api.py"
)


def declarations(text: str) -> list[str]:
    """Constants, types and functions of a header, each on a line, without its comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL).replace("\\\n", " ")
    found = re.findall(r"^#define (DAEDALUS_\w+ +\S.*?) *$", text, flags=re.MULTILINE)
    lines = [f"#define {' '.join(d.split())}" for d in found if not d.startswith("DAEDALUS_API")]
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    code = code.replace('extern "C" {', "")
    depth, start = 0, 0
    for i, c in enumerate(code):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth == 0:
            lines.append(" ".join(code[start : i + 1].split()))
            start = i + 1
    return lines


def interface() -> str:
    return "".join(
        f"# {name}\n" + "".join(f"{d}\n" for d in declarations((INCLUDE / name).read_text()))
        for name in HEADERS
    )


def ledger() -> list[tuple[str, str, str]]:
    """Version, symbols, what."""
    rows = re.findall(r"^\| (\d+\.\d+) \| (.+?) \| (.+?) \|$", LEDGER.read_text(), re.MULTILINE)
    return [(version, symbols, what) for version, symbols, what in rows]


def test_the_interface_is_the_listed_one() -> None:
    if os.environ.get("DAEDALUS_WRITE_PUBLIC_SYMBOLS"):
        LISTED.write_text(interface())
    assert interface().splitlines() == LISTED.read_text().splitlines(), WHAT_TO_DO


def test_a_change_is_seen() -> None:
    before = "/** Says. */\nDAEDALUS_API int daedalus_a(size_t n);\n"
    assert declarations(before) == ["DAEDALUS_API int daedalus_a(size_t n);"]
    assert declarations(before.replace("Says", "Tells")) == declarations(before)
    assert declarations(before.replace("size_t", "int")) != declarations(before)
    assert declarations("enum { DAEDALUS_A = 1,\n /* b; */ DAEDALUS_B };\n") == [
        "enum { DAEDALUS_A = 1, DAEDALUS_B };"
    ]


def test_the_list_holds_every_exported_function() -> None:
    exported = {
        line
        for line in (ROOT / "runtime" / "symbols.txt").read_text().splitlines()
        if line.startswith("daedalus_") and "*" not in line
        if not line.startswith(("daedalus_rt_", "daedalus_gpu_"))
    }
    missing = {n for n in exported if not re.search(rf"\b{n}\b", interface())}
    assert not missing, f"exported, but in no public header: {sorted(missing)}"


def test_the_ledger_is_in_order_and_names_what_there_is() -> None:
    core = (INCLUDE / "core.h").read_text()
    major, minor = (
        int(re.findall(rf"DAEDALUS_VERSION_{part} (\d+)$", core, re.MULTILINE)[0])
        for part in ("MAJOR", "MINOR")
    )
    rows = ledger()
    versions = [tuple(int(n) for n in version.split(".")) for version, _, _ in rows]
    assert versions == sorted(versions, reverse=True), "newest first"
    assert versions[0] == (major, minor), "a new version needs its lines in the ledger"
    for version, symbols, what in rows:
        if not what.startswith("removed"):
            for name in re.findall(r"`(\w+)`", symbols):
                assert name in core or name in interface(), f"{version}: there is no {name}"
