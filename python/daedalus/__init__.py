# SPDX-License-Identifier: BSD-2-Clause
"""daedalus: codec kernels written once, generated for every processor of a Raspberry Pi 5.

This folder only gives the repository's top-level folders their package names:
`daedalus.dsl` is `dsl/`, `daedalus.generator` is `generator/`, `daedalus.v3d` is
`v3d/python/`, and the templates and public C headers are its package data.
"""

__version__ = "0.1.0"
