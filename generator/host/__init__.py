# SPDX-License-Identifier: BSD-2-Clause
"""This machine: its packages, compilers and builds, and what is fetched for them."""
