#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs the library built in BUILD_DIR into a temporary folder, builds the
# consumer projects and the examples against it with the settings of that
# build, and runs them.
# One line each; the exit status is 1 when one fails.
# usage: run.sh BUILD_DIR
set -eu

if [ $# -ne 1 ] || [ ! -f "$1/consumers.env" ]; then
  echo "usage: $0 BUILD_DIR (a build of daedalus, configured with DAEDALUS_TESTS=ON)" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# CC, CXX, EMULATOR and how the build was configured; made by CMakeLists.txt beside this.
. "$build/consumers.env"
export CC CXX EMULATOR

# attempt NAME COMMAND...: its output is shown only when it fails.
attempt() {
  name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok     $name"
  else
    echo "FAILED $name"
    cat "$work/log"
    failed=1
  fi
}

# Under the lock that generator/host/native.py takes, as that may build in the same folder now.
install_library() {
  flock "$build/build.lock" cmake --build "$build" --target daedalus &&
    flock "$build/build.lock" cmake --install "$build" --prefix "$work/installed" &&
    # Moved, so that a path that was written down at install time shows.
    mv "$work/installed" "$work/prefix"
}

# cmake_project FOLDER OPTION...
cmake_project() {
  folder=$1
  project=$(basename "$folder")
  shift
  cmake -S "$folder" -B "$work/$project" -G "$GENERATOR" \
    -D CMAKE_TOOLCHAIN_FILE="$TOOLCHAIN_FILE" -D CMAKE_C_COMPILER="$CC" "$@" &&
    cmake --build "$work/$project" --target run
}

# The installed headers are the public ones and nothing else, and each compiles alone.
public_headers() {
  {
    printf '%s\n' daedalus/core.h daedalus/gpu.h daedalus/table.h
    (cd "$GENERATED_DIR/include" && find . -name '*.h' | sed 's|^\./||')
  } | sort >"$work/expected"
  (cd "$work/prefix/include" && find . -type f | sed 's|^\./||' | sort) >"$work/headers"
  diff "$work/expected" "$work/headers" || return 1
  while read -r header; do
    echo "#include <$header>" >"$work/alone.c"
    # Unquoted on purpose, here and below: the compilers are lists of words.
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$work/prefix/include" \
      "$work/alone.c" || return 1
    # shellcheck disable=SC2086
    [ -z "$CXX" ] || $CXX -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ \
      -I "$work/prefix/include" "$work/alone.c" || return 1
  done <"$work/headers"
}

pkg_config_project() {
  libdir=$(dirname "$(find "$work/prefix" -name daedalus.pc)")
  PKG_CONFIG_LIBDIR=$libdir sh "$here/pkg_config/build.sh" "$work"
}

# All that is installed tells the header's version, and a request for another minor one is refused.
versions() {
  pkg_config_dir=$(dirname "$(find "$work/prefix" -name daedalus.pc)")
  [ "$(PKG_CONFIG_LIBDIR=$pkg_config_dir pkg-config --modversion daedalus)" = "$version" ] ||
    return 1
  for other in "${version%.*}.$((${version#*.} - 1))" "${version%.*}.$((${version#*.} + 1))"; do
    ! cmake -S "$here/cmake_installed" -B "$work/other" -G "$GENERATOR" \
      -D CMAKE_TOOLCHAIN_FILE="$TOOLCHAIN_FILE" -D CMAKE_C_COMPILER="$CC" \
      -D CMAKE_PREFIX_PATH="$work/prefix" -D CMAKE_FIND_ROOT_PATH="$work/prefix" \
      -D VERSION_WANTED="$other" >"$work/refusal" 2>&1 || return 1
    grep "version: $version" "$work/refusal" || return 1
  done
}

# The V3D toolkit configured, installed and used without the rest.
v3d_alone() {
  cmake -S "$here/../../v3d" -B "$work/v3d" -G "$GENERATOR" \
    -D CMAKE_TOOLCHAIN_FILE="$TOOLCHAIN_FILE" -D CMAKE_C_COMPILER="$CC" \
    -D DAEDALUS_V3D_DEVICE=OFF &&
    cmake --build "$work/v3d" &&
    cmake --install "$work/v3d" --prefix "$work/v3d-installed" &&
    mv "$work/v3d-installed" "$work/v3d-prefix" || return 1
  pkg_config_dir=$(dirname "$(find "$work/v3d-prefix" -name daedalus-v3d.pc)")
  flags=$(PKG_CONFIG_LIBDIR=$pkg_config_dir pkg-config --cflags --libs daedalus-v3d) || return 1
  # Unquoted on purpose: flags and emulator are lists of words.
  # shellcheck disable=SC2086
  $CC -std=c11 -Wall -Wextra -Werror "$here/v3d/main.c" $flags -o "$work/consumer_v3d" &&
    $EMULATOR "$work/consumer_v3d"
}

# The example of the toolkit, with what v3d_alone has installed.
v3d_example() {
  PKG_CONFIG_LIBDIR=$pkg_config_dir cmake -S "$here/../../examples/v3d" -B "$work/sgemm" \
    -G "$GENERATOR" -D CMAKE_TOOLCHAIN_FILE="$TOOLCHAIN_FILE" -D CMAKE_C_COMPILER="$CC" &&
    grep -q "$work/v3d-prefix" "$work/sgemm/CMakeCache.txt" &&
    cmake --build "$work/sgemm" --target run_sgemm
}

attempt install install_library
attempt public_headers public_headers
version=$(sed -n 's/^#define DAEDALUS_VERSION_M[AI][JN]OR //p' \
  "$work/prefix/include/daedalus/core.h" | paste -sd.)
attempt versions versions
# The kernels of what was installed were compiled as they are to be.
attempt cmake_subdirectory cmake_project "$here/cmake_subdirectory" -D DAEDALUS_GENERATED_FLAGS=-O0 \
  -D DAEDALUS_GENERATED_DIR="$GENERATED_DIR" -D DAEDALUS_SANITIZE="$SANITIZE" \
  -D DAEDALUS_ALLOW_UNVERIFIED="$ALLOW_UNVERIFIED"
# The temporary prefix lies outside what a cross toolchain searches.
for folder in "$here/cmake_installed" "$here/../../examples"; do
  attempt "$(basename "$folder")" cmake_project "$folder" \
    -D CMAKE_PREFIX_PATH="$work/prefix" -D CMAKE_FIND_ROOT_PATH="$work/prefix" \
    -D VERSION_WANTED="$version"
done
attempt pkg_config pkg_config_project
attempt v3d_alone v3d_alone
attempt v3d_example v3d_example
exit $failed
