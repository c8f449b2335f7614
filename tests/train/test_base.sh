#!/bin/sh
# The shipped base model and instruction set: they are what their scripts make,
# validation shares nothing with training, the model knows more than word
# frequencies, and text survives the tokenizer.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
train=$B/podium-train
base=labs/content/first-finetune/base
data=labs/content/first-finetune/data/instructions.jsonl
tools=core/train/tools
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() {
    name=$1; shift
    if "$@" >"$dir/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "FAIL $name"; tail -5 "$dir/log"
    fi
}

instructions_are_what_the_script_makes() {
    PYTHONDONTWRITEBYTECODE=1 python3 $tools/make_instructions.py "$dir/made.jsonl" &&
        cmp "$dir/made.jsonl" "$data"
}

validation_shares_no_answer() {
    python3 $tools/check_overlap.py "$data"
}

# LINE: the loss of the model lies at least 0.5 nats below the unigram's
beats() {
    echo "$1"
    echo "$1" | python3 -c '
import json, sys
r = json.loads(sys.stdin.read())
assert r["unigram_loss"] - r["base_loss"] > 0.5, r'
}

# The instruction set was never in the corpus: the unigram model has its
# training half to count, the base model has seen none of it.
base_beats_unigram_on_instructions() {
    beats "$("$train" eval --model $base --data "$data" --threads 2 | grep '"ev":"done"')"
}

base_is_small_and_whole() {
    python3 - $base <<'PY'
import json, os, struct, sys
base = sys.argv[1]
path = base + "/model.safetensors"
assert os.path.getsize(path) <= 8 << 20
with open(path, "rb") as f:
    header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
shapes = [t["shape"] for k, t in header.items() if k != "__metadata__"]
n = sum(s[0] * (s[1] if len(s) > 1 else 1) for s in shapes)
assert 1_000_000 <= n <= 3_000_000, n
config = json.load(open(base + "/config.json"))
vocab = json.load(open(base + "/tokenizer.json"))["model"]["vocab"]
assert config["vocab_size"] == len(vocab) and config["eos_token_id"] == vocab["<|endoftext|>"]
PY
}

check instructions_are_what_the_script_makes instructions_are_what_the_script_makes
check validation_shares_no_answer validation_shares_no_answer
check base_is_small_and_whole base_is_small_and_whole
check base_beats_unigram_on_instructions base_beats_unigram_on_instructions
echo "$passed passed, $failed failed"
[ $failed = 0 ]
