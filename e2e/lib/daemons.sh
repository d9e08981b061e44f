# shellcheck shell=bash disable=SC2154 # Variables come from who sources this.
# Processes that are kept running, as a machine's service manager does. Sourced; needs $place, a folder, and $journal,
# where their logs go.

# daemon NAME COMMAND...: starts it in the background and, once the cluster is up, again whenever it has ended
daemon() {
  local name=$1
  shift
  mkdir -p "$place/pid" "$place/hold" "$journal"
  rm -f "$place/pid/$name"
  keep_running "$name" "$@" >>"$journal/$name.log" 2>&1 </dev/null &
  until [ -s "$place/pid/$name" ]; do sleep 0.02; done
}

keep_running() {
  local name=$1 pid
  shift
  while true; do
    "$@" &
    pid=$!
    echo "$pid" >"$place/pid/$name"
    wait "$pid" || true
    # While the cluster comes up, whoever waits for it wants to know.
    [ -e "$state/up" ] || return 0
    sleep 1
    while [ -e "$place/hold/$name" ]; do sleep 0.1; done
  done
}

# until_true SECONDS NAME COMMAND...: waits for the command to succeed while daemon NAME lives
until_true() {
  local left=$(($1 * 5)) name=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ ! -e "$state/up" ] && ! kill -0 "$(cat "$place/pid/$name")" 2>/dev/null; then
      tail -n 15 "$journal/$name.log" >&2
      die "$name has ended; its last words are above."
    fi
    if ((left-- <= 0)); then
      tail -n 15 "$journal/$name.log" >&2
      die "$name did not get ready in time; its last words are above."
    fi
    sleep 0.2
  done
}
