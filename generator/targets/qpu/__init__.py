# SPDX-License-Identifier: BSD-2-Clause
"""QPU machine code of V3D 7.1: virtual instructions, their schedule, registers, assembly text."""
