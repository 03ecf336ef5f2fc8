# SPDX-License-Identifier: BSD-2-Clause
# Libraries from the runtime and a folder of generated code.
include(CheckCSourceCompiles)
include(${CMAKE_CURRENT_LIST_DIR}/DaedalusManifest.cmake)

# Sets in the caller DAEDALUS_NEON to "native", "simde" or "", and DAEDALUS_DOT_FLAGS to what
# files with DOT instructions are compiled with besides.
function(daedalus_configure_neon)
  check_c_source_compiles("
    #include <arm_neon.h>
    #ifndef __aarch64__
    #error not AArch64
    #endif
    int main(void) { return 0; }" DAEDALUS_HAVE_NATIVE_NEON)
  set(neon "")
  if(DAEDALUS_HAVE_NATIVE_NEON)
    set(neon native)
  elseif(DAEDALUS_SIMDE)
    if(NOT EXISTS ${DAEDALUS_SIMDE}/simde/arm/neon.h)
      message(FATAL_ERROR "DAEDALUS_SIMDE: ${DAEDALUS_SIMDE} does not hold simde/arm/neon.h")
    endif()
    set(neon simde)
  endif()
  set(DAEDALUS_NEON "${neon}" PARENT_SCOPE)
  set(flags "")
  if(neon STREQUAL native)
    set(CMAKE_REQUIRED_FLAGS "")
    if(DAEDALUS_MCPU)
      set(CMAKE_REQUIRED_FLAGS "-mcpu=${DAEDALUS_MCPU}")
    endif()
    check_c_source_compiles("
      #ifndef __ARM_FEATURE_DOTPROD
      #error no
      #endif
      int main(void) { return 0; }" DAEDALUS_COMPILES_DOTPROD)
    if(NOT DAEDALUS_COMPILES_DOTPROD)
      set(flags "-march=armv8.2-a+dotprod")
    endif()
  endif()
  set(DAEDALUS_DOT_FLAGS "${flags}" PARENT_SCOPE)
endfunction()

# Compiler flags that everything of this project shares, tests included.
function(daedalus_compile_flags target)
  # Part of a project that names no build type: kernels that are not optimised are of no use, so
  # that only an -O of the user's own says otherwise.
  set(optimise OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_C_FLAGS MATCHES "-O")
    set(optimise ON)
  endif()
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic
    $<$<BOOL:${optimise}>:-O2>
    # Release means -O2: -O3 has not been measured to be better for anything here.
    $<$<CONFIG:Release>:-O2>
    $<$<BOOL:${DAEDALUS_WERROR}>:-Werror>
    # Conditions are joined by & and | on purpose: lanes have no jumps.
    $<$<C_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
    $<$<BOOL:${DAEDALUS_MCPU}>:-mcpu=${DAEDALUS_MCPU}>)
  if(DAEDALUS_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DAEDALUS_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${target} PUBLIC -fsanitize=${DAEDALUS_SANITIZE})
  endif()
endfunction()

# The runtime alone, as objects, to be put into each library beside a table.
function(daedalus_add_runtime)
  set(runtime ${PROJECT_SOURCE_DIR}/runtime)
  add_library(daedalus_runtime OBJECT
    ${runtime}/core/alloc.c
    ${runtime}/core/append.c
    ${runtime}/core/batch.c
    ${runtime}/core/check.c
    ${runtime}/core/context.c
    ${runtime}/core/dispatch.c
    ${runtime}/core/error.c
    ${runtime}/core/log.c
    ${runtime}/core/overlap.c
    ${runtime}/core/table.c
    ${runtime}/cpu/choose.c
    ${runtime}/cpu/features.c
    ${runtime}/cpu/run.c)
  target_include_directories(daedalus_runtime PRIVATE ${runtime} ${runtime}/include)
  daedalus_compile_flags(daedalus_runtime)
endfunction()

# daedalus_add_library(<target> GENERATED <folder> SET prod|variants)
function(daedalus_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GENERATED;SET" "")
  daedalus_check_verified(${arg_GENERATED} ${arg_SET})
  daedalus_manifest_sources(sources ${arg_GENERATED} ${arg_SET} any)
  if(DAEDALUS_NEON)
    daedalus_manifest_sources(neon_sources ${arg_GENERATED} ${arg_SET} neon)
    list(APPEND sources ${neon_sources})
    daedalus_manifest_sources(dot_sources ${arg_GENERATED} ${arg_SET} neon_dotprod)
    list(APPEND sources ${dot_sources})
    # Chosen at run time, so compiled for more than the rest of the library where that has less.
    set_source_files_properties(${dot_sources} PROPERTIES COMPILE_OPTIONS "${DAEDALUS_DOT_FLAGS}")
  endif()

  add_library(${target} STATIC $<TARGET_OBJECTS:daedalus_runtime> ${sources})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<BUILD_INTERFACE:${arg_GENERATED}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  daedalus_compile_flags(${target})
  if(DAEDALUS_NEON)
    target_compile_definitions(${target} PRIVATE DAEDALUS_HAVE_NEON=1)
  endif()
  if(DAEDALUS_NEON STREQUAL "simde")
    target_include_directories(${target} SYSTEM BEFORE PRIVATE
      ${PROJECT_SOURCE_DIR}/tools/simde ${DAEDALUS_SIMDE})
    # NEON's addition wraps; SIMDe writes it as + on vectors of signed integers, where overflow is
    # undefined without this.
    target_compile_options(${target} PRIVATE -fwrapv)
  endif()
endfunction()
