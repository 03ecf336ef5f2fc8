# SPDX-License-Identifier: BSD-2-Clause
# Libraries from the runtime and a folder of generated code.
include(CheckCSourceCompiles)
include(${CMAKE_CURRENT_LIST_DIR}/DaedalusFlags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/DaedalusManifest.cmake)

# Sets in the caller DAEDALUS_NEON to "native", "simde" or "", and DAEDALUS_DOT_FLAGS to what
# files with DOT instructions are compiled with besides.
# And DAEDALUS_VECTORS to whether the compiler has the vector extension of GCC and Clang, which
# stands in for NEON where that is not.
function(daedalus_configure_neon)
  # Halves of vectors are named as they lie in memory, so big-endian processors take scalar C.
  check_c_source_compiles("
    #if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error not little-endian
    #endif
    typedef unsigned char bytes __attribute__((vector_size(16)));
    typedef unsigned short words __attribute__((vector_size(16)));
    #ifdef __clang__
    #define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
    #else
    #define EVEN(a, b) __builtin_shuffle(a, b, (words){0, 2, 4, 6, 8, 10, 12, 14})
    #endif
    int main(void) {
      words a = {1}, b = {2};
      a = EVEN(a, b) >> (a & b) ^ (words)(a > b);
      return ((bytes)a)[1];
    }" DAEDALUS_COMPILES_VECTORS)
  set(DAEDALUS_VECTORS "${DAEDALUS_COMPILES_VECTORS}" PARENT_SCOPE)
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
    # A processor that was named is replaced by another: GCC takes none beside an -march that it has
    # not, and DotProd only on top of Armv8.2.
    if(NOT DAEDALUS_COMPILES_DOTPROD)
      if(DAEDALUS_MCPU OR CMAKE_C_FLAGS MATCHES "-mcpu=")
        set(flags "-mcpu=cortex-a76")
      else()
        set(flags "-march=armv8.2-a+dotprod")
      endif()
    endif()
  endif()
  set(DAEDALUS_DOT_FLAGS "${flags}" PARENT_SCOPE)
endfunction()

# The route through Vulkan, of which the headers alone are needed: its library is loaded when it is
# used.  Without them there is no such route, and whoever asks for it is told so.
function(daedalus_vulkan_sources sources)
  set(folder ${PROJECT_SOURCE_DIR}/runtime/gpu/vulkan)
  if(DAEDALUS_VULKAN)
    # The headers are the same for every processor, wherever a cross compiler looks for others.
    find_path(DAEDALUS_VULKAN_INCLUDE vulkan/vulkan_core.h DOC "Folder of the Vulkan headers"
              NO_CMAKE_FIND_ROOT_PATH)
  endif()
  if(DAEDALUS_VULKAN AND DAEDALUS_VULKAN_INCLUDE)
    set(names backend cache commands device enumerate loader memory pipeline submit)
  else()
    if(DAEDALUS_VULKAN)
      message(WARNING "There are no Vulkan headers (Debian: libvulkan-dev): the library is built "
        "without this route to the GPU")
    endif()
    set(names absent)
  endif()
  list(TRANSFORM names PREPEND ${folder}/)
  list(TRANSFORM names APPEND .c)
  set(${sources} ${names} PARENT_SCOPE)
endfunction()

# The route through DRM, for which nothing is needed but Linux: libdrm is loaded when it is used.
function(daedalus_drm_sources sources)
  if(DAEDALUS_DRM)
    set(names backend block copy libdrm node program submit timestamp wait)
  else()
    set(names absent)
  endif()
  list(TRANSFORM names PREPEND ${PROJECT_SOURCE_DIR}/runtime/gpu/drm/)
  list(TRANSFORM names APPEND .c)
  set(${sources} ${names} PARENT_SCOPE)
endfunction()

# The runtime alone, as objects, to be put into each library beside a table.
function(daedalus_add_runtime)
  set(runtime ${PROJECT_SOURCE_DIR}/runtime)
  daedalus_vulkan_sources(vulkan)
  daedalus_drm_sources(drm)
  add_library(daedalus_runtime OBJECT
    ${runtime}/base/alloc.c
    ${runtime}/base/config.c
    ${runtime}/base/error.c
    ${runtime}/base/file.c
    ${runtime}/base/log.c
    ${runtime}/base/recipe.c
    ${runtime}/base/recipe_text.c
    ${runtime}/base/table.c
    ${runtime}/batch/append.c
    ${runtime}/batch/batch.c
    ${runtime}/batch/check.c
    ${runtime}/batch/choices.c
    ${runtime}/batch/context.c
    ${runtime}/batch/dispatch.c
    ${runtime}/batch/memory.c
    ${runtime}/batch/overlap.c
    ${runtime}/batch/query.c
    ${runtime}/cpu/choose.c
    ${runtime}/cpu/features.c
    ${runtime}/cpu/run.c
    ${runtime}/gpu/bound.c
    ${runtime}/gpu/dmabuf.c
    ${runtime}/gpu/emit.c
    ${runtime}/gpu/extent.c
    ${runtime}/gpu/flight.c
    ${runtime}/gpu/gpu.c
    ${runtime}/gpu/job.c
    ${runtime}/gpu/objects.c
    ${runtime}/gpu/packed.c
    ${runtime}/gpu/pool.c
    ${runtime}/gpu/records.c
    ${runtime}/gpu/rescue.c
    ${runtime}/gpu/route.c
    ${runtime}/gpu/sample.c
    ${runtime}/gpu/selftest.c
    ${runtime}/gpu/usable.c
    ${runtime}/gpu/wanted.c
    ${vulkan}
    ${drm})
  target_include_directories(daedalus_runtime PRIVATE
    ${runtime} ${runtime}/include ${runtime}/support)
  if(DAEDALUS_VULKAN AND DAEDALUS_VULKAN_INCLUDE)
    # By links, so that nothing else is seen that lies beside them, such as another C library's.
    set(links ${PROJECT_BINARY_DIR}/vulkan-headers)
    file(MAKE_DIRECTORY ${links})
    foreach(folder IN ITEMS vulkan vk_video)
      if(EXISTS ${DAEDALUS_VULKAN_INCLUDE}/${folder})
        file(CREATE_LINK ${DAEDALUS_VULKAN_INCLUDE}/${folder} ${links}/${folder} SYMBOLIC)
      endif()
    endforeach()
    target_include_directories(daedalus_runtime SYSTEM PRIVATE ${links})
  endif()
  daedalus_compile_flags(daedalus_runtime)
endfunction()

# The C source that holds a recipe, made of the file, which has to be of this generated code; the
# one without any where there is no file.
function(daedalus_recipe_source source target folder file)
  if(NOT file)
    set(${source} ${PROJECT_SOURCE_DIR}/runtime/base/recipe_none.c PARENT_SCOPE)
    return()
  endif()
  get_filename_component(file "${file}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "DAEDALUS_RECIPE: there is no file ${file}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} version LIMIT_COUNT 1)
  file(STRINGS ${file} generator REGEX "^generator[ \t]" LIMIT_COUNT 1)
  string(REGEX REPLACE "^generator[ \t]+" "" generator "${generator}")
  string(STRIP "${generator}" generator)
  daedalus_read_json(manifest ${folder} manifest.json)
  string(JSON own GET "${manifest}" generator)
  if(NOT version STREQUAL "daedalus-recipe 1")
    message(FATAL_ERROR "DAEDALUS_RECIPE: ${file} does not begin with \"daedalus-recipe 1\"")
  endif()
  if(NOT generator STREQUAL own)
    message(FATAL_ERROR "DAEDALUS_RECIPE: ${file} was measured with the code of generator "
      "${generator}, and ${folder} is of ${own}: the library would not follow it; tune again")
  endif()
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((0x..,)(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?)" "\\1\n"
         bytes "${bytes}")
  set(made ${PROJECT_BINARY_DIR}/recipe/${target}.c)
  file(CONFIGURE OUTPUT ${made} @ONLY CONTENT [[
/* Made of a recipe by CMake. */
#include "base/recipe.h"

const unsigned char daedalus_rt_recipe_built_in[] = {
@bytes@};
const size_t daedalus_rt_recipe_built_in_size = sizeof(daedalus_rt_recipe_built_in);
]])
  set(${source} ${made} PARENT_SCOPE)
endfunction()

# Adds the sources of one group to `sources`; they alone are then in `found`.
macro(daedalus_own_sources group)
  daedalus_manifest_sources(found ${arg_GENERATED} ${set} ${group})
  list(APPEND sources ${found})
endmacro()

# daedalus_add_library(<target> GENERATED <folder> [RECIPE <file>] [BESIDE <library>])
# The library of the prod variants; or, of all: with the objects of the one BESIDE it, which is of
# the same folder, and the other variants.
function(daedalus_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GENERATED;RECIPE;BESIDE" "")
  set(sanitized OFF)
  if(DAEDALUS_SANITIZE AND DAEDALUS_SANITIZE_GENERATED)
    set(sanitized ON)
  endif()
  set(objects $<TARGET_OBJECTS:daedalus_runtime> $<TARGET_OBJECTS:${target}_code>)
  if(arg_BESIDE)
    set(set others)
    list(APPEND objects $<TARGET_OBJECTS:${arg_BESIDE}_code>)
  else()
    set(set prod)
    daedalus_check_verified(${arg_GENERATED})
  endif()
  set(sources "")
  daedalus_own_sources(any)
  if(DAEDALUS_NEON)
    daedalus_own_sources(neon)
    daedalus_own_sources(neon_dotprod)
    # Chosen at run time, so compiled for more than the rest of the library where that has less.
    set_source_files_properties(${found} PROPERTIES COMPILE_OPTIONS "${DAEDALUS_DOT_FLAGS}")
  endif()
  # Never taken where there is NEON, and then built to be checked alone, on the machine itself.
  set(vectors OFF)
  set(alone "")
  if(DAEDALUS_VECTORS AND (NOT DAEDALUS_NEON OR
                           (arg_BESIDE AND DAEDALUS_NEON STREQUAL "native"
                            AND NOT CMAKE_CROSSCOMPILING)))
    set(vectors ON)
    # First: each of these takes long, and the last ones to be compiled should be short.
    daedalus_manifest_sources(found ${arg_GENERATED} ${set} vector)
    list(PREPEND sources ${found})
    if(DAEDALUS_NEON)
      daedalus_manifest_sources(alone ${arg_GENERATED} prod vector)
    endif()
    # Loops over the lanes of a register, of which GCC makes one instruction; before its version 12
    # not at -O2 alone. Sanitized, GCC instruments every lane, and takes minutes to optimise that.
    set(flags -ftree-vectorize)
    if(sanitized AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
      set(flags -O0)
    elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU")
      # Lanes are many accesses to little memory: to look less far for equal ones takes a third less
      # time, to join only two instructions at once a sixth less of that. Of twelve files for
      # x86-64-v3 none has 0.1 % more instructions by the latter.
      list(APPEND flags --param=sccvn-max-alias-queries-per-access=50 --param=max-combine-insns=2)
    endif()
    set_source_files_properties(${found} ${alone} PROPERTIES COMPILE_OPTIONS "${flags}")
  endif()
  if(DAEDALUS_VULKAN)
    daedalus_own_sources(glsl)
  endif()
  if(DAEDALUS_DRM)
    daedalus_own_sources(qpu)
  endif()
  if(DAEDALUS_SANITIZE AND NOT sanitized)
    set_property(SOURCE ${sources} ${alone} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
  endif()

  add_library(${target}_code OBJECT ${sources})
  daedalus_code_settings(${target}_code ${arg_GENERATED} ${vectors})
  if(arg_BESIDE)
    target_compile_definitions(${target}_code PRIVATE DAEDALUS_OTHERS=1)
  endif()
  if(alone)
    add_library(${target}_vectors OBJECT ${alone})
    daedalus_code_settings(${target}_vectors ${arg_GENERATED} ${vectors})
    list(APPEND objects $<TARGET_OBJECTS:${target}_vectors>)
  endif()
  daedalus_recipe_source(recipe ${target} ${arg_GENERATED} "${arg_RECIPE}")
  set_source_files_properties(${recipe} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/runtime)
  add_library(${target} STATIC ${recipe} ${objects})
  daedalus_code_settings(${target} ${arg_GENERATED} ${vectors})
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
endfunction()

# How generated code is compiled.
function(daedalus_code_settings target generated vectors)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<BUILD_INTERFACE:${generated}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # What generated code includes besides, which is not installed.
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/runtime/support)
  daedalus_compile_flags(${target})
  target_compile_options(${target} PRIVATE ${DAEDALUS_GENERATED_FLAGS})
  if(DAEDALUS_NEON)
    target_compile_definitions(${target} PRIVATE DAEDALUS_HAVE_NEON=1)
  endif()
  if(vectors)
    target_compile_definitions(${target} PRIVATE DAEDALUS_HAVE_VECTORS=1)
  endif()
  if(DAEDALUS_VULKAN)
    target_compile_definitions(${target} PRIVATE DAEDALUS_HAVE_VULKAN=1)
  endif()
  if(DAEDALUS_DRM)
    target_compile_definitions(${target} PRIVATE DAEDALUS_HAVE_DRM=1)
  endif()
  if(DAEDALUS_NEON STREQUAL "simde")
    target_include_directories(${target} SYSTEM BEFORE PRIVATE
      ${PROJECT_SOURCE_DIR}/tools/simde ${DAEDALUS_SIMDE})
    # NEON's addition wraps; SIMDe writes it as + on vectors of signed integers, where overflow is
    # undefined without this.
    target_compile_options(${target} PRIVATE -fwrapv)
  endif()
endfunction()
