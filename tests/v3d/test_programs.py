# SPDX-License-Identifier: BSD-2-Clause
"""Other people's programs on the simulated device: what is judged how, and two of Debian's."""

import json
import re
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import v3d_programs
from daedalus.generator.host import fetch, native
from daedalus.v3d import driver, programs, programs_debian, programs_packages
from daedalus.v3d.programs import Program, Result, judge, judge_jobs

ENDED = "exit status 0"


def program(known: dict[str, str], says: str = "") -> Program:
    return Program("p", ("p==1.2",), Path("p.py"), "NumPy", known, says)


def line(what: str, error: float | None, bound: float = 1e-3) -> str:
    return json.dumps({"what": what, "values": 4, "bound": bound, "error": error})


def verdicts(p: Program, out: str, ended: str = ENDED, said: str = "") -> dict[str, str]:
    return {r.what: r.verdict for r in judge(p, out, ended, said)}


def test_differences_within_the_bound_pass_and_no_others() -> None:
    out = "\n".join(["noise", line("a", 1e-3), line("b", 2e-3), line("c", None), line("d", 0, 0)])
    found = verdicts(program({}), out)
    assert found == {"a": "ok", "b": "differs", "c": "differs", "d": "ok"}
    assert not all(r.good for r in judge(program({}), out, ENDED, ""))


def test_a_script_that_ends_badly_or_says_nothing_fails() -> None:
    assert verdicts(program({}), "")["all of it"] == "failed"
    found = verdicts(program({}), line("a", 0), "exit status 1", "Traceback\nboom\n")
    assert found == {"a": "ok", "all of it": "failed"}
    assert judge(program({}), "", "exit status -11", "")[0].detail.startswith("exit status -11")


def test_what_is_known_not_to_work_must_not_work() -> None:
    p = program({"a": "the driver errs"})
    assert verdicts(p, line("a", 1)) == {"a": "known"}
    assert verdicts(p, line("a", 0)) == {"a": "works now"}
    assert verdicts(p, line("b", 0)) == {"b": "ok", "a": "failed"}
    assert [r.good for r in judge(p, line("a", 0), ENDED, "")] == [False]


def test_a_known_failure_is_told_from_another_one() -> None:
    p = program({"": "the driver does not compile it"}, "cannot pack")
    assert verdicts(p, "", "exit status -11", "x: cannot pack y\n") == {"all of it": "known"}
    assert verdicts(p, "", "exit status 1", "no module\n") == {"all of it": "failed"}
    assert verdicts(p, line("a", 0)) == {"a": "ok", "all of it": "works now"}


def test_without_a_compute_job_nothing_was_computed_on_the_device() -> None:
    copy, compute = ({"queue": q, "result": 0} for q in ("command list", "compute"))
    lost = {"queue": "compute", "result": 5}
    for jobs, verdict in (([], "failed"), ([copy], "failed"), ([copy, compute], "ok"),
                          ([compute, lost], "failed")):  # fmt: skip
        found = judge_jobs(program({}), "".join(json.dumps(j) + "\n" for j in jobs))
        assert [r.verdict for r in found] == [verdict], jobs


def test_a_line_that_was_cut_off_is_a_failure_and_no_crash() -> None:
    whole, cut = '{"queue": "compute", "result": 0}\n', '{"queue": "comp'
    (found,) = judge_jobs(program({}), whole + cut)
    assert found.verdict == "failed" and found.detail.endswith("1 not reported as a whole")
    assert [r.verdict for r in judge_jobs(program({}), whole + "7\n")] == ["failed"]
    ended = "not done after 600 s"
    found_in = verdicts(program({}), line("a", 0) + "\n" + line("b", 0)[:20], ended)
    assert found_in == {"a": "ok", "a report": "failed", "all of it": "failed"}


def test_pip_takes_the_listed_files_and_no_others() -> None:
    for p in programs.listed().values():
        for package in p.packages:
            assert re.fullmatch(r"[\w-]+==[\w.]+( --hash=sha256:[0-9a-f]{64})+", package), package


@pytest.mark.parametrize("target", [(), ("--platform", "any")])
def test_packages_are_fetched_once_and_by_their_hashes(
    target: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[list[str]] = []

    def pretend(argv: list[str | Path], **_: object) -> None:
        ran.append([str(word) for word in argv])
        (tmp_path / "p").mkdir(exist_ok=True)

    def ensure(packages: str) -> None:
        programs_packages.ensure(tmp_path / "p", packages, what="p", again="it", target=target)

    monkeypatch.setattr(programs_packages, "run", pretend)
    monkeypatch.setenv(fetch.NO_SETUP_VARIABLE, "1")
    with pytest.raises(UserError, match="p is not fetched"):
        ensure("a==1")
    assert ran == []
    monkeypatch.delenv(fetch.NO_SETUP_VARIABLE)
    ensure("a==1")
    assert "--require-hashes" in ran[-1] and ("--target" in ran[-1]) == bool(target)
    assert (tmp_path / "p" / "requirements.txt").read_text() == "a==1\n"
    n = len(ran)
    ensure("a==1")
    assert len(ran) == n
    ensure("a==2")
    assert len(ran) == 2 * n


def test_one_place_fetches_packages() -> None:
    sources = (repo_root() / "v3d" / "python").rglob("*.py")
    assert [s.stem for s in sources if "--require-hashes" in s.read_text()] == ["programs_packages"]


def test_every_program_of_the_list_has_its_script_and_version() -> None:
    listed = programs.listed()
    assert len(listed) >= 6
    for p in listed.values():
        assert p.script.is_file() and p.version, p.name
        assert p.says or "" not in p.known, p.name


def test_only_what_tells_a_build_may_differ() -> None:
    left: dict[str, object] = {"/a/driverUUID/0": 1, "/limits/x": 4}
    assert programs_debian.different(left, {"/a/driverUUID/0": 2, "/limits/x": 4}) == []
    assert programs_debian.different(left, {"/limits/x": 5}) == ["/limits/x"]
    assert programs_debian.different(left, {}) == ["/limits/x"]


def test_one_that_cannot_be_fetched_does_not_keep_others_from_running(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(code: int) -> list[Result]:
        raise UserError("pip has no network", exit_code=code)

    def run() -> tuple[int, list[str]]:
        done = CliRunner().invoke(v3d_programs.command, ["--json", "vulkaninfo", "validation"])
        if isinstance(done.exception, UserError):
            return done.exception.exit_code, []
        return done.exit_code, [r["verdict"] for r in json.loads(done.stdout)]

    monkeypatch.setattr(v3d_programs, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(programs_debian, "validation", lambda: [Result("v", "1", "w", "a", "ok")])
    monkeypatch.setattr(programs_debian, "vulkaninfo", lambda: fails(EXIT_FAILED))
    assert run() == (1, ["failed", "ok"])
    # What is missing on this machine is missing for all.
    monkeypatch.setattr(programs_debian, "vulkaninfo", lambda: fails(EXIT_MISSING))
    assert run() == (3, [])


def test_what_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "is_arm", lambda: False)
    monkeypatch.setattr(driver, "built", lambda: None)
    assert programs_debian.architectures() == ["aarch64"]
    (left,) = programs_debian.left_out("p", "1")
    assert left.verdict == "left out" and left.good and "setup --native" in left.detail
    monkeypatch.setattr(driver, "built", lambda: driver.Driver("native", Path(), Path()))
    assert programs_debian.architectures() == ["aarch64", "host"]
    assert programs_debian.left_out("p", "1") == []


def all_good(results: list[Result], n: int) -> None:
    """Wants `n` results, all as they should be; warns of what is left out."""
    left = [r for r in results if r.verdict == "left out"]
    for r in left:
        warnings.warn(f"{r.program}: {r.what} is left out: {r.detail}", stacklevel=2)
    assert all(r.good for r in results), results
    assert left or native.is_arm() or len(results) == n
    print(f"judged: {', '.join(f'{r.program}: {r.what}' for r in results if r not in left)}")


def test_vulkaninfo_tells_of_a_v3d() -> None:
    all_good(programs_debian.vulkaninfo(), 3)


def test_the_validation_layers_are_silent() -> None:
    all_good(programs_debian.validation(programs=13, sequences=4), 2)
