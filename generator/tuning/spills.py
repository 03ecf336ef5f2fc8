# SPDX-License-Identifier: BSD-2-Clause
"""Which CPU variants count as spilling, however their stores to the stack were counted.

Spilling is any store of a vector register to the stack; saves of d8 to d15, and what goes to arrays
of a variant's own, are none.
"""

from daedalus.codecs.data import data

# Shares of instructions by kernel, class and target; why, says the table.
LET_PASS: dict[tuple[str, str, str], float] = {
    (p["kernel"], p["class"], p["target"]): p["share"] for p in data("spills.toml")["let_pass"]
}


def reason(group: tuple[str, str, str], stored: int, among: int, items: int = 0) -> str:
    """Why a variant spills; "" where it does not.

    group   its kernel, class and target
    stored  registers that went to the stack, in so many instructions
    items   that these did; 0: they are the code as it stands
    """
    limit = LET_PASS.get(group, 0.0)
    if stored <= limit * among:
        return ""
    n, each, what = (items, " an item", "") if items else (1, "", " of its code")
    return (
        f"{stored / n:g} vector registers{each} go to the stack,"
        f" of {among / n:g} instructions{what}"
        + (f", more than the {limit:.0%} let pass of this group" if limit else "")
    )
