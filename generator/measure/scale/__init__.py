# SPDX-License-Identifier: BSD-2-Clause
"""How long a library of many kernels takes, and how large it is."""
