# SPDX-License-Identifier: BSD-2-Clause
"""The report: what is known of the kernels, gathered here and laid out by templates/report/."""
