# SPDX-License-Identifier: BSD-2-Clause
"""Where a spec stands: the lines that values, declarations and errors name."""

import functools
import os
import sys
from types import FrameType

from daedalus.dsl.errors import Loc, TraceError
from daedalus.dsl.hints import hint_for

_CORE = os.path.dirname(os.path.realpath(__file__))


def source_name(path: str) -> str:
    """How a spec's file is named in messages: within the package, or from the current folder."""
    return _name_from(path, os.getcwd())


# Every value of a spec wants to know where it stands: paths are looked at once.


@functools.cache
def _name_from(path: str, folder: str) -> str:
    real = os.path.realpath(path)
    if real.startswith(_CORE + os.sep):
        return "dsl/" + os.path.relpath(real, _CORE)
    rel = os.path.relpath(real, folder)
    return rel if not rel.startswith("..") else os.path.basename(real)


@functools.cache
def _in_core(path: str) -> bool:
    return os.path.dirname(os.path.realpath(path)) == _CORE


def _own(frame: FrameType) -> bool:
    """Whether a frame is the language's, not the spec's; `with` runs through contextlib."""
    return _in_core(frame.f_code.co_filename) or frame.f_globals.get("__name__") == "contextlib"


def here() -> Loc:
    """The innermost line outside the language's own modules."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _own(frame):
        frame = frame.f_back
    if frame is None:
        return Loc("<unknown>", 0)
    return Loc(source_name(frame.f_code.co_filename), frame.f_lineno)


def python_error(error: Exception, path: str, otherwise: int, kernel: str = "") -> TraceError:
    """What Python itself refused in the spec at `path`, at the innermost line of that file."""
    line, trace = otherwise, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return TraceError(
        "python", f"{type(error).__name__}: {error}", Loc(source_name(path), line), kernel,
        hint=hint_for(error),
    )  # fmt: skip
