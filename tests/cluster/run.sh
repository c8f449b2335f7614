#!/bin/sh
# make test-cluster: starts a real cluster, runs tests/cluster/test_*.sh on it, and
# takes it away again, also when interrupted. Closes with "N passed, N failed";
# where the machine can't have such a cluster, with what was left out and why.
#   tests/cluster/run.sh [PATTERN]            only those whose name matches
#   CLUSTER=FOLDER tests/cluster/run.sh …     on that cluster of tests/cluster/up
# The tests find B, KUBECONFIG (all rights), STUDENT, KUBECTL, KUBECTL_OTHER,
# REGISTRY, CLUSTER (the folder). Each makes a namespace of its own.
set -u
cd "$(dirname "$0")/../.." || exit 2
own= part=
# clusters of runs that were killed before they could clean up
for d in "${TMPDIR:-/tmp}"/podium-tc-*; do
    if [ -s "$d/owner" ] && ! kill -0 "$(cat "$d/owner")" 2>/dev/null; then tests/cluster/down "$d"; fi
done
# COMMAND...: in a session of its own, which a signal to us ends
part() {
    setsid "$@" &
    part=$!
    wait $part
}
end() {
    polls=150                     # once: they clean up after themselves
    [ -z "$part" ] || pkill -TERM -s "$part"
    while [ -n "$part" ] && pgrep -s "$part" >/dev/null && [ $polls -gt 0 ]; do
        polls=$((polls - 1))
        sleep 0.1
    done
    [ -z "$part" ] || pkill -KILL -s "$part"
    [ -z "$own" ] || tests/cluster/down "$own"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [ -z "${CLUSTER:-}" ]; then
    own=$(mktemp -d "${TMPDIR:-/tmp}/podium-tc-XXXXXX")
    echo $$ >"$own/owner"
    CLUSTER_WHY=$own/why part tests/cluster/up "$own" >/dev/null
    code=$?
    if [ $code = 3 ]; then
        echo "left out: all of tests/cluster: $(cat "$own/why")"
        echo "0 passed, 0 failed, $(ls tests/cluster/test_*.sh | wc -l) skipped"
        exit 0
    fi
    [ $code = 0 ] || { echo "the cluster did not start"; echo "0 passed, 1 failed"; exit 1; }
    CLUSTER=$own
fi
. "$CLUSTER/env"
# the proxies are for what is far away
export no_proxy=127.0.0.1,localhost,10.0.0.0/8 NO_PROXY=127.0.0.1,localhost,10.0.0.0/8
export RUN_CLUSTER=1
part tests/run.sh "${1:-.}"
