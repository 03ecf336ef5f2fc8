# SPDX-License-Identifier: BSD-2-Clause
"""Errors, paths, processes, what is shown: used by everything, using nothing of ours."""
