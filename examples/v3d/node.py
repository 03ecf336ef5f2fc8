# SPDX-License-Identifier: BSD-2-Clause
"""Drives the GPU of a Raspberry Pi 5 from Python: the node, ioctl and mmap, nothing else.

As a program it computes 3 * x + 1 of the numbers given, or of 0 to 1023:

    python3 examples/v3d/node.py [NUMBER...]

It is the same program on a Pi and on the simulated device (docs/v3d-python.md).
"""

import ctypes
import errno
import fcntl
import mmap
import os
import struct
import sys
from collections.abc import Sequence

# The structs are those of <drm/v3d_drm.h>; a request has the size of its struct in it.
GEM_CLOSE, WAIT_BO, CREATE_BO = 0x40086409, 0xC0106441, 0xC0106442
MMAP_BO, GET_PARAM, SUBMIT_CSD = 0xC0106443, 0xC0106444, 0x40586447
CORE0_IDENT1 = 5  # a parameter: slices, and QPUs of a slice
NODE = "/dev/dri/by-path/platform-1002000000.v3d-render"

# The program: a workgroup is 16 lanes, and has 16 words. `./daedalus v3d asm` makes the words
# of the text; a test compares the two.
PROGRAM = (
    0x38402181BB03F002,  # eidx rf1 ; nop ; ldunif   the lane's number; rf0 = where the words are
    0x38002184F903F0C7,  # mov rf4, rf3.ul           the workgroup's number
    0x39E021847C03F104,  # shl rf4, rf4, 4           it has 16 words
    0x380021813803F044,  # add rf1, rf1, rf4
    0x39E021817C03F042,  # shl rf1, rf1, 2
    0x380021813803F040,  # add rf1, rf1, rf0         the address of the lane's word
    0x3800318CF903F043,  # mov tmua, rf1             look it up
    0x3880B186BB03F000,  # nop ; nop ; ldtmu.rf2
    0x380021843803F082,  # add rf4, rf2, rf2
    0x380021823803F102,  # add rf2, rf4, rf2
    0x39E021823803F081,  # add rf2, rf2, 1
    0x3800318BF903F083,  # mov tmud, rf2             what to write
    0x3800318CF903F043,  # mov tmua, rf1             and where
    0x38003186BB03F00F,  # tmuwt -
    0x38203186BB03F000,  # nop ; nop ; thrsw         two in a row: the last segment begins
    0x38203186BB03F000,  # nop ; nop ; thrsw
    0x38003186BB03F000,  # nop
    0x38003186BB03F000,  # nop
    0x38203186BB03F000,  # nop ; nop ; thrsw         the end, after two slots
    0x38003186BB03F000,  # nop
    0x38003186BB03F000,  # nop
)


class Node:
    """The opened node."""

    def __init__(self, path: str = NODE) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def call(self, request: int, layout: str, *values: int) -> tuple[int, ...]:
        """An ioctl whose struct has these members; what they are afterwards. OSError: it failed."""
        argument = bytearray(struct.pack(layout, *values))
        fcntl.ioctl(self.fd, request, argument)
        return struct.unpack(layout, argument)

    def qpus(self) -> int:
        """How many QPUs the GPU has."""
        ident = self.call(GET_PARAM, "IIQ", CORE0_IDENT1, 0, 0)[2]
        return (ident >> 4 & 15) * (ident >> 8 & 15)

    def dispatch(self, cfg: Sequence[int], buffers: "Sequence[Buffer]") -> None:
        """Submits a compute job by the dispatcher's seven words, and the buffers that it uses."""
        handles = (ctypes.c_uint32 * len(buffers))(*(b.handle for b in buffers))
        at = ctypes.addressof(handles)
        rest = (0, 0, 0, 0, at, len(buffers), 0, 0, 0, 0, 0, 0)
        self.call(SUBMIT_CSD, "11I4xQIIIIQII", *cfg, *rest)

    def close(self) -> None:
        """Closes the node; the buffers are closed before."""
        os.close(self.fd)


class Buffer:
    """Memory of the GPU, mapped into the program: `data` is its bytes, `address` the GPU's."""

    def __init__(self, node: Node, size: int) -> None:
        self.node = node
        _, _, self.handle, self.address = node.call(CREATE_BO, "IIII", size, 0, 0, 0)
        offset = node.call(MMAP_BO, "IIQ", self.handle, 0, 0)[2]
        self.data = mmap.mmap(node.fd, size, mmap.MAP_SHARED, offset=offset)

    def put(self, layout: str, *values: int, at: int = 0) -> None:
        """Writes values from a byte on."""
        struct.pack_into(layout, self.data, at, *values)

    def wait(self, seconds: float) -> None:
        """Waits until no job uses the buffer. TimeoutError: one still does."""
        try:
            self.node.call(WAIT_BO, "IIQ", self.handle, 0, int(seconds * 1e9))
        except OSError as e:
            if e.errno != errno.ETIME:
                raise
            raise TimeoutError(f"a job is not done after {seconds} s") from e

    def close(self) -> None:
        """Gives the memory back."""
        self.data.close()
        self.node.call(GEM_CLOSE, "II", self.handle, 0)


def words_of(groups: int, code: int, uniforms: int) -> list[int]:
    """The dispatcher's words for workgroups of 16 lanes, each of which is a batch."""
    size, per_supergroup, batches_per_supergroup = 16, 1, 1
    shape = size | per_supergroup << 8 | batches_per_supergroup - 1 << 12
    return [groups << 16, 1 << 16, 1 << 16, shape, groups, code, uniforms]


def triple(node: Node, numbers: Sequence[int]) -> list[int]:
    """3 * x + 1 of each number, modulo 2^32."""
    groups = (len(numbers) + 15) // 16
    code, data = Buffer(node, 4096), Buffer(node, 64 * groups)
    uniforms = 8 * len(PROGRAM)
    code.put(f"<{len(PROGRAM)}Q", *PROGRAM)
    code.put("<I", data.address, at=uniforms)
    data.put(f"<{len(numbers)}I", *numbers)
    node.dispatch(words_of(groups, code.address, code.address + uniforms), [code, data])
    data.wait(10)
    results = struct.unpack_from(f"<{len(numbers)}I", data.data)
    data.close()
    code.close()
    return list(results)


def number_of(word: str) -> int:
    """A number that fits a lane's word. ValueError: it is none."""
    number = int(word)
    if number not in range(2**32):
        raise ValueError
    return number


def main() -> int:
    """Computes, compares and says so; exit status 1: a number is wrong, 2: one does not fit."""
    numbers = []
    for word in sys.argv[1:]:
        try:
            numbers.append(number_of(word))
        except ValueError:
            print(f"node.py: {word!r} is not a number from 0 to {2**32 - 1}", file=sys.stderr)
            return 2
    numbers = numbers or list(range(1024))
    node = Node()
    results = triple(node, numbers)
    right = sum(r == (3 * x + 1) % 2**32 for x, r in zip(numbers, results, strict=True))
    print(f"{node.qpus()} QPUs: {right} of {len(numbers)} numbers are right")
    node.close()
    return int(right != len(numbers))


if __name__ == "__main__":
    sys.exit(main())
