# SPDX-License-Identifier: BSD-2-Clause
"""Compares what is emitted with the reference interpreter, and both with other implementations."""
