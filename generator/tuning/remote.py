# SPDX-License-Identifier: BSD-2-Clause
"""A board reached by ssh that measures by itself: sent what it needs, started, followed.

All lies below `~/.cache/daedalus/<kit>/` there (kit.py), its journal as well; tools/tune/remote.sh
is what runs. A run belongs to nobody's connection: whoever calls for the same one later follows it,
or starts it again where the journal ends; whoever calls for another one of the same kit follows
that which is under way before. Here the journal is mirrored byte by byte, so that a broken
connection costs nothing.
"""

import fcntl
import hashlib
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISSING, UserError
from daedalus.generator.host import native
from daedalus.generator.tuning.kit import PROGRAM, SCRIPT, Kit
from daedalus.generator.tuning.point import parse_point
from daedalus.generator.tuning.ssh import Failed, Lost, Ssh

CACHE = ".cache/daedalus"  # from the home folder there
PATIENCE = 900.0  # seconds without a connection, after which it is given up here
_TOOLS = ("tar", "gzip", "sha256sum", "flock", "setsid", "nohup", "tail", "getconf", "nproc")
RUN = "@RUN@"
_LASTED = 60.0  # seconds that a connection held, after which its end counts as a first one
_BUSY = 75  # exit status: a run of another kit is under way
_SHOWN = 200  # characters of an answer that is none
_RESTARTS = 3  # of a run that died without ending


@dataclass(frozen=True)
class Board:
    """What is known of the host. `arch`: one of native.py's; `cores`: that a process may use."""

    arch: str
    cores: int
    wrapper: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """Arguments of daedalus-tune, without data and journal; RUN in them is the run's folder, which
    holds the file `points`."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class _State:
    """Of a run, as tools/tune/remote.sh tells it.

    status  of one that has ended
    other   the run that is under way in its stead
    size    of the journal there, in bytes
    """

    word: str
    status: int
    other: str
    size: int


_STATE = re.compile(
    r"(?:running|died|new|ended (?P<status>\d+)|other (?P<other>run-\w+)) (?P<size>\d+)\s*",
    re.ASCII,
)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


class Remote:
    """A host, and with `deploy` a kit there. `say` is told what happens.

    wrapper   stands before programs there
    patience  seconds without a connection, after which it is given up
    mirror    the file here that the journal there is copied to
    """

    def __init__(
        self, ssh: Ssh, wrapper: Sequence[str], say: Callable[[str], None],
        *, patience: float = PATIENCE,
    ) -> None:  # fmt: skip
        self._ssh, self._wrapper, self._say = ssh, tuple(wrapper), say
        self._patience = patience
        self._folder = ""
        self._kit: Kit | None = None
        self.mirror = Path()

    # ---------------------------------------------------------------- what is there

    def probe(self) -> Board:
        """Looks at the host; raises UserError where it will not do."""
        asks = "uname -m; getconf LONG_BIT; nproc; for t in {}; do command -v $t >/dev/null || echo"
        text = (asks + " missing $t; done").format(" ".join(_TOOLS))
        try:
            said = self._ssh.run("sh", "-c", text)
        except Lost as e:
            raise self._ssh.refusal(e) from None
        except Failed as e:
            raise UserError(
                f"{self._ssh.host}: no shell that answers: {e}", self._quiet_hint(), EXIT_FAILED
            ) from None
        machine, bits, cores, *rest = [*said.splitlines(), "", "", ""]
        if not machine or not _is_number(bits) or not _is_number(cores) or int(cores) < 1:
            raise self._rubbish("machine, bits and cores, a line each", said)
        absent = [line.partition(" ")[2] for line in rest if line.startswith("missing ")]
        if absent:
            raise UserError(
                f"{self._ssh.host} has no {', '.join(absent)}",
                "they are part of every Raspberry Pi OS and Debian", EXIT_MISSING,
            )  # fmt: skip
        return Board(self._arch(machine, bits), int(cores), self._wrapper)

    def _quiet_hint(self) -> str:
        return f"ssh {self._ssh.host} uname -m has to print one line: no greeting, no echo"

    def _rubbish(self, wanted: str, said: str) -> UserError:
        """Of an answer that is not what was asked for: tells what came back."""
        shown = repr(said[:_SHOWN]) + (" and more" if len(said) > _SHOWN else "")
        return UserError(
            f"{self._ssh.host}: asked for {wanted}, and {shown} came back", self._quiet_hint(),
            EXIT_FAILED,
        )  # fmt: skip

    def _arch(self, machine: str, bits: str) -> str:
        emulated = any(Path(w).name.startswith("qemu-aarch64") for w in self._wrapper)
        if emulated or (machine == "aarch64" and bits == "64"):
            return "aarch64"
        if machine == "x86_64" and bits == "64" and not native.is_arm():
            return "host"
        raise UserError(
            f"{self._ssh.host} is {machine} with {bits} bits: programs are built here for 64-bit "
            "ARM and for this machine", "install a 64-bit Raspberry Pi OS",
        )  # fmt: skip

    def deploy(self, kit: Kit, mirror: Path) -> None:
        """Sends the kit unless it is there."""
        self._kit, self._folder, self.mirror = kit, f"{CACHE}/{kit.id}", mirror
        there = self._asked("sh", "-c", f"test -e {self._folder}/SUMS && echo yes || echo no")
        if there.strip() == "yes":
            self._say(f"{self._ssh.host} has kit {kit.id}")
            return
        archive = kit.archive()
        self._say(f"sending kit {kit.id} to {self._ssh.host}: {len(archive) / 1e6:.1f} MB")
        self._asked(
            "sh", "-c",
            f'set -e; umask 077; new="$HOME/{self._folder}.new.$$"; trap \'rm -rf "$new"\' EXIT;'
            ' mkdir -p "$new"; cd "$new"; tar xzf -; sha256sum --quiet -c SUMS; cd ..;'
            f' test -e {kit.id} || mv -T "$new" {kit.id}',
            stdin=archive,
        )  # fmt: skip

    def points(self) -> list[str]:
        """What the program there can measure."""
        words = shlex.join([*self._wrapper, f"./{PROGRAM}", "--list"])
        said = self._asked("sh", "-c", f"cd {self._folder} && {words}")
        try:
            return [str(parse_point(text)) for text in said.split()]
        except ValueError:
            raise self._rubbish("the points of daedalus-tune", said) from None

    # ---------------------------------------------------------------- a run

    def run(
        self, jobs: Sequence[Job], points: Sequence[str], news: Callable[[bytes], None],
        before: Callable[[bytes], None],
    ) -> int:  # fmt: skip
        """Has the board do the jobs; the worst exit status.

        `points` are what the run's file holds; `news` is told the journal's lines as they come,
        `before` those that come while another run of the kit is under way, which is awaited.
        It goes on with such a run that is under way, and comes back when it has ended. Raises
        UserError where another process does so for the same mirror.
        """
        with self._alone():
            run = self._place(jobs, points)
            for attempt in range(_RESTARTS + 1):
                self._start(run, attempt, before)
                status = self._follow(run, news)
                if status is not None:
                    return status
                self._say(f"the run on {self._ssh.host} died; it is started again")
        raise UserError(
            f"the run on {self._ssh.host} dies again and again",
            f"its messages: ssh {self._ssh.host} tail {self._folder}/{run}/log", EXIT_FAILED,
        )  # fmt: skip

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps out whoever else would add the same bytes to the mirror."""
        self.mirror.parent.mkdir(parents=True, exist_ok=True)
        with self.mirror.with_name(f"{self.mirror.name}.lock").open("a") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"another command of this checkout follows {self._ssh.host}",
                    "wait for it, or leave it with Ctrl-C: the board goes on",
                    EXIT_FAILED,
                ) from None
            yield

    def stop(self) -> None:
        """Has whatever run is under way there end."""
        self._script("stop", "-")

    def log(self, jobs: Sequence[Job], points: Sequence[str]) -> str:
        """The last lines that the run's programs wrote besides the journal."""
        run = self._place(jobs, points, send=False)
        return self._asked("tail", "-n", "20", f"{self._folder}/{run}/log")

    def _place(self, jobs: Sequence[Job], points: Sequence[str], *, send: bool = True) -> str:
        """The run's folder there, named by what is to be done."""
        assert self._kit is not None
        lines = "".join(self._command(j) + "\n" for j in jobs)
        listed = "".join(p + "\n" for p in points)
        run = "run-" + hashlib.sha256(f"{lines}\0{listed}".encode()).hexdigest()[:12]
        if send:
            first, second = lines.replace(RUN, run).encode(), listed.encode()
            self._asked(
                "sh", "-c",
                f"set -e; cd {self._folder}; mkdir -p {run}; cd {run}; head -c {len(first)}"
                " >jobs.new; cat >points.new; mv jobs.new jobs; mv points.new points",
                stdin=first + second,
            )  # fmt: skip
        return run

    def _command(self, job: Job) -> str:
        assert self._kit is not None
        data = [w for name in self._kit.data for w in ("--data", name)]
        words = [*self._wrapper, f"./{PROGRAM}", *data, "--journal", "journal.jsonl", *job.words]
        if self._wrapper:  # what runs so is another machine
            words += ["--compiler", f"gcc, run by {shlex.join(self._wrapper)}"[:200]]
        return shlex.join(words)

    def _start(self, run: str, attempt: int, before: Callable[[bytes], None]) -> None:
        state = self._begin(run)
        while state.other:
            self._say(f"{state.other} is under way on {self._ssh.host}: following it first")
            if self._follow(state.other, before) == EXIT_INTERRUPTED:
                raise UserError(  # whoever ended it wants the board to rest
                    f"{state.other} on {self._ssh.host} was ended, and no other is begun",
                    "what was measured is kept; the same command goes on", EXIT_INTERRUPTED,
                )  # fmt: skip
            state = self._begin(run)
        if attempt == 0 and state.word == "running":
            self._say(f"going on with the run that is under way on {self._ssh.host}")

    def _begin(self, run: str) -> _State:
        """Has the run started, unless one is under way there."""
        state = self._state("start", run)
        mirrored = self.mirror.stat().st_size if self.mirror.is_file() else 0
        if state.size < mirrored:
            self.mirror.unlink()  # the board has forgotten its own, and begins a new one
        return state

    def _follow(self, run: str, news: Callable[[bytes], None]) -> int | None:
        """Mirrors the journal until the run has ended; its exit status, None where it died."""
        with self.mirror.open("ab") as mirror:
            left = b""

            def take(data: bytes) -> None:
                nonlocal left
                mirror.write(data)
                mirror.flush()
                *lines, left = (left + data).split(b"\n")
                for line in lines:
                    news(line)

            while True:
                self._patiently(lambda: self._stream(run, mirror.tell(), take))
                state = self._state("state", run)
                # A board that lost its power may have less than was mirrored: nothing more comes.
                if state.word != "running" and state.size <= mirror.tell():
                    return state.status if state.word == "ended" else None

    def _stream(self, run: str, offset: int, take: Callable[[bytes], None]) -> None:
        words = ["sh", f"{self._folder}/{SCRIPT}", "follow", run, str(offset)]
        self._ssh.stream(words, take)

    # ---------------------------------------------------------------- connections

    def _state(self, action: str, run: str) -> "_State":
        said = self._script(action, run)
        found = _STATE.fullmatch(said)
        if found is None:
            raise self._rubbish(f"the state of {run}", said)
        status, other, size = found.group("status", "other", "size")
        return _State(said.split()[0], int(status or 0), other or "", int(size))

    def _script(self, action: str, run: str) -> str:
        return self._asked("sh", f"{self._folder}/{SCRIPT}", action, run)

    def _asked(self, *words: str, stdin: bytes = b"") -> str:
        """What a command there prints. Tried again while there is no connection."""
        found: list[str] = []
        self._patiently(lambda: found.append(self._ssh.run(*words, stdin=stdin)))
        return found[-1]

    def _patiently(self, action: Callable[[], None]) -> None:
        """Does it, again and again where the connection is lost; each may be done twice."""
        failing, pause = 0.0, 0.5  # since when
        while True:
            began = time.monotonic()
            try:
                action()
                return
            except Lost as e:
                if not failing or time.monotonic() - began > _LASTED:
                    failing, pause = time.monotonic(), 0.5
                if time.monotonic() - failing > self._patience:
                    raise UserError(
                        f"ssh {self._ssh.host}: {e}; no connection for {self._patience:.0f} s",
                        "what was begun goes on there: the same command follows it later",
                        EXIT_FAILED,
                    ) from None
                self._say(f"no connection to {self._ssh.host} ({e}); trying again")
            except Failed as e:
                raise self._failure(e) from None
            time.sleep(pause)
            pause = min(2 * pause, 30.0)

    def _failure(self, e: Failed) -> UserError:
        if e.status == _BUSY:
            return UserError(
                f"{self._ssh.host} is at work for somebody else: {e}",
                "wait for it: what is measured side by side is worth nothing", EXIT_FAILED,
            )  # fmt: skip
        return UserError(
            f"{self._ssh.host}: {e}", f"its folder there is {self._folder or CACHE}", EXIT_FAILED
        )
