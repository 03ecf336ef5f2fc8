# SPDX-License-Identifier: BSD-2-Clause
"""Changes the interpolation filter that the frames of a VP9 clip name in their headers.

No encoder at hand uses the bilinear filters, so a clip that calls them has to be made from another
one.  Where a frame header names one filter for the whole frame, two plain bits say which (VP9
6.2.7), and nothing that is coded afterwards depends on them: any other filter makes a conformant
stream, though not a pretty one.
"""

from collections.abc import Iterator

BANKS = ("smooth", "regular", "sharp", "bilinear")  # as the two bits have them
_IVF_HEADER = 32
_IVF_PACKET = 12


class _Bits:
    """Reads a header bit by bit, the highest bit of a byte first."""

    def __init__(self, data: bytes | bytearray, start: int) -> None:
        self.data, self.at = data, start * 8

    def take(self, count: int) -> int:
        value = 0
        for _ in range(count):
            value = value << 1 | self.data[self.at >> 3] >> (7 - (self.at & 7)) & 1
            self.at += 1
        return value


def change_filter(clip: bytes, bank: str) -> tuple[bytes, int]:
    """An IVF clip whose frames with a filter of their own have that of `bank`.

    Returns the clip, and how many frames were changed.
    """
    data = bytearray(clip)
    changed = 0
    for start in _frames(clip):
        at = _filter_place(clip, start)
        if at is None:
            continue
        changed += 1
        for i, bit in enumerate(f"{BANKS.index(bank):02b}"):
            mask = 0x80 >> (at + i & 7)
            byte = data[at + i >> 3]
            data[at + i >> 3] = byte | mask if bit == "1" else byte & ~mask
    return bytes(data), changed


def _frames(clip: bytes) -> Iterator[int]:
    """Where frames begin: a packet holds one, or several with an index at its end (annex B)."""
    at = _IVF_HEADER
    while at + _IVF_PACKET <= len(clip):
        size = int.from_bytes(clip[at : at + 4], "little")
        at += _IVF_PACKET
        packet = clip[at : at + size]
        last = packet[-1]
        count, width = (last & 7) + 1, (last >> 3 & 3) + 1
        index = packet[-2 - count * width :]
        if last >> 5 == 0b110 and index[0] == last:
            start = at
            for i in range(count):
                yield start
                start += int.from_bytes(index[1 + i * width : 1 + (i + 1) * width], "little")
        else:
            yield at
        at += size


def _filter_place(clip: bytes, start: int) -> int | None:
    """The bit at which a frame's header names its filter; None where it does not.

    Of profiles 0 and 2, which have three planes of 4:2:0.
    """
    bits = _Bits(clip, start)
    marker, profile, existing = bits.take(2), bits.take(2), bits.take(1)
    if marker != 2 or profile not in (0b00, 0b01) or existing:  # the lower bit comes first
        return None
    inter, shown, resilient = bits.take(1), bits.take(1), bits.take(1)
    if not inter or (not shown and bits.take(1)):
        return None  # a key frame, or another one without prediction from frames
    bits.take(0 if resilient else 2)  # reset_frame_context
    bits.take(8 + 3 * 4)  # frames to refresh; three references and their sign biases
    if not any(bits.take(1) for _ in range(3)):  # size of a reference
        bits.take(32)  # a size of its own
    if bits.take(1):
        bits.take(32)  # size to render
    bits.take(1)  # allow_high_precision_mv
    return None if bits.take(1) else bits.at
