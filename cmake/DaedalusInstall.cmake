# SPDX-License-Identifier: BSD-2-Clause
# The library, its headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/daedalus)

install(TARGETS daedalus EXPORT daedalus ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The public ones alone: what else lies beside them is for generated code.
foreach(header IN ITEMS core gpu table)
  install(FILES runtime/include/daedalus/${header}.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/daedalus)
endforeach()
install(DIRECTORY ${DAEDALUS_GENERATED_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT daedalus NAMESPACE daedalus:: FILE daedalusTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(cmake/daedalusConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/daedalusConfig.cmake INSTALL_DESTINATION ${package_dir})
# While the major version is 0, a minor version may break callers (docs/api-ledger.md).
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/daedalusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/daedalusConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/daedalusConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is told from where the .pc file lies, so that the tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
set(pc_libs "")
if(CMAKE_DL_LIBS)
  set(pc_libs " -l${CMAKE_DL_LIBS}") # dlopen, of C libraries that have it apart
endif()
if(DAEDALUS_SANITIZE)
  string(APPEND pc_libs " -fsanitize=${DAEDALUS_SANITIZE}")
endif()
configure_file(cmake/daedalus.pc.in ${CMAKE_CURRENT_BINARY_DIR}/daedalus.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/daedalus.pc DESTINATION ${pc_dir})
