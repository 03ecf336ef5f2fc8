# SPDX-License-Identifier: BSD-2-Clause
"""Common ground of the Python tests; being here puts this folder on the import path."""

from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("default")


@pytest.fixture(autouse=True)
def _no_skips(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test of this layer may not skip itself: what cannot run here is a failure that says so."""
    yield
    reason = getattr(request.node, "skipped_because", None)
    assert reason is None, reason
