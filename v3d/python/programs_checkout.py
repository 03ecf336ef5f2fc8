# SPDX-License-Identifier: BSD-2-Clause
"""Tests of other people's checkouts, run by pytest on the simulated device: py-videocore7's.

The project is on GitHub alone, so that whoever has a checkout names it.  Python is Debian trixie's,
whatever this machine has; its packages are those of py-videocore7.txt in v3d/tools/programs.
"""

import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, native
from daedalus.v3d import apart, programs_packages, tools
from daedalus.v3d.programs import Program, Result, judge_jobs

NAME = "py-videocore7"
KNOWN = "it asserts what the host's clock showed, and the simulator is slower than the GPU"
_AGAINST = "its own assertions"
_LIMIT_S = 1800
_CLOCK = re.compile(r"\b(?:time|perf_counter|monotonic)(?:_ns)?\(\)")


def run_tests(checkout: Path) -> list[Result]:
    """Runs the tests of a checkout, and judges each that does not pass."""
    if not any((checkout / name).is_dir() for name in ("test", "tests")):
        raise UserError(
            f"{checkout} has no folder test or tests", f"name a checkout of {NAME}, as git makes it"
        )
    python, environment = _python()
    home = _home()
    report, jobs, log = (home / f"{NAME}.{kind}" for kind in ("xml", "jobs", "log"))
    for file in (report, jobs):
        file.unlink(missing_ok=True)
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit2"]
    argv = [*python, *pytest, f"--junit-xml={report}"]
    words, device = tools.on_device(argv, jobs=jobs)
    say(f"running the tests in {checkout}")
    packages = environment["PYTHONPATH"]
    paths = ":".join([str(checkout), str(checkout / "src"), packages])
    ended = apart.finish(
        words,
        {**device, **environment, "PYTHONPATH": paths},
        limit_s=_LIMIT_S,
        log=log,
        folder=checkout,
    )
    version = version_of(checkout)
    (home / f"{NAME}.out").write_text(ended.out)
    results = judge(report.read_text() if report.is_file() else "", version, ended.how)
    program = Program(NAME, (f"{NAME}=={version}",), checkout, _AGAINST, {}, "")
    return [*results, *judge_jobs(program, jobs.read_text() if jobs.is_file() else "")]


def judge(report: str, version: str, ended: str) -> list[Result]:
    """Makes results of pytest's report: one of all tests, and one of each that does not pass.

    A failure is known where the test asserts what it read from the host's clock, and only one such
    test is expected.
    """

    def result(what: str, verdict: str, detail: str) -> Result:
        return Result(NAME, version, what, _AGAINST, verdict, detail)

    try:
        cases = list(ElementTree.fromstring(report).iter("testcase"))
    except ElementTree.ParseError:
        cases = []
    if not cases:
        return [result("its tests", "failed", f"{ended}, and no test was reported")]
    found, n_passed, n_skipped, known = [], 0, 0, 0
    for case in cases:
        what = f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")
        wrong = next((case.find(k) for k in ("failure", "error") if case.find(k) is not None), None)
        if wrong is None:
            skipped = case.find("skipped") is not None
            n_skipped += skipped
            n_passed += not skipped
            continue
        first = (wrong.get("message") or "").partition("\n")[0][:100]
        if wrong.tag == "failure" and asserts_time(wrong.text or "") and known == 0:
            known += 1
            found.append(result(what, "known", KNOWN))
        else:
            found.append(result(what, "failed", first))
    well = n_passed + n_skipped + known == len(cases) and n_passed > 0
    detail = f"{ended}; {n_skipped} left out" if n_skipped else ended
    what = f"{n_passed} of {len(cases)} tests"
    return [result(what, "ok" if well else "failed", detail), *found]


def asserts_time(traceback: str) -> bool:
    """Whether a test failed by an assertion of its own, and had read the host's clock for it.

    pytest prints the test's source down to the line that failed, which begins with `>`.
    """
    lines = traceback.splitlines()
    failed = [n for n, line in enumerate(lines) if line.startswith(">")]
    if not failed or not re.match(r">\s+assert\b", lines[failed[0]]):
        return False
    read = [re.match(r"\s+(\w+) = .*", x) for x in lines[: failed[0]] if _CLOCK.search(x)]
    names = {m[1] for m in read if m}
    # What is reckoned from these is of the clock, too.
    for line in lines[: failed[0]]:
        reckoned = re.match(r"\s+(\w+) = (.*)", line)
        if reckoned and names & set(re.findall(r"\w+", reckoned[2])):
            names.add(reckoned[1])
    return bool(names & set(re.findall(r"\w+", lines[failed[0]])))


def version_of(checkout: Path) -> str:
    """What the checkout says that it is."""
    try:
        project = tomllib.loads((checkout / "pyproject.toml").read_text()).get("project", {})
    except (OSError, tomllib.TOMLDecodeError):
        project = {}
    return str(project.get("version", "of unknown version"))


def _home() -> Path:
    place = build_dir() / "v3dv" / "programs"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _python() -> tuple[list[str], dict[str, str]]:
    """How to call trixie's Python with the packages, and what its environment needs."""
    if native.is_arm():
        raise UserError("the packages are listed for x86-64", "use such a machine", EXIT_MISSING)
    folder = fetch.ensure("python", "amd64")
    libraries = folder / "usr" / "lib" / "x86_64-linux-gnu"
    loader = folder / "usr" / "lib64" / "ld-linux-x86-64.so.2"
    words = [str(loader), "--library-path", str(libraries), str(folder / "usr/bin/python3.13")]
    environment = {
        "PYTHONHOME": str(folder / "usr"),
        "PYTHONPATH": str(_packages()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return words, environment


def _packages() -> Path:
    """The folder of the packages, fetched from PyPI by this process's own Python."""
    listed = repo_root() / "v3d" / "tools" / "programs" / f"{NAME}.txt"
    place = _home() / f"{NAME}-packages"
    programs_packages.ensure(
        place,
        listed.read_text(),
        what=f"what the tests of {NAME} need",
        again=f"./daedalus v3d programs {NAME} --checkout DIR",
        target="--python-version 3.13 --implementation cp --platform manylinux2014_x86_64".split(),
    )
    return place
