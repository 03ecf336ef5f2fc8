# SPDX-License-Identifier: BSD-2-Clause
"""What this machine's Vulkan driver makes of the shaders beside: `python3 opinion.py [DEVICE]`.

`./daedalus v3d corpus --export FOLDER` writes this file into a folder, with all that it needs: gcc
(or CC), a Vulkan loader and its driver must be there, nothing else.  DEVICE is a part of the
device's name; the first device is taken without it.  Exit code 1 when a result is another one than
the specification's, 3 when there is no device.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def build() -> Path:
    """Compiles vkrun."""
    target = HERE / "vkrun-here"
    sources = sorted(str(p) for part in ("vkrun", "files") for p in (HERE / part).glob("*.c"))
    compiler = os.environ.get("CC", "gcc")
    flags = ["-std=c11", "-O1", f"-I{HERE}", "-isystem", str(HERE / "include")]
    subprocess.run([compiler, *flags, "-o", str(target), *sources, "-ldl"], check=True)
    return target


def run(device: str) -> str:
    """Runs all cases; what vkrun printed.  A case that ends the program costs that case only."""
    cases = (HERE / "cases.plan").read_text().split("\ncase ")
    said, out = "", HERE / "out"
    out.mkdir(exist_ok=True)
    program = build()
    for k, text in enumerate(cases):
        (HERE / "one.plan").write_text(("case " if k else "") + text + "\n")
        choice = ["--device", device] if device else []
        words = [str(program), *choice, "--out", str(out), "--timeout", "20", "one.plan"]
        done = subprocess.run(words, cwd=HERE, stdout=subprocess.PIPE, text=True)
        said += done.stdout
        if "device " not in done.stdout:
            sys.exit(3)
    return said


def words_of(case: dict[str, Any], name: str) -> list[int]:
    """A part of what a case left, as words."""
    data = (HERE / "out" / f"{name}.bin").read_bytes()
    at = case["at"]
    words = [int.from_bytes(data[k : k + 4], "little") for k in range(at, len(data), 4)]
    return words[: len(case["right"])]


def main() -> int:
    """Prints a line for each shader, and writes all to opinion.json."""
    cases = json.loads((HERE / "expected.json").read_text())
    for path in (HERE / "out").glob("*.bin"):
        path.unlink()
    said = run(sys.argv[1] if len(sys.argv) > 1 else "")
    device = next(line for line in said.splitlines() if line.startswith("device "))
    print(device)
    found: dict[str, dict[str, object]] = {}
    for name, case in cases.items():
        if f"\nok {name} " not in said:
            bad = (f"failed {name} ", f"unsupported {name} ")
            lines = [line for line in said.splitlines() if line.startswith(bad)]
            found[name] = {"verdict": lines[0] if lines else "ended the program"}
        else:
            words = words_of(case, name)
            verdict = "right" if words == case["right"] else "another result"
            verdict = f"wrong as {case['of']}'s" if words == case["wrong"] else verdict
            found[name] = {"verdict": verdict, "words": words}
        print(f"{name:26} {case['of']:9} {found[name]['verdict']}")
    (HERE / "opinion.json").write_text(json.dumps({"device": device, "found": found}, indent=1))
    return 0 if all(f["verdict"] == "right" for f in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
