# SPDX-License-Identifier: BSD-2-Clause
"""VP9's own."""
