#!/bin/sh
# make_base.sh WORKDIR - make labs/content/first-finetune/base from nothing:
# corpus (apt-get download), vocabulary, random weights, training, evaluation.
# Takes about 3 minutes and then STEPS steps of 0.25-0.5 s on one core.
#   THREADS=1 STEPS=2000 BASE=where/it/goes core/train/tools/make_base.sh /tmp/base
# A killed run goes on from its last checkpoint.
set -eu
cd "$(dirname "$0")/../../.."
[ $# = 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
work=$1
train=${TRAIN:-build/podium-train}
base=${BASE:-labs/content/first-finetune/base}
mkdir -p "$work"

[ -f "$work/corpus.json" ] || python3 core/train/tools/make_corpus.py "$work"
[ -f "$work/tokenizer.json" ] ||
    python3 core/train/tools/make_tokenizer.py "$work" "$work/tokenizer.json" 4096
for split in train val; do
    "$train" data --tokenizer "$work/tokenizer.json" --out "$work/$split.tok" \
        "$work/$split.zh.txt" "$work/$split.en.txt"
done
[ -d "$work/init" ] || "$train" init --out "$work/init" --tokenizer "$work/tokenizer.json" \
    --hidden 128 --ffn 384 --layers 4 --heads 4 --kv-heads 2 --positions 512 --seed 1
"$train" train --full --bf16 --model "$work/init" --data "$work/train.tok" \
    --val "$work/val.tok" --out "$work/model" --resume \
    --steps "${STEPS:-2000}" --batch 8 --seq 256 --threads "${THREADS:-1}" \
    --rate 0.003 --warmup 100 --beta2 0.99 --weight-decay 0.05 \
    --eval-every 250 --eval-batches 20 --save-every 500 --seed 1 | tee -a "$work/train.log"
mkdir -p "$base"
cp "$work/model/config.json" "$work/model/model.safetensors" "$work/tokenizer.json" "$base/"
"$train" eval --model "$base" --data "$work/train.tok" --val "$work/val.tok" --seq 256
