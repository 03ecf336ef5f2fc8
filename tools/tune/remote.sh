#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What `./daedalus tune --host` has a board do, from the folder it was copied to. Needs no root.
#
#   remote.sh start RUN          starts the run in the folder RUN, detached, unless it is under way;
#                                prints what `state` would have before
#   remote.sh follow RUN OFFSET  prints the journal from that byte on, until the run has ended
#   remote.sh state RUN          "running", "ended STATUS" or "died", and the journal's size
#   remote.sh stop -             has whatever run is under way end; what was measured is kept
#
# RUN holds `jobs`, a command a line. One run a board: whoever is at work holds the lock of the
# folder above, and dies with it or lets go of it. Exit status 75: another run holds it.
set -u
cd "$(dirname "$0")" || exit 1
action=$1
run=$2
lock=../board.lock
holder=../board.run # what holds it: folder, run, process
journal=journal.jsonl

# Whether nobody is at work; may be asked at any time.
is_free() {
  (flock -n 9) 9>>"$lock"
}

is_held_by_this() {
  [ "$(cut -d ' ' -f 1,2 "$holder" 2>/dev/null)" = "$(basename "$PWD") $run" ]
}

start() {
  : >>"$journal" || exit 1
  state
  (
    if ! flock -n 9; then
      is_held_by_this && exit 0
      echo "another run is under way: $(cat "$holder")" >&2
      exit 75
    fi
    rm -f "$run/pid" "$run/exit"
    # The lock's descriptor is inherited, and held until the last of them has ended.
    setsid nohup sh "./$(basename "$0")" work "$run" >>"$run/log" 2>&1 </dev/null &
    tries=0
    while [ ! -s "$run/pid" ] && [ $tries -lt 100 ]; do
      sleep 0.1
      tries=$((tries + 1))
    done
    [ -s "$run/pid" ]
  ) 9>>"$lock"
}

work() {
  stopped=
  worst=0
  trap 'stopped=1' TERM
  echo "$(basename "$PWD") $run $$" >"$holder"
  echo $$ >"$run/pid.new" && mv "$run/pid.new" "$run/pid"
  while IFS= read -r job && [ -z "$stopped" ]; do
    eval "$job" </dev/null
    status=$?
    [ $status -le $worst ] || worst=$status
    [ $status -ne 130 ] || break
  done <"$run/jobs"
  echo "$worst" >"$run/exit.new" && mv "$run/exit.new" "$run/exit"
}

state() {
  size=$(wc -c <"$journal")
  if ! is_free && is_held_by_this; then
    echo "running $size"
  elif [ -s "$run/exit" ]; then
    echo "ended $(cat "$run/exit") $size"
  elif [ -e "$run/pid" ]; then
    echo "died $size"
  else
    echo "new $size"
  fi
}

case $action in
  start | work | state) "$action" ;;
  follow) exec tail -c "+$(($3 + 1))" -f -s 1 --pid="$(cat "$run/pid")" "$journal" ;;
  stop) is_free || kill -s TERM -- "-$(cut -d ' ' -f 3 "$holder")" ;;
  *) exit 2 ;;
esac
