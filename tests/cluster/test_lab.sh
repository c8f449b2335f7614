#!/bin/sh
# The lab first-finetune without a screen on the real cluster, whole: the image is
# built by podium, pushed, pulled by containerd, the Job trained, its log followed, the
# run steered through attach, the adapter copied out and proven. KUBECTL sees it too.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-tc-lab-XXXXXX")
ns=podium-lab-$$
end() {
    "$KUBECTL" delete namespace "$ns" --wait=false >/dev/null 2>&1
    rm -rf "$W"
}
trap end EXIT
trap 'exit 1' INT TERM
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
"$KUBECTL" create namespace "$ns" >/dev/null
passed=0 failed=0
# same WHAT FOUND WANTED
same() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1: $2, want $3"; fi
}
get() { "$KUBECTL" -n "$ns" get "$@" 2>&1; }

timeout 250 "$B/podium" lab run first-finetune --headless --json --timeout 240 --keep --namespace "$ns" >"$W/out" 2>"$W/err"
same "exit code" $? 0
python3 - "$W/out" "$W" >"$W/facts" <<'P'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
last = lines[-1]
checks = [l for l in lines if l.get("event") == "check"]
steps = [l["at"] for l in lines if l.get("event") == "train" and "loss" in l]
print(last["result"], len({(c["step"], c["check"]) for c in checks if c["result"] == "PASS"}),
      len({(c["step"], c["check"]) for c in checks}), max(steps), len(set(steps)),
      last.get("last_val", 9) < 0.95 * last.get("first_val", 0), last.get("why", ""))
P
read -r result pass all top steps better why <"$W/facts"
same "the lab (${why:-})" "$result" "done"
same "every check passed" "$pass" "$all"
same "the last step" "$top" 320
same "every step was told" "$steps" 320
same "the validation loss fell" "$better" True
# what kubectl and the node say of it
same "the Job" "$(get job first-finetune -o 'jsonpath={.status.succeeded} {.status.conditions[?(@.type=="Complete")].status}')" "1 True"
pod=$(get pod -l job-name=first-finetune -o 'jsonpath={.items[0].metadata.name}')
same "the pod" "$(get pod "$pod" -o 'jsonpath={.status.phase} {.status.containerStatuses[0].restartCount}')" "Succeeded 0"
same "the node pulled it from the registry" "$(get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].image}')" "$REGISTRY/$ns/first-finetune:1"
same "the claim" "$(get pvc first-finetune -o 'jsonpath={.status.phase}')" Bound
"$KUBECTL" -n "$ns" logs "$pod" >"$W/log"
same "answers to steering in the pod's log" "$(grep -c '"ev":"answer".*"ok":true' "$W/log")" 5
volume=$(get pvc first-finetune -o 'jsonpath={.spec.volumeName}')
on_node=$(sha256sum <"$CLUSTER/volumes/${volume#volume-}/adapter_model.safetensors")
kept=$(find "$XDG_DATA_HOME" -name adapter_model.safetensors -exec sha256sum {} + | head -1)
same "the adapter, byte for byte" "${kept%% *}" "${on_node%% *}"
# and away with it: by the lab's label
"$B/podium" lab reset first-finetune --namespace "$ns" >"$W/out" 2>&1
same "reset" $? 0
same "nothing of the lab is left" "$(get job,pod,pvc -l podium/lab=first-finetune -o name | grep -v '^pod/first-finetune-[a-z0-9]*$')" \
    "$(true)"
[ $failed = 0 ] || { tail -n 3 "$W/out"; cat "$W/err"; }
echo "$passed passed, $failed failed"
[ $failed = 0 ]
