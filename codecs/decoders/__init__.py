# SPDX-License-Identifier: BSD-2-Clause
"""Descriptions of decoders' tables of functions: docs/decoders.md."""
