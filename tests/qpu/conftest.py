# SPDX-License-Identifier: BSD-2-Clause
"""Lets tests import what lies beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
