# SPDX-License-Identifier: BSD-2-Clause
"""Other people's functions, to compare with: what has to be linked, and where it comes from."""

from pathlib import Path

from daedalus.codecs import dav1d, ffmpeg
from daedalus.generator.host import fetch
from daedalus.generator.host.native import debian_arch

_DIGESTS = "ffmpeg"  # whose MD5 every stream program takes
_BUILT = "dav1d"  # from source, see there
NAMES = (_DIGESTS, _BUILT)


def linked(oracle: str, arch: str) -> tuple[list[Path], list[Path]]:
    """Folders of headers, and static archives in linking order, for a Debian architecture."""
    if oracle == _BUILT:
        built = dav1d.library(arch)
        return [built / "include"], [built / "lib" / "libdav1d.a"]
    include, archives = fetch.archives(oracle, arch)
    return [include], list(archives)


def linked_for_streams(oracle: str, arch: str) -> tuple[list[Path], list[Path]]:
    """The same, with what computes the frames' digests."""
    found = [linked(name, arch) for name in dict.fromkeys((oracle, _DIGESTS))]
    return [i for includes, _ in found for i in includes], [a for _, all_ in found for a in all_]


def sources(arch: str) -> list[tuple[str, str]]:
    """What `fetch.ensure` is asked for, for arm64 and this machine's Debian architecture."""
    return [(_DIGESTS, "arm64"), (_DIGESTS, arch), (_BUILT, fetch.SOURCE)]


def tests(oracle: str, arch: str) -> tuple[list[Path], list[Path]]:
    """Objects of the decoder's own test program, checkasm, and what they are linked with."""
    if oracle == _BUILT:
        return dav1d.tests(arch), linked(oracle, arch)[1]
    return ffmpeg.tests(arch)


def version(oracle: str, arch: str) -> str:
    """The oracle's name and version, for a build of host/native.py."""
    kind = fetch.SOURCE if oracle == _BUILT else debian_arch(arch)
    versions = {d.version for d in fetch.fetched(oracle, kind) or []}
    return f"{oracle} {', '.join(sorted(versions))}"
