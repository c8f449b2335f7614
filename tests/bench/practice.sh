#!/bin/sh
# The practice cluster: time to start, request latency, writes a second, memory.
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -p "$work/run"
trap '"$B/podium-practice" reset >/dev/null 2>&1; rm -rf "$work"' EXIT
ms() {
    s=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - s) / 1000000))
}
echo "bench practice.start_fresh $(ms "$B/podium-practice" start) ms"
python3 tests/api/practice_http.py "$work/state/podium/practice/kubeconfig" --bench
pid=$("$B/podium-practice" status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')
echo "bench practice.memory $(sed -n 's/VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status") kB"
"$B/podium-practice" stop >/dev/null
echo "bench practice.start_again $(ms "$B/podium-practice" start) ms"
