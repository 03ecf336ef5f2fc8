# SPDX-License-Identifier: BSD-2-Clause
"""Boards by ssh: a real server on this machine, through a proxy that cuts connections.

Most tests send a small program in the place of
daedalus-tune, which takes its time; test_remote_tunes.py sends that itself.
"""

import fcntl
import gzip
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_board import LINES, kit
from ssh_server import Server, serving, until

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_INTERRUPTED, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli import tune_remote
from daedalus.generator.cli.main import cli
from daedalus.generator.tuning.kit import SCRIPT, Kit
from daedalus.generator.tuning.remote import CACHE, Job, Remote
from daedalus.generator.tuning.ssh import Lost, Ssh

JOBS, OTHERS = [Job(("--points", "x"))], [Job(("--points", "y"))]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, CACHE) as made:
        yield made


@dataclass
class Caller:
    """Somebody who measures on the server."""

    server: Server
    mirror: Path
    made: Kit
    said: list[str]
    news: list[bytes]
    before: list[bytes]
    remote: Remote

    def __init__(
        self, server: Server, mirror: Path, made: Kit, *, ssh: str = "", patience: float = 30
    ) -> None:
        self.server, self.mirror, self.made = server, mirror, made
        self.said, self.news, self.before = [], [], []
        client = Ssh("board", ssh or server.config())
        self.remote = Remote(client, (), self.said.append, patience=patience)

    @property
    def there(self) -> Path:
        return self.server.home / CACHE / self.made.id

    def run(self, jobs: Sequence[Job] = JOBS) -> int:
        self.remote.probe()
        self.remote.deploy(self.made, self.mirror)
        return self.remote.run(jobs, (), self.news.append, self.before.append)

    def right(self) -> bool:
        """Every line is here and there, once."""
        text = self.made.files["lines"]
        mirrored, there = self.mirror.read_bytes(), (self.there / "journal.jsonl").read_bytes()
        return text == mirrored == there

    def begun(self) -> int:
        """How often the program was."""
        return len((self.there / "began").read_text().splitlines())


class At:
    """Does something when a caller has so many lines, or, with `said`, has been told something;
    `join` raises what went wrong."""

    def __init__(
        self, caller: Caller, n: int, what: Callable[[], object], *, said: str = ""
    ) -> None:
        self._caller, self._n, self._what, self._said = caller, n, what, said
        self._wrong: BaseException | None = None
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        try:
            until(self._holds, 60)
            self._what()
        except BaseException as e:
            self._wrong = e
            (self._caller.server.home / "gate").unlink(missing_ok=True)  # so that the run ends

    def _holds(self) -> bool:
        told = any(self._said in s for s in self._caller.said)
        return len(self._caller.news) >= self._n and (told or not self._said)

    def join(self) -> None:
        self._thread.join()
        if self._wrong is not None:
            raise self._wrong


def test_a_cut_connection_costs_nothing(server: Server, tmp_path: Path) -> None:
    """Once for a moment, once for longer than a first try: the run goes on all the while."""
    caller = Caller(server, tmp_path / "mirror", kit())

    def twice() -> None:
        server.proxy.cut()
        time.sleep(0.5)
        server.proxy.cut(stay=True)
        gate.unlink()
        time.sleep(1.5)
        server.proxy.mend()

    gate = server.home / "gate"
    gate.touch()
    thread = At(caller, 5, twice)
    assert caller.run() == 0
    thread.join()
    assert caller.right() and caller.begun() == 1
    assert b"".join(line + b"\n" for line in caller.news) == caller.made.files["lines"]
    assert any("no connection to board" in s for s in caller.said)


@pytest.mark.campaign
def test_another_call_follows_the_same_run(server: Server, tmp_path: Path) -> None:
    class Left(Exception):
        """Whoever called has gone."""

    def leave(line: bytes) -> None:
        first.news.append(line)
        if len(first.news) == 5:
            raise Left

    gate = server.home / "gate"
    gate.touch()
    first = Caller(server, tmp_path / "mirror", kit())
    first.remote.deploy(first.made, first.mirror)
    with pytest.raises(Left):
        first.remote.run(JOBS, (), leave, leave)
    second = Caller(server, tmp_path / "mirror", kit())
    thread = At(second, 0, gate.unlink, said="going on with the run that is under way")
    assert second.run() == 0
    thread.join()
    assert second.right() and second.begun() == 1
    assert f"board has kit {second.made.id}" in second.said
    # A third finds all of it done; one without the mirror is told all of it again.
    assert second.run() == 0 and second.right() and second.begun() == 2
    other = Caller(server, tmp_path / "other", kit())
    assert other.run() == 0 and other.right() and len(other.news) == LINES


@pytest.mark.campaign
def test_a_run_that_dies_is_started_where_its_journal_ends(server: Server, tmp_path: Path) -> None:
    caller = Caller(server, tmp_path / "mirror", kit())

    def kill() -> None:
        (pid,) = caller.there.glob("run-*/pid")
        os.killpg(int(pid.read_text()), signal.SIGKILL)
        gate.unlink()

    gate = server.home / "gate"
    gate.touch()
    thread = At(caller, 5, kill)
    assert caller.run() == 0
    thread.join()
    assert caller.right() and caller.begun() == 2
    assert "the run on board died; it is started again" in caller.said
    hopeless = Caller(server, tmp_path / "m", kit(program="#!/bin/sh\nkill -s KILL 0\n"))
    with pytest.raises(UserError, match="dies again and again"):
        hopeless.run()


@pytest.mark.campaign
def test_it_can_be_stopped(server: Server, tmp_path: Path) -> None:
    caller = Caller(server, tmp_path / "mirror", kit())
    gate = server.home / "gate"
    gate.touch()
    thread = At(caller, 5, caller.remote.stop)
    assert caller.run() == 130
    thread.join()
    gate.unlink()
    assert 5 <= len(caller.mirror.read_bytes().splitlines()) < LINES
    assert caller.run() == 0 and caller.right()
    caller.remote.stop()  # there is nothing to stop


@pytest.mark.campaign
def test_one_run_a_board(server: Server, tmp_path: Path) -> None:
    first = Caller(server, tmp_path / "mirror", kit())
    other = Caller(server, tmp_path / "other", kit(3))

    def intrude() -> None:
        with pytest.raises(UserError, match="at work for somebody else: another run is under way"):
            other.run()
        gate.unlink()

    gate = server.home / "gate"
    gate.touch()
    thread = At(first, 3, intrude)
    assert first.run() == 0 and first.right()
    thread.join()
    assert not (other.there / "began").exists()
    assert other.run() == 0


@pytest.mark.campaign
def test_another_run_of_the_same_kit_is_awaited(server: Server, tmp_path: Path) -> None:
    first = Caller(server, tmp_path / "mirror", kit())
    second = Caller(server, tmp_path / "second", kit())
    gate = server.home / "gate"
    gate.touch()
    late = At(second, 0, gate.unlink, said="is under way on board: following it first")
    early = At(first, 3, partial(second.run, OTHERS))
    assert first.run() == 0 and first.right()
    early.join()
    late.join()
    assert second.right() and second.begun() == 2
    # All came while the first one's was under way: the second one's had nothing to do.
    assert len(second.before) == LINES and second.news == []
    assert len(list(second.there.glob("run-*"))) == 2


@pytest.mark.campaign
def test_whoever_awaits_a_run_that_is_stopped_begins_none(server: Server, tmp_path: Path) -> None:
    first = Caller(server, tmp_path / "mirror", kit())
    second = Caller(server, tmp_path / "second", kit())

    def follow() -> None:
        with pytest.raises(UserError, match="run-.* was ended, and no other is begun") as caught:
            second.run(OTHERS)
        assert caught.value.exit_code == EXIT_INTERRUPTED

    gate = server.home / "gate"
    gate.touch()
    late = At(second, 0, first.remote.stop, said="following it first")
    early = At(first, 3, follow)
    assert first.run() == 130
    early.join()
    late.join()
    assert second.begun() == 1


def test_one_command_a_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that follow, each would add what the other has."""

    def follow(run: str, news: object) -> int:
        with pytest.raises(UserError, match="another command of this checkout follows board"):
            second.run((), (), print, print)
        return 0

    first, second = (Remote(Ssh("board"), (), print) for _ in range(2))
    for remote in (first, second):
        remote.mirror = tmp_path / "board" / "mirror"
        monkeypatch.setattr(remote, "_place", lambda jobs, points: "run-1")
        monkeypatch.setattr(remote, "_start", lambda *given: None)
    monkeypatch.setattr(first, "_follow", follow)
    monkeypatch.setattr(second, "_follow", lambda run, news: 1)
    assert first.run((), (), print, print) == 0
    assert second.run((), (), print, print) == 1


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A kit's folder on a board: run-2 was stopped, run-1 waits as long as there is `gate`."""
    folder = tmp_path / "kit"
    for run, job in (("run-1", "sh -c 'while [ -e gate ]; do sleep 0.1; done'"), ("run-2", "true")):
        (folder / run).mkdir(parents=True)
        (folder / run / "jobs").write_text(f"{job}\n")
    (folder / SCRIPT).write_bytes((repo_root() / "tools" / "tune" / SCRIPT).read_bytes())
    (folder / "gate").touch()
    (folder / "run-2" / "pid").write_text("999999999\n")
    (folder / "run-2" / "exit").write_text("130\n")
    (tmp_path / "board.run").write_text("kit run-2\n")
    yield folder
    (folder / "gate").unlink(missing_ok=True)


def begin(place: Path, run: str, *tools: Path) -> "subprocess.Popen[str]":
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    return subprocess.Popen(
        ["sh", str(place / SCRIPT), "start", run], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PATH": path},
    )  # fmt: skip


def told(process: "subprocess.Popen[str]") -> str:
    with process:
        assert process.stdout is not None
        return process.stdout.read()


def test_a_run_that_is_about_to_begin_has_the_board(place: Path, tmp_path: Path) -> None:
    """Nobody takes what held it before for what does."""
    setsid = tmp_path / "slow" / "setsid"
    setsid.parent.mkdir()
    setsid.write_text(f'#!/bin/sh\nsleep 3\nexec {shutil.which("setsid")} "$@"\n')
    setsid.chmod(0o700)
    first = begin(place, "run-1", setsid.parent)

    def is_held() -> bool:
        with (tmp_path / "board.lock").open("a") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    until(is_held, 30)
    assert told(begin(place, "run-2")) == "other run-1 0\n"
    assert told(first) == "new 0\n"
    subprocess.run(["sh", str(place / SCRIPT), "stop", "-"], check=True)
    until((place / "run-1" / "exit").exists, 30)
    assert (place / "run-1" / "exit").read_text() == "130\n"


def test_who_asks_whether_a_board_is_free_keeps_no_run_away(place: Path, tmp_path: Path) -> None:
    with (tmp_path / "board.lock").open("a") as f:
        fcntl.flock(f, fcntl.LOCK_SH)  # as remote.sh does for that
        begun = begin(place, "run-2")
        time.sleep(0.5)
    assert told(begun) == "ended 130 0\n"
    until((place / "run-2" / "exit").exists, 30)
    assert (place / "run-2" / "exit").read_text() == "0\n"


@pytest.mark.campaign
def test_what_a_board_forgot_is_measured_anew(server: Server, tmp_path: Path) -> None:
    caller = Caller(server, tmp_path / "mirror", kit(5))
    assert caller.run() == 0
    shutil.rmtree(server.home / CACHE)
    assert caller.run() == 0 and caller.right()


@pytest.mark.campaign
def test_a_kit_is_whole_or_not_there(server: Server, tmp_path: Path) -> None:
    caller = Caller(server, tmp_path / "mirror", kit(3))
    folder, whole = server.home / CACHE, caller.made.archive()
    changed = gzip.compress(gzip.decompress(whole).replace(b"BCM2712", b"BCM2711"))
    for archive, message in ((whole[:-200], "board: .*gzip"), (changed, "board: .*checksum")):
        with pytest.MonkeyPatch.context() as m:
            m.setattr(Kit, "archive", lambda self, archive=archive: archive)
            with pytest.raises(UserError, match=f"(?s){message}"):
                caller.run()
        assert list(folder.glob("*")) == []
    assert caller.run() == 0 and [p.name for p in folder.glob("*-*")] == []


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"Port": "1"}, "Connection refused", "has to work without a question"),
        ({"HostName": "no.such.host.invalid"}, "Could not resolve hostname", "NAME.local"),
        ({"IdentityFile": "/nowhere"}, "Permission denied", "ssh-copy-id board"),
        ({"HostKeyAlias": "stranger"}, "Host key verification failed", "look at the key"),
    ],
)
def test_ssh_tells_why_not(
    server: Server, tmp_path: Path, change: dict[str, str], message: str, hint: str
) -> None:
    caller = Caller(server, tmp_path / "mirror", kit(3), ssh=server.config(**change))
    with pytest.raises(UserError, match=f"^ssh board: .*{message}") as caught:
        caller.run()
    assert hint in caught.value.hint and "\n" not in caught.value.message
    assert caught.value.exit_code == EXIT_FAILED


def test_hosts_that_will_not_do(server: Server, tmp_path: Path) -> None:
    for host in ("-oProxyCommand=touch x", "", "a b"):
        with pytest.raises(UserError, match="is no host"):
            Ssh(host)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "uname", "getconf", "nproc", "tar", "gzip", "sha256sum", "tail", "nohup"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    (server.folder / "profile").write_text(f"PATH={tools}\n")
    caller = Caller(server, tmp_path / "mirror", kit(3))
    with pytest.raises(UserError, match="board has no flock, setsid"):
        caller.run()
    for profile, came in (("echo Welcome\n", r"'Welcome\\n.* came back"), ("exit 0\n", "''")):
        (server.folder / "profile").write_text(profile)
        with pytest.raises(UserError, match=f"board: asked for machine, bits and cores.*{came}"):
            caller.run()
    (tools / "uname").unlink()
    (tools / "uname").write_text("#!/bin/sh\necho armv7l\n")
    (tools / "uname").chmod(0o700)
    (server.folder / "profile").write_text(f"PATH={tools}:$PATH\n")
    with pytest.raises(UserError, match="board is armv7l with 64 bits"):
        caller.run()
    (tools / "nproc").unlink()
    (tools / "nproc").write_text("#!/bin/sh\necho all of them\n")
    (tools / "nproc").chmod(0o700)
    with pytest.raises(UserError, match="'armv7l.n64.nall of them.n' came back") as caught:
        caller.run()
    assert caught.value.exit_code == EXIT_FAILED and "no greeting" in caught.value.hint


@pytest.mark.parametrize(
    "came",
    ["done 0 12", "ended 12", "", "running many", "ended 0 1 2", "Welcome\nnew 0", "other 5",
     "other ../x 5", "running run-1 5"],
)  # fmt: skip
def test_a_run_that_tells_rubbish(came: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(Ssh("board"), (), print)
    monkeypatch.setattr(remote, "_script", lambda action, run: f"{came}\n")
    with pytest.raises(UserError, match=r"^board: asked for the state of run-1, and .* came back"):
        remote._state("state", "run-1")


@pytest.mark.parametrize(
    ("came", "status"), [("died 5", None), ("new 0", None), ("ended 1 5", 1), ("ended 0 10", 0)]
)
def test_a_board_that_has_less_than_was_mirrored_is_not_waited_for(
    came: str, status: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a power cut."""
    remote = Remote(Ssh("board"), (), print)
    remote.mirror = tmp_path / "mirror"
    remote.mirror.write_bytes(b"ten bytes\n")
    states = iter(["running 5", came])
    monkeypatch.setattr(remote, "_script", lambda action, run: next(states))
    monkeypatch.setattr(remote, "_stream", lambda run, offset, take: None)
    assert remote._follow("run-1", print) == status


@pytest.mark.campaign
def test_patience_ends(server: Server, tmp_path: Path) -> None:
    caller = Caller(server, tmp_path / "mirror", kit(), patience=2)
    gate = server.home / "gate"
    gate.touch()
    thread = At(caller, 3, lambda: server.proxy.cut(stay=True))
    with pytest.raises(UserError, match="no connection for 2 s") as caught:
        caller.run()
    thread.join()
    assert "the same command follows it later" in caught.value.hint
    with pytest.raises(Lost):
        Ssh("board", server.config()).run("true")
    server.proxy.mend()
    gate.unlink()
    assert caller.run() == 0 and caller.right()


# ------------------------------------------------------------------ the options


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("--host h --dry-run", "--dry-run: not with --host"),
        ("--host h --device model", "--device: not with --host"),
        ("--host h --vulkan lavapipe-8", "--vulkan: not with --host"),
        ("--host h --points 0 --json", "--points, --json: not with --host"),
        ("--host h --exhaustive --jobs 1", "--exhaustive, --jobs: not with --host"),
        ("--ssh ssh", "--ssh: only with --host"),
        ("--remote-wrapper qemu --dry-run", "--remote-wrapper: only with --host"),
        ("--no-mixed --stop", "--stop: only with --host"),
        ("--device model --items 0", "--items: only where points are measured"),
        ("--device model --mixed", "--mixed/--no-mixed: only where points are measured"),
        ("--device model --duration 1 --neon-threads 2", "--neon-threads, --duration: only where"),
        ("--device board --cpu-kernel mc", "--cpu-kernel and --qpu-kernel go together"),
        ("--device board --cpu-kernel mc --qpu-kernel lpf4", "KERNELS: not with --cpu-kernel"),
    ],
)
def test_options_that_do_not_go_together(
    words: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune_remote, "measure", lambda wish: pytest.fail("it went there"))
    ran = CliRunner().invoke(cli, ["tune", "vp9_idct8", *words.split()], prog_name="daedalus")
    error = ran.exception
    assert isinstance(error, UserError) and error.exit_code == 2 and error.hint
    assert error.message.startswith(names)
