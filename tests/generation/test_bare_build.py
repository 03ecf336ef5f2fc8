# SPDX-License-Identifier: BSD-2-Clause
"""What is generated builds on a board that has a compiler and CMake alone: all variants, the ladder
that rules chose for tuning among them, and the program that measures them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.cli import gen
from daedalus.generator.compile.new_spec import KINDS, write_spec
from daedalus.generator.compile.registry import load
from daedalus.generator.options import QPU

ROOT = Path(__file__).parents[2]
INTERPRETERS = ("py", "pip", "daedalus")  # what programs that are hidden begin with


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH leads to everything but Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in sorted(Path(place).glob("*")):
            to = folder / program.name
            if not program.name.startswith(INTERPRETERS) and not to.exists():
                to.symlink_to(program.resolve())
    for program in ("cmake", "ninja"):  # perhaps of a package of Python
        found = shutil.which(program)
        if found is not None and not (folder / program).exists():
            (folder / program).symlink_to(Path(found).resolve())
    return {"PATH": str(folder), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}


def by_rule(tmp_path: Path) -> Path:
    """Code of kernels of each kind that `new` writes, which no options.toml lists."""
    specs, out = tmp_path / "specs", tmp_path / "made"
    specs.mkdir()
    for kind in KINDS:
        write_spec(specs, f"hevc_{kind}", kind)
    load.cache_clear()
    done = CliRunner().invoke(gen.command, ["--specs", str(specs), "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.campaign
@pytest.mark.parametrize("ruled", [False, True], ids=["checked in", "by rule"])
def test_variants_and_tuner_build(ruled: bool, tmp_path: Path, bare: dict[str, str]) -> None:
    generated = by_rule(tmp_path) if ruled else ROOT / "generated"
    build = tmp_path / "build"
    for words in (
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DDAEDALUS_TESTS=OFF",
         "-DDAEDALUS_TUNE=ON", f"-DDAEDALUS_GENERATED_DIR={generated}",
         # Nobody has compared what rules made just now; what is checked in, somebody has.
         *(["-DDAEDALUS_ALLOW_UNVERIFIED=ON"] if ruled else [])],
        ["cmake", "--build", build, "-j", str(os.cpu_count() or 1),
         "--target", "daedalus_variants", "daedalus-tune"],
    ):  # fmt: skip
        done = subprocess.run([*map(str, words)], env=bare, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "python" not in (build / "build.ninja").read_text().lower()
    manifest = json.loads((generated / "manifest.json").read_text())
    names = {
        v["name"] for k in manifest["kernels"] for v in k["variants"]
        if v["target"] not in ("neon", QPU)  # which this machine's processor or route may lack
    }  # fmt: skip
    assert any("glsl" in n for n in names)
    library = (build / "libdaedalus_variants.a").read_bytes()
    assert [n for n in sorted(names) if n.encode() + b"\0" not in library] == []
    listed = subprocess.run(
        [build / "daedalus-tune", "--help"], env=bare, capture_output=True, text=True
    )
    assert listed.returncode == 0 and "--journal" in listed.stdout + listed.stderr
