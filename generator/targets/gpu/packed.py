# SPDX-License-Identifier: BSD-2-Clause
"""The code of GPU variants as generated files hold it: packed, as text. runtime/gpu/packed.h says
what the parts are, and its C takes them apart."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence

_HEADER = 5  # words of a SPIR-V module before its first instruction
_LITERALS, _SHORTEST, _LONGEST, _WINDOW = 128, 5, 132, 1 << 16  # of runs
_NEAR, _AHEAD, _STEP = 64, 8, 16  # of operands
_LINE = 92  # characters of text; 4 of them are 3 bytes
_PIECE = 44  # lines; C need not take literals of more than 4,095 characters


def of_instructions(words: Iterable[int]) -> bytes:
    """Instructions of the QPU, as bytes."""
    return b"".join(w.to_bytes(8, "little") for w in words)


def of_module(words: Sequence[int]) -> bytes:
    """A SPIR-V module, as bytes."""
    made = bytearray()
    for w in words[:_HEADER]:
        _number(made, w)
    at, newest = _HEADER, 0
    while at < len(words):
        length = words[at] >> 16
        _number(made, length)
        _number(made, words[at] & 0xFFFF)
        for w in words[at + 1 : at + length]:
            distance = newest + _AHEAD - w
            if 0 <= distance < _NEAR:
                made.append(_NEAR + distance)
            elif w < _NEAR:
                made.append(w)
            else:
                made.append(w & 127 | 128)
                _number(made, w >> 7)
            if 0 < w - newest < _STEP:
                newest = w
        at += length
    return bytes(made)


def _number(made: bytearray, value: int) -> None:
    while value >= 128:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)


def text(data: bytes) -> list[str]:
    """The lines of an initialiser, without the NULL behind the last piece."""
    characters = b64encode(_runs(data)).decode().rstrip("=")
    lines = [f'"{characters[i : i + _LINE]}"' for i in range(0, len(characters), _LINE)]
    ends = {*range(_PIECE - 1, len(lines), _PIECE), len(lines) - 1}
    return [f"{line}," if i in ends else line for i, line in enumerate(lines)]


def _runs(data: bytes) -> bytes:
    """What stands for these bytes. A run is taken from where its first bytes were last."""
    made = bytearray()
    last: dict[bytes, int] = {}
    at = begun = 0
    final = len(data) - _SHORTEST
    while at <= final:
        key = data[at : at + _SHORTEST]
        before = last.get(key)
        last[key] = at
        if before is None or at - before >= _WINDOW:
            at += 1
            continue
        end, most = at + _SHORTEST, min(len(data), at + _LONGEST)
        back = at - before
        while end < most and data[end] == data[end - back]:
            end += 1
        _literals(made, data[begun:at])
        made.append(_LITERALS + end - at - _SHORTEST)
        made += back.to_bytes(2, "little")
        for i in range(at + 1, min(end, final + 1)):
            last[data[i : i + _SHORTEST]] = i
        at = begun = end
    _literals(made, data[begun:])
    return bytes(made)


def _literals(made: bytearray, data: bytes) -> None:
    for i in range(0, len(data), _LITERALS):
        run = data[i : i + _LITERALS]
        made.append(len(run) - 1)
        made += run


def module_of(initialiser: str) -> tuple[int, ...]:
    """The SPIR-V module that text() and of_module() made these lines of. Raises ValueError where
    they made no such lines."""
    try:
        return _module_of(initialiser)
    except IndexError:
        raise ValueError("no packed module") from None


def instructions_of(initialiser: str) -> tuple[int, ...]:
    """The instructions that text() and of_instructions() made these lines of."""
    data = _data(initialiser)
    return tuple(int.from_bytes(data[n : n + 8], "little") for n in range(0, len(data), 8))


def _data(initialiser: str) -> bytes:
    characters = "".join(re.findall(r'"([^"]*)"', initialiser))
    return _unpacked(b64decode(characters + "=" * (-len(characters) % 4), validate=True))


def _module_of(initialiser: str) -> tuple[int, ...]:
    data = _data(initialiser)
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while data[at] >= 128:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
        at += 1
        return value | data[at - 1] << shift

    words = [number() for _ in range(_HEADER)]
    newest = 0
    while at < len(data):
        length = number()
        words.append(length << 16 | number())
        for _ in range(length - 1):
            first = data[at]
            value = number()
            if _NEAR <= first < 2 * _NEAR:
                value = newest + _AHEAD - (value - _NEAR)
            if 0 < value - newest < _STEP:
                newest = value
            words.append(value)
    return tuple(words)


def _unpacked(runs: bytes) -> bytes:
    made = bytearray()
    at = 0
    while at < len(runs):
        kind = runs[at]
        if kind < _LITERALS:
            run = runs[at + 1 : at + kind + 2]
            if len(run) <= kind:
                raise IndexError
            made += run
            at += kind + 2
            continue
        back = int.from_bytes(runs[at + 1 : at + 3], "little")
        if not 0 < back <= len(made):
            raise IndexError
        for _ in range(kind - _LITERALS + _SHORTEST):
            made.append(made[-back])
        at += 3
    return bytes(made)
