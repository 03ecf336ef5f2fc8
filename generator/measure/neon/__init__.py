# SPDX-License-Identifier: BSD-2-Clause
"""Modelled cycles of arm64 functions: what they execute, through llvm-mca.

llvm.py runs LLVM's tools; text.py reads their assembly text; corrections.py mends what the model
has wrong; figures.py makes figures of a trace; comparison.py sets ours beside hand-written ones.
"""
