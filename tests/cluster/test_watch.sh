#!/bin/sh
# test_watch.sh - watches on a real API server: a thousand faults between it and
# the client (k8s_faults), then rights that come and go (k8s_rights): nothing
# allowed, list alone, list and watch, taken away again.
#
# B, KUBECONFIG (all rights) and KUBECTL come from the harness. Ends with
# "N passed, N failed".
set -u
ns=watch-$$
admin() { "$KUBECTL" --kubeconfig "$KUBECONFIG" "$@"; }
trap 'admin delete namespace "$ns" --wait=false >/dev/null 2>&1' EXIT
trap 'exit 1' INT TERM
admin create namespace "$ns" >/dev/null || { echo "0 passed, 1 failed"; exit 1; }

passed=0 failed=0
for t in k8s_faults k8s_rights; do
    if FAULTS_PACE=150 FAULTS_KUBECONFIG=$KUBECONFIG FAULTS_NS=$ns T_TIMEOUT=120 "$B/tests/$t"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
