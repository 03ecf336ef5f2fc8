# SPDX-License-Identifier: BSD-2-Clause
"""The Vulkan route: the devices that can be had here, and what is done on them."""
