#!/bin/sh
# The practice cluster under the machine's own kubectl: what a person types, with
# no warning of kubectl's own. B=DIR has the programs. Prints "N passed, N failed".
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
command -v kubectl >/dev/null || {
    echo "skipped: kubectl is not installed (apt-get install kubernetes-client)"
    echo "0 passed, 0 failed"
    exit 0
}
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config HOME=$work
mkdir -p "$work/run"
cleanup() {
    "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
passed=0 failed=0
fail() {
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$work/out" "$work/err" | head -20
}
k() { timeout 30 kubectl "$@" >"$work/out" 2>"$work/err"; }
# ok NAME ARGS...: exit code 0 and nothing on stderr
ok() {
    local name=$1
    shift
    if k "$@" && [ ! -s "$work/err" ]; then passed=$((passed + 1)); else fail "$name"; fi
}
# says NAME TEXT: the last command's stdout or stderr has the text
says() {
    if grep -qF -- "$2" "$work/out" "$work/err"; then passed=$((passed + 1)); else fail "$1: want: $2"; fi
}
# refused NAME TEXT ARGS...: fails and says the text
refused() {
    local name=$1 text=$2
    shift 2
    if k "$@"; then fail "$name: was not refused"; else says "$name" "$text"; fi
}

"$B/podium-practice" start >"$work/out" 2>"$work/err" || { fail start; echo "$passed passed, $failed failed"; exit 1; }
export KUBECONFIG=$XDG_STATE_HOME/podium/practice/kubeconfig
admin=$XDG_STATE_HOME/podium/practice/admin.kubeconfig
[ "$(stat -c %a "$KUBECONFIG")" = 600 ] && passed=$((passed + 1)) || fail "kubeconfig is 0600"
"$B/podium-practice" start >"$work/out" 2>&1 && says "start again finds it" "https://127.0.0.1:"

cd "$work"
cat >job.yaml <<'Y'
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "example.invalid/x:1"}]
Y
cat >deploy.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      containers:
      - {name: c, image: "example.invalid/x:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
Y
ok "get all kinds" get nodes,pods,jobs,events,pvc -A
says "nodes are there" xeon-0
says "gaudi is there" gaudi-0
ok "get -o wide" get nodes -o wide
says "container runtime column" CONTAINER-RUNTIME
ok "api-resources" api-resources
says "short names" cm
ok "apply a job" apply -f job.yaml
says "created" "job.batch/j created"
ok "apply it again" apply -f job.yaml
says "unchanged" "job.batch/j unchanged"
ok "get job" get job j
says "suspended" Suspended
ok "job defaults" get job j -o "jsonpath={.spec.backoffLimit} {.spec.completions} {.spec.completionMode}"
says "defaults" "6 1 NonIndexed"
ok "describe job" describe job j
ok "apply a deployment" apply -f deploy.yaml
sed -i 's/value: "2"/value: "3"/' deploy.yaml
ok "apply a changed list element" apply -f deploy.yaml
says "configured" "deployment.apps/d configured"
ok "the element changed, the other stayed" get deploy d -o "jsonpath={.spec.template.spec.containers[0].env[*].value}"
says "env" "1 3"
sed -i 's/replicas: 2/replicas: 4/' deploy.yaml
k diff -f deploy.yaml
[ $? = 1 ] || true
says "diff shows the change" "+  replicas: 4"
ok "diff changes nothing" get deploy d -o "jsonpath={.spec.replicas}"
says "still 2" 2
ok "scale" scale deploy d --replicas=3
ok "label" label deploy d team=a
ok "annotate" annotate deploy d note=x
ok "set image" set image deploy/d c=example.invalid/y:2
ok "merge patch" patch deploy d --type=merge -p '{"spec":{"replicas":1}}'
refused "failed json test" "the server rejected our request" patch deploy d --type=json -p '[{"op":"test","path":"/spec/replicas","value":9}]'
ok "selector finds it" get deploy -l team=a -o name
says "by label" deployment.apps/d
ok "replace" replace -f deploy.yaml
ok "delete deployment" delete deploy d

ok "server-side apply" apply --server-side --field-manager=alice -f deploy.yaml
sed 's/replicas: 4/replicas: 5/' deploy.yaml >deploy2.yaml
refused "conflict" "Apply failed with 1 conflict: conflict with \"alice\": .spec.replicas" apply --server-side --field-manager=bob -f deploy2.yaml
ok "forced" apply --server-side --force-conflicts --field-manager=bob -f deploy2.yaml
ok "alice applies the same again without replicas" get deploy d -o "jsonpath={.spec.replicas}"
says "bob's value" 5

ok "create configmap (protobuf)" create configmap cm --from-literal=a=b
ok "read it" get cm cm -o "jsonpath={.data.a}"
says "its data" b
ok "create secret" create secret generic s --from-literal=p=q
ok "create job" create job cj --image=example.invalid/x:1 -- true
ok "create service" create service clusterip web --tcp=80
refused "exists" 'configmaps "cm" already exists' create configmap cm
refused "not found" 'pods "nope" not found' get pod nope
refused "no impersonation" 'users "admin" is forbidden: User "student" cannot impersonate resource "users"' get pods --as=admin
refused "no right" 'namespaces is forbidden: User "student" cannot create resource "namespaces" in API group "" at the cluster scope' create ns x
refused "bad field selector" "field label not supported: spec.foo" get pods --field-selector=spec.foo=1
refused "unknown field" 'strict decoding error: unknown field "spec.tmplate"' create -f - <<'Y'
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"u"},"spec":{"tmplate":{},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}
Y
refused "no restartPolicy" 'The Job "r" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"' create -f - <<'Y'
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"r"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}}
Y
ok "may create pods" auth can-i create pods
says "yes" yes
k auth can-i create namespaces -q 2>/dev/null && fail "may not create namespaces" || passed=$((passed + 1))
ok "rights" auth can-i --list
ok "whoami" auth whoami
says "student" student
ok "explain" explain pod.spec.containers.resources
says "fields" limits
ok "wait" wait --for=jsonpath='{.spec.suspend}'=true job/j --timeout=5s
ok "events" get events
ok "describe node" describe node gaudi-0
says "accelerators" habana.ai/gaudi

timeout 10 kubectl get cm -w >"$work/watch" 2>&1 &
watcher=$!
sleep 0.5
ok "create under a watch" create configmap w --from-literal=a=b
ok "delete under a watch" delete cm w
sleep 0.3
kill $watcher
wait $watcher 2>/dev/null
[ "$(grep -c '^w ' "$work/watch")" -ge 2 ] && passed=$((passed + 1)) || { cp "$work/watch" "$work/out"; fail "watch saw both"; }

kill -9 "$("$B/podium-practice" status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')"
"$B/podium-practice" start >"$work/out" 2>"$work/err" || fail "start after kill -9"
ok "what was acknowledged is there" get cm cm -o "jsonpath={.data.a}"
says "after kill -9" b

export KUBECONFIG=$admin
ok "admin creates a namespace" create ns t
k -n t create configmap x --from-literal=a=b
ok "namespace has its account" -n t get sa default
ok "quota" -n t create quota q --hard=pods=0
refused "quota refuses" 'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0' -n t run p --image=x
ok "delete namespace" delete ns t --timeout=20s
refused "it is gone" 'namespaces "t" not found' get ns t
k auth can-i create namespaces --as=student -q 2>/dev/null && fail "student as seen by admin" || passed=$((passed + 1))
ok "admin sees the student's rights" auth can-i create pods -n default --as=student
ok "cordon" cordon xeon-0
ok "shown" get node xeon-0
says "disabled" SchedulingDisabled
ok "uncordon" uncordon xeon-0
ok "delete job" delete job j
ok "taint" taint node xeon-0 a=b:NoSchedule
ok "run with dry-run" run p --image=example.invalid/x --dry-run=server

"$B/podium-practice" stop >"$work/out" 2>"$work/err" && passed=$((passed + 1)) || fail stop
"$B/podium-practice" status >"$work/out" 2>&1
[ $? = 1 ] && passed=$((passed + 1)) || fail "status of a stopped cluster is 1"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
