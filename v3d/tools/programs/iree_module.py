# SPDX-License-Identifier: BSD-2-Clause
"""IREE: modules compiled to SPIR-V, on its Vulkan and on its processor's runtime."""

import iree.compiler as compiler
import iree.runtime as runtime
import numpy as np
import report

MODULE = """
func.func @product(%a: tensor<24x32xf32>, %b: tensor<32x20xf32>) -> tensor<24x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x20xf32>
  %from = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x20xf32>) -> tensor<24x20xf32>
  %r = linalg.matmul ins(%a, %b : tensor<24x32xf32>, tensor<32x20xf32>)
    outs(%from : tensor<24x20xf32>) -> tensor<24x20xf32>
  return %r : tensor<24x20xf32>
}
func.func @gate(%a: tensor<24x32xf32>) -> tensor<24x32xf32> {
  %e = math.exp %a : tensor<24x32xf32>
  %one = arith.constant dense<1.0> : tensor<24x32xf32>
  %s = arith.addf %e, %one : tensor<24x32xf32>
  %r = arith.divf %a, %s : tensor<24x32xf32>
  return %r : tensor<24x32xf32>
}
"""
# A GPU of which IREE assumes no more than Vulkan 1.1 with subgroups that shuffle.
TARGET = "vp_android_baseline_2022"

code = compiler.compile_str(
    MODULE, target_backends=["vulkan-spirv"], extra_args=[f"--iree-vulkan-target={TARGET}"]
)
module = runtime.load_vm_flatbuffer(code, driver="vulkan")
random = np.random.default_rng(2)
a, b = (random.random(s, dtype=np.float32) for s in ((24, 32), (32, 20)))
report.compared("matrix product", module.product(a, b).to_host(), a @ b, 1e-5)
gate = module.gate(a).to_host()
report.compared("exponential function and quotient", gate, a / (np.exp(a) + 1), 1e-6)
