# SPDX-License-Identifier: BSD-2-Clause
"""vkdispatch: its own Fourier transforms and VkFFT's, compared with NumPy."""

import numpy as np
import report
import vkdispatch as vd

random = np.random.default_rng(3)
for size in (16, 64, 256, 1000, 1024):
    x = (random.random((4, size)) + 1j * random.random((4, size))).astype(np.complex64)
    for name, library in (("vkdispatch", vd.fft), ("VkFFT", vd.vkfft)):
        buffer = vd.Buffer(x.shape, vd.complex64)
        buffer.write(x)
        library.fft(buffer)
        report.compared(f"{name}, {size} points", buffer.read(0), np.fft.fft(x), 2e-7 * size)
