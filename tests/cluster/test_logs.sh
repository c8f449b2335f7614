#!/bin/sh
# test_logs.sh - podium logs on a real kubelet: 5,000 lines a second while the log
# is rotated; connections that are cut; a container that restarts; all containers
# in the order of time; previous; who may not; lines that would steer a terminal.
# kubectl logs --timestamps and the container's own count are the judges.
#
# B, KUBECONFIG (all rights) and KUBECTL come from the harness.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-logs-XXXXXX")
ns=logs-$$
passed=0 failed=0
podium=$B/podium
HOME=$dir
export HOME
k() { "$KUBECTL" -n "$ns" "$@"; }
logs() { "$podium" logs --lang en -n "$ns" "$@"; }
cleanup() {
    kill $pids 2>/dev/null
    "$KUBECTL" delete namespace "$ns" --wait=false >/dev/null 2>&1
    wait
    rm -rf "$dir"
}
pids=
trap cleanup EXIT
trap 'exit 1' INT TERM
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
# judge WHAT ARGS-OF-logs_check.py
judge() {
    what=$1
    shift
    if said=$(python3 "$root/tests/cluster/logs_check.py" "$@" 2>&1); then
        echo "$what: $said"
        ok
    else
        bad "$what: $said"
    fi
}
has() { if grep -qF -- "$2" "$3"; then ok; else bad "$1: no \"$2\" in: $(head -c 600 "$3")"; fi; }
same() { if cmp -s "$2" "$3"; then ok; else bad "$1: $(diff "$2" "$3" | head -5)"; fi; }
pod() { # NAME RESTART COMMAND
    cat <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 0
  containers:
  - {name: c, image: "podium.test/busybox:1", volumeMounts: [{name: d, mountPath: /d}], command: [sh, -c, '$3']}
  volumes: [{name: d, emptyDir: {}}]
---
Y
}
"$KUBECTL" create namespace "$ns" >/dev/null || exit 1
text="a line that is as long as lines of a training log are, some eighty bytes, number"
# What is rotated away before anyone reads, or comes long before the log of another
# container is there, is no reader's fault: these begin when they are told that they
# are read.
wait="until [ -e /d/go ]; do sleep 0.05; done;"
{
    # 6 s of 5,000 lines a second, and a slow one that is never rotated
    pod flood Never "echo $text 0; $wait for s in \$(seq 0 6); do seq \$((s * 5000 + 1)) \$((s * 5000 + 5000)) | sed \"s/^/$text /\"; sleep 0.8; done"
    pod slow Never "for s in \$(seq 0 79); do seq \$((s * 20 + 1)) \$((s * 20 + 20)) | sed \"s/^/number /\"; sleep 0.1; done; printf \"number 1601\""
    pod twice OnFailure "if [ -e /d/x ]; then echo second number 3; sleep 5; else echo first number 1; touch /d/x; sleep 1; echo first number 2; exit 9; fi"
    pod wild Never "printf \"\\033]0;owned\\007\\033[31mred\\033[0m 10%%\\r100%%\\n\\377\\376 torn\\n\"; head -c 1100000 /dev/zero | tr \"\\0\" x; echo; echo after"
    cat <<Y
apiVersion: v1
kind: Pod
metadata: {name: many}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  initContainers:
  - {name: prep, image: "podium.test/busybox:1", command: [sh, -c, 'echo prep 1; echo prep 2']}
  containers:
  - {name: a, image: "podium.test/busybox:1", volumeMounts: [{name: d, mountPath: /d}], command: [sh, -c, 'echo a begins; $wait for i in \$(seq 40); do echo a \$i; sleep 0.05; done; sleep 3']}
  - {name: b, image: "podium.test/busybox:1", volumeMounts: [{name: d, mountPath: /d}], command: [sh, -c, 'echo b begins; $wait for i in \$(seq 40); do echo b \$i >&2; sleep 0.05; done; sleep 3']}
  volumes: [{name: d, emptyDir: {}}]
Y
} >"$dir/pods.yaml"
# a log that is asked for before there is a pod to have it: awaited
k create -f "$dir/pods.yaml" >/dev/null || exit 1

# the API server through a proxy that cuts
server=$("$KUBECTL" config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
python3 "$root/tests/cluster/cut_proxy.py" "${server##*:}" 0.2 1.2 $$ "$dir/port" &
pids="$pids $!"
until [ -s "$dir/port" ]; do sleep 0.05; done
"$KUBECTL" config view --minify --flatten |
    sed "s#server: .*#server: https://127.0.0.1:$(cat "$dir/port")#" >"$dir/cut.yaml"

logs -f flood >"$dir/flood" 2>"$dir/flood.err" & f1=$!
logs -f slow --kubeconfig "$dir/cut.yaml" >"$dir/slow" 2>"$dir/slow.err" & f2=$!
logs -f flood --kubeconfig "$dir/cut.yaml" >"$dir/rough" 2>"$dir/rough.err" & f3=$!
logs -f twice >"$dir/twice" 2>"$dir/twice.err" & f4=$!
logs -f many --all-containers --prefix --timestamps >"$dir/many" 2>"$dir/many.err" & f5=$!
pids="$pids $f1 $f2 $f3 $f4 $f5"
read_by() { # FILE TEXT: wait until the reader has got it
    polls=1200
    until grep -qF -- "$2" "$1" || [ $polls = 0 ]; do
        polls=$((polls - 1))
        sleep 0.05
    done
}
read_by "$dir/flood" "number 0"
read_by "$dir/rough" "number 0"
k exec flood -- touch /d/go
read_by "$dir/many" "a begins"
read_by "$dir/many" "b begins"
k exec many -c a -- touch /d/go
# the log of the run before is there while its pod lives
polls=400
until grep -q restarted "$dir/twice.err" || [ $polls = 0 ]; do polls=$((polls - 1)); sleep 0.05; done
logs twice -p --timestamps >"$dir/before"
k logs twice -p --timestamps >"$dir/want"
same "previous" "$dir/want" "$dir/before"
has "previous" "first number 2" "$dir/before"
for p in $f1 $f2 $f3 $f4 $f5; do
    wait "$p" || bad "podium logs ended with $?"
done

rotated=$(find "${CLUSTER:-/nowhere}/pods-log/" -path "*${ns}_flood_*" -name '0.log.*' | wc -l)
judge "5,000 lines/s, rotated $rotated times" "$dir/flood" "$dir/flood.err" 0 35000
[ "$rotated" -gt 0 ] || bad "the log was never rotated"
judge "cut $(cat "$dir/port.cuts") times" "$dir/slow" "$dir/slow.err" 1 1601
judge "cut and rotated" "$dir/rough" "$dir/rough.err" 0 35000 may-miss
[ "$(cat "$dir/port.cuts")" -gt 8 ] || bad "hardly a cut"

# --- a container that restarts ---
printf 'first number 1\nfirst number 2\nsecond number 3\n' >"$dir/want"
same "restart" "$dir/want" "$dir/twice"
has "restart" "container restarted, exit code 9" "$dir/twice.err"

# --- all containers, against kubectl's own of each ---
for c in prep a b; do
    k logs many -c $c --timestamps | sed "s#^#[pod/many/$c] #"
done | sort -k2,2 -s >"$dir/want"
grep -v begins "$dir/want" >"$dir/want.ordered"
grep -v begins "$dir/many" >"$dir/many.ordered"
same "all containers in the order of time" "$dir/want.ordered" "$dir/many.ordered"
logs many --all-containers --prefix --timestamps >"$dir/out"
same "all containers, read afterwards" "$dir/want" "$dir/out"
for o in "--tail 5" "--since 1h" "--tail 3 --timestamps"; do
    # shellcheck disable=SC2086
    logs many -c a $o >"$dir/out"
    # shellcheck disable=SC2086
    k logs many -c a $o >"$dir/want"
    same "$o" "$dir/want" "$dir/out"
done
at=$(k logs many -c a --timestamps | sed -n '21s/ .*//p')
logs many -c a --since-time "$at" >"$dir/out"
k logs many -c a | tail -n +21 >"$dir/want"
same "since a moment, to the nanosecond" "$dir/want" "$dir/out"

# --- bytes that would steer a terminal, on one and off one ---
logs wild | cut -c1-200 >"$dir/out"
k logs wild | cut -c1-200 >"$dir/want"
same "bytes off a terminal" "$dir/want" "$dir/out"
# a keyboard on which nobody types: at the end of its input script may end first
mkfifo "$dir/keys"
script -qec "$podium logs -n $ns wild" /dev/null <>"$dir/keys" | tr -d '\r' >"$dir/tty"
if grep -q "$(printf '\033')" "$dir/tty"; then bad "ESC reached the terminal"; else ok; fi
has "wild" "100%" "$dir/tty"
has "wild" "after" "$dir/tty"
has "wild" "[cut after 1 MiB]" "$dir/tty"

# --- who may not, and what is not there ---
logs nobody >"$dir/out" 2>&1 && bad "a pod that is not there"
has "not found" 'pods "nobody" not found' "$dir/out"
logs many -c zz >"$dir/out" 2>&1 && bad "a container that is not there"
has "container" "container zz is not valid for pod many" "$dir/out"
logs many -c a -p >"$dir/out" 2>&1 && bad "a run that is not there"
has "previous" "there is no log before this one" "$dir/out"
k create serviceaccount s >/dev/null
k create role r --verb=get --resource=pods >/dev/null
k create rolebinding r --role=r --serviceaccount="$ns:s" >/dev/null
user() { # FILE: a kubeconfig of that account
    "$KUBECTL" config view --minify --flatten -o json >"$dir/admin.json"
    python3 - "$dir/admin.json" "$(k create token s)" <<'P' >"$1"
import json, sys
c = json.load(open(sys.argv[1]))
c["users"][0]["user"] = {"token": sys.argv[2]}
print(json.dumps(c))
P
}
user "$dir/s.json"
logs many -c a --kubeconfig "$dir/s.json" >"$dir/out" 2>&1 && bad "a log that is forbidden"
has "forbidden" 'resources ["pods/log"], verbs ["get"]' "$dir/out"
k delete role r >/dev/null
k create role r --verb=get --resource=pods/log >/dev/null
k logs slow >"$dir/want"
logs -f slow --kubeconfig "$dir/s.json" >"$dir/out" 2>"$dir/err"
echo >>"$dir/want"
same "logs without the right to see the pod" "$dir/want" "$dir/out"

# --- deleted while it is followed ---
pod gone Never "echo here number 1; sleep 60" | k create -f - >/dev/null
logs -f gone >"$dir/out" 2>"$dir/err" & p=$!
pids="$pids $p"
polls=200
until [ -s "$dir/out" ] || [ $polls = 0 ]; do polls=$((polls - 1)); sleep 0.05; done
k delete pod gone --now >/dev/null 2>&1
wait "$p"
has "deleted" "the pod gone was deleted" "$dir/err"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
