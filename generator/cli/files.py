# SPDX-License-Identifier: BSD-2-Clause
"""Arguments that name a file."""

import os
from pathlib import Path
from typing import Any

import click

from daedalus.generator.base.inputs import refuse_unreadable


class InputFile(click.Path):
    """A regular file that is there, to be read by a program that the verb starts."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        refuse_unreadable(Path(os.fsdecode(path)))
        return path
