# SPDX-License-Identifier: BSD-2-Clause
"""The jobs of `farm check`: one kernel's variants for a target, compared on a device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.kernels import one
from daedalus.generator.compile.manifest import manifest
from daedalus.generator.farm.about import code_digest, tools
from daedalus.generator.farm.boards import Board, require
from daedalus.generator.farm.jobs import Judged, Known, manifest_stamp, with_fingerprint
from daedalus.generator.options import PLAIN_TARGETS, QPU
from daedalus.generator.tuning.entries import CHECK_KEY, OK, Check, Entry, check_key, now
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.check_runs import Wish, run_checks
from daedalus.generator.verify.crosscheck import Outcome

_SHOWN = 3  # failures in a reason
_LONGEST = 400  # characters of each


@dataclass(frozen=True)
class CheckJob:
    """Compares the variants of a kernel for one target on devices of one kind.

    devices   a GPU target's device; of the processor's targets all that the workers have
    variants  name and input hash of each, as the client has them
    board     what it is done on, as the workers tell: no other one's result is its result
    """

    kernel: str
    target: str
    devices: tuple[str, ...]
    items: int
    seed: int
    generator: str
    variants: tuple[tuple[str, str], ...] = field(repr=False)
    board: Board = field(repr=False)
    latency: float = 0.0

    @property
    def inputs(self) -> tuple[object, ...]:
        return (self.kernel, self.target, self.devices, self.items, self.seed, self.generator,
                self.variants, self.board)  # fmt: skip

    @property
    def title(self) -> str:
        return f"{self.kernel}: {self.target} on {', '.join(self.devices)}"

    def is_done(self, known: frozenset[Known]) -> bool:
        return all(
            (self.board.fingerprint.id, self._key(name, device, digest)) in known
            for name, digest in self.variants
            for device in self.devices
        )

    def gave(self, result: Judged) -> bool:
        if not isinstance(result, Check):
            return False
        b = self.board
        own = (self.kernel, self.target, self.items, self.seed, self.generator, b.fingerprint.id,
               b.code, b.tools)  # fmt: skip
        its = (result.kernel, result.target, result.asked, result.seed, result.generator,
               result.fingerprint, result.code, result.tools)  # fmt: skip
        digest = dict(self.variants).get(result.variant, "")  # of "dispatch" there is none
        return own == its and result.device in self.devices and result.input_hash == digest

    def _key(self, variant: str, device: str, input_hash: str) -> str:
        return check_key(self.kernel, self.target, variant, device, self.items, self.seed,
                         input_hash, self.generator, self.board.code, self.board.tools)  # fmt: skip

    def run(self) -> list[Entry]:
        plain = self.target in PLAIN_TARGETS
        require(self.board, "" if plain else self.devices[0])
        wish = Wish(
            (self.target,), self.items, self.seed,
            gpus=() if plain or self.target == QPU else self.devices,
            qpus=self.devices if self.target == QPU else (),
        )  # fmt: skip
        outcomes, skips = run_checks([one(self.kernel)], wish, quiet=True, build=_built)
        for s in skips:
            raise UserError(f"{s.name} is not here: {s.reason}")
        return with_fingerprint([self._line(o) for o in outcomes], self.board.fingerprint)

    def _line(self, o: Outcome) -> Check:
        what = (self.kernel, self.target, o.variant, o.device, self.items, self.seed,
                dict(self.variants).get(o.variant, ""), self.generator)  # fmt: skip
        members: dict[str, Any] = dict(zip(CHECK_KEY, what, strict=True))
        verdict, reason = _judged(o)
        code, tools = self.board.code, self.board.tools
        return Check(
            fingerprint=self.board.fingerprint.id, key=check_key(*what, code, tools),
            verdict=verdict, reason=reason, code=code, tools=tools, items=o.items,
            conformant=o.conformant, mismatches=o.mismatches, out_of_bounds=o.out_of_bounds,
            when=now(), **members,
        )  # fmt: skip


def _judged(o: Outcome) -> tuple[str, str]:
    """The verdict on an outcome, and the reason of a bad one."""
    if o.good:
        return OK, ""
    if o.mismatches or o.out_of_bounds:
        told = "; ".join(f[:_LONGEST] for f in o.failures[:_SHOWN])
        return "wrong", told or f"{o.mismatches} items differ"
    return "failed", f"only {o.conformant} conformant items of {o.wanted} were compared"


def _built(arch: str, **how: bool) -> Path:
    """The check program; a worker builds it once for the code and the tools that are there."""
    state = (manifest_stamp(), code_digest(), tools())
    return _built_of(state, arch, tuple(sorted(how.items())))


@cache
def _built_of(_state: object, arch: str, how: tuple[tuple[str, bool], ...]) -> Path:
    chosen: dict[str, Any] = dict(how)
    return crosscheck.program(arch, **chosen)


def check_jobs(
    kernels: Sequence[str], targets: Sequence[str], gpus: Sequence[str], qpus: Sequence[str],
    processors: Mapping[str, Sequence[str]], boards: Mapping[str, Board], items: int, seed: int,
    latency: float = 0.0,
) -> list[CheckJob]:  # fmt: skip
    """A job for every kernel, target and GPU device.

    `processors`: the workers' other devices, by target; `boards`: what the workers are, by GPU
    device, "" for the others. Raises UserError for a kernel that generated/ does not have.
    """
    told = manifest()
    known = {k["id"]: k["variants"] for k in told["kernels"]}
    jobs = []
    for kernel in kernels:
        if kernel not in known:
            raise UserError(f"generated/ has no {kernel}", "run ./daedalus gen")
        for target in targets:
            mine = tuple((v["name"], v["input_hash"]) for v in known[kernel]
                         if v["target"] == target)  # fmt: skip
            if target in PLAIN_TARGETS:
                places = [tuple(processors[target])]
            else:
                places = [(d,) for d in (qpus if target == QPU else gpus)]
            jobs += [
                CheckJob(
                    kernel,
                    target,
                    place,
                    items,
                    seed,
                    told["generator"],
                    mine,
                    boards["" if target in PLAIN_TARGETS else place[0]],
                    latency,
                )  # fmt: skip
                for place in places
                if mine
            ]
    return jobs
