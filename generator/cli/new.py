# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus new`: the beginning of a kernel."""

import os

import click

from daedalus.generator.base.paths import repo_root
from daedalus.generator.compile.new_spec import KINDS, write_spec


@click.command("new", help="Writes a spec for the kernel ID that works as it stands.\n\nThe"
               " places to change are marked EDIT. docs/new-kernel.md goes through it step by"
               " step.\n\n\b\n"
               + "\n".join(f"--like {kind:10} {what}" for kind, what in KINDS.items()))  # fmt: skip
@click.argument("kernel_id", metavar="ID")
@click.option("--codec", help="Folder below dsl/kernels; default: the id up to the first _.")
@click.option("--like", type=click.Choice(list(KINDS)), default="transform", show_default=True,
              help="What to begin with.")  # fmt: skip
def command(kernel_id: str, codec: str | None, like: str) -> None:
    """See the help text above."""
    root = repo_root()
    written = write_spec(root / "dsl" / "kernels", kernel_id, like, codec)
    for path in written.files:
        click.echo(f"wrote {os.path.relpath(path, root)}")
    click.echo("next:")
    spec = os.path.relpath(written.files[0], root)
    click.echo(f"  edit {spec}: what is marked EDIT, and what it computes (docs/language.md)")
    for k in written.kernels:
        click.echo(f"  ./daedalus explain {k}")
    click.echo(f"  ./daedalus gen {' '.join(written.kernels)}")
    click.echo(f"  ./daedalus check {' '.join(written.kernels)} --record")
