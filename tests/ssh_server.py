# SPDX-License-Identifier: BSD-2-Clause
"""A real ssh server on this machine, for tests.

Its sessions' home is a folder of the test's, and it is reached through a proxy that cuts
connections.
"""

import contextlib
import getpass
import os
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SSHD = "/usr/sbin/sshd"


class Proxy:
    """Forwards a port of this machine to another, and can cut what it forwards."""

    def __init__(self, to: int) -> None:
        self._to, self._open = to, True
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                if not self._open:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [near, far]
                for a, b in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=(a, b), daemon=True).start()

    @staticmethod
    def _copy(a: socket.socket, b: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := a.recv(65536):
                b.sendall(data)
        for s in (a, b):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self, *, stay: bool = False) -> None:
        """Ends all connections; with `stay` new ones end at once, too."""
        self._open = not stay
        for s in self._sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def mend(self) -> None:
        self._open = True

    def close(self) -> None:
        self._server.close()
        self.cut(stay=True)


@dataclass
class Server:
    """An ssh server. `home`: of its sessions; `ssh`: the client's command."""

    home: Path
    folder: Path
    proxy: Proxy

    def config(self, **more: str) -> str:
        """The client's command with a configuration for the host "board"."""
        told = {
            "HostName": "127.0.0.1", "Port": str(self.proxy.port), "User": getpass.getuser(),
            "IdentityFile": str(self.folder / "user"), "IdentitiesOnly": "yes",
            "UserKnownHostsFile": str(self.folder / "known"), "StrictHostKeyChecking": "yes",
            "HostKeyAlias": "board", "GlobalKnownHostsFile": "none",
        } | more  # fmt: skip
        file = self.folder / "config"
        file.write_text("Host board\n" + "".join(f"  {k} {v}\n" for k, v in told.items()))
        return shlex.join(["ssh", "-F", str(file)])


def _key(path: Path) -> str:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(words, check=True)
    return path.with_suffix(".pub").read_text()


@contextmanager
def serving(tmp_path: Path, cache: str) -> Iterator[Server]:
    """A server in a folder; `cache`: below the sessions' home, where runs lie that are ended."""
    folder, home = tmp_path / "ssh", tmp_path / "home"
    for p in (folder, home):
        p.mkdir(mode=0o700)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    host = _key(folder / "host")
    (folder / "authorized").write_text(_key(folder / "user"))
    (folder / "known").write_text(f"board {host}")
    session = folder / "session"
    session.write_text(
        f"#!/bin/sh\nHOME={home}\nexport HOME\ncd\n. {folder}/profile\n"
        'exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    session.chmod(0o700)
    (folder / "profile").touch()
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nStrictModes no\n"
        f"KbdInteractiveAuthentication no\nUsePAM no\nForceCommand {session}\n"
        "PermitRootLogin prohibit-password\nMaxStartups 100\n"
    )
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log, stdin=subprocess.DEVNULL
    )
    made = Server(home, folder, Proxy(port))
    try:
        until(lambda: b"Server listening" in (folder / "log").read_bytes())
        yield made
    finally:
        made.proxy.close()
        process.terminate()
        process.wait()
        log.close()
        for pid in home.glob(f"{cache}/*/run-*/pid"):
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.killpg(int(pid.read_text()), signal.SIGKILL)


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
