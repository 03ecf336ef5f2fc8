# SPDX-License-Identifier: BSD-2-Clause
cmake_minimum_required(VERSION 3.25)
# Configures SOURCE with copies of the generated code FAKE whose record of
# fake_add is spoiled in one way each; works in the folder WORK.
set(failed FALSE)

# Replaces `old` by `new` in that record; configuring has to fail and say
# `expected`, or, where that is empty, to succeed.
function(try_spoiled name old new expected)
  file(REMOVE_RECURSE ${WORK}/${name})
  file(COPY ${FAKE}/ DESTINATION ${WORK}/${name}/generated)
  file(READ ${FAKE}/records/fake_add.json text)
  string(REPLACE "${old}" "${new}" text "${text}")
  file(WRITE ${WORK}/${name}/generated/records/fake_add.json "${text}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${name}/build -D DAEDALUS_TESTS=OFF
            -D DAEDALUS_GENERATED_DIR=${WORK}/${name}/generated ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(ok FALSE)
  if(expected STREQUAL "" AND result EQUAL 0)
    set(ok TRUE)
  elseif(NOT expected STREQUAL "" AND NOT result EQUAL 0)
    string(FIND "${output}" "daedalus_fake_add__c_full: ${expected}" at)
    string(FIND "${output}" "./daedalus check --record" command_at)
    if(at GREATER -1 AND command_at GREATER -1)
      set(ok TRUE)
    endif()
  endif()
  if(NOT ok)
    message("${name}: expected '${expected}', got result ${result}:\n${output}")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()

try_spoiled(good "" "" "")
try_spoiled(no_entry daedalus_fake_add__c_full other "it has no entry")
try_spoiled(other_hash "\"a2\"" "\"a3\"" "its entry is of another input_hash")
try_spoiled(mismatch "\"mismatches\": 0" "\"mismatches\": 2" "a run counted 2 mismatches")
try_spoiled(out_of_bounds "\"out_of_bounds\": 0" "\"out_of_bounds\": 1"
            "a run counted 1 out_of_bounds")
try_spoiled(nothing_compared "\"conformant\": 9" "\"conformant\": 0" "no item was compared")
try_spoiled(no_part "\"verified\"" "\"stats\"" "it has no entry")
try_spoiled(allowed "\"a2\"" "\"a3\"" "" -D DAEDALUS_ALLOW_UNVERIFIED=ON)
if(failed)
  message(FATAL_ERROR "the build does not refuse what it should")
endif()
