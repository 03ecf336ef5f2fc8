# SPDX-License-Identifier: BSD-2-Clause
"""What sums of products can be, where factors occur in several of them.

`a*(64 - m) + b*m` lies between the ends of a and b times 64, as the weights add up to 64; taken by
themselves the products would reach twice as far. So a sum is multiplied out, to a polynomial of
values that are neither sums nor products. This is linear in each of them, whatever the others are,
and so has its extremes where all are at an end of their intervals: these corners are tried. The
corners of values that occur once need not be. A power counts as a value of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

from daedalus.dsl.ir import Node, Op

Ends = tuple[int, int]
Form = Mapping[Node | None, int]  # a sum: term -> coefficient; None stands for 1
Monomial = tuple[Node, ...]  # factors in the author's order, a power as often as it says
Polynomial = dict[Monomial, int]
_Factor = tuple[Node, int]  # a value and its power

_MOST_TERMS = 48  # of what is multiplied out
_MOST_SHARED = 8  # values whose corners are tried together


class Products:
    """Sums of products of a program; `form` gives sums, `ends` the intervals of their terms."""

    def __init__(self, form: Callable[[Node], Form], ends: Callable[[Node], Ends]) -> None:
        self._form, self._ends = form, ends
        self._known: dict[Node, Polynomial] = {}

    def bounds(self, form: Form) -> Ends | None:
        """The ends of a sum; None where nothing is found that its terms do not say."""
        if not any(x is not None and _multiplies(x) for x in form):
            return None
        made = self._of_form(form)
        if made is None:
            return None
        low = high = 0
        for part in _apart(made):
            found = self._of_part(part)
            if found is None:
                return None
            low, high = low + found[0], high + found[1]
        return low, high

    # ------------------------------------------------------------------ multiplying out

    def _of_form(self, form: Form) -> Polynomial | None:
        total: Polynomial = {}
        for x, times in form.items():
            for monomial, c in ({(): 1} if x is None else self._of_term(x)).items():
                total[monomial] = total.get(monomial, 0) + times * c
        return {m: c for m, c in total.items() if c} if len(total) <= _MOST_TERMS else None

    def _of_term(self, x: Node) -> Polynomial:
        """A term of a sum; one of too many products is a value of its own."""
        if x not in self._known:
            made = self._multiplied(x) if _multiplies(x) else None
            self._known[x] = {(x,): 1} if made is None else made
        return self._known[x]

    def _multiplied(self, x: Node) -> Polynomial | None:
        a, b = (self._of_form(self._form(y)) for y in x.args)
        if a is None or b is None or len(a) * len(b) > _MOST_TERMS:
            return None
        found: Polynomial = {}
        for (m, c), (n, d) in product(a.items(), b.items()):
            both = tuple(sorted((*m, *n), key=lambda y: y.seq))
            found[both] = found.get(both, 0) + c * d
        return found

    # ------------------------------------------------------------------ corners

    def _of_part(self, part: list[tuple[tuple[_Factor, ...], int]]) -> Ends | None:
        """The ends of a sum of products that all hang together."""
        uses = Counter(f for factors, _ in part for f in factors)
        shared = [f for f, n in uses.items() if n > 1]
        if len(shared) > _MOST_SHARED:
            return None
        ends = {f: _power(self._ends(f[0]), f[1]) for f in uses}
        low: int | None = None
        high: int | None = None
        for corner in product(*(dict.fromkeys(ends[f]) for f in shared)):
            at = dict(zip(shared, corner, strict=True))
            lo = hi = 0
            for factors, c in part:
                term = (c, c)
                for f in factors:
                    term = times(term, (at[f], at[f]) if f in at else ends[f])
                lo, hi = lo + term[0], hi + term[1]
            low = lo if low is None else min(low, lo)
            high = hi if high is None else max(high, hi)
        assert low is not None and high is not None
        return low, high


def times(a: Ends, b: Ends) -> Ends:
    """The ends of a product."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _multiplies(x: Node) -> bool:
    return x.op is Op.MUL


def _power(x: Ends, n: int) -> Ends:
    corners = [end**n for end in x]
    inside = [0] if n % 2 == 0 and x[0] < 0 < x[1] else []
    return min([*corners, *inside]), max(corners)


def _apart(made: Polynomial) -> Iterable[list[tuple[tuple[_Factor, ...], int]]]:
    """The polynomial in parts that have no value in common."""
    parts: list[tuple[set[Any], list[tuple[tuple[_Factor, ...], int]]]] = []
    for monomial, c in made.items():
        factors = tuple(Counter(monomial).items())
        names, own = set(factors), [(factors, c)]
        left = []
        for others, terms in parts:
            if names & others:
                names, own = names | others, terms + own
            else:
                left.append((others, terms))
        parts = [*left, (names, own)]
    return (own for _, own in parts)
