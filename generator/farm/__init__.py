# SPDX-License-Identifier: BSD-2-Clause
"""Work for many boards: a Dask cluster's workers do jobs, whose results meet in a journal."""
