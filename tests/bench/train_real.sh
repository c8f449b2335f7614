#!/bin/sh
# make bench-train: the shape of SmolLM2-135M with random weights from a file, one
# sequence of 512 tokens, f32, beside PyTorch on the same threads, and what the
# machine's multipliers could do (podium-train bench). PyTorch runs between two of
# podium's runs, whose mean counts. STEPS (20), THREADS ("1 2"), PYTHON.
set -eu
B=${B:-build}
PYTHON=${PYTHON:-python3}
STEPS=${STEPS:-20}
TRAIN=$B/podium-train
LENGTH=512
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS OMP_NUM_THREADS MKL_NUM_THREADS

"$TRAIN" init --out "$dir/m" --vocab 49152 --hidden 576 --ffn 1536 --layers 30 --heads 9 --kv-heads 3 \
    --positions 8192 --theta 100000 --tokenizer "$here/../../labs/content/first-finetune/base/tokenizer.json" >/dev/null
cat "$here"/../../docs/*.md "$here"/../../core/train/*.c >"$dir/text.txt"
"$TRAIN" data --tokenizer "$dir/m/tokenizer.json" --out "$dir/text.tok" "$dir/text.txt" >/dev/null

# the median of tok_s behind five steps of warm-up
run() {
    "$TRAIN" train --model "$dir/m" --data "$dir/text.tok" --out "$dir/out" --batch 1 --seq $LENGTH \
        --steps $((STEPS + 5)) --eval-every 0 --eval-batches 1 "$@" </dev/null |
        sed -n 's/.*"ev":"step".*"tok_s":\([0-9.]*\).*/\1/p' | tail -n +6 | sort -n | sed -n "$((STEPS / 2 + 1))p"
}

# floating point operations of a token, in millions: linear layers 2 forward and 2 for the
# input's gradient a weight (full: 2 more), attention 3.5 times its forward pass
flops() {
    case $1 in full) echo 869 ;; r16) echo 629 ;; *) echo 605 ;; esac
}

peak() { "$TRAIN" bench --json --threads "$1" 2>/dev/null | sed -n 's/.*"peak_gflops":\([0-9.e+]*\).*/\1/p'; }

case_of() {
    name=$1 threads=$2
    shift 2
    a=$(run --threads "$threads" "$@")
    peer=$("$PYTHON" "$here/train_torch.py" "$dir/m" "$name" "$threads" 1 $LENGTH "$STEPS" 2>/dev/null | cut -d' ' -f1 || true)
    b=$(run --threads "$threads" "$@")
    mean=$(echo "$a $b" | awk '{printf "%.1f", ($1 + $2) / 2}')
    line="bench train.smollm2_${name}_${threads}t $mean tok/s"
    [ -z "$peer" ] || line="$line vs torch $peer ratio $(echo "$mean $peer" | awk '{printf "%.2f", $1 / $2}')"
    echo "$line"
    [ -n "$peer" ] || echo "  torch is not installed for $PYTHON: no peer (PYTHON=... names another)"
    top=$(peak "$threads")
    [ -z "$top" ] || echo "bench train.smollm2_${name}_${threads}t_gflops $(echo "$mean $(flops "$name")" |
        awk '{printf "%.1f", $1 * $2 / 1000}') GFLOP/s vs peak $top ratio $(echo "$mean $(flops "$name") $top" |
        awk '{printf "%.2f", $1 * $2 / 1000 / $3}')"
}

for t in ${THREADS:-1 2}; do
    case_of r8 "$t" --lora-r 8 --lora-targets q_proj,k_proj,v_proj,o_proj
    case_of r16 "$t" --lora-r 16 --lora-targets all
    case_of full "$t" --full
done
