# SPDX-License-Identifier: BSD-2-Clause
"""LLVM's disassembler, and llvm-mca with its model of the Cortex-A76.

The A76 is the Neoverse N1's core.  Some LLVMs model the name cortex-a76 as an older core, so the
model is told by what it calls its ports; the newest LLVM found is taken.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.process import run

PACKAGE = "llvm-19"  # that tools/packages.toml lists
_PORTS = "N1Unit"
_NAMES = ("cortex-a76", "neoverse-n1")
_TRIPLE = "-mtriple=aarch64"
# The disassembler and the parser are to know every instruction; the ports are the model's.
_FEATURES = "-mattr=+rdm,+dotprod,+fullfp16"
_WITHOUT_LIMIT = 1000  # micro-operations dispatched a cycle: more than any model has ports


# Ports that can stand in for each other, as operations choose among: vectors, memory, integers.
_FAMILIES = (("V0", "V1"), ("L0", "L1"), ("S0", "S1", "M"))


@dataclass(frozen=True)
class Cycles:
    """What llvm-mca says of a straight line of instructions that is repeated."""

    a_time: float  # cycles a repetition
    bound: float  # what operations that only one set of ports can do, and dispatch, need at least
    pressure: dict[str, float]  # by port, cycles a repetition

    @property
    def shared(self) -> float:
        """Cycles that a family of ports needs at least for all that was done by its ports."""
        return max(sum(self.pressure.get(p, 0.0) for p in f) / len(f) for f in _FAMILIES)


@dataclass(frozen=True)
class Waits:
    """What llvm-mca's own views say of where a repeated line waits: shares of all its cycles.

    micro_ops     dispatched a repetition
    retiring      none dispatched as what came before has not retired: the window is full
    queues        none dispatched as a scheduler's, the load or the store queue is full
    dependencies  cycles in which more waits for results than a cycle before
    ports         the same for ports; both are of `-bottleneck-analysis`
    """

    micro_ops: float
    retiring: float
    queues: float
    dependencies: float
    ports: float


@dataclass(frozen=True)
class Llvm:
    """The tools of one LLVM, and its name of the core."""

    version: str
    mc: str
    mca: str
    cpu: str

    def disassemble(self, words: tuple[int, ...]) -> list[str]:
        """The text of encoded instructions, one line each, operands after a tab."""
        encoded = "\n".join(" ".join(f"0x{b:02x}" for b in w.to_bytes(4, "little")) for w in words)
        argv = [self.mc, "-disassemble", "-triple=aarch64", _FEATURES]
        done = subprocess.run(argv, input=encoded, capture_output=True, text=True)
        lines = [line.strip() for line in done.stdout.splitlines()]
        lines = [line for line in lines if line and not line.startswith(".")]
        if done.returncode != 0 or len(lines) != len(words):
            raise UserError(
                f"{self.mc}: {len(lines)} of {len(words)} instructions were read",
                done.stderr.strip().split("\n")[0],
                EXIT_FAILED,
            )
        return lines

    def cycles(self, lines: list[str], *, dispatch: int, times: int) -> Cycles:
        """Models `times` repetitions of the lines, `dispatch` micro-operations a cycle."""
        data = self._run(lines, dispatch, times)
        region, target = data["CodeRegions"][0], data["TargetInfo"]
        summary = region["SummaryView"]
        # Of several alike the name ends in a dot and the number, as a character of that code.
        ports = [
            re.sub(r"\.(.)\Z", lambda m: str(ord(m[1])), name, flags=re.DOTALL)
            for name in target["Resources"]
        ]
        total = len(region["Instructions"])  # the row after the last instruction is the sum
        pressure = {
            ports[row["ResourceIndex"]].removeprefix(_PORTS): float(row["ResourceUsage"])
            for row in region["ResourcePressureView"]["ResourcePressureInfo"]
            if row["InstructionIndex"] == total
        }
        return Cycles(summary["TotalCycles"] / times, summary["BlockRThroughput"], pressure)

    def total(self, lines: list[str], *, dispatch: int, times: int) -> float:
        """Cycles a repetition alone, as `cycles` has them, in less time; nothing is kept."""
        argv = [self.mca, _TRIPLE, f"-mcpu={self.cpu}", _FEATURES, f"-dispatch={dispatch}"]
        argv += [f"-iterations={times}", "-all-views=false", "-summary-view"]
        done = subprocess.run(argv, input="\n".join(lines) + "\n", capture_output=True, text=True)
        found = re.search(r"^Total Cycles: +(\d+)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or found is None:
            raise self._refused(done.stderr)
        return int(found[1]) / times

    def port_bound(self, lines: list[str]) -> float:
        """Cycles that ports need at least, were all else free."""
        cycles = self.cycles(lines, dispatch=_WITHOUT_LIMIT, times=1)
        return max(cycles.bound, cycles.shared)

    def free(self, lines: list[str], *, times: int) -> Cycles:
        """Models repetitions of the lines as if any number of micro-operations were dispatched."""
        return self.cycles(lines, dispatch=_WITHOUT_LIMIT, times=times)

    def waits(self, lines: list[str], *, times: int, dispatch: int = _WITHOUT_LIMIT) -> Waits:
        """Where `times` repetitions of the lines wait."""
        views = ("-dispatch-stats", "-instruction-info=0", "-resource-pressure=0")
        region = self._run(lines, dispatch, times, *views)["CodeRegions"][0]
        summary, stalls = region["SummaryView"], region["DispatchStatistics"]
        said = self._say(lines, dispatch, times, "-bottleneck-analysis", *views[1:])
        cycles = summary["TotalCycles"]
        return Waits(
            micro_ops=summary["TotaluOps"] / times,
            retiring=stalls["RCU"] / cycles,
            queues=(stalls["SCHEDQ"] + stalls["LQ"] + stalls["SQ"]) / cycles,
            dependencies=_share("Data Dependencies:", said),
            ports=_share("Resource Pressure", said),
        )

    def _run(self, lines: list[str], dispatch: int, times: int, *views: str) -> dict[str, Any]:
        """llvm-mca's report as data."""
        found: dict[str, Any] = json.loads(self._say(lines, dispatch, times, "-json", *views))
        return found

    def _refused(self, said: str) -> UserError:
        errors = [line for line in said.splitlines() if "error:" in line]
        return UserError(
            f"{self.mca}: {errors[0] if errors else 'it failed'}",
            "an instruction that this LLVM does not know?",
            EXIT_FAILED,
        )

    def _say(self, lines: list[str], dispatch: int, times: int, *views: str) -> str:
        """llvm-mca's report; kept, as it is a function of what stands here."""
        argv = [self.mca, _TRIPLE, f"-mcpu={self.cpu}", _FEATURES, *views]
        argv += [f"-dispatch={dispatch}", f"-iterations={times}"]
        text = "\n".join(lines) + "\n"
        key = hashlib.sha256(f"{self.version} {argv} {text}".encode()).hexdigest()
        kept = build_dir() / "model" / f"{key[:32]}.json"
        if kept.is_file():
            return kept.read_text()
        done = subprocess.run(argv, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise self._refused(done.stderr)
        kept.parent.mkdir(parents=True, exist_ok=True)
        own = f"{os.getpid()}-{threading.get_ident()}"  # threads model the same lines as well
        fresh = kept.with_suffix(f".{own}.new")
        fresh.write_text(done.stdout)
        fresh.replace(kept)
        return done.stdout


def _share(what: str, said: str) -> float:
    """A share of the bottleneck analysis; 0 where it found nothing to say."""
    found = re.search(rf"^ *{what} +\[ *([0-9.]+)% *\]", said, re.MULTILINE)
    return float(found[1]) / 100 if found else 0.0


def find() -> Llvm:
    """The newest LLVM whose tools are on the path and that has a model of the core."""
    seen = []
    for mca in _candidates():
        mc = mca.replace("llvm-mca", "llvm-mc")
        said = re.search(r"LLVM version (\S+)", run([mca, "--version"]))
        if said is None or shutil.which(mc) is None:
            continue
        seen.append(said[1])
        for cpu in _NAMES:
            if _models(mca, cpu):
                return Llvm(said[1], mc, mca, cpu)
    raise UserError(
        f"no LLVM with a model of the Cortex-A76 (found: {', '.join(seen) or 'none'})",
        f"install Debian's package {PACKAGE}, or run ./daedalus setup",
        EXIT_MISSING,
    )


def _candidates() -> list[str]:
    """Names of llvm-mca on the path, the newest first."""
    names = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        names |= {p.name for p in Path(folder or ".").glob("llvm-mca*")}
    numbered = [n for n in names if re.fullmatch(r"llvm-mca-\d+", n)]
    numbered.sort(key=lambda n: int(n.rpartition("-")[2]), reverse=True)
    return [*numbered, *(n for n in ("llvm-mca",) if n in names)]


def _models(mca: str, cpu: str) -> bool:
    argv = [mca, _TRIPLE, f"-mcpu={cpu}", "-json", "-iterations=1"]
    done = subprocess.run(argv, input="nop\n", capture_output=True, text=True)
    if done.returncode != 0 or "not a recognized processor" in done.stderr:
        return False
    ports = json.loads(done.stdout)["TargetInfo"]["Resources"]
    return all(p.startswith(_PORTS) for p in ports)
