# SPDX-License-Identifier: BSD-2-Clause
"""Changing the interpolation filter in VP9 frame headers."""

import pytest

from daedalus.codecs.vp9.header import BANKS, change_filter


def _header(*fields: tuple[int, int]) -> bytes:
    """Packs fields of (value, bits), the highest bit first, and fills the last byte with ones."""
    text = "".join(f"{value:0{bits}b}" for value, bits in fields)
    text += "1" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8)) + b"\xab\xcd"


def _inter(shown: int, resilient: int, size_of: int | None, render: bool, bank: int) -> bytes:
    """An inter frame; `size_of`: the reference that has its size; bank 4: one for each block."""
    fields = [(2, 2), (0, 2), (0, 1), (1, 1), (shown, 1), (resilient, 1)]
    if not shown:
        fields.append((0, 1))  # not intra only
    if not resilient:
        fields.append((0, 2))
    fields += [(1, 8), *[(n, 3 + 1) for n in (1, 2, 5)]]
    fields += [(0, 1)] * (3 if size_of is None else size_of)
    fields += [(351, 16), (287, 16)] if size_of is None else [(1, 1)]
    fields += [(1, 1), (100, 16), (100, 16)] if render else [(0, 1)]
    fields += [(1, 1), *([(1, 1)] if bank == 4 else [(0, 1), (bank, 2)])]
    return _header(*fields)


KEY = _header((2, 2), (0, 2), (0, 1), (0, 1), (1, 1), (0, 1), (0x498342, 24))
SHOW_EXISTING = _header((2, 2), (0, 2), (1, 1), (3, 3))
HIDDEN_INTRA = _header((2, 2), (0, 2), (0, 1), (1, 1), (0, 1), (0, 1), (1, 1), (0, 2))


def _ivf(*packets: bytes) -> bytes:
    parts = [len(p).to_bytes(4, "little") + bytes(8) + p for p in packets]
    return b"DKIF" + bytes(28) + b"".join(parts)


def _superframe(*frames: bytes) -> bytes:
    """Frames with an index of their sizes, each in two bytes."""
    marker = bytes([0b110_01_000 | len(frames) - 1])
    sizes = b"".join(len(f).to_bytes(2, "little") for f in frames)
    return b"".join(frames) + marker + sizes + marker


@pytest.mark.parametrize("shown", [0, 1])
@pytest.mark.parametrize("resilient", [0, 1])
@pytest.mark.parametrize("size_of", [0, 1, 2, None])
@pytest.mark.parametrize("render", [False, True])
def test_only_the_filter_changes(
    shown: int, resilient: int, size_of: int | None, render: bool
) -> None:
    for old in range(4):
        before = _ivf(KEY, _inter(shown, resilient, size_of, render, old))
        for new, bank in enumerate(BANKS):
            after = _ivf(KEY, _inter(shown, resilient, size_of, render, new))
            assert change_filter(before, bank) == (after, 1)


def test_frames_without_a_filter_of_their_own_stay() -> None:
    clip = _ivf(KEY, SHOW_EXISTING, HIDDEN_INTRA, _inter(1, 0, 0, False, 4))
    assert change_filter(clip, "bilinear") == (clip, 0)


def test_frames_within_a_packet_are_found() -> None:
    def clip(bank: int) -> bytes:
        first, second = _inter(0, 0, 0, False, bank), _inter(1, 0, 2, False, bank)
        return _ivf(KEY, _superframe(first, second), _superframe(HIDDEN_INTRA, second))

    assert change_filter(clip(1), "bilinear") == (clip(3), 3)
