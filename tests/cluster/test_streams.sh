#!/bin/sh
# test_streams.sh - exec, cp, port-forward and the shell in the console on a real
# kubelet, beside kubectl (streams.sh). B, KUBECONFIG and KUBECTL come from the
# harness. Ends with "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-streams-XXXXXX")
export HOME=$work XDG_STATE_HOME=$work/state
ns=streams-$$ web=8080 echo=7000 via=
cleanup() {
    tmux -S "$work/tmux" kill-server 2>/dev/null
    "$KUBECTL" --kubeconfig "$KUBECONFIG" delete namespace "$ns" --wait=false >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
. "$here/streams.sh"

"$KUBECTL" --kubeconfig "$KUBECONFIG" create namespace "$ns" >/dev/null
polls=50
until k get serviceaccount default >/dev/null 2>&1 || [ $polls = 0 ]; do
    polls=$((polls - 1))
    sleep 0.1
done
k apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: podium.test/busybox:1
    command: [sh, -c, "mkdir -p /www; head -c 10485760 /dev/urandom >/www/big; echo hello >/www/index.html; nc -ll -p $echo -e cat & httpd -f -p $web -h /www & until [ -e /tmp/die ]; do sleep 0.2; done; exit 1"]
Y
k wait --for=condition=Ready pod/web --timeout=30s >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
streams_exec
streams_cp
streams_forward
streams_shell
echo "$passed passed, $failed failed"
[ $failed = 0 ]
