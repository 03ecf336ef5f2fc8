# SPDX-License-Identifier: BSD-2-Clause
# Sets daedalus_version; it stands in the public header alone.
set(version_header ${CMAKE_CURRENT_LIST_DIR}/../runtime/include/daedalus/core.h)
foreach(part IN ITEMS MAJOR MINOR)
  file(STRINGS ${version_header} line REGEX "^#define DAEDALUS_VERSION_${part} [0-9]+$")
  string(REGEX REPLACE ".* " "" version_${part} "${line}")
endforeach()
set(daedalus_version ${version_MAJOR}.${version_MINOR})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_header})
