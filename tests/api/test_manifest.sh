#!/bin/sh
# test_manifest.sh - manifests on the practice cluster: the same way of an object and
# the same sentences as on a real one (tests/cluster/manifest_flow.sh). B=DIR has the
# programs. Prints "N passed, N failed".
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
KUBECTL=${KUBECTL:-kubectl}
command -v "$KUBECTL" >/dev/null || {
    echo "skipped: kubectl is not installed (apt-get install kubernetes-client)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config HOME=$work
mkdir -p "$work/run"
cleanup() {
    "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
"$B/podium-practice" start >"$work/out" 2>"$work/err" || { cat "$work/err"; echo "0 passed, 1 failed"; exit 1; }
export KUBECONFIG=$XDG_STATE_HOME/podium/practice/kubeconfig
ns=$("$KUBECTL" config view --minify -o 'jsonpath={..namespace}')
. "$root/tests/cluster/manifest_flow.sh"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
