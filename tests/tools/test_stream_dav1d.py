# SPDX-License-Identifier: BSD-2-Clause
"""A source package: what it is known by, and which version is refused."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.codecs import dav1d
from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.host import fetch, native

DSC = """-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

Format: 3.0 (quilt)
Source: dav1d
Binary: dav1d, libdav1d7
Version: 1.5.1-1
Files:
 0123 195 dav1d_1.5.1.orig.tar.xz
"""


def test_a_source_package_is_known_by_its_dsc_file(tmp_path: Path) -> None:
    path = tmp_path / "dav1d_1.5.1-1.dsc"
    path.write_text(DSC)
    deb = fetch._inspect(path)
    assert deb.key == "dav1d_1.5.1-1_source"
    assert deb.sha256 == hashlib.sha256(DSC.encode()).hexdigest()
    assert not fetch.known(deb)  # the list has the SHA-256 of the whole file


@pytest.mark.parametrize("version", ["1.5.1-1", "1.5.1-2+deb13u1", "1:1.5.1-1"])
def test_another_revision_will_do(version: str) -> None:
    deb = fetch.Deb("dav1d", version, fetch.SOURCE, "")
    fetch._refuse_others([deb], fetch.oracles()["dav1d"], "trixie")


def test_another_upstream_version_is_refused() -> None:
    deb = fetch.Deb("dav1d", "1.5.10-1", fetch.SOURCE, "")
    with pytest.raises(UserError, match=r"trixie has dav1d 1\.5\.10-1; 1\.5\.1 is needed") as e:
        fetch._refuse_others([deb], fetch.oracles()["dav1d"], "trixie")
    assert e.value.exit_code == EXIT_MISSING
    fetch._refuse_others([deb], replace(fetch.oracles()["dav1d"], upstream=""), "trixie")


def test_dav1d_is_not_built_for_a_foreign_processor() -> None:
    with pytest.raises(UserError, match="not built for riscv64"):
        dav1d.library("riscv64")
    assert native.debian_arch("aarch64") == "arm64"
