# SPDX-License-Identifier: BSD-2-Clause
"""From specs to files: the registry, variants, and all that `gen` writes."""
