# SPDX-License-Identifier: BSD-2-Clause
"""What the pages hold: fenced blocks with the remark before them, links, headings, commands.

A block has its language behind the fence. One remark may stand on the line before it:
`<!-- not run: why -->`, or `<!-- from: PATH -->` of a block whose lines stand in that file.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from daedalus.generator.base.paths import repo_root
from daedalus.generator.cli.main import VERBS, cli

ROOT = repo_root()
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "v3d" / "README.md", *sorted(DOCS.rglob("*.md")))

_BLOCK = re.compile(
    r"(?:^<!-- (?P<remark>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_CALL = re.compile(
    r"^ *(?:\$ )?(?:[A-Z_]+=\S+ )*((?:\./|\.venv/bin/|daedalus-v3d)\w?.*)", re.MULTILINE
)
_STANDS_FOR = re.compile(r"[\[<]|(?<![\w/.-])[A-Z][A-Z_]*(?![\w.])")
_INLINE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    remark: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def source(self) -> Path | None:
        """The file that a block is from."""
        return ROOT / self.remark[6:] if self.remark.startswith("from: ") else None


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text.count("\n", 0, m.start("text")), m["language"], m["text"],
              m["remark"] or "")
        for m in _BLOCK.finditer(text)
    ]  # fmt: skip


def prose(page: Path) -> str:
    """The page without its blocks, which keep their number of lines."""
    return _BLOCK.sub(lambda m: "\n" * m[0].count("\n"), page.read_text())


def links(page: Path) -> list[str]:
    return [to for to in _LINK.findall(prose(page)) if not re.match(r"\w+:", to)]


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        names.add(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return names


def paths(page: Path) -> list[str]:
    """Files and folders of the checkout that the text names; no patterns, nothing that is built."""
    folders = "|".join(f.name for f in ROOT.iterdir() if f.is_dir() and f.name != "build")
    return re.findall(rf"`((?:{folders})/[\w./-]+)`", prose(page))


def commands(page: Path) -> list[str]:
    """The calls of the command line on a page, without `./daedalus`, in blocks and in text."""
    found = []
    for block in blocks(page):
        joined = re.sub(r"\\\n\s*", " ", block.text)
        joined = re.sub(r"\n\s+\[", " [", joined)  # a synopsis that goes on
        found += re.findall(r"\./daedalus ([^\n]*)", joined)
    for inline in _INLINE.findall(re.sub(r"\s*\n\s*", " ", prose(page))):
        words = inline.removeprefix("./daedalus ").split()
        if inline.startswith("./daedalus ") or (
            words[0:1] and words[0] in VERBS and "--" in inline
        ):
            found.append(" ".join(words))
    return [re.split(r"\s#|\s\s\s|[;>]|, | \\| ", c)[0] for c in found]


def calls(block: Block) -> list[str]:
    """The lines of a block that can be run as they stand: calls of this project's commands without
    `[`, `<` and words in upper case, which stand for something; with `$ ` before them or not."""
    joined = re.sub(r"\\\n\s*", " ", block.text)
    joined = re.sub(r"\n\s+\[", " [", joined)  # a synopsis that goes on
    found = _CALL.findall(joined)
    return [c for c in found if not _STANDS_FOR.search(re.split(r"\s#|\s\s\s", c)[0])]


def _known(context: click.Context, command: click.Command) -> dict[str, click.Parameter]:
    return {o: p for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)}


def fault(call: str) -> str:
    """What the command line would not take of a call or of a synopsis; nothing if all is well."""
    words = shlex.split(re.sub(r"[\[\]]|\.\.\.", " ", call))
    command: click.Command = cli
    known = _known(click.Context(cli), cli) | {"--no-setup": click.Option(["--no-setup"])}
    for at, word in enumerate(words):
        if word == "--":
            break
        inner = _subcommand(command, word)
        if inner is not None:
            command = inner
            if command.context_settings.get("ignore_unknown_options"):
                break
            known |= _known(click.Context(command), command)
        if word.startswith("-"):
            name, _, value = word.partition("=")
            if name not in known:
                return f"{call!r}: no option {name}"
            value = value or (words[at + 1] if at + 1 < len(words) else "")
            kind = known[name].type
            if isinstance(kind, click.Choice) and not value.isupper():
                wrong = [v for v in value.split("|") if v not in kind.choices]
                if wrong:
                    return f"{call!r}: {name} is none of {', '.join(kind.choices)}"
        elif command is cli and word.isalpha() and not word.isupper():
            return f"{call!r}: no verb {word}"
    return ""


def _subcommand(command: click.Command, word: str) -> click.Command | None:
    """The verb that a word names; of `tune`, whose verb may be left out, `run`."""
    if not isinstance(command, click.Group):
        return None
    context = click.Context(command)
    found = command.get_command(context, word)
    return found or (command.get_command(context, "run") if command is not cli else None)
