#!/bin/sh
# test_diagnose.sh - `podium diagnose` on a live cluster: a practice cluster with
# its scheduler, kubelet and registry makes each failure for real, and each is told
# by its cause. B=DIR has the programs. Waits for states. "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
for tool in kubectl busybox; do
    command -v $tool >/dev/null && continue
    echo "not tried: $tool is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
done
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-diagnose-XXXXXX")
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8 LANG=C.UTF-8
unset LANGUAGE
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
trap '"$B/podium-practice" reset >/dev/null 2>&1; rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
"$B/podium-practice" start >/dev/null || exit 1
"$B/podium-practice" kubeconfig --admin >"$W/kc"
export KUBECONFIG="$W/kc"
passed=0
failed=0

# an image with a shell, in the cluster's registry
host=$(kubectl -n kube-public get cm local-registry-hosting -o jsonpath='{.data.localRegistryHosting\.v1}' |
    sed -nE 's/.*host: *"?([^" ]+)"?.*/\1/p' | head -1)
mkdir -p "$W/img"
cp "$(command -v busybox)" "$W/img/busybox"
printf 'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\n' >"$W/img/Dockerfile"
"$B/podium" image build -t "$host/shell:1" "$W/img" >/dev/null &&
    "$B/podium" image push "$host/shell:1" >/dev/null || { echo "FAIL no image"; exit 1; }

# pod NAME FIELDS...: a pod whose one container is made of the YAML lines given
pod() {
    name=$1
    shift
    { printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  restartPolicy: Never\n' "$name"
      for line in "$@"; do printf '  %s\n' "$line"; done; } | kubectl apply -f - >/dev/null ||
        echo "FAIL $name was not accepted"
}
# job NAME CONTAINER
job() {
    kubectl apply -f - >/dev/null <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [$2]
EOF
}
# until_state NAME JSONPATH VALUE
until_state() {
    n=0
    while [ $n -lt 300 ]; do
        case $(kubectl get "$1" -o "jsonpath=$2" 2>/dev/null) in *$3*) return 0 ;; esac
        n=$((n + 1))
        sleep 0.1
    done
    echo "FAIL $1 never came to $3"
    kubectl get "$1" -o yaml | tail -40
    return 1
}
# told OBJECT CAUSE [TEXT]: the primary cause, and what must be said
told() {
    "$B/podium" diagnose "$1" >"$W/out" 2>&1
    code=$?
    want=1
    [ "$2" = none ] && want=0
    [ "$2" = killed-137 ] && want=3
    if grep -q ": $2 (" "$W/out" && grep -q -- "${3:-.}" "$W/out" && [ $code = $want ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: not $2 with \"${3:-}\" (exit code $code)"
        sed 's/^/  |/' "$W/out"
    fi
}
shell="image: $host/shell:1"
waiting='{.status.containerStatuses[0].state.waiting.reason}'

pod tag "containers: [{name: c, image: \"$host/shell:9\"}]"
pod name 'containers: [{name: c, image: "Wrong Name"}]'
pod many "containers: [{name: c, $shell, resources: {limits: {habana.ai/gaudi: 64}}}]"
pod near "containers: [{name: c, $shell, resources: {limits: {habana.ai/gaudi2: 1}}}]"
pod label 'nodeSelector: {disk: fast}' "containers: [{name: c, $shell}]"
pod claim "containers: [{name: c, $shell, volumeMounts: [{name: d, mountPath: /d}]}]" \
    'volumes: [{name: d, persistentVolumeClaim: {claimName: nowhere}}]'
pod env "containers: [{name: c, $shell, env: [{name: T, valueFrom: {secretKeyRef: {name: none, key: k}}}]}]"
pod one "containers: [{name: c, $shell, command: [sh, -c, 'echo the data is missing; exit 1']}]"
pod lost "containers: [{name: c, $shell, command: [sh, -c, 'exec nothing-here']}]"
pod good "containers: [{name: c, $shell, command: [busybox, sleep, '600']}]"
pod kill "containers: [{name: c, $shell, command: [sh, -c, 'exit 137']}]"
pod memory "containers: [{name: c, $shell, command: [busybox, dd, if=/dev/zero, of=/dev/null, bs=200M, count=3],
    resources: {limits: {memory: 32Mi}}}]"
pod alive 'terminationGracePeriodSeconds: 1' "containers: [{name: c, $shell, command: [busybox, sleep, '600'],
    livenessProbe: {exec: {command: [sh, -c, 'exit 1']}, periodSeconds: 1, failureThreshold: 2}}]"
pod done "containers: [{name: c, $shell, command: [busybox, 'true']}]"
until_state pod/tag "$waiting" Pull && told pod/tag image-tag-not-found shell:9
until_state pod/name "$waiting" InvalidImageName && told pod/name image-name-invalid
pending='{.status.conditions[?(@.type=="PodScheduled")].reason}'
until_state pod/many "$pending" Unschedulable && told pod/many request-exceeds-node '64 of habana.ai/gaudi'
until_state pod/near "$pending" Unschedulable && told pod/near resource-name-wrong habana.ai/gaudi2
until_state pod/label "$pending" Unschedulable && told pod/label node-selector-no-match disk=fast
until_state pod/claim "$pending" Unschedulable && told pod/claim pvc-not-found nowhere
until_state pod/env "$waiting" CreateContainerConfigError && told pod/env secret-not-found none
until_state pod/one '{.status.phase}' Failed && told pod/one application-error 'the data is missing'
until_state pod/lost '{.status.phase}' Failed && told pod/lost command-not-found nothing-here
until_state pod/kill '{.status.phase}' Failed && told pod/kill killed-137 SIGKILL
# only where the node can hold a container to its memory
until_state pod/memory '{.status.phase}' ed
[ "$(kubectl get pod memory -o 'jsonpath={.status.phase}')" = Succeeded ] ||
    told pod/memory oom-killed 32Mi
until_state pod/alive '{.status.phase}' Failed &&
    told pod/alive liveness-probe-kill '= 2 s'
until_state pod/good '{.status.phase}' Running && told pod/good none Running
until_state pod/done '{.status.phase}' Succeeded && told pod/done none Succeeded

# a taint on every node, then none
kubectl taint nodes --all class=closed:NoSchedule >/dev/null
pod taint "containers: [{name: c, $shell}]"
until_state pod/taint "$pending" Unschedulable && told pod/taint untolerated-taint class=closed:NoSchedule
kubectl taint nodes --all class- >/dev/null

# Jobs: quota, back-off, and one that is complete after a failure
kubectl create quota tight --hard=requests.cpu=1 >/dev/null
job big "{name: c, $shell, resources: {requests: {cpu: 8}}}"
n=0
until kubectl get events --field-selector reason=FailedCreate 2>/dev/null | grep -q big || [ $n -gt 200 ]; do
    n=$((n + 1))
    sleep 0.1
done
told job/big quota-exceeded tight
kubectl delete quota tight >/dev/null
job back "{name: c, $shell, command: [sh, -c, 'echo no such record; exit 3']}"
until_state job/back '{.status.conditions[*].type}' Failed && told job/back backoff-limit-exceeded 'no such record'

# wrong use, and what is not there
"$B/podium" diagnose >/dev/null 2>&1
[ $? = 2 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL usage"; }
"$B/podium" diagnose pod/nobody >"$W/out" 2>&1
[ $? = 3 ] && grep -q nobody "$W/out" && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL nobody"; }
"$B/podium" diagnose pod/tag --lang zh | grep -q '证据' && passed=$((passed + 1)) ||
    { failed=$((failed + 1)); echo "FAIL Chinese"; }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
