# SPDX-License-Identifier: BSD-2-Clause
"""The Dask cluster: reaching it, and whether its workers are what the client thinks they are."""

import logging
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir
from daedalus.generator.farm.about import about, differences
from daedalus.generator.farm.boards import Board, boards_aside

_CONNECTING = 5  # seconds
_PAUSE = 0.2
_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://[^/\s]+:[0-9]+")


def distributed() -> Any:
    """The package; UserError where it is not installed."""
    try:
        import distributed as package
    except ImportError:
        raise UserError(
            "the package distributed is not installed",
            'pip install "daedalus-kernels[farm]", here and on every board',
            EXIT_MISSING,
        ) from None
    return package


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """A client of the scheduler at an address such as tcp://host:8786."""
    package = distributed()
    if not _ADDRESS.fullmatch(scheduler):
        raise UserError(f"{scheduler!r} is no scheduler's address", "such as tcp://host:8786")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions: what matters is compared by workers()
        try:
            client = package.Client(scheduler, timeout=_CONNECTING, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as e:
            said = str(e).splitlines()[0] if str(e) else type(e).__name__
            raise UserError(
                f"no scheduler answers at {scheduler}: {said}",
                "start one with: .venv/bin/dask scheduler", EXIT_MISSING,
            ) from None  # fmt: skip
    try:
        yield client
    finally:
        client.close(timeout=_CONNECTING)


@contextmanager
def local(count: int, resource: str) -> Iterator[Any]:
    """A client of a cluster made for this: `count` workers, processes of this machine, each of
    which stands for a board."""
    package = distributed()
    place = build_dir() / "farm"
    place.mkdir(parents=True, exist_ok=True)
    with (
        package.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, resources={resource: 1},
            dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, memory_limit=0,
            local_directory=str(place),
        ) as cluster,
        package.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def holders(client: Any, resource: str) -> list[str]:
    """Addresses of the workers that announce the resource."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    return sorted(a for a, w in known.items() if w.get("resources", {}).get(resource, 0) >= 1)


def workers(client: Any, resource: str, patience: float) -> dict[str, dict[str, Any]]:
    """What the workers that announce the resource tell about themselves, by address.

    Waits so many seconds for the first one. Raises UserError where there is none, or one that
    would do something else than this process.
    """
    found = _awaited(client, resource, patience)
    told = client.run(about, workers=found, on_error="return")
    broken = {a: t for a, t in told.items() if not isinstance(t, dict)}
    if broken:
        lines = "".join(f"\n  {a}: {type(e).__name__}: {e}" for a, e in sorted(broken.items()))
        raise UserError(
            f"workers that cannot do this version's jobs:{lines}",
            "start them with .venv/bin/dask of a checkout in the same state as this one",
        )
    _refuse_others({f"the scheduler {client.scheduler.address}": _of_scheduler(client), **told})
    return dict(sorted(told.items()))


def boards(client: Any, workers: Sequence[str], devices: Sequence[str]) -> dict[str, Board]:
    """What the workers are, by the GPU's device that is named; "" for the processor's.

    Each builds its measuring program for that. Raises UserError where a device is not there, or the
    workers are not of one kind.
    """
    told = client.run(boards_aside, list(devices), workers=list(workers), on_error="return")
    return {device: _one_kind(told, device) for device in devices}


def _one_kind(told: Mapping[str, Any], device: str) -> Board:
    """What all workers tell alike of a device."""
    there: dict[str, Board] = {}
    wrong: dict[str, object] = {}
    for address, answer in told.items():
        board = answer if isinstance(answer, Exception) else answer[device]
        if isinstance(board, Board):
            there[address] = board
        else:
            wrong[address] = board
    if wrong:
        raise UserError("workers that cannot say what they measure on:" + _by_address(wrong))
    if len(set(there.values())) > 1:
        raise UserError(
            "the workers are of several kinds, whose results are not one another's:"
            + _by_address({a: b.words() for a, b in there.items()}),
            "give those of one kind a resource of their own, and name it with --resource",
        )
    return next(iter(there.values()))


def _by_address(told: Mapping[str, object]) -> str:
    return "".join(f"\n  {a}: {t}" for a, t in sorted(told.items()))


def _of_scheduler(client: Any) -> dict[str, Any]:
    """What the scheduler tells about itself: jobs pass through it, so it has to know them."""
    try:
        told: dict[str, Any] = client.run_on_scheduler(about)
    except Exception as e:  # whatever its process lacks
        raise UserError(
            f"the scheduler cannot take this version's jobs: {type(e).__name__}: {e}",
            "start it with .venv/bin/dask of a checkout in the same state as this one",
        ) from None
    return told


def _refuse_others(told: dict[str, dict[str, Any]]) -> None:
    """Raises UserError that names who has not what this process has."""
    mine = about()
    other = {a: d for a in sorted(told) if (d := differences(mine, told[a]))}
    if other:
        lines = "".join(f"\n  {a} ({told[a]['host']}): {d}" for a, d in other.items())
        raise UserError(
            f"not of the same version as this client:{lines}",
            "bring their checkouts to the same state, and start them again",
        )


def _awaited(client: Any, resource: str, patience: float) -> list[str]:
    end = time.monotonic() + patience
    while not (found := holders(client, resource)):
        if time.monotonic() >= end:
            others = len(client.scheduler_info(n_workers=-1)["workers"])
            raise UserError(
                f"no worker announces {resource}=1" + (f"; {others} do not" if others else ""),
                "start one with: .venv/bin/dask worker ADDRESS --nthreads 1 --resources"
                f' "{resource}=1"',
                EXIT_MISSING,
            )
        time.sleep(_PAUSE)
    return found
