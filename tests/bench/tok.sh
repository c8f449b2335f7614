#!/bin/sh
# bench: the tokenizer on bilingual text (podium-train data, from start to written
# file), against the tokenizers package where a Python has it (PYTHON=...), line by
# line; one thread each.
set -u
cd "$(dirname "$0")/../.." || exit 2
train=${B:-build}/podium-train
base=labs/content/first-finetune/base/tokenizer.json
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
i=0
while [ $i -lt 40 ]; do
    cat labs/content/first-finetune/data/instructions.jsonl
    i=$((i + 1))
done >"$dir/text"
python=${PYTHON:-python3}
exec_py() { TOKENIZERS_PARALLELISM=false "$python" - "$@"; }
python3 - "$train" "$base" "$dir" >"$dir/own" <<'PY'
import os, subprocess, sys, time
train, base, d = sys.argv[1:]
size, best = os.path.getsize(d + "/text"), 0
for _ in range(3):
    t = time.perf_counter()
    subprocess.run([train, "data", "--tokenizer", base, "--out", d + "/tok", d + "/text"],
                   check=True, stdout=subprocess.DEVNULL)
    best = max(best, size / (time.perf_counter() - t) / 1e6)
print("%.1f" % best)
PY
exec_py "$base" "$dir" >"$dir/peer" 2>/dev/null <<'PY'
import sys, time
from tokenizers import Tokenizer
base, d = sys.argv[1:]
tok, best = Tokenizer.from_file(base), 0
lines = open(d + "/text").read().splitlines(keepends=True)
size = sum(len(line.encode()) for line in lines)
for _ in range(3):
    t = time.perf_counter()
    tok.encode_batch(lines)
    best = max(best, size / (time.perf_counter() - t) / 1e6)
print("%.1f" % best)
PY
own=$(cat "$dir/own") peer=$(cat "$dir/peer")
if [ -n "$peer" ]; then
    echo "bench tokenize $own MB/s vs tokenizers $peer ratio $(echo "$own $peer" | awk '{printf "%.2f", $1 / $2}')"
else
    echo "bench tokenize $own MB/s"
fi
