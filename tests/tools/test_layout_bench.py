# SPDX-License-Identifier: BSD-2-Clause
"""Column-tiled frames natively: the rates of what was timed, and that wrong output has none."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import bench
from daedalus.generator.host import native
from daedalus.generator.measure.native import layouts


def test_a_line_is_a_way_to_write_frames() -> None:
    copy, ours = layouts.rates(
        "k\t64\t32\tmemcpy\t\t3000\t4\t2\t1\nk\t64\t32\tours\tby rows\t3000\t2\t1\t0.5\n"
    )
    assert copy == layouts.Speed("k", "64x32", "memcpy", "", 3000, 4, 2, 1)
    assert ours == layouts.Speed("k", "64x32", "ours", "by rows", 3000, 2, 1, 0.5)


SPEEDS = """
#include <stdio.h>
#include "speed.h"

int main(void) {
  samples taken = {0}, copies = {0};
  for (int n = 0; n < 3; n++) {
    samples_add(&taken, (double[]){100, 50, 400}[n]);
    samples_add(&copies, (double[]){10, 40, 100}[n]);
  }
  const speed s = speed_of(400, &taken, &copies);
  printf("%g %g %g", s.gb_per_s, s.spread, s.of_copy);
}
"""


def test_speeds_are_medians_over_rounds(tmp_path: Path) -> None:
    """Rates 4, 8 and 1; of the copy's in the same round 0.1, 0.8 and 0.25."""
    root = repo_root()
    (tmp_path / "main.c").write_text(SPEEDS)
    runtime = root / "runtime"
    tune = [runtime / "tune" / f"{name}.c" for name in ("base", "samples")]
    program = native.compile_program(
        "host", tmp_path / "main", [tmp_path / "main.c", *tune],
        includes=[root / "tools" / "sand_bench", runtime, *native.library_includes()],
    )  # fmt: skip
    assert subprocess.check_output([program], text=True) == "4 3 0.25"


def test_the_verb_measures_every_cpu_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "ROUNDS", 1)
    monkeypatch.setattr(layouts.measure, "__defaults__", (2, 1))
    result = CliRunner().invoke(bench.command, ["--sand", "--json"], catch_exceptions=False)
    data = json.loads(result.stdout[: result.stdout.rindex("}") + 1])
    ways = {(r["kernel"], r["way"]) for r in data["rows"]}
    for kernel in ("sand128_nv12", "sand128_p010"):
        wanted = {"memcpy", *(f"daedalus_items_{kernel}__{t}_full" for t in ("c", "neon"))}
        assert wanted <= {way for k, way in ways if k == kernel}
    assert all(r["gb_per_s"] > 0 for r in data["rows"])
    assert {r["of_copy"] for r in data["rows"] if r["way"] == "memcpy"} == {1}


def test_a_wrong_conversion_is_not_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A variant that leaves out a shift by 6, in a copy of the generated sources."""
    root = layouts.repo_root()
    for part in ("tools", "runtime"):
        (tmp_path / part).symlink_to(root / part)
    for path in (root / "generated").rglob("*sand128*"):
        if path.is_file() and "src" in path.parts:
            copy = tmp_path / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text()
            changed = path.name == "sand128_p010.c"
            copy.write_text(text.replace("* 64)", "* 32)") if changed else text)
            assert not changed or copy.read_text() != text
    (tmp_path / "generated" / "manifest.json").write_text(
        (root / "generated" / "manifest.json").read_text()
    )
    header = root / "generated" / "src" / "sand128" / "variants.h"
    (tmp_path / "generated" / "src" / "sand128" / "variants.h").write_text(header.read_text())
    monkeypatch.setattr(layouts, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(layouts, "build_dir", lambda: tmp_path / "build")
    with pytest.raises(UserError, match="p010__c_full: not what a conversion byte by byte gives"):
        layouts.measure(1, 1)
