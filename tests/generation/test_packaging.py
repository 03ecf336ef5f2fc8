# SPDX-License-Identifier: BSD-2-Clause
"""The wheel: holds all that `gen` needs, and generates the same files away from the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from spec_support import in_stage, spec_text, write_spec

from daedalus.generator.base import records

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("pyproject.toml", "LICENSE", "README.md", "python", "codecs", "dsl", "generator",
           "templates", "v3d/python", "runtime/include", "runtime/support")  # fmt: skip
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info")


def attempt(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program in an environment that knows nothing of this one."""
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=180
    )


def run(*command: str | Path, cwd: Path) -> str:
    """The same; its output explains a failure."""
    done = attempt(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that the checkout's own build folder is neither used nor touched."""
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES:
        source, target = ROOT / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=LEFT_OUT)
        else:
            shutil.copy(source, target)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", cwd=copy)
    (made,) = (copy / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; the packages it depends on are those of this one."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=venv)
    run(sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--no-deps",
        "--no-index", "--quiet", wheel, cwd=venv)  # fmt: skip
    site = run(venv / "bin/python", "-c", "import sysconfig as s; print(s.get_paths()['purelib'])",
               cwd=venv)  # fmt: skip
    # A path in a .pth file comes last and has its own .pth files ignored: the editable install of
    # this checkout is not reachable through it.
    Path(site.strip(), "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return venv


def tree(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not records.is_record(p.relative_to(folder).as_posix())
    }


def test_the_wheel_holds_every_source(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {"daedalus/__init__.py"}
    for folder, name in (("codecs", "codecs"), ("dsl", "dsl"), ("generator", "generator"),
                         ("templates", "templates"), ("v3d/python", "v3d"),
                         ("runtime/include", "include"),
                         ("runtime/support", "support")):  # fmt: skip
        wanted |= {
            f"daedalus/{name}/{p.relative_to(ROOT / folder).as_posix()}"
            for p in (ROOT / folder).rglob("*")
            if p.is_file() and "__pycache__" not in p.parts
        }
    assert {"daedalus/dsl/kernels/vp9/options.toml", "daedalus/templates/table.c.j2",
            "daedalus/include/daedalus/core.h"} <= wanted  # fmt: skip
    assert {n for n in names if ".dist-info/" not in n} == wanted


def test_the_wheel_names_its_licence_and_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    info = next(n for n in names if n.endswith(".dist-info/METADATA")).rsplit("/", 1)[0]
    assert "BSD-2-Clause" in archive.read(f"{info}/METADATA").decode()
    assert any(n.startswith(f"{info}/") and n.endswith("LICENSE") for n in names)
    entry = archive.read(f"{info}/entry_points.txt").decode()
    assert "daedalus = daedalus.generator.cli.main:main" in entry


def test_gen_from_the_wheel_gives_the_checked_in_files(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "bin/python", "-c", "import daedalus; print(daedalus.__file__)",
                cwd=tmp_path)  # fmt: skip
    assert Path(where.strip()).is_relative_to(installed)
    # In the checkout: QPU variants take its toolkit, and the schedules on record.
    run(installed / "bin/daedalus", "gen", "--out", tmp_path / "out", cwd=ROOT)
    assert tree(tmp_path / "out") == tree(ROOT / "generated")


def test_gen_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    """Anywhere, kernels without QPU variants."""
    write_spec(tmp_path / "specs", spec_text(in_stage("pass")))
    run(installed / "bin/daedalus", "gen", "--specs", "specs", "--out", "out", cwd=tmp_path)
    assert (tmp_path / "out" / "src" / "test" / "test_it.neon.c").is_file()


def test_a_verb_that_needs_the_checkout_says_so(installed: Path, tmp_path: Path) -> None:
    done = attempt(installed / "bin/daedalus", "gen", cwd=tmp_path)
    assert done.returncode == 2
    assert "this command needs a checkout of daedalus" in done.stderr
    assert "Traceback" not in done.stderr
