# SPDX-License-Identifier: BSD-2-Clause
"""Common ground of the Python tests; being here puts this folder on the import path."""

import hypothesis

# Reproducible: the same examples on every run and machine.
hypothesis.settings.register_profile(
    "daedalus", deadline=None, derandomize=True, max_examples=60, database=None
)
hypothesis.settings.load_profile("daedalus")
