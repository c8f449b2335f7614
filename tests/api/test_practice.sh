#!/bin/sh
# The practice cluster's API at the HTTP level (practice_http.py), on a cluster of
# its own. B=DIR has the programs.
set -u
B=${B:-build}
here=$(cd "$(dirname "$0")" && pwd)
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -p "$work/run"
trap '"$B/podium-practice" reset >/dev/null 2>&1; rm -rf "$work"' EXIT
"$B/podium-practice" start >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
# a restart forgets old events: a watch from before it is too old
"$B/podium-practice" stop >/dev/null && "$B/podium-practice" start >/dev/null
timeout 120 python3 "$here/practice_http.py" "$work/state/podium/practice/kubeconfig" "$@"
