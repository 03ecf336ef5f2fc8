# SPDX-License-Identifier: BSD-2-Clause
"""Portable C natively: vector variants beside scalar ones and other people's functions."""
