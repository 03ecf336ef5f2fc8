# SPDX-License-Identifier: BSD-2-Clause
"""Devices that GPU programs can be run on here, real and simulated."""
