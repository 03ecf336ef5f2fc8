# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus help`: what --help says."""

import click


@click.command("help")
@click.argument("verb", required=False)
@click.pass_context
def command(context: click.Context, verb: str | None) -> None:
    """Says what VERB does and takes, as `VERB --help`; without one, which verbs there are."""
    above = context.parent
    assert above is not None and isinstance(above.command, click.Group)
    if verb is None:
        click.echo(above.get_help())
        return
    chosen = above.command.get_command(above, verb)
    if chosen is None:
        verbs = ", ".join(above.command.list_commands(above))
        raise click.UsageError(f"No such verb '{verb}'; verbs are {verbs}.", above)
    click.echo(chosen.get_help(click.Context(chosen, above, info_name=verb)))
