# SPDX-License-Identifier: BSD-2-Clause
# Cross-compiles for 64-bit ARM Linux and runs what was built under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
# Only a test needs C++; "-NOTFOUND" keeps CMake from taking the host's compiler.
find_program(DAEDALUS_CROSS_CXX aarch64-linux-gnu-g++)
if(DAEDALUS_CROSS_CXX)
  set(CMAKE_CXX_COMPILER ${DAEDALUS_CROSS_CXX})
else()
  set(CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER-NOTFOUND)
endif()

set(CMAKE_CROSSCOMPILING_EMULATOR
    "qemu-aarch64;-cpu;cortex-a76;-L;/usr/aarch64-linux-gnu")

# Appended, so that -D CMAKE_FIND_ROOT_PATH=... can name more places for packages.
list(APPEND CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
