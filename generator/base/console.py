# SPDX-License-Identifier: BSD-2-Clause
"""Where remarks and results go."""

from rich.console import Console

# Progress and remarks go to stderr, results to stdout, so that results can be piped.
console = Console(stderr=True, highlight=False)
out = Console(highlight=False)
