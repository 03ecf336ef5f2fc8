# SPDX-License-Identifier: BSD-2-Clause
"""v3d/README.md: its commands run, in order, and what it says of them and of the folders is so."""

import re
import subprocess
from pathlib import Path

from test_layers import ORDER

from daedalus.generator.base.paths import repo_root

PAGE = (repo_root() / "v3d" / "README.md").read_text()


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    for name in ("v3d", "cmake", "runtime"):  # what the build reads; build/ is of its own
        (tmp_path / name).symlink_to(repo_root() / name)
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    said = []
    for block in blocks:
        ran = subprocess.run(
            ["sh", "-e", "-c", block], cwd=tmp_path, capture_output=True, text=True
        )
        assert ran.returncode == 0, block + ran.stdout + ran.stderr
        said.append(ran.stdout)
    executed, found = said[-2:]
    words = re.findall(r"\b[0-9a-f]{8}\b", executed)
    assert [int(w, 16) for w in words][-16:] == list(range(16)), executed
    assert found == "found\n"
    for made in re.findall(r"\| `(build/v3d/[^`]*)` \|", PAGE):
        assert (tmp_path / made).is_file(), made


def test_the_page_lists_the_folders_in_their_order() -> None:
    listed = re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)
    assert tuple(listed) == (*ORDER, "python")
    assert set(listed) == {p.name for p in (repo_root() / "v3d").iterdir() if p.is_dir()}


def test_the_folders_that_commands_take_are_there() -> None:
    folders = re.findall(r"`daedalus-v3d timing (\S+)`", PAGE)
    assert folders and all(list((repo_root() / f).glob("*.qpu")) for f in folders)


def test_the_links_of_the_page_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert links
    assert [link for link in links if not (repo_root() / "v3d" / link).is_file()] == []
