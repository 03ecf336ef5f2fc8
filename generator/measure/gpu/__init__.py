# SPDX-License-Identifier: BSD-2-Clause
"""What GPU code takes: measured on devices, and modelled by the V3D timing model."""
