#!/bin/sh
# The memory plan against the measured peak, the refusal and what it proposes,
# a real cgroup (as root), and the bar on a terminal. PODIUM_SMOLLM2=DIR tries
# the plan on that model as well.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
train=$B/podium-train
base=labs/content/first-finetune/base
data=labs/content/first-finetune/data/instructions.jsonl
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -z "${group:-}" ] || rmdir "$group"' EXIT
passed=0 failed=0 skipped=0

check() {
    name=$1; shift
    if "$@" >"$dir/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "FAIL $name"; tail -5 "$dir/log"
    fi
}

cat >"$dir/peak.py" <<'PY'
import json, os, subprocess, sys
train, out, *args = sys.argv[1:]
plan = json.loads(subprocess.check_output([train, "plan", "--json", *args]))
p = subprocess.Popen([train, "train", "--out", out, *args], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(p.pid, 0)
assert status == 0, status
peak = used.ru_maxrss * 1024
off = plan["total"] / peak - 1
print("predicted %d measured %d off %.2f %%" % (plan["total"], peak, 100 * off))
assert abs(off) < 0.05, off
assert plan["fits"] and plan["limit"] > plan["total"]
assert sum(plan[k] for k in ("weights", "trained", "activations", "loss", "scratch", "batch",
                             "program")) == plan["total"]
PY

# MODEL OPTIONS...
predicts() {
    rm -rf "$dir/run"
    model=$1; shift
    python3 "$dir/peak.py" "$train" "$dir/run" --model "$model" --data $data "$@"
}

check lora predicts $base --steps 6 --eval-batches 2
check full predicts $base --steps 3 --full --batch 4 --eval-batches 1
check checkpointing predicts $base --steps 4 --checkpointing --lora-targets all --eval-batches 2
check dropout_all predicts $base --steps 5 --lora-targets all --lora-r 16 --lora-dropout 0.1 \
    --batch 4 --threads 1 --eval-batches 2
check packing predicts $base --steps 4 --packing --seq 400 --batch 4 --eval-batches 1
wide() {
    "$train" train --model $base --data $data --out "$dir/wide" --steps 1 --batch 1 --eval-batches 1 \
        --lora-r 256 --lora-targets all >/dev/null && cp -r "$dir/wide" "$dir/start"
}
check an_adapter_to_start_from wide
check its_shape predicts $base --steps 2 --batch 1 --eval-batches 1 --adapter "$dir/start"
epochs() { # 420 records: 7 batches of 64, 2 updates an epoch
    "$train" plan --model $base --data $data --epochs 2 --batch 64 --accum 4 --val-fraction 0.16 >"$dir/plan" &&
        cat "$dir/plan" && grep -q ', 4 updates in' "$dir/plan"
}
check epochs epochs
if [ -n "${PODIUM_SMOLLM2:-}" ]; then
    check smollm2 predicts "$PODIUM_SMOLLM2" --steps 1 --batch 2 --eval-batches 1
fi

# refused before anything is made, and what is proposed fits
refuses() {
    "$train" train --model $base --data $data --out "$dir/no" --steps 2 --memory-limit 60MB \
        >"$dir/records"
    [ $? = 3 ] && [ ! -e "$dir/no" ] || return 1
    cat "$dir/records"
    grep -q '"code":"PD-UNSUPPORTED".*needs .* MB of memory, and 60 MB are left' "$dir/records" &&
        grep -q '"hint":"--checkpointing fits' "$dir/records" &&
        "$train" plan --model $base --data $data --steps 2 --memory-limit 60MB --checkpointing \
            >"$dir/plan" && grep -q 'It fits' "$dir/plan" || return 1
    "$train" train --model $base --data $data --out "$dir/no" --steps 2 --memory-limit 60MB \
        --full >"$dir/records"
    grep -q '"hint":"--checkpointing fits\|"hint":"--batch' "$dir/records" || return 1
    "$train" train --model $base --data $data --out "$dir/no" --steps 2 --memory-limit 40MB \
        >"$dir/records"
    set -- $(sed -nE 's/.*"hint":"--batch ([0-9]+) --accum ([0-9]+) fits.*/\1 \2/p' "$dir/records")
    [ $# = 2 ] && [ $(($1 * $2)) = 8 ] &&
        "$train" plan --model $base --data $data --steps 2 --memory-limit 60MB --batch 4 \
            --accum 2 >"$dir/plan" && grep -q 'It fits' "$dir/plan"
}
check refuses refuses

shorter() {
    "$train" plan --json --model $base --data $data --memory-limit 17MB >"$dir/plan" 2>&1
    [ $? = 3 ] && grep -q -- '--batch 1 --seq [0-9]* fits' "$dir/plan" &&
        grep -q '"fits":false' "$dir/plan"
}
check shorter shorter

# the kernel would kill at 48 MiB: the plan is refused instead, and what it
# proposes runs to its end
in_cgroup() {
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
cgroup_refuses() {
    in_cgroup "$train" train --model $base --data $data --out "$dir/cg" --steps 2 \
        --eval-batches 1 >"$dir/records"
    [ $? = 3 ] && grep -q 'memory.max\|limit_in_bytes' "$dir/records" &&
        in_cgroup "$train" train --model $base --data $data --out "$dir/cg" --steps 2 --batch 2 \
            --accum 4 --eval-batches 1 >"$dir/records" && grep -q '"ev":"done"' "$dir/records"
}
make_group() {
    for top in /sys/fs/cgroup /sys/fs/cgroup/memory; do
        group=$top/podium-plan-$$
        mkdir "$group" 2>/dev/null || { group=; continue; }
        for f in memory.max memory.limit_in_bytes; do
            [ -w "$group/$f" ] && echo 48M >"$group/$f" && return 0
        done
        rmdir "$group"; group=
    done
    return 1
}
if make_group 2>/dev/null; then
    check cgroup_refuses cgroup_refuses
else
    skipped=$((skipped + 1)); echo "skip cgroup_refuses: no memory group can be made here"
fi

benches() {
    "$train" bench --json --model $base --seq 64 >"$dir/bench" || return 1
    cat "$dir/bench"
    python3 -c '
import json, sys
b = json.load(open(sys.argv[1]))
assert b["peak_gflops"] > 0 and b["gemm_gflops"] > 0 and b["tok_s"] > 0 and b["rows"] == 64, b
' "$dir/bench" && ! "$train" bench --model $base --memory-limit 9MB 2>"$dir/err" &&
        grep -q 'smaller --batch or --seq' "$dir/err"
}
check benches benches

configured() {
    printf 'model: %s\ndata: %s\noutput_dir: %s\nmax_steps: 2\neval-batches: 1\nlora: {r: 4}\n' \
        $base $data "$dir/cfg" >"$dir/run.yaml"
    "$train" train --config "$dir/run.yaml" --steps 1 --log plain >"$dir/out" || return 1
    cat "$dir/out"
    grep -q '^update 1 of 1: loss ' "$dir/out" && grep -q '^done in ' "$dir/out" &&
        grep -q '"r": *4' "$dir/cfg/adapter_config.json" &&
        LANGUAGE=zh "$train" plan --config "$dir/run.yaml" >/dev/null &&
        ! "$train" train --config "$dir/run.yaml" --steps x 2>/dev/null
}
check configured configured

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
