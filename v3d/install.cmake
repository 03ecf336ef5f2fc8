# SPDX-License-Identifier: BSD-2-Clause
# The toolkit by itself: library, headers, pkg-config file, commands, profiles.
install(TARGETS daedalus_v3d ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS daedalus_v3d_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES profiles/pi5.profile DESTINATION ${CMAKE_INSTALL_DATADIR}/daedalus-v3d)
if(DAEDALUS_V3D_DEVICE)
  # The server looks for the library beside itself.
  install(TARGETS daedalus-v3d-device daedalus-v3d-preload
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(daedalus-v3d.pc.in ${CMAKE_CURRENT_BINARY_DIR}/daedalus-v3d.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/daedalus-v3d.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
