# SPDX-License-Identifier: BSD-2-Clause
"""A client in Python that opens the node, calls ioctl and maps by itself, as py-videocore7 does.

Runs on the tests' device: its "shader" adds a value to words (fake_device.h).
"""

import ctypes
import fcntl
import mmap
import os
import struct

GEM_CLOSE, WAIT_BO, CREATE_BO = 0x40086409, 0xC0106441, 0xC0106442
MMAP_BO, GET_PARAM, SUBMIT_CSD = 0xC0106443, 0xC0106444, 0x40586447
SIZE, FAKE_ADD = 1 << 20, 1


def call(fd: int, request: int, layout: str, *values: int) -> tuple[int, ...]:
    argument = bytearray(struct.pack(layout, *values))
    fcntl.ioctl(fd, request, argument)
    return struct.unpack(layout, argument)


def main() -> None:
    fd = os.open("/dev/dri/by-path/platform-1002000000.v3d-card", os.O_RDWR)
    assert call(fd, GET_PARAM, "IIQ", 4, 0, 0)[2] >> 24 == 7
    _, _, handle, address = call(fd, CREATE_BO, "IIII", SIZE, 0, 0, 0)
    _, _, offset = call(fd, MMAP_BO, "IIQ", handle, 0, 0)
    memory = mmap.mmap(
        fd, SIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=offset
    )  # fmt: skip
    memory[0:20] = struct.pack("5I", FAKE_ADD, address + 8192, address + 4096, 100, 5)
    memory[4096:4496] = struct.pack("100I", *range(100))
    handles = bytearray(struct.pack("I", handle))
    pinned = ctypes.c_char.from_buffer(handles)
    pointer = ctypes.addressof(pinned)
    call(fd, SUBMIT_CSD, "11I4xQIIIIQII", 0, 0, 0, 0, 0, address, 0, *[0] * 4,
         pointer, 1, 0, 0, 0, 0, 0, 0)  # fmt: skip
    call(fd, WAIT_BO, "IIQ", handle, 0, 10_000_000_000)
    assert struct.unpack("100I", memory[8192:8592]) == tuple(range(5, 105))
    memory.close()
    call(fd, GEM_CLOSE, "II", handle, 0)
    try:
        call(fd, GEM_CLOSE, "II", handle, 0)
    except OSError as error:
        assert error.errno == 22
    else:
        raise AssertionError("a handle was closed twice")
    os.close(fd)


if __name__ == "__main__":
    main()
