# SPDX-License-Identifier: BSD-2-Clause
"""Which options of `daedalus bench` go with which of its modes, in its help and in its checks."""

import click

from daedalus.codecs.data import data
from daedalus.generator.cli import modes

LAYOUT: str = data("timed.toml")["layout"]["mode"]
# Mode -> the parameters that it takes; "" is Vulkan devices, and what NEON takes on arm64.
MODES = {
    "": {
        "kernel", "device", "rounds", "items", "size", "part", "distinct", "write_data", "seed",
        "as_json",
    },
    "model": {"kernel", "every", "bound", "as_json"},
    "native": {"kernel", "rounds", "as_json"},
    "qpu": {"kernel", "items", "distinct", "choose", "output", "as_json"},
    LAYOUT: {"as_json"},
}  # fmt: skip
# Parameters of which at most one can be given.
_APART = (("choose", "output"), ("choose", "as_json"))


class Grouped(click.Command):
    """A command whose help lists the options by the first mode that takes them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes a section for each mode."""
        sections: dict[str, list[tuple[str, str]]] = {"Modes, one at most": []}
        for p in self.get_params(ctx):
            record = p.get_help_record(ctx) if isinstance(p, click.Option) else None
            if record is not None:
                sections.setdefault(_section(p.name or ""), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _section(name: str) -> str:
    if name in MODES:
        return "Modes, one at most"
    taken = [mode for mode, names in MODES.items() if name in names]
    if len(taken) in (0, len(MODES)):
        return "All modes"
    first, *others = taken
    title = f"With --{first}" if first else "Without a mode"
    return title + "".join(f", or with --{mode}" for mode in others)


def check(context: click.Context) -> str:
    """The mode that is asked for. Raises UserError where options do not go with it."""
    return modes.check(context, MODES, _APART)
