#!/bin/sh
# test_manifest.sh - manifests on a real API server: its sentences are podium check's,
# YAML is typed as `kubectl create --dry-run=client` types it, and the whole way of an
# object (tests/cluster/manifest_flow.sh). B, KUBECONFIG, KUBECTL come from the harness.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-manifest-XXXXXX")
ns=manifest-$$
export HOME=$work LC_ALL=C.UTF-8
cleanup() {
    "$KUBECTL" delete namespace "$ns" --wait=false >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
"$KUBECTL" create namespace "$ns" >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
. "$root/tests/cluster/manifest_flow.sh"

# the generated scalars once more, by the create of kubectl itself
if PODIUM_KUBECTL_CREATE=1 "$B/tests/k8s_kubectl_types" >"$work/out" 2>"$work/err"; then
    passed=$((passed + 1))
else
    fail "kubectl create --dry-run=client types YAML otherwise"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
