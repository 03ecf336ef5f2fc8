# SPDX-License-Identifier: BSD-2-Clause
"""What GLSL and the QPU share: limits, records, and what a stage reads and writes."""
