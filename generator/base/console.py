# SPDX-License-Identifier: BSD-2-Clause
"""Where remarks and results go."""

import sys
from collections.abc import Iterable

from rich.console import Console

from daedalus.generator.base.errors import EXIT_FAILED

# Progress and remarks go to stderr, results to stdout, so that results can be piped.
console = Console(stderr=True, highlight=False)
out = Console(highlight=False)


def tell(text: str) -> None:
    """A remark, as it is: nothing in it is markup, and its lines are not folded."""
    console.print(text, markup=False, soft_wrap=True)


def fail(failures: Iterable[str]) -> None:
    """Tells each and ends the program with EXIT_FAILED; does nothing where there is none."""
    failures = list(failures)
    for text in failures:
        tell(f"failed: {text}")
    if failures:
        sys.exit(EXIT_FAILED)
