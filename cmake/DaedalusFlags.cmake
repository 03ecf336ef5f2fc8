# SPDX-License-Identifier: BSD-2-Clause
# Compiler flags that everything of this project shares, tests included.
function(daedalus_compile_flags target)
  # Part of a project that names no build type: kernels that are not optimised are of no use, so
  # that only an -O of the user's own says otherwise.
  set(optimise OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_C_FLAGS MATCHES "-O")
    set(optimise ON)
  endif()
  # Release means -O2, unless its flags have another -O than CMake's own -O3, which has not been
  # measured to be better for anything here.
  set(release ON)
  if(CMAKE_C_FLAGS_RELEASE MATCHES "-O([^3]|$)")
    set(release OFF)
  endif()
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic
    $<$<BOOL:${optimise}>:-O2>
    $<$<AND:$<BOOL:${release}>,$<CONFIG:Release>>:-O2>
    $<$<BOOL:${DAEDALUS_WERROR}>:-Werror>
    # Conditions are joined by & and | on purpose: lanes have no jumps.
    $<$<C_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
    $<$<BOOL:${DAEDALUS_MCPU}>:-mcpu=${DAEDALUS_MCPU}>)
  if(DAEDALUS_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DAEDALUS_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g
      # What is loaded at run time, libdrm say, is called by types that are stated here.
      $<$<C_COMPILER_ID:Clang>:-fno-sanitize=function>)
    target_link_options(${target} PUBLIC -fsanitize=${DAEDALUS_SANITIZE})
  endif()
endfunction()
