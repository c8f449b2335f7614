#!/bin/sh
# test_streams.sh - exec, cp and port-forward beside kubectl's, on the practice
# cluster (tests/cluster/streams.sh); kubectl unmodified forwards ports of it too.
# B=DIR has the programs. Prints "N passed, N failed".
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
export B
KUBECTL=$(command -v kubectl) && [ -x /bin/busybox ] && command -v curl >/dev/null || {
    echo "needs kubectl, curl and busybox-static"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
here=$(cd "$(dirname "$0")/../cluster" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-streams-XXXXXX")
export XDG_STATE_HOME="$work/state" XDG_RUNTIME_DIR="$work/run" XDG_DATA_HOME="$work/data" HOME="$work"
export PODIUM_CLOCK_SPEED=10
mkdir -p "$work/run"
ns=default via=
cleanup() {
    tmux -S "$work/tmux" kill-server 2>/dev/null
    timeout 60 "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT INT TERM
. "$here/streams.sh"

timeout 30 "$B/podium-practice" start >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
export KUBECONFIG="$XDG_STATE_HOME/podium/practice/admin.kubeconfig"
host=$(sed -nE 's/.*server: *"?https:\/\/([0-9.:]+).*/\1/p' "$KUBECONFIG" | head -1)
mkdir -p "$work/image/bin"
cp /bin/busybox "$work/image/bin/busybox"
for a in sh cat echo sleep true dd tar ls head tail wc test touch sha256sum nc httpd mkdir find stty \
    printf rm ln mkfifo kill; do
    ln -s busybox "$work/image/bin/$a"
done
printf 'FROM scratch\nCOPY bin /bin\nENV PATH=/bin\nCMD ["/bin/sh"]\n' >"$work/image/Dockerfile"
timeout 60 "$B/podium-practice" image build -t "$host/test/box:v1" --push --kubeconfig "$KUBECONFIG" \
    "$work/image" >"$work/out" 2>&1 || { cat "$work/out"; echo "0 passed, 1 failed"; exit 1; }
# pods share this machine's ports: two that are free
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
web=$(python3 -c "$free") echo=$(python3 -c "$free")
k apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: $host/test/box:v1
    command: [sh, -c, "mkdir -p /www /tmp; head -c 10485760 /dev/urandom >/www/big; echo hello >/www/index.html; nc -ll -p $echo -e cat & httpd -f -p $web -h /www & until [ -e /tmp/die ]; do sleep 0.2; done; exit 1"]
Y
k wait --for=condition=Ready pod/web --timeout=30s >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
streams_exec
streams_cp
streams_forward
echo "$passed passed, $failed failed"
[ $failed = 0 ]
