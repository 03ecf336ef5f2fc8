# SPDX-License-Identifier: BSD-2-Clause
"""The fuzz verb: what it makes of a target that fails, ends well, or does not start."""

from pathlib import Path

import pytest

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.cli import v3d_fuzz
from daedalus.generator.host import native
from daedalus.v3d import fuzz

STATISTICS = """\
#1	INITED cov: 7 ft: 9 corp: 1/1b exec/s: 0 rss: 30Mb
#4096	NEW    cov: 812 ft: 1500 corp: 31/4kb lim: 64 exec/s: 2048 rss: 60Mb
stat::number_of_executed_units: 54321
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fuzz, "build_dir", lambda: tmp_path)
    return tmp_path / "v3d-fuzz"


def program(tmp_path: Path, script: str) -> Path:
    """A target that says what libFuzzer says, and then does what the script says."""
    path = tmp_path / "target"
    path.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{STATISTICS}END\n{script}\n")
    path.chmod(0o755)
    return path


def test_every_target_has_a_source() -> None:
    found = fuzz.targets()
    assert set(found) >= {"program", "requests", "text", "words"}
    for path in found.values():
        assert "int LLVMFuzzerTestOneInput(" in path.read_text()


def test_a_run_without_findings(place: Path, tmp_path: Path) -> None:
    done = fuzz.run("words", program(tmp_path, 'echo "$@" >&2; touch "$(dirname "$0")/v3d-fuzz/'
                                     'words/1"'), 3, 5)  # fmt: skip
    assert (done.executions, done.coverage, done.corpus) == (54321, 812, 1)
    assert done.finding is None and done.replay == ""
    said = (place / "words.log").read_text()
    assert "-seed=5 " in said and "-max_total_time=3 " in said
    assert str(place / "words") in said.split()


def test_an_input_that_fails_is_kept_and_can_be_replayed(place: Path, tmp_path: Path) -> None:
    fails = (
        'echo "==1==ERROR: AddressSanitizer: heap-buffer-overflow" >&2\n'
        'for a; do case $a in -artifact_prefix=*) touch "${a#*=}crash-1";; esac; done; exit 77'
    )
    target = program(tmp_path, fails)
    done = fuzz.run("text", target, 3, 5)
    assert done.finding == place / "findings" / "text-crash-1"
    assert done.replay == f"{target} {done.finding}"
    assert "heap-buffer-overflow" in done.said
    # It is found again when it fails again.
    assert fuzz.run("text", target, 3, 5).finding == done.finding
    # One that was there before is not taken for the next run's.
    with pytest.raises(UserError, match="exit status 77"):
        fuzz.run("text", program(tmp_path, "exit 77"), 3, 5)


def test_a_target_that_does_not_run_is_no_success(place: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exit status 1") as caught:
        fuzz.run("words", program(tmp_path, "echo no such option >&2; exit 1"), 3, 5)
    assert caught.value.exit_code == EXIT_FAILED
    assert "words.log" in caught.value.hint


def test_the_verb_fails_with_its_findings(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fails = 'for a; do case $a in -artifact_prefix=*) : >"${a#*=}oom-1";; esac; done; exit 71'
    target = program(tmp_path, fails)
    monkeypatch.setattr(fuzz, "build", lambda names: dict.fromkeys(names, target))
    monkeypatch.setattr(fuzz, "compiler", lambda: "clang")
    with pytest.raises(SystemExit) as caught:
        v3d_fuzz.command(["--target", "words", "--seconds", "1"], standalone_mode=False)
    assert caught.value.code == EXIT_FAILED
    out, err = capfd.readouterr()
    assert "FAILED" in out and f"replay: {target} {place}/findings/words-oom-1" in err
    with pytest.raises(UserError, match="there is no fuzz target nothing"):
        v3d_fuzz.command(["--target", "nothing"], standalone_mode=False)


def test_without_a_clang_that_fuzzes_the_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clang").write_text("#!/bin/sh\nexit 1\n")  # without its runtime
    (tmp_path / "clang").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no clang with libFuzzer") as caught:
        fuzz.compiler.__wrapped__()
    assert caught.value.exit_code == EXIT_MISSING
    assert f"{native.CLANG} and libclang-rt-19-dev" in caught.value.hint
