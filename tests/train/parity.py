#!/usr/bin/env python3
"""parity.py PODIUM_TRAIN - the same run in podium-train and in PyTorch.

Makes a small random Llama, a data set and an adapter, and compares
  - the logits of an adapter that podium-train wrote, loaded by peft
  - the losses of LoRA updates (accumulation, clipping, warmup): all projections, two
    of them with rslora, and ranks and alphas that differ by rank_pattern, alpha_pattern
  - the loss of 100 updates of full training
each with the batches that `inspect-batch --json` shows. Needs torch,
transformers and peft; without them it says so and passes nothing.
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

try:
    import torch
    import transformers
    from peft import LoraConfig, PeftModel, get_peft_model
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers import get_scheduler
except ImportError as e:
    print(f"skipped: {e.name} is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

TRAIN = sys.argv[1]
RATE, WARMUP, CLIP, DECAY, STEPS = 5e-3, 5, 1.0, 0.01, 100
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# name, schedule, PEFT's configuration; the first one's adapter is loaded by peft again
LORA = [
    ("lora", "cosine", {"r": 4, "lora_alpha": 8, "target_modules": TARGETS}),
    ("lora, rslora", "linear", {"r": 8, "lora_alpha": 16, "use_rslora": True,
                                "target_modules": ["q_proj", "v_proj"]}),
    ("lora, patterns", "constant_with_warmup",
     {"r": 4, "lora_alpha": 8, "target_modules": ["k_proj", "o_proj", "up_proj", "down_proj"],
      "rank_pattern": {"k_proj": 2, "layers.1.mlp.down_proj": 9},
      "alpha_pattern": {"o_proj": 32, "layers.2.mlp.up_proj": 1}}),
]
passed = failed = 0


def check(name, ok, note):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    print(f"{'ok' if ok else 'FAIL'} {name}: {note}")


def run(*args):
    r = subprocess.run([TRAIN, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if r.returncode:
        sys.exit(f"podium-train {' '.join(args)}: {r.returncode}\n{r.stdout[-2000:]}{r.stderr}")
    return r.stdout


def make_tokenizer(path):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tok.decoder = decoders.ByteLevel()
    words = ["count the words", "name a colour", "answer: red green blue", "### Response:"]
    tok.train_from_iterator(words * 4, trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tok.save(path)
    return tok.get_vocab_size()


def make_data(path):
    colours = ["red", "green", "blue", "grey"]
    with open(path, "w") as f:
        for t in range(8):
            for i in range(6):
                rec = {"instruction": f"Form {t}: say the colour {'very ' * (i % 4)}slowly, {i}",
                       "input": "", "output": f"{colours[(t + i) % 4]} {'on ' * (i % 3)}{t}",
                       "template": f"t{t}", "lang": "en"}
                f.write(json.dumps(rec) + "\n")


def make_model(path, vocab):
    torch.manual_seed(7)
    cfg = LlamaConfig(vocab_size=vocab, hidden_size=48, intermediate_size=112,
                      num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                      max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=True,
                      initializer_range=0.08)
    m = LlamaForCausalLM(cfg)
    for p in m.parameters():
        if p.dim() == 1:
            torch.nn.init.uniform_(p, 0.5, 1.5)
    m.save_pretrained(path, safe_serialization=True)
    make_tokenizer(f"{path}/tokenizer.json")


def batches(model, data, index, rows):
    out = run("inspect-batch", "--model", model, "--data", data, "--index", str(index), "--batch",
              str(rows), "--seed", "3", "--json")
    return [json.loads(line) for line in out.splitlines()]


def summed_loss(model, seqs):
    """Sum over labelled positions; labels are shifted already."""
    total, count = 0, 0
    for s in seqs:
        z = model(torch.tensor([s["ids"]])).logits[0]
        y = torch.tensor(s["labels"])
        total = total + torch.nn.functional.cross_entropy(z, y, reduction="sum", ignore_index=-100)
        count += int((y >= 0).sum())
    return total, count


def torch_steps(model, get, schedule, accum, decay_all):
    params = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in params if decay_all or p.dim() > 1], "weight_decay": DECAY},
              {"params": [p for p in params if not (decay_all or p.dim() > 1)],
               "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=RATE)
    sched = get_scheduler(schedule, opt, WARMUP, STEPS)
    losses = []
    for step in range(STEPS):
        total, count = 0, 0
        for a in range(accum):
            t, c = summed_loss(model, get(step * accum + a))
            total, count = total + t, count + c
        loss = total / count
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(params, CLIP)
        opt.step()
        sched.step()
        losses.append((loss.item(), norm.item()))
    return losses


def records(out, ev):
    return [r for r in map(json.loads, out.splitlines()) if r["ev"] == ev]


def compare(name, mine, theirs):
    worst = max(abs(a["loss"] - b[0]) / b[0] for a, b in zip(mine, theirs))
    norms = max(abs(a["gnorm"] - b[1]) / b[1] for a, b in zip(mine, theirs))
    check(f"{name}: first loss", abs(mine[0]["loss"] - theirs[0][0]) < 1e-5,
          f"{mine[0]['loss']:.7g} and {theirs[0][0]:.7g}")
    check(f"{name}: {len(theirs)} losses", len(mine) == len(theirs) and worst < 1e-4,
          f"differ by at most {worst:.2g} of them")
    check(f"{name}: gradient norms", norms < 1e-3, f"differ by at most {norms:.2g} of them")
    check(f"{name}: it learns", theirs[-1][0] < theirs[0][0] * 0.8,
          f"{theirs[0][0]:.3f} to {theirs[-1][0]:.3f}")


def lora_case(d, common, i, name, schedule, config):
    torch.manual_seed(11)
    base = LlamaForCausalLM.from_pretrained(f"{d}/m", torch_dtype=torch.float32)
    model = get_peft_model(base, LoraConfig(lora_dropout=0.0, task_type="CAUSAL_LM", **config))
    model.save_pretrained(f"{d}/start{i}")
    out = run("train", *common, "--out", f"{d}/lora{i}", "--adapter", f"{d}/start{i}", "--batch",
              "4", "--accum", "2", "--schedule", schedule.split("_")[0])
    compare(name, records(out, "step"),
            torch_steps(model, lambda k: batches(f"{d}/m", f"{d}/data.jsonl", k, 4), schedule, 2,
                        True))


def logits_case(d):
    base = LlamaForCausalLM.from_pretrained(f"{d}/m", torch_dtype=torch.float32)
    model = PeftModel.from_pretrained(base, f"{d}/lora0").eval()
    ids = [5, 90, 33, 101, 7, 7, 64, 200, 31]
    with torch.no_grad():
        theirs = model(torch.tensor([ids])).logits[0, -1]
    out = run("logits", "--model", f"{d}/m", "--adapter", f"{d}/lora0", "--ids",
              ",".join(map(str, ids)))
    mine = torch.tensor([float(x) for x in out.split()])
    worst = float((mine - theirs).abs().max())
    check("peft loads the adapter: logits", worst < 1e-4, f"differ by at most {worst:.2g}")


def full_case(d, common):
    out = run("train", *common, "--out", f"{d}/full", "--full", "--batch", "6")
    model = LlamaForCausalLM.from_pretrained(f"{d}/m", torch_dtype=torch.float32)
    compare("full", records(out, "step"),
            torch_steps(model, lambda k: batches(f"{d}/m", f"{d}/data.jsonl", k, 6), "cosine", 1,
                        False))


def main():
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as d:
        make_tokenizer(f"{d}/tok.json")
        vocab = Tokenizer.from_file(f"{d}/tok.json").get_vocab_size()
        make_model(f"{d}/m", vocab)
        make_data(f"{d}/data.jsonl")
        common = ["--model", f"{d}/m", "--data", f"{d}/data.jsonl", "--rate", str(RATE),
                  "--warmup", str(WARMUP), "--clip", str(CLIP), "--weight-decay", str(DECAY),
                  "--seed", "3", "--eval-every", "0", "--threads", "1", "--steps", str(STEPS)]
        for i, case in enumerate(LORA):
            lora_case(d, common, i, *case)
        logits_case(d)
        full_case(d, common)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
