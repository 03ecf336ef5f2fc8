# SPDX-License-Identifier: BSD-2-Clause
"""A client that drives the node by itself, as py-videocore7 does: open, ioctl, mmap.

Arguments: the number of threads (the dispatcher's batches), and how many words of the result to
print. Standard input: the program's words in hex, one a line. Its uniforms are the address of the
result and the number of threads; the words of the result are printed, one a line.
"""

import ctypes
import fcntl
import mmap
import os
import struct
import sys

GEM_CLOSE, WAIT_BO, CREATE_BO = 0x40086409, 0xC0106441, 0xC0106442
MMAP_BO, SUBMIT_CSD = 0xC0106443, 0x40586447
CODE_AREA, DATA_AREA = 1 << 20, 32 << 20
UNIFORMS, RESULT = CODE_AREA, CODE_AREA + 4096
SECONDS = 1_000_000_000


def call(fd: int, request: int, layout: str, *values: int) -> tuple[int, ...]:
    argument = bytearray(struct.pack(layout, *values))
    fcntl.ioctl(fd, request, argument)
    return struct.unpack(layout, argument)


def execute(fd: int, handle: int, code: int, uniforms: int, threads: int) -> None:
    """py-videocore7's defaults: 16 workgroups of 16, and as many of them a supergroup."""
    groups, size, per_supergroup = (16, 1, 1), 16, 16
    batches = (per_supergroup * size + 15) // 16
    handles = bytearray(struct.pack("I", handle))
    pointer = ctypes.addressof(ctypes.c_char.from_buffer(handles))
    cfg = [g << 16 for g in groups]
    cfg += [batches - 1 << 12 | per_supergroup << 8 | size, threads, code, uniforms]
    call(fd, SUBMIT_CSD, "11I4xQIIIIQII", *cfg, *[0] * 4, pointer, 1, 0, 0, 0, 0, 0, 0)
    call(fd, WAIT_BO, "IIQ", handle, 0, 10 * SECONDS)


def main() -> None:
    threads, n_results = (int(word) for word in sys.argv[1:])
    code = b"".join(int(line, 16).to_bytes(8, "little") for line in sys.stdin)
    size = CODE_AREA + DATA_AREA
    fd = os.open("/dev/dri/by-path/platform-1002000000.v3d-card", os.O_RDWR)
    _, _, handle, address = call(fd, CREATE_BO, "IIII", size, 0, 0, 0)
    _, _, offset = call(fd, MMAP_BO, "IIQ", handle, 0, 0)
    both = mmap.PROT_READ | mmap.PROT_WRITE
    memory = mmap.mmap(fd, size, mmap.MAP_SHARED, both, offset=offset)
    memory[: len(code)] = code
    memory[UNIFORMS : UNIFORMS + 8] = struct.pack("II", address + RESULT, threads)
    execute(fd, handle, address, address + UNIFORMS, threads)
    for (word,) in struct.iter_unpack("I", memory[RESULT : RESULT + 4 * n_results]):
        print(word)
    memory.close()
    call(fd, GEM_CLOSE, "II", handle, 0)
    os.close(fd)


if __name__ == "__main__":
    main()
