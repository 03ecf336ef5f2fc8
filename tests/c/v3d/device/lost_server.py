# SPDX-License-Identifier: BSD-2-Clause
"""A client whose server is killed. Arguments: the server's process, its program and its socket."""

import errno
import mmap
import os
import signal
import subprocess
import sys
import time

from python_client import CREATE_BO, MMAP_BO, call


def error_of(number: int, request: int, *values: int) -> int:
    try:
        call(number, request, "IIII", *values)
    except OSError as error:
        return error.errno or 0
    return 0


def main() -> None:
    server, program, socket = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    handle = call(fd, CREATE_BO, "IIII", 4096, 0, 0, 0)[2]
    offset = call(fd, MMAP_BO, "IIQ", handle, 0, 0)[2]
    memory = mmap.mmap(fd, 4096, offset=offset)
    os.kill(server, signal.SIGKILL)
    for _ in range(100):
        if error_of(fd, CREATE_BO, 4096, 0, 0, 0) != 0:
            break
        time.sleep(0.02)
    assert error_of(fd, CREATE_BO, 4096, 0, 0, 0) == errno.ENODEV
    memory[0] = 5
    assert memory[0] == 5
    try:
        os.open("/dev/dri/renderD128", os.O_RDWR)
    except OSError as error:
        assert error.errno == errno.ENODEV
    else:
        raise AssertionError("a node of no server was opened")
    os.unlink(socket)
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    with subprocess.Popen([program, "--socket", socket], env=environment) as other:
        while not os.path.exists(socket):
            time.sleep(0.02)
        time.sleep(0.1)
        fresh = os.open("/dev/dri/renderD128", os.O_RDWR)
        assert error_of(fresh, CREATE_BO, 4096, 0, 0, 0) == 0
        other.terminate()


if __name__ == "__main__":
    main()
