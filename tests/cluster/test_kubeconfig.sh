#!/bin/sh
# test_kubeconfig.sh - kubeconfigs on a real cluster: who the server says we are by token,
# token file, plugin, impersonation and a pod's service account, as kubectl auth whoami
# has it; then the table and 500 generated kubeconfigs under both kubectls.
#
# B, KUBECONFIG (all rights), KUBECTL and KUBECTL_OTHER come from the harness.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
case $B in /*) ;; *) B=$PWD/$B ;; esac
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-kubeconfig-XXXXXX")
ns=kubeconfig-$$
passed=0
failed=0
admin() { "$KUBECTL" --kubeconfig "$KUBECONFIG" "$@"; }
cleanup() {
    admin delete namespace "$ns" --wait=false >/dev/null 2>&1
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/    /' "$dir/out" | tail -30
}
admin create namespace "$ns" >/dev/null && admin -n "$ns" create serviceaccount probe >/dev/null || {
    echo "0 passed, 1 failed"
    exit 1
}
token=$(admin -n "$ns" create token probe)
server=$(admin config view --minify --raw -o 'jsonpath={.clusters[0].cluster.server}')
admin config view --minify --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' |
    base64 -d >"$dir/ca.crt"
[ -s "$dir/ca.crt" ] || cp "$(admin config view --minify --raw -o \
    'jsonpath={.clusters[0].cluster.certificate-authority}')" "$dir/ca.crt"
me=system:serviceaccount:$ns:probe
printf '%s\n' "$token" >"$dir/token"
printf '%s' "$ns" >"$dir/namespace"

# config NAME USER-FIELDS
config() {
    cat >"$dir/$1" <<C
current-context: x
clusters: [{name: c, cluster: {server: "$server", certificate-authority: ca.crt}}]
users: [{name: u, user: {$2}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: $ns}}]
C
}
# who NAME WANT ENV...: podium's connection is taken for WANT, and kubectl's too
who() {
    local name=$1 want=$2
    shift 2
    if env "$@" "$B/podium" kubeconfig check >"$dir/out" 2>&1 </dev/null &&
        grep -q "takes you for *$want " "$dir/out" && grep -q 'WebSocket comes through' "$dir/out" &&
        { [ "$name" = pod ] ||
            env "$@" "$KUBECTL" auth whoami </dev/null 2>&1 | grep -q "Username *$want *$"; }; then
        ok
    else
        bad "$name: not taken for $want"
    fi
}
config by-token "token: \"$token\""
config by-file "tokenFile: token"
config by-plugin 'exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: IfAvailable}'
cat >"$dir/plugin" <<C
#!/bin/sh
echo "renewed" >&2
cat <<J
{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
 "status": {"token": "$token", "expirationTimestamp": "2099-01-01T00:00:00Z"}}
J
C
chmod +x "$dir/plugin"
who token "$me" KUBECONFIG="$dir/by-token"
who file "$me" KUBECONFIG="$dir/by-file"
who plugin "$me" KUBECONFIG="$dir/by-plugin"
grep -q 'it said *renewed' "$dir/out" && ok || bad "the plugin's words are not shown"
admin config view --minify --raw --flatten >"$dir/admin"
sed 's/^  user:$/  user:\n    as: jane\n    as-groups: [g1]/' "$dir/admin" >"$dir/as-jane"
who impersonation jane KUBECONFIG="$dir/as-jane"
hostport=${server#https://}
who pod "$me" KUBECONFIG= HOME="$dir/none" PODIUM_SERVICE_ACCOUNT_DIR="$dir" \
    KUBERNETES_SERVICE_HOST="${hostport%:*}" KUBERNETES_SERVICE_PORT="${hostport##*:}"
# a token that the server does not take
config refused 'token: "not.a.token"'
if ! KUBECONFIG=$dir/refused "$B/podium" kubeconfig check >"$dir/out" 2>&1 &&
    grep -q '401\|Unauthorized' "$dir/out"; then ok; else bad "a refused token"; fi

for kubectl in "$KUBECTL" "$KUBECTL_OTHER"; do
    [ -x "$kubectl" ] || continue
    KUBECTL=$kubectl timeout 200 \
        sh "$root/tests/api/test_kubeconfig.sh" >"$dir/out" 2>&1 && ok || bad "judged by $kubectl"
    grep '^kubeconfigs:\|^skipped' "$dir/out"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
