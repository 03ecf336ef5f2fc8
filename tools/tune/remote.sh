#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What `./daedalus tune --host` has a board do, from the folder it was copied to. Needs no root.
#
#   remote.sh start RUN          starts the run in the folder RUN, detached, unless it is under way;
#                                prints what `state` would have before, or, where another run of
#                                this folder is under way, "other RUN" and the journal's size
#   remote.sh follow RUN OFFSET  prints the journal from that byte on, until the run has ended
#   remote.sh state RUN          "running", "ended STATUS" or "died", and the journal's size
#   remote.sh stop -             has whatever run is under way end; what was measured is kept
#
# RUN holds `jobs`, a command a line. One run a board: whoever is at work holds the lock of the
# folder above, and dies with it or lets go of it. Exit status 75: a run of another folder holds it.
set -u
cd "$(dirname "$0")" || exit 1
here=$(basename "$PWD")
action=$1
run=$2
lock=../board.lock
holder=../board.run # what holds it: folder, run
journal=journal.jsonl

# Whether nobody is at work; may be asked at any time, by several at once.
is_free() {
  (flock -n -s 9) 9>>"$lock"
}

# What holds it: folder and run.
held_by() {
  cut -d ' ' -f 1,2 "$holder" 2>/dev/null
}

# Whether the run has been begun, told where not; waits for one that is about to.
has_begun() {
  tries=0
  while [ ! -s "$run/pid" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  [ -s "$run/pid" ] || {
    echo "$run does not begin" >&2
    return 1
  }
}

start() {
  : >>"$journal" || exit 1
  before=$(state)
  (
    if flock -w 1 9; then # who asks whether it is free holds it for a moment
      rm -f "$run/pid" "$run/exit"
      echo "$here $run" >"$holder.new" && mv "$holder.new" "$holder" # before anybody else looks
      # The lock's descriptor is inherited, and held until the last of them has ended.
      setsid nohup sh "./$(basename "$0")" work "$run" >>"$run/log" 2>&1 </dev/null &
      has_begun || exit 1
      echo "$before"
      exit 0
    fi
    held=$(held_by)
    case $held in
      "$here $run") echo "$before" ;;
      "$here "*) echo "other ${held#* } $(journal_size)" ;;
      *)
        echo "another run is under way: $(cat "$holder")" >&2
        exit 75
        ;;
    esac
  ) 9>>"$lock"
}

work() {
  stopped=
  worst=0
  trap 'stopped=1' TERM
  echo $$ >"$run/pid.new" && mv "$run/pid.new" "$run/pid"
  while IFS= read -r job && [ -z "$stopped" ]; do
    eval "$job" </dev/null
    status=$?
    [ $status -le $worst ] || worst=$status
    [ $status -ne 130 ] || break
  done <"$run/jobs"
  [ -z "$stopped" ] || worst=130 # also where it came between two jobs
  echo "$worst" >"$run/exit.new" && mv "$run/exit.new" "$run/exit"
}

journal_size() {
  wc -c <"$journal"
}

stop() {
  is_free && return
  run=../$(held_by | tr ' ' /)
  has_begun && kill -s TERM -- "-$(cat "$run/pid")"
}

state() {
  size=$(journal_size)
  if ! is_free && [ "$(held_by)" = "$here $run" ]; then
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
  start | work | state | stop) "$action" ;;
  follow)
    has_begun && exec tail -c "+$(($3 + 1))" -f -s 1 --pid="$(cat "$run/pid")" "$journal"
    ;;
  *) exit 2 ;;
esac
