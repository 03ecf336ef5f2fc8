# SPDX-License-Identifier: BSD-2-Clause
"""Names of variants: from options, and back."""

import re

from daedalus.generator.options.table import Options, Word
from daedalus.generator.options.targets import BY_TARGET, QPU, TARGETS, options_of

# Words of earlier versions, by target, and what says the same now.
OLDER = {
    "c": {}, "vector": {}, "neon": {},
    "glsl": {"shift": "word_unaligned", "mask": "signs"},
    QPU: {"shift": "unaligned", "pack": "keep", "line": "jointreads", "unifa": "recordonce",
          "t4": "threads4"},
}  # fmt: skip


class OlderWord(ValueError):
    """A name has a word of an earlier version."""


_VARIANT = re.compile(r"daedalus_(?P<kernel>[a-z0-9_]+?)__(?P<options>[A-Za-z0-9_]+)")


def variant_name(kernel_id: str, options: Options) -> str:
    """The name of the variant: its function's, its file's and the tables'."""
    return f"daedalus_{kernel_id}__{options.name}"


def parse_variant(name: str) -> tuple[str, Options]:
    """The kernel and the options that a variant's name stands for.

    Raises ValueError for a text that is no variant's name, OlderWord where it was one once.
    """
    match = _VARIANT.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not the name of a variant: daedalus_<kernel>__<options>")
    target, *rest = match["options"].split("_")
    if target not in TARGETS or not rest:
        raise ValueError(
            f"{name!r}: options begin with a target ({', '.join(TARGETS)}) and a class"
        )
    refuse_older(name)
    kind, chosen, assume = BY_TARGET[target], {}, set()
    for text in rest[1:]:
        if text.startswith("assume") and text != "assume":
            assume.add(text.removeprefix("assume"))
            continue
        found = next((w for w in kind.words() if _says(w, text)), None)
        if found is None:
            words = ", ".join(f"{w.word}<n>" if w.values else w.word for w in kind.words())
            raise ValueError(
                f"{name!r}: unknown option {text!r}; {target} has assume<name>"
                + (f", {words}" if words else "")
            )
        value = int(text.removeprefix(found.word)) if found.values else True
        if found.values and value not in found.values:
            raise ValueError(f"{name!r}: {value} {found.field}; possible are {found.values[1:]}")
        chosen[found.field] = value
    options: Options = options_of(target, rest[0], assume=tuple(sorted(assume)), **chosen)
    if options.name != match["options"]:
        raise ValueError(
            f"{name!r}: the options are out of order or repeated; write {options.name!r}"
        )
    if options.lacks is not None:
        raise ValueError(f"{name!r}: {options.lacks[0]} needs {options.lacks[1]}")
    return match["kernel"], options


def _says(word: Word, text: str) -> bool:
    pattern = rf"{word.word}[1-9][0-9]*" if word.values else word.word
    return re.fullmatch(pattern, text) is not None


def refuse_older(name: str) -> None:
    """Raises OlderWord where a variant's name has a word of an earlier version."""
    target, _, rest = name.partition("__")[2].partition("_")
    for text in rest.split("_")[1:]:
        new = OLDER.get(target, {}).get(text)
        if text.startswith("given") and text != "given":
            new = f"assume{text.removeprefix('given')}"
        if new is not None:
            raise OlderWord(
                f"{name!r} is of an earlier version: {text!r} is {new!r} now (docs/options.md);"
                " what was measured under such names is measured anew by ./daedalus tune"
            )
