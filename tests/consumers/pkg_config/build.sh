#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# daedalus through pkg-config, without CMake.
# usage: build.sh OUTPUT_DIR; CC, CXX (empty: none), PKG_CONFIG_LIBDIR and EMULATOR from outside
set -eu
here=$(cd "$(dirname "$0")" && pwd)
flags=$(pkg-config --static --cflags --libs daedalus)
# Unquoted on purpose: flags and emulator are lists of words.
# shellcheck disable=SC2086
{
  $CC -std=c11 -Wall -Wextra -Werror "$here/../main.c" $flags -o "$1/consumer_c"
  $EMULATOR "$1/consumer_c"
  if [ -n "$CXX" ]; then
    $CXX -std=c++17 -Wall -Wextra -Werror "$here/../main.cpp" $flags -o "$1/consumer_cxx"
    $EMULATOR "$1/consumer_cxx"
  fi
}
