# SPDX-License-Identifier: BSD-2-Clause
"""What lowering to NEON does to be fast, each a switch of its own that is on.

Turned off, the code is slower, or larger, and computes the same: `bench --model --levers` shows by
how much, docs/neon-levers.md why.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from daedalus.generator.schedule import Schedule


@dataclass(frozen=True)
class Levers:
    """What lowering may do.

    without_passes  names of passes of the pipeline that are left out
    without_rules   names of selection rules that are not tried; "*_parts" are all that end so
    widths          each value in the forms that its uses demand; else each stage computes in one
                    width, the narrowest that holds all of its values
    search          the local search behind the dynamic programme
    author_order    values in the author's order; else each store's in turn, as it needs them
    by_lane         constant multipliers are lanes of a few vectors; else each is a broadcast
    early_sums      what leaves fewer values than it takes comes as soon as these are there; else
                    where the author has it
    adjoining       of a block's two halves of a register both are woven from loads of whole ones
    read_later      a temp's array is said to be changed after each store
    reloads         overlapping runs of a row are loaded each; else cut from two by `ext`
    pins            what keeps Clang from taking vectors apart (daedalus_whole_...)
    halves          GCC is told that four lanes are half a register (daedalus_quad_...)
    """

    without_passes: frozenset[str] = frozenset()
    without_rules: frozenset[str] = frozenset()
    widths: bool = True
    search: bool = True
    author_order: bool = True
    early_sums: bool = True
    by_lane: bool = True
    adjoining: bool = True
    read_later: bool = True
    reloads: bool = True
    pins: bool = True
    halves: bool = True

    def tries(self, rule: str) -> bool:
        """Whether a selection rule is one of those to try."""
        return rule not in self.without_rules and not any(
            w.startswith("*") and rule.endswith(w[1:]) for w in self.without_rules
        )


ALL = Levers()  # what every variant is made with


def _same(schedule: Schedule) -> Schedule:
    return schedule


@dataclass(frozen=True)
class Lever:
    """A switch: its name, what it does, and what is left without it.

    off       the lowering
    schedule  the schedule; the same where the lever is none of its words
    """

    name: str
    what: str
    off: Levers = ALL
    schedule: Callable[[Schedule], Schedule] = _same


def _without_pass(name: str, what: str) -> Lever:
    return Lever(name, what, Levers(without_passes=frozenset({name})))


def _without_rules(name: str, what: str, *rules: str) -> Lever:
    return Lever(name, what, Levers(without_rules=frozenset(rules)))


def _without_word(name: str, what: str, **words: object) -> Lever:
    def plain(schedule: Schedule) -> Schedule:
        return replace(schedule, **words)  # type: ignore[arg-type]

    return Lever(name, what, schedule=plain)


LEVERS: tuple[Lever, ...] = (
    Lever("widths", "every value in the widths that its uses demand", Levers(widths=False)),
    Lever("search", "local search over shared values", Levers(search=False)),
    _without_word("dot", "dot products by SDOT", dot=False),
    _without_pass("narrow_taps", "taps of SDOT kept as bytes"),
    Lever(
        "sqrdmulh",
        "exact constants by the upper half of a product",
        Levers(frozenset({"scale_products"}), frozenset({"dmulh", "rdmulh"})),
    ),
    _without_pass("bias", "sums in 16 bits from a bias up"),
    _without_pass("max_tree", "one comparison of a maximum, for many"),
    _without_pass("compare", "operands compared, not their difference"),
    _without_pass("decide", "comparisons that ranges decide"),
    _without_pass("copies", "originals read, not a class's copies of them"),
    _without_rules("parts", "limited forms from limited ones", "*_parts"),
    _without_word("items", "items side by side in a vector", items=1),
    _without_word("rows", "rows side by side in a vector", rows=1),
    _without_word("class", "classes by partial evaluation", class_name="full"),
    _without_word("early", "the rest left out where no lane stores", early_out=False),
    _without_word("branch", "an arm that no lane wants is jumped over", branch=False),
    Lever("order", "values in the author's order", Levers(author_order=False)),
    Lever("early_sums", "sums as soon as their terms are there", Levers(early_sums=False)),
    Lever("lanes", "constants as lanes of a vector", Levers(by_lane=False)),
    Lever("adjoining", "halves of a block's registers loaded together", Levers(adjoining=False)),
    Lever("read_later", "rows of a temp read one after the other", Levers(read_later=False)),
    Lever("reloads", "windows loaded again, not cut by ext", Levers(reloads=False)),
    Lever("pins", "Clang kept from taking vectors apart", Levers(pins=False)),
    Lever("halves", "half registers without moves in GCC", Levers(halves=False)),
)


def chosen(names: tuple[str, ...]) -> tuple[Lever, ...]:
    """The levers of these names, all if there are none. Raises ValueError for another name."""
    known = {lever.name: lever for lever in LEVERS}
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is no lever: {', '.join(known)}")
    return tuple(known[n] for n in names) or LEVERS
