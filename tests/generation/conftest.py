# SPDX-License-Identifier: BSD-2-Clause
"""What `gen` makes of the checked-in specs, made once."""

import pytest

from daedalus.generator.compile.emit import Generated, generate
from daedalus.generator.compile.registry import load


@pytest.fixture(scope="session")
def generated() -> Generated:
    return generate(load())
