# SPDX-License-Identifier: BSD-2-Clause
"""What code takes: counted, measured and modelled."""
