# SPDX-License-Identifier: BSD-2-Clause
"""Several names in one, as a shell takes them."""


def names_of(name: str) -> list[str]:
    """What its braces stand for: `copy{4,8}` is copy4 and copy8."""
    before, brace, rest = name.partition("{")
    inside, _, behind = rest.partition("}")
    ends = names_of(behind) if brace else [""]
    return [before + word + end for word in inside.split(",") for end in ends]
