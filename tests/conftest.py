# SPDX-License-Identifier: BSD-2-Clause
"""Common ground of the Python tests; being here puts this folder on the import path."""

import signal

import hypothesis

from daedalus.generator.base.process import collect_seldom

pytest_plugins = ["shares"]
collect_seldom()

# Reproducible: the same examples on every run and machine.
hypothesis.settings.register_profile(
    "daedalus", deadline=None, derandomize=True, max_examples=60, database=None
)
hypothesis.settings.load_profile("daedalus")

# Tests interrupt programs. A shell without job control has what it starts in the background ignore
# that signal, which programs inherit; what has a handler here is at its default in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
