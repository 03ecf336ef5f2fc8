# SPDX-License-Identifier: BSD-2-Clause
"""Fetches the packages of tools/oracles.toml from the Debian archive into folders below build.

apt does the work, with a configuration of its own below build/apt: the suite is the one of the
file, whatever this machine runs, and nothing is installed.  The mirror is the one this machine's
apt uses for Debian, or DAEDALUS_DEBIAN_MIRROR.  Debian's signature is checked when its keyring is
installed; without it only files with a known SHA-256 are taken.  A source package is checked by its
.dsc file, which names the SHA-256 of all others.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator.base.console import console
from daedalus.generator.base.costs import network
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say

MIRROR_VARIABLE = "DAEDALUS_DEBIAN_MIRROR"
NO_SETUP_VARIABLE = "DAEDALUS_NO_SETUP"  # the launcher sets it for --no-setup
SOURCE = "source"  # takes an architecture's place where a source package is fetched
_RECORD = "packages.json"


@dataclass(frozen=True)
class Oracle:
    """One set of packages, unpacked together."""

    name: str
    packages: tuple[str, ...]
    architectures: tuple[str, ...]
    archives: tuple[str, ...]  # static libraries, in the order of linking
    upstream: str  # the version that is needed, without Debian's revision; empty: any
    folder: str  # below build
    links: tuple[tuple[str, str], ...]  # symbolic links to make: name and target
    setup: str  # the option of `setup` that fetches it
    own: bool  # whether only the one for this machine's architecture is used
    version_of: str  # the package whose version stands for all; empty: all
    purpose: str
    without: str


@dataclass(frozen=True)
class _List:
    """tools/oracles.toml."""

    suite: str
    keyrings: tuple[str, ...]
    oracles: dict[str, Oracle]
    known: dict[str, str]


@dataclass(frozen=True)
class Deb:
    """One package that was unpacked; of a source package, the .dsc file stands for all."""

    package: str
    version: str
    architecture: str
    sha256: str

    @property
    def key(self) -> str:
        """Its name in the list of known files."""
        return f"{self.package}_{self.version}_{self.architecture}"


def _read_list() -> _List:
    data = tomllib.loads((repo_root() / "tools" / "oracles.toml").read_text())
    oracles = {
        o["name"]: Oracle(
            o["name"],
            tuple(o["packages"]),
            tuple(o["architectures"]),
            tuple(o.get("archives", ())),
            o.get("upstream", ""),
            o.get("folder", f"oracles/{o['name']}"),
            tuple(o.get("links", {}).items()),
            o["setup"],
            o.get("own", False),
            o.get("version_of", ""),
            o["for"],
            o["without"],
        )
        for o in data["oracle"]
    }
    return _List(data["suite"], tuple(data["keyrings"]), oracles, data["known"])


def oracles() -> dict[str, Oracle]:
    """Everything that can be fetched, by name."""
    return _read_list().oracles


def folder(name: str, architecture: str) -> Path:
    """Where the files of an oracle lie once fetched: usr/, or a source package's own folder."""
    return build_dir() / oracles()[name].folder / architecture


def fetched(name: str, architecture: str) -> list[Deb] | None:
    """What lies in an oracle's folder; None when it was not, or not wholly, fetched."""
    try:
        data = json.loads((folder(name, architecture) / _RECORD).read_text())
        return [Deb(**d) for d in data["packages"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def versions(name: str, architecture: str) -> str:
    """The versions of what lies in an oracle's folder, to show; empty when nothing does."""
    wanted = oracles()[name].version_of
    debs = fetched(name, architecture) or []
    return ", ".join(sorted({d.version for d in debs if wanted in ("", d.package)}))


def archives(name: str, architecture: str) -> tuple[Path, list[Path]]:
    """The folder of an oracle's headers, and its static libraries in linking order."""
    triplet = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[architecture]
    usr = ensure(name, architecture) / "usr"
    libraries = [usr / "lib" / triplet / a for a in oracles()[name].archives]
    return usr / "include" / triplet, libraries


def known(deb: Deb) -> bool:
    """Whether the very same file has been used with this tree before."""
    return _read_list().known.get(deb.key) == deb.sha256


def ensure(name: str, architecture: str, *, force: bool = False) -> Path:
    """Fetches an oracle unless it is there; returns its folder."""
    listing = _read_list()
    oracle = listing.oracles[name]
    if architecture not in oracle.architectures:
        raise UserError(f"{name} is not fetched for {architecture}")
    place = folder(name, architecture)
    if not force and fetched(name, architecture) is not None:
        return place
    if os.environ.get(NO_SETUP_VARIABLE, "") not in ("", "0"):
        raise UserError(
            f"{name} for {architecture} is not fetched, and --no-setup forbids to fetch"
            if not force
            else f"--no-setup forbids to fetch {name} for {architecture}",
            f"./daedalus setup --{oracle.setup} fetches it, without --no-setup and "
            f"{NO_SETUP_VARIABLE}",
            EXIT_MISSING,
        )
    with _lock():
        if not force and fetched(name, architecture) is not None:
            return place  # another process was faster
        say(f"fetching {name}, {architecture}, from Debian {listing.suite}")
        _fetch(listing, oracle, architecture, place)
    return place


@contextmanager
def _lock() -> Iterator[None]:
    path = build_dir() / "apt" / "fetch.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def _fetch(listing: _List, oracle: Oracle, architecture: str, place: Path) -> None:
    for tool in ("apt-get", "dpkg-source" if architecture == SOURCE else "dpkg-deb"):
        if shutil.which(tool) is None:
            raise UserError(
                f"{tool} is not installed, and {oracle.name} comes as Debian packages",
                "use Debian or a system derived from it, and run ./daedalus setup",
                EXIT_MISSING,
            )
    signed = next((k for k in listing.keyrings if Path(k).is_file()), None)
    place.parent.mkdir(parents=True, exist_ok=True)
    for left_over in place.parent.glob(".unpacking-*"):  # of a call that was killed
        shutil.rmtree(left_over)
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=place.parent) as temporary:
        downloads, unpacked = Path(temporary, "debs"), Path(temporary, "root")
        downloads.mkdir()
        unpacked.mkdir()
        apt = ["apt-get", "-q", "-c", str(_configure(listing.suite, signed, architecture))]
        _apt([*apt, "update"], downloads)
        files = _download(apt, oracle, architecture, downloads)
        debs = [_inspect(path) for path in files]
        _judge(debs, listing, signed is not None)
        _refuse_others(debs, oracle, listing.suite)
        for path in files:
            _unpack(path, unpacked)
        for name, target in oracle.links:
            (unpacked / name).symlink_to(target)
        record = {"packages": [vars(d) for d in debs]}
        (unpacked / _RECORD).write_text(json.dumps(record, indent=1) + "\n")
        unpacked.chmod(0o755)
        if place.exists():
            place.rename(Path(temporary, "old"))
        unpacked.rename(place)


def _download(apt: list[str], oracle: Oracle, architecture: str, place: Path) -> list[Path]:
    """Downloads an oracle's files; returns those to look at and to unpack."""
    if architecture == SOURCE:
        _apt([*apt, "source", "--download-only", *oracle.packages], place)
        return sorted(place.glob("*.dsc"))
    native = "amd64" if architecture == "all" else architecture
    _apt([*apt, "download", *(f"{p}:{native}" for p in oracle.packages)], place)
    return sorted(place.glob("*.deb"))


def _unpack(path: Path, root: Path) -> None:
    """Unpacks a package below a folder; dpkg-source compares every file with the .dsc file."""
    argv: list[str | Path] = ["dpkg-deb", "-x", path, root]
    if path.suffix == ".dsc":
        argv = ["dpkg-source", "-x", path, root / _inspect(path).package]
    run(argv, what=f"unpacking {path.name}")


def _apt(argv: list[str], cwd: Path) -> None:
    with network():
        done = subprocess.run(
            argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.strip().splitlines()[-8:])
        raise UserError(
            f"fetching from the Debian archive: apt-get {argv[4]} failed\n{tail}",
            f"it needs the network; {MIRROR_VARIABLE}=<address> names another mirror",
            EXIT_MISSING,
        )


def _mirror() -> str:
    """The address of the Debian archive, as this machine's apt has it."""
    named = os.environ.get(MIRROR_VARIABLE)
    if named:
        return named
    lines = run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(COMPONENT)\t$(SUITE)\t$(REPO_URI)"],
        what="reading apt's configuration",
    ).splitlines()
    targets = [tuple(line.split("\t")) for line in lines if line.count("\t") == 3]
    # Where the index was never downloaded, apt does not know the origin.  The archive is then the
    # one whose address ends as Debian's mirrors do; the signature says whether that was right.
    for origin, component, suite, uri in targets:
        plain = not suite.endswith(("-security", "-updates", "-backports"))
        if origin == "Debian" and component == "main" and plain:
            return uri
    for _, component, _, uri in targets:
        if component == "main" and uri.rstrip("/").endswith("/debian"):
            return uri
    raise UserError(
        "this machine's apt knows no mirror of the Debian archive",
        f"set {MIRROR_VARIABLE} to the address of one",
        EXIT_MISSING,
    )


def _configure(suite: str, keyring: str | None, architecture: str) -> Path:
    """Writes apt's private configuration; proxies and credentials stay the machine's."""
    base = build_dir() / "apt"
    for name in ("lists/partial", "cache/archives/partial", "empty"):
        (base / name).mkdir(parents=True, exist_ok=True)
    (base / "status").touch()
    if keyring is None:
        console.print(
            "warning: debian-archive-keyring is not installed; Debian's signature is not checked, "
            "and only files with a known SHA-256 are used",
            soft_wrap=True,
        )
    trust = f"signed-by={keyring}" if keyring else "trusted=yes"
    entry = f"deb [arch=amd64,arm64 target=Packages {trust}]"
    if architecture == SOURCE:
        entry = f"deb-src [target=Sources {trust}]"
    (base / "sources.list").write_text(f"{entry} {_mirror()} {suite} main\n")
    settings = {
        "Dir::Etc::sourcelist": base / "sources.list",
        "Dir::Etc::sourceparts": base / "empty",
        "Dir::Etc::preferences": base / "empty" / "none",
        "Dir::Etc::preferencesparts": base / "empty",
        "Dir::State": base,
        "Dir::State::lists": base / "lists",
        "Dir::State::status": base / "status",
        "Dir::Cache": base / "cache",
        "Dir::Cache::archives": base / "cache" / "archives",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "APT::Update::Error-Mode": "any",
        # The archive is read by this process's user, wherever the checkout lies.
        "APT::Sandbox::User": "root",
    }
    lines = [f'{key} "{value}";' for key, value in settings.items()]
    # Hooks of the machine's own apt would act on its caches, not on these.
    cleared = ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Architectures")
    lines += [f"#clear {key};" for key in (*cleared, "APT::Update::Post-Invoke-Success")]
    lines += ['APT::Architectures { "amd64"; "arm64"; };']
    path = base / "apt.conf"
    path.write_text("\n".join(lines) + "\n")
    return path


def _inspect(path: Path) -> Deb:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if path.suffix == ".dsc":
        text = path.read_text()
        found = [re.search(rf"^{field}: (\S+)$", text, re.M) for field in ("Source", "Version")]
        package, version = (m.group(1) if m else "" for m in found)
        return Deb(package, version, SOURCE, digest)
    fields = {}
    for name in ("Package", "Version", "Architecture"):
        fields[name.lower()] = run(["dpkg-deb", "-f", path, name]).strip()
    return Deb(sha256=digest, **fields)


def _refuse_others(debs: list[Deb], oracle: Oracle, suite: str) -> None:
    """Refuses what is not the upstream version that the list asks for."""
    for deb in debs:
        upstream = deb.version.split(":", 1)[-1].rsplit("-", 1)[0]
        if oracle.upstream and upstream != oracle.upstream:
            raise UserError(
                f"{suite} has {deb.package} {deb.version}; {oracle.upstream} is needed",
                f"{MIRROR_VARIABLE}=<address> names a mirror that has it",
                EXIT_MISSING,
            )


def _judge(debs: list[Deb], listing: _List, signature_checked: bool) -> None:
    """Warns of files that were never used with this tree; refuses what nothing vouches for."""
    for deb in debs:
        expected = listing.known.get(deb.key)
        if expected == deb.sha256:
            continue
        if expected is not None or not signature_checked:
            known_as = f"known is {expected}" if expected else "none is known"
            raise UserError(
                f"{deb.key} has the SHA-256 {deb.sha256}; {known_as}, and it cannot be trusted",
                "install debian-archive-keyring, or use another mirror",
                EXIT_FAILED,
            )
        console.print(
            f"warning: {deb.key} is not a version this tree was tried with (its signature is good)",
            soft_wrap=True,
        )
