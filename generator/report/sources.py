# SPDX-License-Identifier: BSD-2-Clause
"""What a report is made of: files, read and not yet interpreted."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from daedalus.generator.base.inputs import read_input
from daedalus.generator.tuning.entries import Entry
from daedalus.generator.tuning.journal import Journal, Problem


@dataclass(frozen=True)
class Sources:
    """Files of a report, by what they are.

    kernels   ids of those that it is about
    manifest  of generated/
    verified  records of comparisons, by variant
    journals  measurements, by file
    recipe    lines of a recipe file; None where none was named
    modelled  record of `bench --qpu --json`, neon: of `bench --model --json`; each may be absent
    refused   by kernel: what a target cannot make of it, and why
    """

    root: Path
    kernels: tuple[str, ...]
    manifest: Mapping[str, Any]
    verified: Mapping[str, Any]
    journals: Mapping[Path, Journal]
    recipe: tuple[Path, Sequence[str]] | None = None
    modelled: tuple[Path, Mapping[str, Any]] | None = None
    neon: tuple[Path, Mapping[str, Any]] | None = None
    refused: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        """Of all journals, in their order."""
        return [e for j in self.journals.values() for e in j.entries]

    @property
    def problems(self) -> list[Problem]:
        return [p for j in self.journals.values() for p in j.problems]

    @cached_property
    def records(self) -> dict[str, Mapping[str, Any]]:
        """The manifest's kernels by id."""
        return {k["id"]: k for k in self.manifest["kernels"]}

    @cached_property
    def variants(self) -> dict[str, Mapping[str, Any]]:
        """The manifest's variants by name."""
        return {v["name"]: v for k in self.manifest["kernels"] for v in k["variants"]}


def read_json(path: Path) -> Any:
    """Raises ValueError where it is no JSON, UserError where it cannot be read."""
    try:
        return json.loads(read_input(path))
    except json.JSONDecodeError as e:
        raise ValueError(f"{path}:{e.lineno}: no JSON: {e.msg}") from None


def latest_record(root: Path) -> Path | None:
    """The last record of `bench --qpu` that is checked in."""
    found = sorted((root / "docs" / "benchmarks").glob("*-v3d-model.json"))
    return found[-1] if found else None


def link(path: Path, page: Path) -> str:
    """Where a file lies, seen from the page."""
    return quote(os.path.relpath(path, page.parent))


def named(path: Path, root: Path) -> str:
    """A file's name from the checkout's root on; the whole of it where it lies elsewhere."""
    whole = path.resolve()
    return str(whole.relative_to(root) if whole.is_relative_to(root) else whole)
