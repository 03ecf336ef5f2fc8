# SPDX-License-Identifier: BSD-2-Clause
"""From a journal by way of a recipe to what the library does: chosen as told, right to the bit."""

import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tuning_lines import result

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.cli import build
from daedalus.generator.cli.main import cli
from daedalus.generator.devices import drm
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.host import native
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import described
from daedalus.generator.tuning.fingerprint import Fingerprint
from daedalus.generator.tuning.recipe import library_of
from daedalus.v3d import vkrun

HERE = Path(__file__).parent
LIBRARY = library_of(json.loads((repo_root() / "generated" / "manifest.json").read_text()))
BOARD = Fingerprint("a test", "-", "-", "-", "gcc", LIBRARY.generator, "-")
EACH = 1024 // 3  # of the program's items a class; there is one more of the first


@pytest.fixture(scope="module")
def program() -> Path:
    folder = native.build_library(
        "host", targets=("daedalus",), options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",)
    )
    return native.compile_program(
        "host", build_dir() / "tests" / "choices", [HERE / "choices.c"],
        includes=native.library_includes(), libraries=[folder / "libdaedalus.a"], flags=["-ldl"],
        static=False,
    )  # fmt: skip


def recipe_of(folder: Path, times: Mapping[str, float]) -> Path:
    """What `recipe` makes of a journal with these points; the path of the recipe."""
    file, out = folder / "journal.jsonl", folder / "recipe"
    journal.append(file, described(BOARD))
    for point, ns in times.items():
        hashes = {"input_hash": LIBRARY.variants[point.split("/")[2]].input_hash}
        span: dict[str, Any] = {"median": ns, "low": 0.99 * ns, "high": 1.01 * ns, "items": 1024}
        scenario = "m3 items=1024" if "/gcc/" in point else "m2 items=1024"
        journal.append(file, result(point, scenario, fingerprint=BOARD.id, **span, **hashes))
    words = ["recipe", "--journal", str(file), "--output", str(out)]
    ran = CliRunner().invoke(cli, words, prog_name="daedalus")
    assert ran.exit_code == 0, ran.output
    return out


def choices(
    program: Path, recipe: Path | str, prefix: Sequence[str] = (), **environment: str
) -> tuple[list[str], list[list[str]]]:
    """The program's line about the recipe, and its choices; the pictures are the same."""
    ran = subprocess.run(
        [*prefix, program], capture_output=True, text=True,
        env={**os.environ, "DAEDALUS_RECIPE": str(recipe), **environment},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    first, *others, last = ran.stdout.splitlines()
    assert last == "same"
    return first.split(), [line.split(" ", 5) for line in others]


def variant(target: str, class_name: str, *, route: str) -> str:
    """The last prod variant of a class: not the one that is taken without a recipe, if there are
    several."""
    names = [
        v.name for v in LIBRARY.variants.values()
        if v.kernel == "vp9_idct8" and v.class_name == class_name and v.prod
        and v.name.partition("__")[2].startswith(f"{target}_")
    ]  # fmt: skip
    where = "gcc/-/0" if route == "-" else f"-/{route}/{32 if route == 'vulkan' else 0}"
    return f"vp9_idct8/{class_name}/{names[-1]}/{where}"


def test_the_cpu_takes_what_was_measured_best(program: Path, tmp_path: Path) -> None:
    """For DC blocks the variant for all blocks, where that is no slower: one variant less."""
    wide = "vp9_idct8/dc/daedalus_vp9_idct8__c_full/gcc/-/0"
    times = {wide: 50.0, "vp9_idct8/dc/daedalus_vp9_idct8__c_dc/gcc/-/0": 90.0}
    recipe = recipe_of(tmp_path, times)
    told, found = choices(program, recipe, DAEDALUS_VULKAN_DEVICE="none")
    assert told == ["recipe", "2", "1", "0", "-"]
    assert [int(f[2]) for f in found] == [EACH + 1, EACH, EACH]
    assert found[0][3] == "daedalus_vp9_idct8__c_full"
    assert found[0][5].startswith("measured: 50.0 (49.5..50.5) ns an item on one core")
    assert found[1][3].endswith("_eob12") and "measured" not in found[1][5]
    assert choices(program, "none")[1][0][3].endswith("_dc")


def test_other_code_means_the_cpu(program: Path, tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, {"vp9_idct8/dc/daedalus_vp9_idct8__c_full/gcc/-/0": 50.0})
    recipe.write_text(recipe.read_text().replace(LIBRARY.generator, "0" * 16))
    ran = subprocess.run(
        [program], capture_output=True, text=True,
        env={**os.environ, "DAEDALUS_RECIPE": str(recipe)},
    )  # fmt: skip
    lines = ran.stderr.splitlines()
    assert len(lines) == 1 and f"warning: recipe {recipe}:2: this recipe is old" in lines[0]
    assert ran.stdout.startswith("recipe 2 0 0 -\n") and ran.stdout.endswith("\nsame\n")


def on_gpu(
    program: Path, tmp_path: Path, route: str, target: str, gpu: devices.GpuDevice
) -> list[list[str]]:
    """The choices where R is above 1 for whole blocks, below for others."""
    full = variant(target, "full", route=route)
    times = {
        "vp9_idct8/dc/daedalus_vp9_idct8__c_dc/gcc/-/0": 20.0,
        variant(target, "dc", route=route): 90.0,
        "vp9_idct8/full/daedalus_vp9_idct8__c_full/gcc/-/0": 300.0,
        full: 129.0,
    }
    environment = {k: v for k, v in gpu.environment.items() if k != "DAEDALUS_QPU_ROUTE"}
    told, found = choices(program, recipe_of(tmp_path, times), gpu.prefix, **environment)
    assert told == ["recipe", "2", "4", "0", route]
    assert [f[4] for f in found] == ["cpu", "cpu", "qpu"]
    assert "R 0.222" in found[0][5] and "ORANGE, measured" in found[0][5]
    assert found[2][3] == full.split("/")[2] and "GREEN, measured" in found[2][5]
    assert "measured" not in found[1][5]
    return found


def test_vulkan_takes_what_was_measured_best(program: Path, tmp_path: Path) -> None:
    vkrun.lavapipe()  # fetches it
    (gpu,), skips = devices.find(["lavapipe-8"], lambda arch: program)
    assert not skips
    on_gpu(program, tmp_path, "vulkan", "glsl", gpu)


def test_drm_takes_what_was_measured_best(program: Path, tmp_path: Path) -> None:
    """Nothing but the recipe says which route: by Vulkan, which is tried first, there is none."""
    gpu = drm.device(drm.SIMULATED, lambda arch: program)
    if isinstance(gpu, devices.Skip):
        warnings.warn(gpu.reason, stacklevel=2)
        pytest.skip(gpu.reason)
    on_gpu(program, tmp_path, "drm", "qpu", gpu)


@pytest.mark.campaign
def test_a_library_can_be_built_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    for part in ("cmake", "runtime", "tools", "v3d"):
        shutil.copytree(repo_root() / part, root / part)
    shutil.copy(repo_root() / "CMakeLists.txt", root)
    fake = repo_root() / "tests" / "c" / "fake_generated"
    shutil.copytree(fake, root / "generated")
    for part in ("c", "consumers"):
        (root / "tests" / part).mkdir(parents=True)
        (root / "tests" / part / "CMakeLists.txt").touch()
    monkeypatch.setattr(native, "repo_root", lambda: root)
    monkeypatch.setattr(native, "build_dir", lambda: root / "build")
    text = (repo_root() / "tests" / "c" / "built_in.recipe").read_text()
    recipe = tmp_path / "recipe"
    recipe.write_text(text)
    source = tmp_path / "main.c"
    source.write_text(
        "#include <daedalus/core.h>\n#include <stdio.h>\n"
        "int main(void) { daedalus_recipe_info i = {.size = sizeof(i)};\n"
        "  return daedalus_ctx_recipe(daedalus_ctx_create_no_qpu(), &i) != 0 ||"
        " printf(\"%d %s\\n\", (int)i.source, i.fingerprint) < 0; }\n"
    )  # fmt: skip
    folder = build._build("portable", recipe)
    assert folder.name == "portable-recipe"
    exe = native.compile_program(
        "host", tmp_path / "main", [source], includes=[root / "runtime" / "include"],
        libraries=[folder / "libdaedalus.a"], flags=["-ldl"], static=False,
    )  # fmt: skip
    environment = {k: v for k, v in os.environ.items() if k != "DAEDALUS_RECIPE"}
    told = subprocess.run([exe], capture_output=True, text=True, env=environment)
    assert told.stdout == "3 0123456789abcdef no board: written by hand\n", told.stderr
    recipe.write_text(text.replace("written by hand", "another", 1))
    with pytest.raises(UserError, match=r"measured with the\s+code\s+of generator\s+another"):
        build._build("portable", recipe)
    recipe.write_text("hello\n")
    with pytest.raises(UserError, match=r"does\s+not\s+begin\s+with"):
        build._build("portable", recipe)
