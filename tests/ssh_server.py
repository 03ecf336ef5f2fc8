# SPDX-License-Identifier: BSD-2-Clause
"""A real ssh server on this machine, for tests.

It is Debian's OpenSSH, fetched and unpacked with all it needs (tools/oracles.toml), so nothing is
installed, and no service starts. Its sessions' home is a folder of the test's, and it is reached
through a proxy that cuts connections.
"""

import contextlib
import os
import pwd
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

from daedalus.generator.host import fetch
from daedalus.generator.host.packages import debian_architecture

_CHROOT = Path("/run/sshd")  # empty; where root's locks itself in: it has no option for that


@dataclass(frozen=True)
class Unpacked:
    """The server as it lies unpacked, run by the C library that lies beside it.

    Run by root it wants a user sshd, whom installing it would make: libnss-wrapper tells it of one.
    """

    root: Path

    def words(self, program: str, *more: str) -> list[str]:
        """What runs one of its programs."""
        usr = self.root / "usr"
        loader, triplet = {
            "amd64": ("lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
            "arm64": ("lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
        }[debian_architecture()]
        libraries = usr / "lib" / triplet
        return [str(usr / loader), "--library-path", str(libraries),
                "--preload", str(libraries / "libnss_wrapper.so"), str(usr / program),
                *more]  # fmt: skip

    def script(self, folder: Path, program: str) -> Path:
        """A program of the same name in a folder."""
        path = folder / Path(program).name
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.words(program))} "$@"\n')
        path.chmod(0o700)
        return path


def unpacked() -> Unpacked:
    """Fetches it unless it is there. Raises UserError where that is forbidden or fails."""
    return Unpacked(fetch.ensure("sshd", debian_architecture()))


def _users(folder: Path) -> dict[str, str]:
    """The users and groups that it knows, for libnss-wrapper: who calls, and a user sshd."""
    passwd, group = folder / "passwd", folder / "group"
    me = pwd.getpwuid(os.geteuid())
    passwd.write_text(
        f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{me.pw_dir}:/bin/sh\n"
        f"sshd:x:65533:65533::{_CHROOT}:/usr/sbin/nologin\n"
    )
    group.write_text(f"us:x:{me.pw_gid}:\nsshd:x:65533:\n")
    return {"NSS_WRAPPER_PASSWD": str(passwd), "NSS_WRAPPER_GROUP": str(group)}


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
            "HostName": "127.0.0.1", "Port": str(self.proxy.port),
            "User": pwd.getpwuid(os.geteuid()).pw_name,
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
    sshd = unpacked()
    folder, home = tmp_path / "ssh", tmp_path / "home"
    for p in (folder, home):
        p.mkdir(mode=0o700)
    if os.geteuid() == 0:
        _CHROOT.mkdir(exist_ok=True)
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
        "PermitRootLogin prohibit-password\nMaxStartups 100\nPerSourcePenalties no\n"
        f"SshdSessionPath {sshd.script(folder, 'lib/openssh/sshd-session')}\n"
        f"SshdAuthPath {sshd.script(folder, 'lib/openssh/sshd-auth')}\n"
    )
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        sshd.words("sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")), stderr=log,
        stdin=subprocess.DEVNULL, env={**os.environ, **_users(folder)},
    )  # fmt: skip
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
