# SPDX-License-Identifier: BSD-2-Clause
"""Commands on another machine, by the system's ssh. Keys and known hosts are ssh's own business.

Nothing is asked of the user: a host that wants a password is refused with what to do about it.
"""

import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError

_FAILED = 255  # exit status of ssh itself
_OPTIONS = (
    "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=5",
    "-o", "ServerAliveCountMax=3",
)  # fmt: skip
_HINTS = (
    ("Permission denied", "log in by a key: ssh-copy-id {host}"),
    ("Host key verification failed", "run ssh {host} once by hand, and look at the key"),
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "run ssh {host} by hand, and see what it says"),
    ("Could not resolve hostname", "check the name; on a local network a Pi is NAME.local"),
    ("", "ssh {host} true has to work without a question"),
)


class Lost(Exception):
    """ssh itself failed: no connection, or it broke. The text is what ssh said last."""


class Failed(Exception):
    """The command failed. The text is what it wrote to standard error last."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class Ssh:
    """A host. `command`: the client and its options, "ssh" by default."""

    def __init__(self, host: str, command: str = "ssh") -> None:
        if not host or host.startswith("-") or any(c.isspace() for c in host):
            raise UserError(f"{host!r} is no host", "user@name, as ssh takes it")
        self.host = host
        try:
            self._words = [*shlex.split(command), *_OPTIONS, "--", host]
        except ValueError as e:
            raise UserError(f"--ssh {command}: {e}") from None

    def run(self, *words: str, stdin: bytes = b"") -> str:
        """Runs a command there and gives what it prints. Raises Lost or Failed."""
        with self._process(words, stdin=subprocess.PIPE) as process:
            out, error = process.communicate(stdin)
        _check(process.returncode, error)
        return out.decode("utf-8", "replace")

    def stream(self, words: Sequence[str], take: Callable[[bytes], None]) -> None:
        """Hands over what a command prints while it runs. Raises Lost or Failed."""
        with self._process(words, stdin=subprocess.DEVNULL) as process:
            assert process.stdout is not None and process.stderr is not None
            while data := process.stdout.read1():  # type: ignore[attr-defined]
                take(data)
            error = process.stderr.read()
            process.wait()
        _check(process.returncode, error)

    @contextmanager
    def _process(self, words: Sequence[str], *, stdin: int) -> Iterator["subprocess.Popen[bytes]"]:
        argv = [*self._words, shlex.join(words)]
        try:
            process = subprocess.Popen(
                argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except FileNotFoundError:
            raise UserError(
                f"{argv[0]} is not installed", "install Debian's openssh-client", EXIT_MISSING
            ) from None
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def refusal(self, why: Lost) -> UserError:
        """The message for a user where there is no connection to begin with."""
        said = str(why)
        hint = next(h for what, h in _HINTS if what in said)
        return UserError(f"ssh {self.host}: {said}", hint.format(host=self.host), EXIT_FAILED)


def _check(status: int, error: bytes) -> None:
    text = error.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if status == _FAILED:
        told = [h for h, _ in _HINTS[:-1] if h in text]
        last = next((line for line in reversed(lines) for h in told if h in line), "")
        raise Lost(last or (lines[-1] if lines else "the connection broke"))
    if status != 0:
        raise Failed(status, "\n".join(lines[-5:]) or f"exit status {status}")
