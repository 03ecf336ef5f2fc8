# SPDX-License-Identifier: BSD-2-Clause
"""Figures and names as the page shows them."""

from math import floor, log10

from daedalus.generator.tuning.point import Point


def short(value: float) -> str:
    """Three digits that say something; whole numbers as they are."""
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 1000:
        return str(int(value))
    digits = 2 - floor(log10(abs(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def count(value: int) -> str:
    """A number of things, its thousands parted."""
    return f"{value:,}"


def share(value: float) -> str:
    """Per cent; all of it only where it is all of it."""
    if value == 1:
        return "100 %"
    text = f"{100 * value:.2f} %"
    return "below 100 %" if text == "100.00 %" else text


def route(point: Point) -> str:
    """How a point is reached: its compiler, or the way to the GPU with its workgroup."""
    if point.compiler:
        return point.compiler
    names = {"vulkan": "Vulkan", "drm": "DRM"}
    size = f", workgroup {point.workgroup}" if point.workgroup else ""
    return f"{names[point.route]}{size}"


def anchor(*words: str) -> str:
    """An id for a part of the page."""
    return "-".join(w.replace("_", "-").lower() for w in words)
