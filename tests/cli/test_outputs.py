# SPDX-License-Identifier: BSD-2-Clause
"""Files that verbs write: whole or not at all, and never over what is no regular file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from report_pages import board, some_entries
from tuning_lines import every_type

from daedalus.generator.base import outputs, records
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.inputs import read_input
from daedalus.generator.base.outputs import refresh, write_output
from daedalus.generator.cli.main import cli
from daedalus.generator.tuning import journal


def daedalus(*words: str, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "daedalus.generator.cli.main", *words],
        stdout=subprocess.PIPE if stdout is None else stdout, stderr=subprocess.PIPE,
        text=True, timeout=60,
    )  # fmt: skip


@pytest.fixture
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "out"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")
    return path


SPECIAL = pytest.mark.parametrize("special", ["fifo", "folder", "node"], indirect=True)


@SPECIAL
def test_what_is_no_regular_file_is_refused(special: Path) -> None:
    before = special.lstat()
    with pytest.raises(UserError, match="is no regular file") as e:
        write_output(special, "text")
    assert e.value.exit_code == 2
    assert special.lstat().st_mode == before.st_mode and Path("/dev/null").is_char_device()
    assert [p.name for p in special.parent.iterdir()] == ["out"]


def test_symlinks_stay_and_their_targets_are_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("target")
    write_output(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to("later")
    write_output(dangling, b"new")
    assert dangling.is_symlink() and (tmp_path / "later").read_bytes() == b"new"
    dangling.unlink()
    dangling.symlink_to("dangling")
    with pytest.raises(UserError):
        write_output(dangling, "new")


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_output(tmp_path / "a" / "b" / "out", "text")
    assert (tmp_path / "a" / "b" / "out").read_text() == "text"


def test_who_reads_a_file_that_is_made_anew_sees_one_text_or_the_other(tmp_path: Path) -> None:
    out = tmp_path / "made" / "out.c"
    refresh(out, "old " * 10_000)
    before = out.stat()
    refresh(out, "old " * 10_000)
    assert (out.stat().st_ino, out.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    with out.open() as reader:
        reader.read(1)
        refresh(out, "new")
        assert len(reader.read()) == 39_999
    assert out.read_text() == "new" and [p.name for p in out.parent.iterdir()] == ["out.c"]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, mode: str) -> object:
        os.close(fd)
        return open("/dev/full", mode, buffering=0)

    monkeypatch.setattr(outputs.os, "fdopen", full)


@pytest.mark.usefixtures("full_disk")
def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    with pytest.raises(UserError, match="No space left on device"):
        write_output(out, "new")
    assert out.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("full_disk")
def test_records_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = records.path("k", tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text(old := '{"version": 1, "kernel": "k", "stats": {"driver": "d"}}')
    with pytest.raises(UserError, match=f"{file}: No space left on device"):
        records.write("k", records.VERIFIED, {"v": {}}, tmp_path)
    assert file.read_text() == old and [p.name for p in file.parent.iterdir()] == [file.name]


@SPECIAL
def test_verbs_refuse_it(special: Path, tmp_path: Path) -> None:
    kept, some = tmp_path / "journal", tmp_path / "some"
    journal.append(kept, *every_type())
    journal.append(some, *some_entries())
    for words in (
        ["tune", "export", "--journal", str(kept), "--t4", str(special)],
        ["tune", "merge", str(special), str(kept)],
        ["tune", "merge", str(tmp_path / "new"), str(special)],
        ["report", "--no-drawings", "--kernel", "vp9_idct8", "--output", str(special)],
        ["recipe", "--journal", str(some), "--fingerprint", board().id, "--output", str(special)],
        ["bench", "vp9_idct8", "--distinct", "16", "--write-data", str(special)],
        ["explain", "vp9_idct8", "--svg", str(special)],
    ):
        ran = daedalus(*words)
        assert ran.returncode == 2, (words, ran.stderr)
        assert "Traceback" not in ran.stderr
        assert "is no regular file" in ran.stderr or "is a directory" in ran.stderr
    assert special.exists() and not special.is_file()


@SPECIAL
def test_what_is_no_regular_file_is_not_read(special: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no regular file") as e:
        read_input(special)
    assert e.value.exit_code == 2
    with pytest.raises(UserError, match="nothing: No such file") as e:
        read_input(tmp_path / "nothing", "make one")
    assert e.value.hint == "make one"
    (tmp_path / "some").write_bytes(b"text")
    assert read_input(tmp_path / "some") == b"text"


@pytest.mark.parametrize("special", ["fifo"], indirect=True)
def test_verbs_do_not_wait_for_a_fifo(special: Path, tmp_path: Path) -> None:
    kept, out = tmp_path / "journal", str(tmp_path / "made")
    journal.append(kept, *every_type())
    reported = ["report", "--no-drawings", "--kernel", "vp9_idct8", "--output", out]
    for words in (
        ["recipe", "--journal", str(special), "--output", out],
        ["tune", "show", "--journal", str(special)],
        ["tune", "export", "--journal", str(special), "--t4", out],
        ["tune", "compare", str(kept), str(special)],
        ["tune", "merge", out, str(special)],
        ["tune", "run", "vp9_idct8", "--journal", str(special)],
        [*reported, "--journal", str(special)],
        [*reported, "--journal", str(kept), "--recipe", str(special)],
        [*reported, "--journal", str(kept), "--model", str(special)],
        [*reported, "--journal", str(kept), "--neon", str(special)],
        ["build", "--recipe", str(special)],
        ["stream", str(special)],
        ["v3d", "run", "--profile", str(special), "true"],
        ["v3d", "timing", "--profile", str(special)],
    ):
        ran = daedalus(*words)
        assert ran.returncode == 2, (words, ran.stderr)
        assert "Traceback" not in ran.stderr
        assert not Path(out).exists()
    assert special.is_fifo()


def test_a_file_that_does_not_fit(tmp_path: Path) -> None:
    """As on a full disk: the system takes some bytes of a file and no more."""
    kept, out = tmp_path / "journal", tmp_path / "made" / "out"
    journal.append(kept, *some_entries())
    out.parent.mkdir()
    out.write_bytes(b"old\n")
    for words in (
        ["recipe", "--journal", str(kept), "--fingerprint", board().id, "--output", str(out)],
        ["report", "--journal", str(kept), "--no-drawings", "--output", str(out)],
        ["tune", "export", "--journal", str(kept), "--fingerprint", board().id, "--t4", str(out)],
        ["tune", "merge", str(out), str(kept)],
        ["bench", "vp9_idct8", "--distinct", "16", "--write-data", str(out)],
    ):
        ran = subprocess.run(
            ["prlimit", "--fsize=100", sys.executable, "-B", "-m",
             "daedalus.generator.cli.main", *words],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert ran.returncode == 2, (words, ran.stderr)
        assert "Traceback" not in ran.stderr
        (said,) = (line for line in ran.stderr.splitlines() if "error: " in line)
        assert str(out) in said and ("File too large" in said or "bytes" in said)
        assert out.read_bytes() == b"old\n" and [p.name for p in out.parent.iterdir()] == ["out"]


def test_a_full_disk_behind_stdout() -> None:
    with open("/dev/full", "w") as full:
        ran = daedalus("list", stdout=full.fileno())
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[0] == "daedalus: error: cannot write: No space left on device"
    assert "Traceback" not in ran.stderr and "Exception" not in ran.stderr


def test_a_pipe_that_nobody_reads_is_left_quietly() -> None:
    there, here = os.pipe()
    os.close(there)
    try:
        ran = daedalus("list", stdout=here)
    finally:
        os.close(here)
    assert ran.returncode == 1 and ran.stderr == ""


def test_a_line_in_part_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "journal"
    journal.append(kept, every_type()[0])
    before, write = kept.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:10]))
    with pytest.raises(OSError, match="only 10 of"):
        journal.append(kept, every_type()[1])
    assert kept.read_bytes() == before


def test_a_verb_with_a_slip_gets_a_suggestion() -> None:
    ran = CliRunner().invoke(cli, ["benhc"], prog_name="daedalus")
    assert ran.exit_code == 2
    assert "No such command 'benhc'. Did you mean bench?" in ran.output
