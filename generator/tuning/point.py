# SPDX-License-Identifier: BSD-2-Clause
"""A point: what may be measured by itself.

Its text has six fields parted by `/`, "-" for none:

    kernel/class/variant/compiler/route/workgroup
    vp9_idct8/full/daedalus_vp9_idct8__neon_full/gcc/-/0
    vp9_idct8/full/daedalus_vp9_idct8__glsl_full_p2_word/-/vulkan/64
"""

import re
from dataclasses import dataclass

NONE = "-"
COMPILERS = ("gcc", "clang")
ROUTES = ("vulkan", "drm")
_FIELD = re.compile(r"[a-z0-9_]+")
# Only what and how are told apart: a journal may name variants that this generator does not know.
_VARIANT = re.compile(r"daedalus_(?P<kernel>[a-z0-9_]+?)__(?P<variant>[a-z0-9_]+)")


@dataclass(frozen=True, order=True)
class Point:
    """One point.

    item_class  class of the items that are measured: the variant's own or a narrower one
    variant     full name of the function
    compiler    that compiles a CPU variant; "" for the others
    route       how the QPU is reached; "" for CPU variants
    workgroup   invocations, 0 where the variant has no choice of them
    """

    kernel: str
    item_class: str
    variant: str
    compiler: str = ""
    route: str = ""
    workgroup: int = 0

    def __post_init__(self) -> None:
        if not _FIELD.fullmatch(self.kernel):
            raise ValueError(f"{self.kernel!r} is no kernel")
        match = _VARIANT.fullmatch(self.variant)
        if match is None or match["kernel"] != self.kernel:
            raise ValueError(f"{self.variant!r} is not a variant of {self.kernel}")
        if not _FIELD.fullmatch(self.item_class):
            raise ValueError(f"{self.item_class!r} is no class")
        if bool(self.compiler) == bool(self.route):
            raise ValueError(f"{self.variant}: a point has a compiler or a route")
        if self.compiler and self.compiler not in COMPILERS:
            raise ValueError(f"unknown compiler {self.compiler!r}: {' or '.join(COMPILERS)}")
        if self.route and self.route not in ROUTES:
            raise ValueError(f"unknown route {self.route!r}: {' or '.join(ROUTES)}")
        if self.workgroup < 0:
            raise ValueError(f"workgroup {self.workgroup} is negative")

    @property
    def target(self) -> str:
        """c, neon, glsl or qpu."""
        return self.variant.partition("__")[2].partition("_")[0]

    @property
    def options(self) -> str:
        """The part of the name that says how."""
        return self.variant.partition("__")[2]

    def __str__(self) -> str:
        fields = (self.kernel, self.item_class, self.variant, self.compiler or NONE,
                  self.route or NONE, str(self.workgroup))  # fmt: skip
        return "/".join(fields)


def parse_point(text: str) -> Point:
    """The point of a text; raises ValueError that says what is wrong with it."""
    fields = text.split("/")
    if len(fields) != 6:
        raise ValueError(f"{text!r} is not kernel/class/variant/compiler/route/workgroup")
    kernel, item_class, variant, compiler, route, workgroup = fields
    if not (workgroup.isascii() and workgroup.isdigit()) or str(int(workgroup)) != workgroup:
        raise ValueError(f"{text!r}: workgroup {workgroup!r} is not a plain number")
    if not compiler or not route:
        raise ValueError(f'{text!r}: an empty field; "-" says none')
    compiler, route = ("" if f == NONE else f for f in (compiler, route))
    return Point(kernel, item_class, variant, compiler, route, int(workgroup))
