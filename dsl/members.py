# SPDX-License-Identifier: BSD-2-Clause
"""The members of a family: one spec's function, and the values of its axes.

A *family* is one spec. Each of its *axes* has a name and some values, and each combination of
values makes a kernel, a *member*. What a member is called and what it says of itself are patterns
in the manner of `str.format`, with the axes' values by name: "vp9_mc_{width}{way}",
"{kind.clause}".
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ORIENTATION = "orientation"  # the axis that across and along of a plane go by
ORIENTATIONS = ("v", "h")
TAKEN = ("k", "rng", "count")  # what the spec's function and its sampler get besides axes

Axes = Mapping[str, Sequence[object]]


class BadAxes(Exception):
    """What is wrong with the axes or the patterns; `args` are the message and perhaps a hint."""


@dataclass(frozen=True)
class Member:
    """A combination of values: axis -> value."""

    values: tuple[tuple[str, object], ...] = ()

    @property
    def orientation(self) -> str | None:
        value = dict(self.values).get(ORIENTATION)
        return None if value is None else str(value)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Axis and value, as a table shows them."""
        return tuple((axis, str(value)) for axis, value in self.values)

    def text(self, pattern: str) -> str:
        """The pattern with this member's values; as it stands where there are no axes."""
        if not self.values:
            return pattern
        try:
            return pattern.format(**dict(self.values))
        except (KeyError, AttributeError, IndexError, ValueError, TypeError) as e:
            known = ", ".join(axis for axis, _ in self.values)
            raise BadAxes(
                f"the pattern {pattern!r} cannot be filled in: {type(e).__name__}: {e}",
                f"its axes are {known}; a brace of its own is written twice",
            ) from None

    def call(self, function: Callable[..., Any], *args: object) -> Any:
        """Calls a function of the spec with those axes that it takes by name."""
        wanted = inspect.signature(function).parameters
        return function(*args, **{axis: v for axis, v in self.values if axis in wanted})


def check(axes: object, function: Callable[..., Any]) -> None:
    """Raises BadAxes for axes that are none, or that the spec's function does not suit."""
    if not isinstance(axes, Mapping):
        raise BadAxes(
            f"axes={axes!r} is not a table of axes", 'write axes={"width": (4, 8)}, or'
            ' axes={"orientation": ("v", "h")}',
        )  # fmt: skip
    for axis, values in axes.items():
        if not (isinstance(axis, str) and axis.isidentifier()):
            raise BadAxes(f"axis {axis!r} is not a plain identifier")
        if axis in TAKEN:
            raise BadAxes(f"axis {axis} is also what a function of a spec gets", "rename it")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise BadAxes(f"axis {axis}: {values!r} is not a tuple of values")
        if len({str(v) for v in values}) != len(values):
            raise BadAxes(f"axis {axis} has a value twice: {', '.join(map(str, values))}")
    if set(axes.get(ORIENTATION, ())) - set(ORIENTATIONS):
        raise BadAxes(f'orientations are "v" and "h", not {axes[ORIENTATION]!r}')
    takes(axes, function, 1)
    taken = list(inspect.signature(function).parameters)[1:]
    for axis in axes:
        if axis not in taken and axis != ORIENTATION:
            raise BadAxes(
                f"{function.__name__} does not take its axis {axis}",
                f"def {function.__name__}({', '.join(['k', *taken, axis])}):",
            )


def takes(axes: Axes, function: Callable[..., Any], others: int, what: str = "") -> None:
    """Raises BadAxes where a function takes what is none of the axes, behind so many others."""
    parameters = inspect.signature(function).parameters
    for name in list(parameters)[others:]:
        if name not in axes and parameters[name].default is inspect.Parameter.empty:
            raise BadAxes(
                f"{what or function.__name__} takes {name}, which is none of its axes",
                f"its axes are {', '.join(axes) or 'none'}",
            )


def members(axes: Axes, without: Callable[..., bool] | None) -> list[Member]:
    """All combinations, the last axis varying fastest, but those that `without` leaves out."""
    combinations = itertools.product(*axes.values())
    made = [Member(tuple(zip(axes, values, strict=True))) for values in combinations]
    return made if without is None else [m for m in made if not m.call(without)]


def pattern_of(name: str, axes: Axes) -> str:
    """What members are called unless the spec says: the name, and each axis's value behind it."""
    return "_".join([name, *(f"{{{axis}}}" for axis in axes)])
