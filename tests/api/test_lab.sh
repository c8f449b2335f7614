#!/bin/sh
# The lab first-finetune on a practice cluster of its own, headless: from the
# first step to "done"; and what must not be believed: three wrong edits, a pod
# that only prints falling lines, a learning rate of 0. B=DIR has the programs.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-lab-XXXXXX")
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8
unset KUBECONFIG LANGUAGE
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
end() {
    "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$W"
}
trap end EXIT
trap 'exit 1' INT TERM
passed=0 failed=0

# check NAME CODE WANTED-CODE PYTHON-CONDITION: over the lines of $W/out, as
# `lines` (all), `last`, and wrong(step) = the WRONG checks of a step.
check() {
    if [ "$2" = "$3" ] && python3 - "$W/out" "$4" <<'PY'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
last = lines[-1]
def wrong(step):
    found = {l["check"]: l for l in lines if l.get("event") == "check" and l["step"] == step
             and l["result"] == "WRONG"}
    return [found[k] for k in sorted(found)]
def passed(step, check):
    return any(l.get("event") == "check" and l["step"] == step and l["check"] == check
               and l["result"] == "PASS" for l in lines)
sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)
PY
    then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1 (exit $2, want $3): $4"
        tail -4 "$W/out" | cut -c1-900
        grep WRONG "$W/out" | cut -c1-600 | head -5
        cp "$W/out" "${TMPDIR:-/tmp}/podium-test-lab.out" 2>/dev/null
    fi
}

# lab ARGS...: run it headless, lines to $W/out; sets rc
lab() {
    timeout 260 "$B/podium" lab run first-finetune --headless --json --timeout 240 "$@" \
        >"$W/out" 2>"$W/err"
    rc=$?
    cat "$W/err"
}

# --- what is refused before anything runs ----------------------------------------
"$B/podium" lab run first-finetune --headless --json --kubeconfig "$W/none" >"$W/out" 2>&1
check "missing kubeconfig" $? 3 'last["result"] == "unknown" and "none" in last["why"]'
sed 's/^    checks:/    chekcs:/' labs/content/first-finetune/lab.yaml >"$W/bad.yaml"
"$B/podium" lab lint "$W/bad.yaml" 2>"$W/err"; rc=$?
echo '{}' >"$W/out"
grep -q 'bad.yaml:[0-9]*:5: .*did you mean "checks"' "$W/err"
check "a bad key has its place" "$rc$?" 10 True

lab --until look --set 'look:cluster.yaml:habana.ai/gaudi=>intel.com/gaudi'
check "a wrong resource name" $rc 1 '[(w["object"], w["path"], w["expected"], w["actual"])
 for w in wrong("look")] == [("cluster.yaml:7:16", "gaudiResource", "habana.ai/gaudi",
 "intel.com/gaudi")] and "Habana" in wrong("look")[0]["because"]'
lab --until look --set 'look:cluster.yaml:readyNodes: 3=>readyNodes: 4'
check "a wrong number" $rc 1 '[(w["path"], w["expected"], w["actual"]) for w in wrong("look")] ==
 [("readyNodes", "3", "4")]'

# the lab with a fake program in the image: it prints what a run prints
mkdir -p "$W/labs"
cp -r labs/content/first-finetune "$W/labs/"
L="$W/labs/first-finetune"
[ -f "$L/base/model.safetensors" ] ||
    "$B/podium-train" init --out "$L/base" --tokenizer "$L/base/tokenizer.json" >/dev/null
cat >"$W/fake.c" <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    char line[200], id[40], cmd[40];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("{\"v\":1,\"ev\":\"hello\",\"model\":\"base\",\"params\":1,\"steps\":40,\"rate\":0.003}");
    for (int i = 1; i <= 40; i++) {
        printf("{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%g}\n", i, 4.0 - i * 0.05);
        if (i % 5 == 0)
            printf("{\"v\":1,\"ev\":\"eval\",\"step\":%d,\"val_loss\":%g}\n", i, 4.0 - i * 0.05);
        usleep(20000);
    }
    for (int k = 0; k < 5 && fgets(line, sizeof line, stdin);)
        if (sscanf(line, "#%39s %39s", id, cmd) == 2) {
            k++;
            printf("{\"v\":1,\"ev\":\"answer\",\"id\":\"%s\",\"cmd\":\"%s\",\"ok\":true,\"step\":1,"
                   "\"n\":3%s}\n", id, cmd, cmd[0] == 'r' && cmd[1] == 'a' ? ",\"rate\":0.002" : "");
        }
    puts("{\"v\":1,\"ev\":\"done\",\"steps\":40,\"loss\":2,\"val_loss\":2,\"adapter\":\"/out\"}");
    return 0;
}
C
cc -O1 -static -o "$L/fake" "$W/fake.c" || echo "no static C compiler"
sed -i 's/with: {podium-train/with: {fake: fake, podium-train/' "$L/lab.yaml"

# --- wrong edits of the Job, on the real cluster -----------------------------------
lab --until job --set 'job:job.yaml:512Mi=>64Mi' --set 'job:job.yaml:--rate=0.003=>--rate=0'
check "too little memory, and a rate of 0" $rc 1 'sorted(
 (w["object"].split(":")[0], w["actual"]) for w in wrong("job")) ==
 [("job.yaml", "--rate=0"), ("job.yaml", "64Mi")]'
lab --until submit --set 'job:job.yaml:      restartPolicy: Never
=>'
check "the server's refusal has the line in the person's file" $rc 1 '
 "job.yaml:" in last["why"] and "restartPolicy" in last["why"]'
lab --until build --set 'build:Dockerfile:FROM scratch=>FORM scratch'
check "an unknown instruction has its line" $rc 1 '"Dockerfile:3" in last["why"] and "FORM" in last["why"]'

# --- a pod that only prints -----------------------------------------------------------
lab --labs "$W/labs" --set 'build:Dockerfile:ENTRYPOINT=>COPY fake /fake
ENTRYPOINT' --set 'job:job.yaml:          args:
            - train=>          command: [/fake]
          args:
            - train'
check "falling lines are not believed" $rc 1 'passed("watch", 1) and passed("steer", 3) and
 not passed("keep", 1) and len(wrong("keep") + wrong("prove")) > 0 and last["result"] == "failed"'

# --- a rate of 0 that came past the file's check ------------------------------------------
python3 - "$L/lab.yaml" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
text = text.replace("is: {min: 0.001, max: 0.01}", "is: {min: 0}")
open(sys.argv[1], "w").write(text)
PY
lab --labs "$W/labs" --set 'job:job.yaml:--rate=0.003=>--rate=0' --set 'job:job.yaml:--steps=320=>--steps=12' \
    --set 'job:job.yaml:--eval-every=20=>--eval-every=6'
check "a rate of 0 learns nothing" $rc 1 'last["step"] == "watch" and [w["path"] for w in
 wrong("watch")] == ["val"]'
python3 - "$L/lab.yaml" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
for step in "watch", "steer":
    text = re.sub(r"(?ms)^  - id: %s\n.*?(?=^  - id:)" % step, "", text)
open(sys.argv[1], "w").write(text)
PY
lab --labs "$W/labs" --set 'job:job.yaml:--rate=0.003=>--rate=0' --set 'job:job.yaml:--steps=320=>--steps=4'
check "nor does its adapter" $rc 1 'last["step"] == "prove" and
 "nothing was learned" in wrong("prove")[0]["because"]'

# --- the whole lab ----------------------------------------------------------------------
if [ -f labs/content/first-finetune/base/model.safetensors ]; then
    lab
    check "the whole lab" $rc 0 'last["result"] == "done" and last["seconds"] < 240 and
 last["last_val"] <= 0.7 * last["first_val"]'
    A=$(tail -1 "$W/out" | sed 's/.*"adapter":"\([^"]*\)".*/\1/')
    R=$(tail -1 "$W/out" | sed 's/.*"run":"\([^"]*\)".*/\1/')
    [ -s "$A/adapter_model.safetensors" ] && [ -s "$A/adapter_config.json" ] && [ -s "$R" ]
    check "adapter and curve are kept" $? 0 'len([l for l in lines if l.get("event") == "train"]) >= 10'
fi
"$B/podium" lab reset first-finetune >"$W/err" 2>&1
check "reset" $? 0 True

echo "$passed passed, $failed failed"
[ $failed = 0 ]
