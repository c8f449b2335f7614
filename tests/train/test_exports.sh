#!/bin/sh
# Results for others, by the program: an adapter is trained, evaluated, compared,
# merged (bf16, shards) and exported; a conversation in a template; each refusal
# is one sentence. The readers of others are asked by `make parity`.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
train=$B/podium-train
base=labs/content/first-finetune/base
data=labs/content/first-finetune/data/instructions.jsonl
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

# says CODE TEXT COMMAND...: it ends with that code and a sentence with TEXT
says() {
    code=$1 text=$2; shift 2
    "$@" >"$dir/said" 2>&1 </dev/null
    got=$?
    cat "$dir/said"
    [ $got = "$code" ] && grep -qF -- "$text" "$dir/said"
}

an_adapter_is_trained() {
    "$train" train --model $base --data $data --out "$dir/ad" --steps 6 --batch 4 --rate 0.01 \
        --lora-targets all --eval-every 0 --eval-batches 1 --threads 2
}

both_splits_in_a_table() {
    says 0 "the adapter changes the loss by -" "$train" eval --model $base --data $data \
        --adapter "$dir/ad" --table --eval-batches 2 &&
        grep -q "^training.*with the adapter" "$dir/said" &&
        grep -q "^validation.*base" "$dir/said"
}

records_of_one_split_in_a_pipe() {
    "$train" eval --model $base --data $data --adapter "$dir/ad" --eval-batches 1 |
        python3 -c '
import json, math, sys
r = [json.loads(line) for line in sys.stdin]
assert [x["ev"] for x in r] == ["eval", "eval", "done"], r
assert [x.get("adapter") for x in r[:2]] == ["off", "on"]
assert abs(math.log(r[0]["val_ppl"]) - r[0]["val_loss"]) < 1e-6
assert r[2]["base_loss"] == r[0]["val_loss"] and "train_loss" not in r[2]'
}

# every tensor is in the shard that the index names, as BF16, and the merged
# model's own loss is the adapter's
merged_in_shards() {
    "$train" merge --model $base --adapter "$dir/ad" --out "$dir/m" --bf16 --max-shard-size 1MB \
        --json >"$dir/said" &&
        python3 - "$dir" <<'PY' &&
import json, os, struct, sys
d = sys.argv[1]
said = json.load(open(d + "/said"))
index = json.load(open(d + "/m/model.safetensors.index.json"))
total, names = 0, {}
for f in set(index["weight_map"].values()):
    with open(d + "/m/" + f, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    head.pop("__metadata__")
    for name, t in head.items():
        assert t["dtype"] == "BF16" and name not in names
        names[name] = f
        total += t["data_offsets"][1] - t["data_offsets"][0]
    assert os.path.getsize(d + "/m/" + f) < 1.2e6
assert names == index["weight_map"] and total == index["metadata"]["total_size"]
assert said["files"] == len(set(names.values())) > 2 and said["type"] == "bf16"
assert 0 < said["max_dlogit"] < 1 and said["same_first"] >= 12, said
config = json.load(open(d + "/m/config.json"))
assert config["torch_dtype"] == "bfloat16" and os.path.exists(d + "/m/tokenizer.json")
PY
        one=$("$train" eval --model "$dir/m" --data $data --eval-batches 2 | tail -1) &&
        two=$("$train" eval --model $base --adapter "$dir/ad" --data $data --eval-batches 2 |
            tail -1) &&
        python3 -c '
import json, sys
a, b = json.loads(sys.argv[1]), json.loads(sys.argv[2])
assert abs(a["val_loss"] - b["val_loss"]) < 0.02 < abs(b["val_loss"] - b["base_loss"]), (a, b)
' "$one" "$two"
}

gguf_of_model_and_adapter() {
    "$train" export --model $base --adapter "$dir/ad" --gguf "$dir/x.gguf" --type q8_0 &&
        "$train" export --model $base --adapter "$dir/ad" --gguf "$dir/a.gguf" --adapter-only &&
        "$train" check "$dir/x.gguf" &&
        "$train" import "$dir/x.gguf" --out "$dir/back" &&
        cmp $base/model.safetensors "$dir/back/model.safetensors" >/dev/null 2>&1
    [ $? = 1 ] && head -c 4 "$dir/a.gguf" | grep -q GGUF
}

# a GGUF of the base, imported again, is the base (f32 is exact)
there_and_back() {
    "$train" export --model $base --gguf "$dir/b.gguf" --type f32 &&
        "$train" import "$dir/b.gguf" --out "$dir/again" &&
        "$train" logits --model $base --ids 5,90,33,101 >"$dir/one" &&
        "$train" logits --model "$dir/again" --ids 5,90,33,101 | cmp - "$dir/one"
}

side_by_side() {
    printf 'Kubernetes is\n\n机器学习\n' >"$dir/p.txt"
    COLUMNS=60 "$train" compare --model $base --adapter "$dir/ad" --prompts "$dir/p.txt" \
        --max-tokens 8 | tee "$dir/said" &&
        grep -q '^── 2/2  机器学习$' "$dir/said" && grep -q ' │' "$dir/said" &&
        "$train" compare --model $base --adapter "$dir/ad" --prompts "$dir/p.txt" --max-tokens 8 \
            --json | python3 -c '
import json, sys
r = [json.loads(line) for line in sys.stdin]
assert [x["prompt"] for x in r] == ["Kubernetes is", "机器学习"] and all(x["base"] for x in r)'
}

# the same text whole and as it comes (a terminal by script), without the stop text
generated_as_it_comes() {
    "$train" generate --model $base --prompt "Kubernetes is" --max-tokens 24 >"$dir/one" &&
        script -qec "'$train' generate --model $base --prompt 'Kubernetes is' --max-tokens 24" \
            "$dir/typescript" </dev/null | tr -d '\r' | cmp - "$dir/one" &&
        word=$(tr -s ' \n' '\n\n' <"$dir/one" | sed -n 3p) && [ -n "$word" ] &&
        "$train" generate --model $base --prompt "Kubernetes is" --max-tokens 24 --stop "$word" \
            >"$dir/two" && ! grep -qF -- "$word" "$dir/two"
}

# a turn goes on from the one before; /reset begins anew, /quit ends
talk() {
    cp -R $base "$dir/chat" && python3 - "$dir/chat" <<'PY' &&
import json, sys
p = sys.argv[1] + "/tokenizer.json"
t = json.load(open(p))
n = len(t["model"]["vocab"])
for i, s in enumerate(["<|im_start|>", "<|im_end|>"]):      # in the place of two rare tokens
    rare = [k for k, v in t["model"]["vocab"].items() if v == n - 1 - i][0]
    t["model"]["merges"] = [m for m in t["model"]["merges"]
                            if (m if isinstance(m, str) else " ".join(m)).replace(" ", "") != rare]
    del t["model"]["vocab"][rare]
    t["added_tokens"].append({"id": n - 1 - i, "content": s, "special": True})
json.dump(t, open(p, "w"))
json.dump({"chat_template": "{{'<|im_start|>' + m['role']}}"},
          open(sys.argv[1] + "/tokenizer_config.json", "w"))
PY
        turns 'hello\n' >"$dir/one" && turns 'hello\n\nand again\n' >"$dir/two" &&
        turns 'hello\n\nand again\n/reset\nhello\n/quit\nnever\n' >"$dir/three" &&
        [ "$(wc -c <"$dir/one")" -lt "$(wc -c <"$dir/two")" ] &&
        head -c "$(wc -c <"$dir/one")" "$dir/two" | cmp - "$dir/one" &&
        cat "$dir/two" "$dir/one" | cmp - "$dir/three" &&
        "$train" generate --model "$dir/chat" --chat --prompt hello --max-tokens 6 |
        cmp - "$dir/one"
}

turns() {
    printf "$1" | "$train" chat --model "$dir/chat" --max-tokens 6
}

refused() {
    says 3 "no chat template" "$train" chat --model $base &&
        says 3 "no chat template" "$train" generate --model $base --chat --prompt x &&
        says 2 "--adapter is needed" "$train" merge --model $base --out "$dir/x" &&
        says 2 "one" "$train" merge --model $base --adapter "$dir/ad" --out "$dir/x" --bf16 --f16 &&
        says 2 "own folder" "$train" merge --model $base --adapter "$dir/ad" --out $base &&
        says 2 "5GB" "$train" merge --model $base --adapter "$dir/ad" --out "$dir/x" \
            --max-shard-size much &&
        says 2 "q8_0" "$train" export --model $base --gguf "$dir/x.gguf" --type q9 &&
        says 2 "needs --adapter" "$train" export --model $base --gguf "$dir/y" --adapter-only &&
        says 2 "both" "$train" eval --model $base --data $data --split all &&
        says 1 "no prompt" "$train" compare --model $base --adapter "$dir/ad" --prompts /dev/null &&
        says 1 "adapter_config.json" "$train" generate --model $base --adapter $base --prompt x
}

an_untrained_adapter_is_noted() {
    "$train" train --model $base --data $data --out "$dir/zero" --steps 1 --batch 1 --rate 0 \
        --eval-every 0 --eval-batches 1 &&
        says 0 "every lora_B is zero" "$train" generate --model $base --adapter "$dir/zero" \
            --prompt x --max-tokens 1
}

for t in an_adapter_is_trained both_splits_in_a_table records_of_one_split_in_a_pipe \
    merged_in_shards gguf_of_model_and_adapter there_and_back side_by_side generated_as_it_comes \
    talk refused an_untrained_adapter_is_noted; do
    check $t $t
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
