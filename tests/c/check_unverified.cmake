# SPDX-License-Identifier: BSD-2-Clause
cmake_minimum_required(VERSION 3.25)
# Configures SOURCE with copies of the generated code FAKE in which one file is spoiled in one way
# each; works in the folder WORK.
set(failed FALSE)

# Writes `text` to `file`; configuring has to fail and say each of `expected`, or, where that is
# empty, to succeed.
function(try_text name file text expected)
  file(REMOVE_RECURSE ${WORK}/${name})
  file(COPY ${FAKE}/ DESTINATION ${WORK}/${name}/generated)
  file(WRITE ${WORK}/${name}/generated/${file} "${text}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${name}/build -D DAEDALUS_TESTS=OFF
            -D DAEDALUS_GENERATED_DIR=${WORK}/${name}/generated ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(ok FALSE)
  if(expected STREQUAL "" AND result EQUAL 0)
    set(ok TRUE)
  elseif(NOT expected STREQUAL "" AND NOT result EQUAL 0)
    set(ok TRUE)
    foreach(part IN LISTS expected)
      string(FIND "${output}" "${part}" at)
      if(at LESS 0)
        set(ok FALSE)
      endif()
    endforeach()
  endif()
  if(NOT ok)
    message("${name}: expected '${expected}', got result ${result}:\n${output}")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()

# Replaces `old` by `new` in the record of fake_add.
macro(try_spoiled name old new expected)
  file(READ ${FAKE}/records/fake_add.json text)
  string(REPLACE "${old}" "${new}" text "${text}")
  set(says "")
  if(NOT "${expected}" STREQUAL "")
    set(says "daedalus_fake_add__c_full: ${expected};./daedalus check --record")
  endif()
  try_text(${name} records/fake_add.json "${text}" "${says}" ${ARGN})
endmacro()

try_spoiled(good "" "" "")
try_spoiled(no_entry daedalus_fake_add__c_full other "it has no entry")
try_spoiled(other_hash "\"a2\"" "\"a3\"" "its entry is of another input_hash")
try_spoiled(mismatch "\"mismatches\": 0" "\"mismatches\": 2" "a run counted 2 mismatches")
try_spoiled(out_of_bounds "\"out_of_bounds\": 0" "\"out_of_bounds\": 1"
            "a run counted 1 out_of_bounds")
try_spoiled(nothing_compared "\"conformant\": 9" "\"conformant\": 0" "no item was compared")
try_spoiled(no_part "\"verified\"" "\"stats\"" "it has no entry")
try_spoiled(allowed "\"a2\"" "\"a3\"" "" -D DAEDALUS_ALLOW_UNVERIFIED=ON)

# A manifest with so many variants that the message names only some, and one of another form.
file(READ ${FAKE}/manifest.json manifest)
set(more "")
foreach(i RANGE 1 25)
  string(APPEND more "{\"name\": \"daedalus_fake_add__c_${i}\", \"needs\": [],\n   \"prod\": true, "
                     "\"input_hash\": \"c${i}\", \"figures\": {}},\n")
endforeach()
string(REGEX REPLACE "(\"family\": \"fake\",[^{]*[^]]*}}\\],[^[]*\\[)" "\\1${more}" many "${manifest}")
try_text(many manifest.json "${many}"
         "daedalus_fake_add__c_20: it has no entry and 5 more;./daedalus check --record")
string(REPLACE "\"prod\": false" "\"made\": false" other "${manifest}")
try_text(other_form manifest.json "${other}"
         "of 4 variants, 3 begin with a name;./daedalus gen writes all so")
string(REPLACE "\": " "\":" compact "${manifest}")
try_text(compact manifest.json "${compact}" "of 4 variants, 0 begin with a name")
string(REGEX REPLACE "\"kernels\".*\"sources\"" "\"kernels\": [], \"sources\"" empty "${manifest}")
try_text(no_kernels manifest.json "${empty}" "of 0 variants, 0 begin with a name")
if(failed)
  message(FATAL_ERROR "the build does not refuse what it should")
endif()
