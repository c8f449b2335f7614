#!/bin/sh
# Pods of the practice cluster with the machine's kubectl: a Job to its end, log,
# exec, attach, cp, restarts, limits, refusals, and adoption after kill -9.
# B=DIR has the programs. Prints "N passed, N failed".
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
command -v kubectl >/dev/null && [ -x /bin/busybox ] || {
    echo "needs kubectl and busybox-static"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-node-XXXXXX")
export XDG_STATE_HOME="$work/state" XDG_RUNTIME_DIR="$work/run" XDG_DATA_HOME="$work/data" HOME="$work"
export PODIUM_CLOCK_SPEED=10
mkdir -p "$work/run"
cleanup() {
    timeout 60 "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT INT TERM
passed=0 failed=0
check() { # NAME CONDITION...: the command decides
    name=$1; shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "FAILED $name"; sed 's/^/    /' "$work/out" | head -20
        if grep -q "was refused - did you" "$work/out"; then
            echo "the server is gone:"; tail -40 "$XDG_STATE_HOME/podium/practice/practice.out"
            echo "$passed passed, $failed failed"; exit 1
        fi
    fi
}
has() { grep -qF -- "$1" "$work/out"; }
lacks() { ! grep -qF -- "$1" "$work/out"; }
same() { [ "$(cat "$work/out")" = "$1" ]; }
k() { timeout 60 kubectl "$@" >"$work/out" 2>&1; }
# until PATTERN ARGS...: repeat kubectl until its output matches (30 s)
until_says() {
    pattern=$1; shift
    n=0
    while [ $n -lt 150 ]; do
        k "$@"
        grep -qE -- "$pattern" "$work/out" && return 0
        sleep 0.2; n=$((n + 1))
    done
    return 1
}
status() { until_says "^$2\$" get pod "$1" -o "jsonpath=$3"; }
state='{.status.containerStatuses[0].state'
pid_of() { sed -nE 's/.*"pid": *([0-9]+).*/\1/p' "$XDG_STATE_HOME/podium/practice/server.json"; }

kill_server() {
    pid=$(pid_of)
    kill -9 "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

timeout 30 "$B/podium-practice" start >"$work/out" 2>&1
export KUBECONFIG="$XDG_STATE_HOME/podium/practice/admin.kubeconfig"
host=$(sed -nE 's/.*server: *"?https:\/\/([0-9.:]+).*/\1/p' "$KUBECONFIG" | head -1)
check "the cluster starts" [ -n "$host" ]

# an image of one static program and its names
mkdir -p "$work/image/bin"
cp /bin/busybox "$work/image/bin/busybox"
for a in sh cat echo sleep true false dd tar ls id env head tail wc seq hostname test touch grep; do
    ln -s busybox "$work/image/bin/$a"
done
cat >"$work/image/Dockerfile" <<'Y'
FROM scratch
COPY bin /bin
ENV PATH=/bin FROM_IMAGE=yes
CMD ["/bin/sh"]
Y
timeout 60 "$B/podium-practice" image build -t "$host/test/box:v1" --push --kubeconfig "$KUBECONFIG" \
    "$work/image" >"$work/out" 2>&1
check "the image is pushed" k get --raw /version

# --- nodes ---
k get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.podium\.dev/simulated} {.status.allocatable.cpu} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'
check "gaudi-0 is simulated and ready" has "gaudi-0 true 96 True"
check "xeon-0 is simulated and ready" has "xeon-0 true 56 True"
check "nvidia-0 is simulated and ready" has "nvidia-0 true 32 True"

# --- a Job to its end ---
cat >"$work/job.yaml" <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: hello}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: $host/test/box:v1
        command: [sh, -c, "for i in 1 2 3; do echo line \$i; sleep 1; done; echo err >&2"]
Y
k apply -f "$work/job.yaml"
check "the Job starts" until_says '^1$' get job hello -o 'jsonpath={.status.ready}'
k logs -f job/hello
check "logs -f sees every line" has "line 3"
check "logs -f sees stderr" has "err"
check "the Job completes" until_says '^Complete$' get job hello -o 'jsonpath={.status.conditions[1].type}'
k get job hello -o 'jsonpath={.status.conditions[*].type} {.status.succeeded} {.status.conditions[0].reason}'
check "conditions in order" same "SuccessCriteriaMet Complete 1 CompletionsReached"
k get events -o 'jsonpath={range .items[?(@.involvedObject.kind=="Pod")]}{.reason} {end}' --sort-by=.metadata.creationTimestamp
check "events in order" has "Scheduled Pulling Pulled Created Started"
k logs job/hello --timestamps --tail=1
check "timestamps and tail" grep -qE '^20[0-9-]+T[0-9:.]+Z err$' "$work/out"
k logs job/hello --limit-bytes=6
check "limit" same "line 1"
k get job hello -o 'jsonpath={.status.uncountedTerminatedPods}'
check "nothing is left uncounted" same "{}"

# --- pods of every kind ---
cat >"$work/pods.yaml" <<Y
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {key: value, file.txt: "from a config map"}
---
apiVersion: v1
kind: Pod
metadata: {name: box, labels: {app: box}}
spec:
  containers:
  - name: c
    image: $host/test/box:v1
    command: [sh, -c, "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"]
    env:
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: FROM_MAP, valueFrom: {configMapKeyRef: {name: cm, key: key}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}
    - {name: BOTH, value: "\$(POD)-\$(FROM_MAP) \$\$(POD) \$(NOPE)"}
    resources: {requests: {cpu: 1500m}}
    volumeMounts:
    - {name: work, mountPath: /data}
    - {name: map, mountPath: /etc/map}
  volumes:
  - {name: work, emptyDir: {}}
  - {name: map, configMap: {name: cm}}
---
apiVersion: v1
kind: Pod
metadata: {name: talk}
spec:
  restartPolicy: Never
  containers:
  - name: c
    image: $host/test/box:v1
    stdin: true
    command: [sh, -c, "while read a; do echo got \$a; [ \$a = quit ] && exit 5; done"]
---
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec:
  containers:
  - {name: c, image: "$host/test/box:v1", command: [sh, -c, "echo run; exit 3"]}
---
apiVersion: v1
kind: Pod
metadata: {name: oom}
spec:
  restartPolicy: Never
  containers:
  - name: c
    image: $host/test/box:v1
    command: [dd, if=/dev/zero, of=/dev/null, bs=300M, count=100]
    resources: {limits: {memory: 64Mi}}
---
apiVersion: v1
kind: Pod
metadata: {name: noimage}
spec:
  containers: [{name: c, image: "$host/test/nope:v1"}]
---
apiVersion: v1
kind: Pod
metadata: {name: never}
spec:
  containers: [{name: c, image: "$host/test/other:v1", imagePullPolicy: Never}]
---
apiVersion: v1
kind: Pod
metadata: {name: badname}
spec:
  containers: [{name: c, image: "$host/test/BOX:v1"}]
---
apiVersion: v1
kind: Pod
metadata: {name: nocommand}
spec:
  restartPolicy: Never
  containers: [{name: c, image: "$host/test/box:v1", command: [nope]}]
---
apiVersion: v1
kind: Pod
metadata: {name: nosecret}
spec:
  containers:
  - {name: c, image: "$host/test/box:v1", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gaudi}
spec:
  restartPolicy: Never
  tolerations: [{key: habana.ai/gaudi, operator: Exists}]
  containers:
  - name: c
    image: $host/test/box:v1
    command: [env]
    resources: {limits: {habana.ai/gaudi: 2}}
---
apiVersion: v1
kind: Pod
metadata: {name: inits}
spec:
  restartPolicy: Never
  initContainers:
  - {name: one, image: "$host/test/box:v1", command: [sh, -c, "echo 1 >> /data/order"], volumeMounts: [{name: w, mountPath: /data}]}
  - {name: two, image: "$host/test/box:v1", command: [sh, -c, "echo 2 >> /data/order"], volumeMounts: [{name: w, mountPath: /data}]}
  containers:
  - {name: c, image: "$host/test/box:v1", command: [cat, /data/order], volumeMounts: [{name: w, mountPath: /data}]}
  volumes: [{name: w, emptyDir: {}}]
---
apiVersion: v1
kind: Pod
metadata: {name: hostpath}
spec:
  containers: [{name: c, image: "$host/test/box:v1", volumeMounts: [{name: h, mountPath: /h}]}]
  volumes: [{name: h, hostPath: {path: /}}]
---
apiVersion: v1
kind: Pod
metadata: {name: outof}
spec:
  nodeName: nvidia-0
  containers: [{name: c, image: "$host/test/box:v1", resources: {requests: {cpu: 40}}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 10Mi}}
---
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  restartPolicy: Never
  containers:
  - {name: c, image: "$host/test/box:v1", command: [sh, -c, "echo kept > /d/f"], volumeMounts: [{name: d, mountPath: /d}]}
  volumes: [{name: d, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: v1
kind: Pod
metadata: {name: probed}
spec:
  containers:
  - name: c
    image: $host/test/box:v1
    command: [sh, -c, "trap 'exit 0' TERM; sleep 2; touch /ok; while :; do sleep 0.1; done"]
    readinessProbe: {exec: {command: [test, -e, /ok]}, periodSeconds: 1}
Y
k apply -f "$work/pods.yaml"
check "the pod runs" status box Running '{.status.phase}'
k exec box -- env
check "fieldRef" has "POD=box"
check "configMapKeyRef" has "FROM_MAP=value"
check "resourceFieldRef rounds up" has "CPU=2"
check "\$(VAR) expansion" has 'BOTH=box-value $(POD) $(NOPE)'
check "the image's environment" has "FROM_IMAGE=yes"
check "not the server's environment" lacks "XDG_STATE_HOME"
k exec box -- cat /etc/map/file.txt
check "a config map as files" has "from a config map"
k exec box -- hostname
check "the host name is the pod's" same box
timeout 20 kubectl exec box -- sh -c 'exit 9' >"$work/out" 2>&1; code=$?
check "exec hands the exit code on" [ $code = 9 ]
check "and kubectl says so" same "command terminated with exit code 9"
k exec box -- nope
check "exec of nothing" has 'exec: "nope": executable file not found in $PATH'
echo hello | timeout 20 kubectl exec -i box -- cat >"$work/out" 2>&1
check "exec -i ends with its input" same hello
head -c 3000000 /dev/urandom >"$work/big"
k cp "$work/big" box:/data/big
k cp box:/data/big "$work/back"
check "cp there and back" cmp "$work/big" "$work/back"
root=$(grep -h '^pid ' "$XDG_STATE_HOME"/podium/practice/pods/*/ctr/c/0/state 2>/dev/null | head -1)
check "the state file names the process" [ -n "$root" ]

check "restarts are counted" status crash '[2-9]' '{.status.containerStatuses[0].restartCount}'
check "crash loop" until_says 'CrashLoopBackOff' get pod crash
k get pod crash -o 'jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode} {.status.phase}'
check "the last exit code stays" same "3 Running"
k logs crash --previous
check "logs --previous" has run
k get events --field-selector reason=BackOff
check "BackOff names the pod" has "Back-off restarting failed container c in pod crash_default("

check "out of memory" status oom OOMKilled "$state.terminated.reason}"
k get pod oom -o "jsonpath=$state.terminated.exitCode} {.status.phase}"
check "137 and Failed" same "137 Failed"
check "a missing image" status noimage 'ErrImagePull|ImagePullBackOff' "$state.waiting.reason}"
check "and its back-off" status noimage ImagePullBackOff "$state.waiting.reason}"
k get pod noimage -o "jsonpath=$state.waiting.message}"
check "its message" has "Back-off pulling image \"$host/test/nope:v1\": ErrImagePull: "
k logs noimage
check "no log yet" has 'container "c" in pod "noimage" is waiting to start: trying and failing to pull image'
check "pull policy Never" status never ErrImageNeverPull "$state.waiting.reason}"
check "a wrong image name" status badname InvalidImageName "$state.waiting.reason}"
check "a missing program" status nocommand StartError "$state.terminated.reason}"
check "a missing secret" status nosecret CreateContainerConfigError "$state.waiting.reason}"
k get pod nosecret -o "jsonpath=$state.waiting.message}"
check "is named" same 'secret "s" not found'
check "simulated devices" until_says 'HABANA_VISIBLE_DEVICES=0,1' logs gaudi
check "say that they are" has "PODIUM_SIMULATED_DEVICES=habana.ai/gaudi"
k get pod gaudi -o 'jsonpath={.spec.nodeName}'
check "on the Gaudi node" same gaudi-0
check "init containers in order" until_says '^2$' logs inits -c c
check "each once" same "1
2"
check "hostPath is refused" until_says 'hostPath volumes are refused' get events --field-selector reason=FailedMount
check "admission" status outof OutOfcpu '{.status.reason}'
k get pod outof -o 'jsonpath={.status.message}'
check "with its arithmetic" has "Pod was rejected: Node didn't have enough resource: cpu, requested: 40000, used: 0, capacity: 32000"
check "a claim is bound" until_says '^Bound$' get pvc disk -o 'jsonpath={.status.phase}'
check "and written to" status writer Succeeded '{.status.phase}'
check "what was written is on disk" grep -q kept "$XDG_STATE_HOME"/podium/practice/volumes/pvc-*/f
check "readiness follows the probe" status probed True '{.status.conditions[?(@.type=="Ready")].status}'
check "Unhealthy was said" until_says 'Readiness probe failed' get events --field-selector reason=Unhealthy

# --- Jobs with indexes, a deadline; sidecars; liveness ---
cat >"$work/more.yaml" <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: index}
spec:
  completionMode: Indexed
  completions: 3
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "$host/test/box:v1", command: [sh, -c, 'echo \$JOB_COMPLETION_INDEX of \$(hostname)']}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: late}
spec:
  activeDeadlineSeconds: 2
  template:
    spec:
      terminationGracePeriodSeconds: 1
      restartPolicy: Never
      containers: [{name: c, image: "$host/test/box:v1", command: [sleep, "1000"]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: fails}
spec:
  backoffLimit: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "$host/test/box:v1", command: ["false"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: live}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: $host/test/box:v1
    command: [sleep, "1000"]
    livenessProbe: {exec: {command: [test, -e, /nope]}, periodSeconds: 1, failureThreshold: 2}
---
apiVersion: v1
kind: Pod
metadata: {name: sidecar}
spec:
  restartPolicy: Never
  initContainers:
  - {name: side, restartPolicy: Always, image: "$host/test/box:v1", command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]}
  containers: [{name: c, image: "$host/test/box:v1", command: [sleep, "1"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: words}
spec:
  restartPolicy: Never
  containers:
  - {name: c, image: "$host/test/box:v1", command: [sh, -c, "echo because > /dev/termination-log; exit 2"]}
Y
k apply -f "$work/more.yaml"
check "an Indexed Job completes" until_says '^0-2$' get job index -o 'jsonpath={.status.completedIndexes}'
k logs -l job-name=index
check "each pod knows its index" has "2 of index-2"
check "a deadline fails the Job" until_says '^FailureTarget Failed DeadlineExceeded$' get job late \
    -o 'jsonpath={.status.conditions[*].type} {.status.conditions[1].reason}'
check "a backoffLimit too" until_says '^BackoffLimitExceeded 2$' get job fails \
    -o 'jsonpath={.status.conditions[1].reason} {.status.failed}'
check "liveness restarts" status live '[1-9]' '{.status.containerStatuses[0].restartCount}'
check "a sidecar ends with the work" status sidecar Succeeded '{.status.phase}'
k get pod sidecar -o 'jsonpath={.status.initContainerStatuses[0].restartCount}'
check "and is not restarted" same 0
check "the termination message" until_says '^because$' get pod words -o "jsonpath=$state.terminated.message}"

# --- attach; the server dies twice; the exit code is the true one ---
check "talk runs" status talk Running '{.status.phase}'
(echo one; sleep 1) | timeout 20 kubectl attach -i talk >"$work/out" 2>&1
check "attach sees output" has "got one"
kill_server
timeout 30 "$B/podium-practice" start >"$work/out" 2>&1
check "the server is back" until_says 'Running' get pod talk
k get pod box -o 'jsonpath={.status.containerStatuses[0].restartCount} {.status.phase}'
check "a living pod is adopted" same "0 Running"
k exec box -- cat /etc/map/file.txt
check "exec works again" has "from a config map"
kill_server
timeout 30 "$B/podium-practice" start >"$work/out" 2>&1
(echo two; echo quit; sleep 1) | timeout 20 kubectl attach -i talk >"$work/out" 2>&1
check "attach works again" has "got two"
check "the true exit code appears" status talk 5 "$state.terminated.exitCode}"
k logs talk
check "the log is whole" same "got one
got two
got quit"
kill_server
sleep 1
timeout 30 "$B/podium-practice" start >"$work/out" 2>&1
k get pod talk -o "jsonpath=$state.terminated.exitCode}"
check "and stays" same 5

# --- deletion ---
start=$(date +%s)
k delete pod box
check "delete says so" has 'pod "box" deleted'
check "SIGTERM was enough" [ $(($(date +%s) - start)) -lt 10 ]
k get events --field-selector involvedObject.name=box,reason=Killing
check "Killing" has "Stopping container c"
k delete job hello
k get pods -l job-name=hello
check "a Job's pods go with it" has "No resources found"
k delete pod --all --force --grace-period=0
k delete pvc disk
check "the claim's volume goes too" until_says 'No resources found' get pv
n=0
while [ $n -lt 50 ] && ls -d "$XDG_STATE_HOME"/podium/practice/pods/*/ctr >/dev/null 2>&1; do sleep 0.2; n=$((n + 1)); done
check "no folder of a pod is left" [ $n -lt 50 ]
pgrep -fl "run $XDG_STATE_HOME/podium/practice/pods" >"$work/out"
check "no process of a pod is left" same ""

echo "$passed passed, $failed failed"
[ $failed = 0 ]
