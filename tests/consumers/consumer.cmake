# SPDX-License-Identifier: BSD-2-Clause
# The programs of a consumer project, and `run`, which runs them.
include(CheckLanguage)
add_executable(consumer_c ${CMAKE_CURRENT_LIST_DIR}/main.c)
target_link_libraries(consumer_c PRIVATE daedalus::daedalus)
set(runs COMMAND consumer_c)

check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  add_executable(consumer_cxx ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
  target_link_libraries(consumer_cxx PRIVATE daedalus::daedalus)
  list(APPEND runs COMMAND consumer_cxx)
else()
  message(WARNING "There is no C++ compiler: only the C program is built")
endif()
add_custom_target(run ${runs} VERBATIM)
