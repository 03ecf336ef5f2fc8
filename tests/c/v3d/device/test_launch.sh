#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How the device's program starts others, ends, and says what is wrong.
# Arguments: the device, the library to preload, a client program, one with all kinds of jobs, and
# perhaps Python.
device=$1 preload=$2 client=$3 jobs=$4
TMPDIR=$(mktemp -d) || exit 2
export TMPDIR
failures=0

check() { # name, what came, what was expected
  if [ "$2" != "$3" ]; then
    echo "$1: got '$2', expected '$3'" >&2
    failures=$((failures + 1))
  fi
}
run() { "$device" --preload "$preload" "$@"; }

"$device" --no-preload --run -- sh -c 'exit 42'
check 'exit status of the program' $? 42
"$device" --no-preload --run -- sh -c 'kill -9 $$'
check 'a program ended by a signal' $? 137
"$device" --no-preload --run -- "$TMPDIR/absent" 2>"$TMPDIR/err"
check 'an absent program' $? 127
check 'its message' "$(grep -c 'absent: No such file' "$TMPDIR/err")" 1
"$device" 2>"$TMPDIR/err"
check 'no mode' $? 2
check 'its message' "$(head -1 "$TMPDIR/err")" \
  'daedalus-v3d-device: one of --run and --socket is needed'
"$device" --memory 5000 --run -- true 2>"$TMPDIR/err"
check 'too much memory' $? 2
"$device" --preload "$TMPDIR/absent.so" --run -- true 2>"$TMPDIR/err"
check 'no library' $? 3
printf 'slices = 3\nslices = 99\n' >"$TMPDIR/profile"
"$device" --profile "$TMPDIR/profile" --run -- true 2>"$TMPDIR/err"
check 'a wrong profile' $? 2
check 'its message names the line' "$(grep -c 'profile:2: ' "$TMPDIR/err")" 1
mkfifo "$TMPDIR/fifo"
for option in --profile --log --jobs; do
  timeout 20 "$device" "$option" "$TMPDIR/fifo" --no-preload --run -- true 2>"$TMPDIR/err"
  check "$option: a FIFO that nobody opens" $? 2
done
rm "$TMPDIR/fifo"
"$device" --log /dev/null --no-preload --run -- true
check 'a device as a log' $? 0

"$device" --fault hang@1:ms=0 --run -- true 2>"$TMPDIR/err"
check 'a wrong fault' $? 2
check 'its message' "$(cat "$TMPDIR/err")" "daedalus-v3d-device: fault 'hang@1:ms=0': \
at '0': expected 1 to 3600000 ms (--help lists faults)"
DAEDALUS_V3D_FAULTS='hang@1:ms=1;;nothing' "$device" --run -- true 2>"$TMPDIR/err"
check 'a wrong fault of the environment' $? 2
"$device" --no-preload --fault hang@1 --run -- true 2>/dev/null
check 'a fault that never struck' $? 0
"$device" --no-preload --fault hang@1 --check-jobs --run -- true 2>/dev/null
check 'the same, checked' $? 1
run --fault hang@1:ms=1 --check-jobs --run -- "$client" 5 >/dev/null 2>"$TMPDIR/err"
check 'a fault that struck' $? 0
check 'its report' "$(grep -c 'fault hang@1:ms=1 struck 1 time$' "$TMPDIR/err")" 1

timeout 20 env --ignore-signal=CHLD "$device" --no-preload --run -- sh -c 'exit 3'
check 'started by one who ignores its children' $? 3

# A signal is the program's; nothing is left behind.
"$device" --no-preload --run -- sleep 30 &
sleep 0.3
kill -TERM $!
wait $!
check 'terminated' $? 143
rm "$TMPDIR/err" "$TMPDIR/profile"
check 'what is left behind' "$(ls "$TMPDIR")" ''

# What jobs did: a line each.
run --jobs "$TMPDIR/jobs" --run -- "$client" 5 >/dev/null
check 'compute jobs told' "$(grep -c '"queue": "compute", "result": 0, ' "$TMPDIR/jobs")" 5
check 'command lists told' "$(grep -c '"queue": "command list", "result": 0, ' "$TMPDIR/jobs")" 5
# Of faults those that struck: a job that is not run is not slow, and one that hangs is not either.
rm "$TMPDIR/jobs"
run --jobs "$TMPDIR/jobs" --quiet --fault 'slow@*:ms=1' --run -- "$jobs" >/dev/null 2>&1
check 'refused jobs told' "$(grep -c '"result": -95, ' "$TMPDIR/jobs")" 3
check 'struck by nothing' "$(grep '"result": -95, ' "$TMPDIR/jobs" | grep -c faults)" 0
check 'others are' "$(grep '"queue": "compute"' "$TMPDIR/jobs" | grep -vc 'slow@\*:ms=1')" 0
rm "$TMPDIR/jobs"
run --jobs "$TMPDIR/jobs" --fault hang@1:ms=1 --fault slow@1:ms=1 --run -- "$client" 1 >/dev/null 2>&1
check 'hung, not slow' "$(grep -c '"faults": \["hang@1:ms=1"\]' "$TMPDIR/jobs")" 1

# A server that is started by itself.
"$device" --socket "$TMPDIR/socket" &
server=$!
sleep 0.3
DAEDALUS_V3D_SOCKET=$TMPDIR/socket LD_PRELOAD=$preload "$client" 5 >"$TMPDIR/out"
check 'a client of --socket' $? 0
"$device" --socket "$TMPDIR/socket" 2>"$TMPDIR/err"
check 'a socket that is in use' $? 3
kill -TERM $server
wait $server
check 'the server' $? 0
check 'its socket' "$(ls "$TMPDIR" | grep -c socket)" 0

# Without a server.
LD_PRELOAD=$preload "$client" 5 2>"$TMPDIR/err"
check 'no server' $? 2
check 'its message' "$(grep -c 'no simulated V3D: DAEDALUS_V3D_SOCKET: not set' "$TMPDIR/err")" 1

# Less memory than is asked for.
run --memory 1 --run -- "$client" 5 >/dev/null
check 'little memory' $? 0
if [ -n "$5" ]; then
  run --run -- "$5" "$(dirname "$0")/python_client.py"
  check 'a client in Python' $? 0
  # Relative paths hold after the program has changed its folder.
  (cd "$(dirname "$preload")" && "$device" --preload "./$(basename "$preload")" --run -- \
    sh -c 'cd / && "$0" 5' "$client" >/dev/null 2>"$TMPDIR/err")
  check 'a library by a relative path' $? 0
  check 'its messages' "$(cat "$TMPDIR/err")" ''
  # The server is killed under a client: its calls fail, its mappings stay, a new server serves it.
  "$device" --socket "$TMPDIR/again" &
  first=$!
  sleep 0.3
  DAEDALUS_V3D_SOCKET=$TMPDIR/again LD_PRELOAD=$preload "$5" "$(dirname "$0")/lost_server.py" \
    $first "$device" "$TMPDIR/again" 2>"$TMPDIR/err"
  check 'a server that was killed' $? 0
fi
rm -r "$TMPDIR"
[ $failures -eq 0 ]
