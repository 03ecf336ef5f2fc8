# SPDX-License-Identifier: BSD-2-Clause
# As toolchain-aarch64.cmake, with clang; it takes headers and libraries of the cross gcc.
include(${CMAKE_CURRENT_LIST_DIR}/toolchain-aarch64.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
