# SPDX-License-Identifier: BSD-2-Clause
# usage: cmake -D COMMAND=[emulator;]daedalus-v3d -D WORK=<folder> -P test_command.cmake
# The command daedalus-v3d as one types it: exit codes, and what it prints where.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# run(<exit code> <stdin> <argument>...) leaves the output in `out` and `err`.
function(run code input)
  file(WRITE ${WORK}/stdin "${input}")
  execute_process(COMMAND ${COMMAND} ${ARGN} WORKING_DIRECTORY ${WORK} INPUT_FILE ${WORK}/stdin
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result STREQUAL code)
    message(SEND_ERROR "daedalus-v3d ${ARGN}: exit code ${result}, expected ${code}\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

# expect(<what> <text>): the output is the text.
function(expect what text)
  if(NOT "${${what}}" STREQUAL "${text}")
    message(SEND_ERROR "${what} is\n${${what}}\nexpected\n${text}")
  endif()
endfunction()

function(expect_part what text)
  string(FIND "${${what}}" "${text}" at)
  if(at LESS 0)
    message(SEND_ERROR "${what} is\n${${what}}\nexpected a part of it to be\n${text}")
  endif()
endfunction()

string(CONCAT end "thrsw\nthrsw\nnop\nnop\nthrsw\nnop\nnop\n")
string(CONCAT program
  "# b[i] = 3 a[i] + i\n"
  ".equ a, 0x1000\n"
  ".uniform a, 0x2000\n"
  "  eidx rf1\n"
  "  shl rf2, rf1, 2\n"
  "  ldunif\n"
  "  add tmua, rf0, rf2 ; thrsw\n"
  "  nop\n"
  "  nop\n"
  "  ldtmu.rf3\n"
  "  add rf4, rf3, rf3 ; add rf5, rf3, rf1 ; ldunif\n"
  "  add tmud, rf4, rf5\n"
  "  add tmua, rf0, rf2\n"
  "  tmuwt -\n"
  "${end}")

# asm and dis, each the other's reverse.
run(0 "${program}" asm --uniforms uniforms -)
expect_part(out "0x38002181bb03f002\n0x39e021827c03f042\n0x38403186bb03f000\n")
set(words "${out}")
file(READ ${WORK}/uniforms out)
expect(out "0x00001000\n0x00002000\n")
run(0 "${words}" dis)
expect_part(out "shl rf2, rf1, 2               ; nop\n")
run(0 "${out}" asm)
expect(out "${words}")
run(0 "${words}" dis --words --addresses=0x100)
expect_part(out "0x39e021827c03f042 shl rf2, rf1, 2               ; nop  # 0x00000108\n")
run(0 "${out}" asm)
expect(out "${words}")
run(0 "nop\nb -40\n" dis -a)
expect_part(out "b  -40  # 0x00000008 -> 0x00000000\n")
run(0 "${program}" asm -o words)
expect(out "")
file(READ ${WORK}/words out)
expect(out "${words}")

# What is named holds all of the output, or what it held before, and nothing lies beside it. A FIFO
# that nobody opens at its other end is not waited for.
file(MAKE_DIRECTORY ${WORK}/out)
file(WRITE ${WORK}/out/old "old")
file(CREATE_LINK old ${WORK}/out/link SYMBOLIC)
execute_process(COMMAND mkfifo ${WORK}/fifo COMMAND_ERROR_IS_FATAL ANY)
set(plain ${COMMAND})
set(COMMAND timeout 20 prlimit --fsize=20 ${plain})
foreach(name old new link)
  run(2 "${program}" asm -o out/${name})
  expect_part(err "daedalus-v3d: out/${name}: File too large")
  run(2 "${program}" asm -o words --uniforms out/${name})
  run(2 "${program}" exec -b 0x1000,64 -b 0x2000,64 --output 0x1000,out/${name})
  expect_part(err "daedalus-v3d: out/${name}: File too large")
  run(2 "${program}" exec -b 0x1000,64 -b 0x2000,64 --trace out/${name})
endforeach()
set(COMMAND timeout 20 ${plain})
run(2 "${program}" asm -o fifo)
expect_part(err "daedalus-v3d: fifo: no regular file")
run(2 "${program}" asm -o out)
run(2 "${program}" asm -o missing/new)
run(2 "" dis fifo)
expect_part(err "daedalus-v3d: fifo: no regular file")
run(2 "" dis out)
run(2 "${program}" exec --profile fifo)
file(GLOB out RELATIVE ${WORK}/out LIST_DIRECTORIES true ${WORK}/out/* ${WORK}/out/.*)
list(SORT out)
expect(out "link;old")
file(READ ${WORK}/out/old out)
expect(out "old")
run(0 "${program}" asm -o out/link)
file(READ_SYMLINK ${WORK}/out/link out)
expect(out "old")
file(READ ${WORK}/out/old out)
expect(out "${words}")
set(COMMAND ${plain})

# Mistakes.
run(2 "nop\n fobar rf1\n" asm)
expect(out "")
expect_part(err "<stdin>:2:2: no operation or signal is called `fobar`")
run(1 "0x0\n" dis)
expect(out ".word 0x0000000000000000\n")
expect(err "<stdin>:1: illegal word: the word is neither an ALU instruction nor a branch\n")
# The first twenty of a file are told, the others counted.
string(REPEAT "0x0\n" 20 many)
run(1 "${many}" dis)
expect_part(err "<stdin>:20: illegal word: ")
run(1 "${many}0x0\n0x0\n" dis)
if(err MATCHES "<stdin>:2[12]:")
  message(SEND_ERROR "more than twenty illegal words are told:\n${err}")
endif()
expect_part(err "<stdin>: 2 more illegal words\n")
expect_part(err "<stdin>:20: illegal word: ")
run(2 "" asm missing)
expect_part(err "daedalus-v3d: missing: ")
run(2 "" nonsense)
expect_part(err "there is no verb `nonsense`")
run(2 "")
run(2 "" asm --nonsense)
run(0 "" --help)
expect_part(out "usage: daedalus-v3d check")

# check
run(0 "${program}" check)
expect(out "")
run(2 "${program}" check --threads 3)
expect_part(err "--threads: a QPU runs 2 or 4 threads")
set(high "add rf40, rf41, rf42\n${end}")
run(0 "${high}" check)
run(1 "${high}" check --threads 4)
expect_part(out "<stdin>:1: HIGH_REGISTER: ")
expect_part(out "    word 0: add rf40, rf41, rf42          ; nop\n")
run(1 "nop\n" check)
set(close "nop\nthrsw\nnop\nthrsw\nnop\nnop\n${end}")
run(1 "${close}" check)
expect_part(out "THRSW_TOO_CLOSE")
run(0 "${close}" check --tolerant)
run(0 "thrsw\nnop\nnop\n" check --single-segment)
set(flags "mov.pushz -, rf4 ; nop ; thrsw\nnop\nnop\nmov.ifa rf5, rf4\n${end}")
run(0 "${flags}" check)
run(1 "${flags}" check --flags-lost)
expect_part(out "<stdin>:4: FLAGS_UNSET: ")
# A lookup of two words by a config that is a uniform: of .uniform, of a file, of an annotation.
string(CONCAT pair
  "nop ; mov tmuau, rf1 (0xfffffffa / -nan)\n"
  "thrsw\nnop\nnop\n"
  "ldtmu.rf4\nldtmu.rf5\n"
  "${end}")
run(0 "${pair}" check)
string(REPLACE "fffffffa" "ffffffff" single "${pair}")
run(1 "${single}" check)
expect_part(out "LDTMU_EMPTY")
run(0 ".uniform 0xfffffffa\n${single}" check)
file(WRITE ${WORK}/uniforms "0xfffffffa\n")
run(0 "${single}" check --uniforms uniforms)
run(2 "${single}" check --uniforms words)

run(0 "nop // (0xffffffff)\n${pair}" check)
# exec
run(0 "${program}" exec --strict --buffer 0x1000,64 -b 0x2000,64)
string(CONCAT zeros
  "0x00001000: 00000000 00000000 00000000 00000000\n"
  "0x00001010: 00000000 00000000 00000000 00000000\n"
  "0x00001020: 00000000 00000000 00000000 00000000\n"
  "0x00001030: 00000000 00000000 00000000 00000000\n")
string(CONCAT counts
  "0x00002000: 00000000 00000001 00000002 00000003\n"
  "0x00002010: 00000004 00000005 00000006 00000007\n"
  "0x00002020: 00000008 00000009 0000000a 0000000b\n"
  "0x00002030: 0000000c 0000000d 0000000e 0000000f\n")
expect(out "${zeros}${counts}")
string(REPEAT "abc\n" 16 letters) # 0x0a636261 in each lane
file(WRITE ${WORK}/letters "${letters}")
run(0 "${program}" exec -b 0x1000,64,letters -b 0x2000,64 --output 0x1000,copy)
expect_part(out "0x00002000: 1f2a2723 1f2a2724 1f2a2725 1f2a2726\n")
file(READ ${WORK}/copy out)
expect(out "${letters}")
run(0 "${program}" exec -b 0x1000,64 -b 0x2000,64 --timed --trace trace)
expect_part(err " clocks, ")
file(READ ${WORK}/trace out)
expect_part(out "uniforms_address 0xe0000000\n")
expect_part(out "`  buffer 0x00001000 + 0\n")
run(0 "${program}" exec -b 0x1000,64 -b 0x2000,64 --intervals)
string(REGEX MATCH "{.*}" line "${err}")
string(JSON low GET "${line}" dispatch_ns low)
string(JSON middle GET "${line}" dispatch_ns mid)
string(JSON high GET "${line}" dispatch_ns high)
if(NOT (low LESS middle AND middle LESS high))
  message(SEND_ERROR "an interval of ${low}, ${middle}, ${high}")
endif()
run(0 "${program}" exec -b 0x1000,64 -b 0x2000,64 --trace trace.json)
file(READ ${WORK}/trace.json out)
string(JSON lines LENGTH "${out}" program)
if(NOT lines EQUAL 18)
  message(SEND_ERROR "a trace of ${lines} instructions, expected 18")
endif()
run(2 "${program}" exec -b 0x1000,64 -b 0x2000,64 --trace nowhere/trace)
expect_part(err "nowhere/trace: ")
run(1 "${program}" exec -b 0x1000,64)
run(2 "${program}" exec -b 0x1000,64 -b 0x1010,64)
expect_part(err "overlaps")
run(2 "${program}" exec -b 0x1000)
run(2 "${program}" exec -b 0x1000,2,letters)
run(2 "${program}" exec --groups 0)
run(2 "${program}" exec --groups 1,,2)
run(2 "${program}" exec --groups 010x)
run(2 "# nothing\n" exec)
expect_part(err "<stdin>: no instructions")
run(2 "${program}" exec --output 0x1000,copy)
expect_part(err "no buffer begins at 0x00001000")
