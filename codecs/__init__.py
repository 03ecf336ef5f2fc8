# SPDX-License-Identifier: BSD-2-Clause
"""What has a codec's or a decoder's name in it and is no spec: clips, oracles, what is timed."""
