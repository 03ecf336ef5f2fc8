# SPDX-License-Identifier: BSD-2-Clause
"""Other people's programs on the simulated device: fetches, runs and judges them.

Those of PyPI stand in v3d/tools/programs/programs.toml, each with a script that uses it and reports
what it compared, and their packages with SHA-256 in packages.txt beside it; those of Debian are in
programs_debian.py.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import say
from daedalus.v3d import apart, driver, programs_packages, tools

_LIMIT_S = 600


@dataclass(frozen=True)
class Result:
    """One thing that a program did, and how that was judged."""

    program: str
    version: str
    what: str
    against: str  # what it was compared with
    # "ok", "differs", "failed"; "known": as the list says; "works now": it does not; "left out":
    # not looked at, because something is not there.
    verdict: str
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether it is as it should be, or as it is known to be, or was not looked at."""
        return self.verdict in ("ok", "known", "left out")


@dataclass(frozen=True)
class Program:
    """An entry of programs.toml."""

    name: str
    packages: tuple[str, ...]  # a requirement each, as pip reads it
    script: Path
    against: str
    known: dict[str, str]  # part, or "" for all, and why it does not work
    says: str  # what is printed where all of it does not work

    @property
    def version(self) -> str:
        """Its version at PyPI: that of the package of its name, or of the first that begins so."""
        return next(p for p in self.packages if p.startswith(self.name)).split("==")[1].split()[0]


def _home() -> Path:
    return build_dir() / "v3dv" / "programs"


def listed() -> dict[str, Program]:
    """The programs of PyPI, by name."""
    folder = repo_root() / "v3d" / "tools" / "programs"
    lines = re.sub(r" \\\n *", " ", (folder / "packages.txt").read_text()).splitlines()
    packages = {line.partition("==")[0]: line for line in lines if "==" in line}
    table = tomllib.loads((folder / "programs.toml").read_text())["program"]
    return {
        p["name"]: Program(
            p["name"],
            tuple(packages[name] for name in p["packages"]),
            folder / p["script"],
            p["against"],
            p.get("known", {}),
            p.get("says", ""),
        )
        for p in table
    }


def run_program(program: Program, *, limit_s: int = _LIMIT_S) -> list[Result]:
    """Fetches a program unless it is there, and runs its script on the device."""
    if driver.built() is None:
        raise UserError(
            "v3dv is not built for this machine", "./daedalus setup --native", EXIT_MISSING
        )
    python = _environment(program)
    log, jobs = (_home() / f"{program.name}.{kind}" for kind in ("log", "jobs"))
    jobs.unlink(missing_ok=True)
    words, environment = tools.on_device([str(python), str(program.script)], jobs=jobs)
    say(f"running {program.name} {program.version}")
    ended = apart.finish(words, environment, limit_s=limit_s, log=log, folder=_home())
    results = judge(program, ended.out, ended.how, log.read_text(errors="replace"))
    return [*results, *judge_jobs(program, jobs.read_text() if jobs.is_file() else "")]


def judge_jobs(program: Program, lines: str) -> list[Result]:
    """A result of the jobs that the device carried out: some that computed, and none that failed.

    `lines` are those of the device's --jobs; one that is not whole, as the device leaves it when it
    is killed, is of a job that nobody knows about, and so counts as failed.  A program that does
    not work at all has no such result.
    """
    told = [_record(line, "result", "queue") for line in lines.splitlines()]
    cut = told.count(None)
    failed = sum(job is not None and job["result"] != 0 for job in told)
    computed = sum(job is not None and job["queue"] == "compute" for job in told)
    detail = f"{computed} compute jobs, {len(told) - cut - computed} others, {failed} failed"
    if cut:
        detail += f", {cut} not reported as a whole"
    if "" in program.known:
        return []
    verdict = "ok" if computed and not failed and not cut else "failed"
    what = f"{computed} compute jobs"
    return [Result(program.name, program.version, what, "the device's report", verdict, detail)]


def _record(line: str, *keys: str) -> dict[str, Any] | None:
    """The JSON object of a line; None where it is not one with all those keys."""
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) and all(k in told for k in keys) else None


def judge(program: Program, out: str, ended: str, said: str) -> list[Result]:
    """Makes results of what a script printed, how it ended and what was said on standard error.

    A script that did not end well, or reported nothing, is a result of its own.
    """

    def result(what: str, verdict: str, detail: str) -> Result:
        return Result(program.name, program.version, what, program.against, verdict, detail)

    results = []
    for line in out.splitlines():
        if not line.startswith('{"what"'):
            continue  # programs print what they like
        told = _record(line, "what", "values", "bound", "error")
        if told is None:
            results.append(result("a report", "failed", f"not whole: {line[:60]}"))
            continue
        error, bound, what = told["error"], told["bound"], told["what"]
        fine = error is not None and error <= bound
        measure = "no measure" if error is None else f"{error:.2g}"
        detail = f"{told['values']} values, at most {measure} apart, {bound:.2g} allowed"
        why = program.known.get(what)
        if why is not None:
            results.append(result(what, "works now" if fine else "known", why))
        else:
            results.append(result(what, "ok" if fine else "differs", detail))
    missing = [k for k in program.known if k and k not in {r.what for r in results}]
    results += [result(k, "failed", "not reported, though listed as known") for k in missing]
    why = program.known.get("")
    well = ended == apart.DONE and bool(results)
    if why is not None:
        as_known = not well and program.says in said + out
        results.append(result("all of it", "known" if as_known else "works now", why))
        if not well and not as_known:
            results[-1] = result("all of it", "failed", _last_line(said, ended))
    elif not well:
        results.append(result("all of it", "failed", _last_line(said, ended)))
    return results


def _last_line(said: str, ended: str) -> str:
    lines = [x for x in said.splitlines() if x.strip() and not x.startswith("daedalus-v3d-device")]
    return f"{ended}: {lines[-1] if lines else 'nothing was said'}"


def _environment(program: Program) -> Path:
    """The Python of an environment that holds a program's packages, apart from all others."""
    place = _home() / program.name
    programs_packages.ensure(
        place,
        "\n".join(program.packages),
        what=program.name,
        again=f"./daedalus v3d programs {program.name}",
    )
    return place / "bin" / "python"
