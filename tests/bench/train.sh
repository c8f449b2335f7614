#!/bin/sh
# Training speed beside PyTorch: the lab's shape, f32, the same threads, LoRA and
# full. PyTorch runs between two of podium's runs, whose mean counts, so that a
# busy machine hits both. Needs no PyTorch: without it, podium alone.
set -eu
B=${B:-build}
PYTHON=${PYTHON:-python3}
THREADS=${THREADS:-$(nproc)}
TRAIN=$B/podium-train
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$TRAIN" init --out "$dir/m" --vocab 4096 --hidden 256 --ffn 704 --layers 4 --heads 4 --kv-heads 2 \
    --tokenizer "$here/../../labs/content/first-finetune/base/tokenizer.json" > /dev/null
cat "$here"/../../docs/*.md "$here"/../../core/train/*.c > "$dir/text.txt"
"$TRAIN" data --tokenizer "$dir/m/tokenizer.json" --out "$dir/text.tok" "$dir/text.txt" > /dev/null

# the median of tok_s over the steps
run() {
    "$TRAIN" train --model "$dir/m" --data "$dir/text.tok" --out "$dir/out" --batch 8 --seq 256 \
        --steps 12 --eval-every 0 --threads "$THREADS" "$@" < /dev/null |
        sed -n 's/.*"ev":"step".*"tok_s":\([0-9.]*\).*/\1/p' | sort -n | sed -n 7p
}

case_of() {
    name=$1 torch=$2
    shift 2
    a=$(run "$@")
    peer=$("$PYTHON" "$here/train_torch.py" "$dir/m" "$torch" "$THREADS" 8 256 12 2> /dev/null |
        cut -d' ' -f1 || true)
    b=$(run "$@")
    mean=$(echo "$a $b" | awk '{printf "%.0f", ($1 + $2) / 2}')
    if [ -n "$peer" ]; then
        ratio=$(echo "$mean $peer" | awk '{printf "%.2f", $1 / $2}')
        echo "bench train.$name $mean tok/s vs torch $peer ratio $ratio"
    else
        echo "bench train.$name $mean tok/s"
        echo "  torch is not installed for $PYTHON: no peer (PYTHON=... names another)"
    fi
}

case_of tokens all8 --lora-targets all
case_of tokens_full full --full
