# SPDX-License-Identifier: BSD-2-Clause
"""The GPU of a Raspberry Pi 5 without one: its Vulkan driver, and shaders to compare it with."""
