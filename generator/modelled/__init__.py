# SPDX-License-Identifier: BSD-2-Clause
"""What a GPU variant takes by the timing model of docs/v3d-timing.md, by the route it goes."""
