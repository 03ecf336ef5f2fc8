# SPDX-License-Identifier: BSD-2-Clause
"""The jobs of `farm tune`: a run of the tuner on one board, of one kernel for one target.

It is the very command that a person would give there, in a process of its own that ends with the
worker. Its journal begins with what the client knows of the kernel, so nothing is measured again;
it stays where it is until the job is done, so a board that takes a lost job up goes on with it.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.farm.about import code_digest
from daedalus.generator.farm.boards import Board, require
from daedalus.generator.farm.jobs import Judged, Known, key_of
from daedalus.generator.tuning.entries import Described, Entry, Result, Run
from daedalus.generator.tuning.fingerprint import generator_hash
from daedalus.generator.tuning.journal import Found, Place, Union, parse_line, read
from daedalus.generator.tuning.point import parse_point

_DONE = (0, EXIT_FAILED)  # exit statuses of a run that is done: 1 where something was wrong
_ENDED = ("done", "budget")
_SHOWN = 8  # lines of what a failed run says


@dataclass(frozen=True)
class TuneJob:
    """Tunes a kernel for a target.

    device   as `tune --device` names it
    options  further words of the command, such as --quick
    board    what is measured, as the workers tell; None where it is modelled, as the tuner's lines
             then have the model's fingerprint
    vulkan   the GPU's device that the board was asked with, by `check`'s name; "": none by name
    known    lines of the client's journal that are of this kernel and target: what is there need
             not be done again, so they are no inputs
    """

    kernel: str
    target: str
    device: str
    options: tuple[str, ...]
    generator: str
    code: str
    board: Board | None
    vulkan: str = ""
    known: tuple[bytes, ...] = field(repr=False, default=())
    latency: float = 0.0

    @property
    def inputs(self) -> tuple[object, ...]:
        return (self.kernel, self.target, self.device, self.options, self.generator, self.code,
                self.board, self.vulkan)  # fmt: skip

    @property
    def title(self) -> str:
        return f"{self.kernel}: tuning {self.target} on {self.device}"

    def is_done(self, known: frozenset[Known]) -> bool:
        """Only the tuner can tell: it knows its points."""
        return False

    def gave(self, result: Judged) -> bool:
        """None is left out: the tuner says itself what of the known results is wrong."""
        return False

    def run(self) -> list[Entry]:
        if self.board is not None:
            require(self.board, self.vulkan)
        elif code_digest() != self.code:
            raise UserError(
                f"the code here is now {code_digest()}, and was {self.code}",
                "begin again: its results are other ones",
            )
        path = build_dir() / "farm" / f"{key_of(self)}.jsonl"
        seeds = [Found(parse_line(line), Place("client", n), line)
                 for n, line in enumerate(self.known, 1)]  # fmt: skip
        Union(path).add(seeds)
        status = self._tune(path)
        theirs = {f.entry.identity for f in seeds}
        every = read(path).entries
        found = [e for e in every if e.identity not in theirs]
        if status == EXIT_FAILED and not any(map(_is_wrong, found)):
            found += self._known_wrong(every)
        path.unlink()
        return found

    def _known_wrong(self, entries: Sequence[Entry]) -> list[Entry]:
        """What was found wrong by earlier runs of this code, with the lines that describe where."""
        here = {e.id for e in entries if isinstance(e, Described) and e.generator == self.generator}
        bad = [e for e in entries if _is_wrong(e)]
        return [e for e in bad if isinstance(e, Result) and e.fingerprint in here]

    def _tune(self, path: Path) -> int:
        """The tuner's exit status: whether it came to its end with or without wrong points."""
        before = len(read(path).entries)
        # SIGKILL for it when the worker ends, however that ends.
        words = [_setpriv(), "--pdeathsig", "KILL", sys.executable, "-P", "-m",
                 "daedalus.generator.cli.main", "tune", "run", self.kernel, "--device", self.device,
                 "--target", self.target, "--journal", str(path), *self.options]  # fmt: skip
        done = subprocess.run(words, cwd=repo_root(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode not in _DONE or not _has_ended(read(path).entries[before:]):
            said = "\n".join(done.stderr.strip().splitlines()[-_SHOWN:])
            raise UserError(f"the tuner's exit status is {done.returncode}: {said}")
        return done.returncode


def _is_wrong(entry: Entry) -> bool:
    return isinstance(entry, Result) and entry.verdict == "wrong"


def _setpriv() -> str:
    found = shutil.which("setpriv")
    if found is None:
        raise UserError("setpriv is not installed", "it is in Debian's package util-linux")
    return found


def _has_ended(new: Iterable[Entry]) -> bool:
    """Whether a run of the tuner came to its end: one that refuses its arguments exits with 1 or 2,
    too, but leaves nothing, and one that failed says so."""
    return any(isinstance(e, Run) and e.ended in _ENDED for e in new)


def tune_jobs(
    kernels: Sequence[str], targets: Sequence[str], device: str, options: Sequence[str],
    known: Iterable[Found], latency: float = 0.0, *, board: Board | None = None, vulkan: str = "",
) -> list[TuneJob]:  # fmt: skip
    """A job for every kernel and target; `known` is what the client's journal holds.

    `board`: what is measured, with the GPU's device `vulkan`; None of a model.
    """
    lines: dict[tuple[str, str], list[bytes]] = {}
    described: list[bytes] = []
    for f in known:
        if isinstance(f.entry, Described):
            described.append(f.text)
        elif isinstance(f.entry, Result):
            point = parse_point(f.entry.point)
            lines.setdefault((point.kernel, point.target), []).append(f.text)
    generator, code = generator_hash(repo_root()), code_digest()
    return [
        TuneJob(
            k, t, device, tuple(options), generator, code, board, vulkan,
            tuple([*described, *lines.get((k, t), [])]), latency,
        )
        for k in kernels
        for t in targets
    ]  # fmt: skip
