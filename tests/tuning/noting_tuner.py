# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus` whose workers note when a point on the model is done, for test_tuning_kills.

    noting_tuner.py NOTES tune ...

A note is written by the worker, before it tells its result: a line "SECONDS POINT", by the
monotonic clock, which all processes share.
"""

import os
import sys
import time

from daedalus.generator.tuning import model_device
from daedalus.generator.tuning.entries import Result
from daedalus.generator.tuning.task import Known, Task

_NOTES = "DAEDALUS_TEST_NOTES"
_real = model_device.do


def do(task: Task) -> Result | Known:
    """As the model's own."""
    result = _real(task)
    if isinstance(result, Result):
        line = f"{time.monotonic()} {result.point}\n".encode()
        fd = os.open(os.environ[_NOTES], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(fd, line)
        os.close(fd)
    return result


if __name__ == "__main__":
    import noting_tuner  # by which name the workers find it

    from daedalus.generator.cli.main import main

    os.environ[_NOTES] = sys.argv.pop(1)
    model_device.do = noting_tuner.do
    main()
