# SPDX-License-Identifier: BSD-2-Clause
"""The tuner: what may be measured, how it is searched, and where its results are kept."""
