# SPDX-License-Identifier: BSD-2-Clause
"""What can be wrong with a spec: typed errors that name line, kernel, rule and remedy."""

from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Loc:
    """A line of a spec."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(eq=False)
class SpecError(Exception):
    """A spec breaks a rule of the language.

    `chain` lists, from the offending value back to its origin, how it came about.
    """

    rule: str
    message: str
    loc: Loc
    kernel: str = ""
    hint: str = ""
    chain: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        where = f"{self.loc}: " + (f"{self.kernel}: " if self.kernel else "")
        lines = [f"{where}{self.message} [{self.rule}]"]
        lines += [f"    {step}" for step in self.chain]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class TraceError(SpecError):
    """The Python text uses the language in a way that has no meaning."""


class VerifyError(SpecError):
    """The program is well formed, but not legal."""


class RangeError(SpecError):
    """A value does not fit where it has to."""
