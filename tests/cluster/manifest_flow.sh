# manifest_flow.sh - manifests against a cluster, as a person would: check, dry run,
# diff, apply, conflict, refusals at their line, delete by name and uid. Read by
# tests/api/test_manifest.sh (practice cluster) and tests/cluster/test_manifest.sh (a
# real one), which set B, KUBECONFIG, KUBECTL, ns, work and end with the count.
passed=0 failed=0
p() { timeout 60 "$B/podium" "$@" >"$work/out" 2>"$work/err" </dev/null; }
k() { timeout 60 "$KUBECTL" -n "$ns" "$@" >"$work/out" 2>"$work/err" </dev/null; }
fail() {
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$work/out" "$work/err" | head -20
}
# ends NAME CODE ARGS...: podium ARGS ends with CODE
ends() {
    name=$1 code=$2
    shift 2
    p "$@"
    rc=$?
    if [ $rc = "$code" ]; then passed=$((passed + 1)); else fail "$name: exit $rc, want $code"; fi
}
# says NAME TEXT: it was said just now
says() { if grep -qF -- "$2" "$work/out" "$work/err"; then passed=$((passed + 1)); else fail "$1: want: $2"; fi; }
never() { if grep -qF -- "$2" "$work/out" "$work/err"; then fail "$1: has: $2"; else passed=$((passed + 1)); fi; }

# the API server's sentences, each held against podium check
if python3 "$root/tests/cluster/rejections.py" "$B/podium" "$KUBECTL" "$ns" >"$work/out" 2>"$work/err"; then
    cat "$work/out"
    passed=$((passed + 1))
else
    fail "sentences of the API server"
    cat "$work/out" "$work/err"
fi

cat >"$work/two.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
data:
  a: "1"
  b: "2"
---
apiVersion: v1
kind: Secret
metadata:
  name: sec
stringData:
  t: hunter2
Y
ends "diff of what is not there" 1 diff -n "$ns" -f "$work/two.yaml"
says "diff shows the new object" "+kind: ConfigMap"
never "diff masks secrets" "hunter2"
never "diff masks secrets in base64" "aHVudGVyMg"
ends "dry run" 0 apply -n "$ns" -f "$work/two.yaml" --dry-run
says "dry run says so" "dry run"
k get configmap conf && fail "a dry run changes nothing" || passed=$((passed + 1))
ends "apply" 0 apply -n "$ns" -f "$work/two.yaml"
says "apply creates" "configmap/conf created"
k get configmap conf -o 'jsonpath={.metadata.managedFields[0].manager} {.metadata.managedFields[0].operation}'
says "the field manager is podium" "podium Apply"
ends "apply again" 0 apply -n "$ns" -f "$work/two.yaml"
says "apply again changes nothing" "secret/sec unchanged"
ends "diff of the same" 0 diff -n "$ns" -f "$work/two.yaml"

# somebody else takes a field
k patch configmap conf --type merge -p '{"data":{"a":"9"}}' --field-manager alice
ends "conflict" 1 apply -n "$ns" -f "$work/two.yaml"
says "conflict has its place" "two.yaml:6:3: conflict: .data.a"
says "conflict has the manager" '"alice"'
says "conflict has both values" 'who has set "9"; the file says "1"'
says "conflict has the next step" "--force-conflicts"
k get configmap conf -o 'jsonpath=a={.data.a}'
says "a conflict changes nothing" "a=9"
ends "conflict as JSON" 1 apply -n "$ns" -f "$work/two.yaml" --json
says "conflict as JSON" '"manager":"alice","field":".data.a"'
ends "diff despite the conflict" 1 diff -n "$ns" -f "$work/two.yaml"
says "diff shows both values" '-  a: "9"'
ends "force" 0 apply -n "$ns" -f "$work/two.yaml" --force-conflicts
says "force changes it" "configmap/conf changed"

# what the server refuses, at its line
cat >"$work/job.yaml" <<'Y'
apiVersion: batch/v1
kind: Job
metadata:
  name: ft
spec:
  backoffLimit: -1
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: podium.test/busybox:1
        comand: [sleep, "600"]
Y
ends "the check comes first" 1 apply -n "$ns" -f "$work/job.yaml"
says "the check names the field" "did you mean command?"
says "nothing goes out" "nothing was sent"
ends "an unknown field" 1 apply -n "$ns" -f "$work/job.yaml" --no-check
says "an unknown field has its line" "job.yaml:13:9: "
sed -i 's/comand/command/' "$work/job.yaml"
ends "a negative number" 1 apply -n "$ns" -f "$work/job.yaml" --no-check
says "a negative number has its line" "job.yaml:6:3: spec.backoffLimit: Invalid value: -1"
sed -i 's/-1/0/; s/600"/600", 7/' "$work/job.yaml"
ends "a wrong type" 1 apply -n "$ns" -f "$work/job.yaml" --no-check
says "a wrong type has its line" "job.yaml:13:"
sed -i 's/, 7//' "$work/job.yaml"
ends "a Job" 0 apply -n "$ns" -f "$work/job.yaml"
sed -i 's/busybox:1/busybox:2/' "$work/job.yaml"
ends "what can't be changed" 1 apply -n "$ns" -f "$work/job.yaml"
says "what can't be changed has its line" "job.yaml:7:3: spec.template: Invalid value"
says "what can't be changed is said" "field is immutable"

# delete: exactly this one
k get job ft -o 'jsonpath={.metadata.uid}'
uid=$(cat "$work/out")
ends "another uid" 1 delete -n "$ns" job/ft --uid 11111111-1111-1111-1111-111111111111 --no-wait
k get job ft && passed=$((passed + 1)) || fail "one with another uid stays"
ends "foreground" 0 delete -n "$ns" job/ft --uid "$uid" --cascade foreground --grace 0
says "foreground waits" "job.batch/ft deleted"
k get job ft && fail "the Job is gone" || passed=$((passed + 1))
k get pods -l job-name=ft -o name
[ -s "$work/out" ] && fail "foreground takes the pods first" || passed=$((passed + 1))
ends "the rest" 0 delete -n "$ns" -f "$work/two.yaml"
says "in reverse order" "configmap/conf deleted"
ends "what is not there" 1 delete -n "$ns" -f "$work/two.yaml"
says "what is not there" "not found"
ends "not there is fine" 0 delete -n "$ns" -f "$work/two.yaml" --ignore-not-found
ends "never all" 2 delete -n "$ns" --all
says "never all" "--all"
ends "no such kind" 2 delete -n "$ns" jbo/x
