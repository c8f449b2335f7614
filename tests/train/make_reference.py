#!/usr/bin/env python3
"""make_reference.py [--check] - writes tests/train/reference/llama.json: what
PyTorch computes for the small Llama of tests/unit/train_llama.c, in f64; with
--check it computes it anew and compares (make parity).

The weights come from podium's own counter-based generator (core/train/rng.c),
written again here, so that no file of weights is needed. Needs torch and
transformers; "made_with" tells with which the kept file was made.
"""
import json
import math
import os
import sys

import torch
import transformers
from transformers import (LlamaConfig, LlamaForCausalLM, get_constant_schedule_with_warmup,
                          get_cosine_schedule_with_warmup, get_linear_schedule_with_warmup)

M64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
V, D, F, LAYERS, HEADS, KV, STEPS, SEED = 61, 24, 40, 2, 4, 2, 100, 5
RATE, WARMUP, CLIP, DECAY, R, ALPHA = 0.01, 2, 0.5, 0.1, 3, 6


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def key(seed, a, b, c):
    k = mix((seed + GOLDEN) & M64)
    for i, x in enumerate((a, b, c), 1):
        k = mix(k ^ ((x * 0xD1B54A32D192ED03 + i) & M64))
    return k


def unit(k, n):
    return (mix((k + (n + 1) * GOLDEN) & M64) >> 11) * 2.0 ** -53


def normal(k, n):
    return math.sqrt(-2 * math.log(1 - unit(k, 2 * n))) * math.cos(2 * math.pi * unit(k, 2 * n + 1))


def names():
    yield "model.embed_tokens.weight"
    for i in range(LAYERS):
        for part in ("input_layernorm", "self_attn.q_proj", "self_attn.k_proj",
                     "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm",
                     "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"):
            yield f"model.layers.{i}.{part}.weight"
    yield "model.norm.weight"
    yield "lm_head.weight"


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}


def make(tied, rope=None):
    cfg = LlamaConfig(vocab_size=V, hidden_size=D, intermediate_size=F, num_hidden_layers=LAYERS,
                      num_attention_heads=HEADS, num_key_value_heads=KV, rms_norm_eps=1e-5,
                      max_position_embeddings=64, tie_word_embeddings=tied, rope_theta=10000.0, rope_scaling=rope)
    model = LlamaForCausalLM(cfg).double()
    params = dict(model.named_parameters())
    for i, name in enumerate(names()):
        p = params.get(name)
        if p is None or p.dim() == 1:
            if p is not None:
                torch.nn.init.ones_(p)
            continue
        k = key(SEED, 1, i, 0)
        flat = torch.tensor([0.08 * normal(k, n) for n in range(p.numel())]).float().double()
        p.data = flat.view_as(p)
    return model


def sequences(step):
    """As rows_of in train_llama.c."""
    for s, n in enumerate((9, 5, 12)):
        ids = [(i * 7 + s * 3 + step * 5 + i * i) % V for i in range(n + 1)]
        yield ids[:-1], [y if i >= 2 else -100 for i, y in enumerate(ids[1:])]


def summed(model, step):
    total, count = 0, 0
    for ids, labels in sequences(step):
        z = model(torch.tensor([ids])).logits[0]
        y = torch.tensor(labels)
        total = total + torch.nn.functional.cross_entropy(z, y, reduction="sum", ignore_index=-100)
        count += int((y >= 0).sum())
    return total / count


SCHEDULES = {"cosine": get_cosine_schedule_with_warmup, "linear": get_linear_schedule_with_warmup,
             "constant": lambda opt, warmup, steps: get_constant_schedule_with_warmup(opt, warmup)}


def train(model, schedule="cosine"):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW([{"params": [p for p in params if p.dim() > 1]},
                             {"params": [p for p in params if p.dim() == 1], "weight_decay": 0}],
                            lr=RATE, weight_decay=DECAY)
    sched = SCHEDULES[schedule](opt, WARMUP, STEPS)
    out = {"loss": [], "gnorm": [], "lr": []}
    for step in range(STEPS):
        loss = summed(model, step)
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(params, CLIP)
        out["lr"].append(round(sched.get_last_lr()[0], 10))
        opt.step()
        sched.step()
        out["loss"].append(round(loss.item(), 8))
        out["gnorm"].append(round(norm.item(), 8))
    return out


class Lora(torch.nn.Module):
    """PEFT's linear layer with A of lora_init and B zero, written out."""

    def __init__(self, base, k, scale):
        super().__init__()
        self.base = base
        self.scale = scale
        bound = 1 / math.sqrt(base.in_features)
        n = R * base.in_features
        bound32 = torch.tensor(bound).float().item()
        a = [-bound32 + 2 * bound32 * unit(k, i) for i in range(n)]
        self.a = torch.nn.Parameter(torch.tensor(a).float().double().view(R, -1))
        self.b = torch.nn.Parameter(torch.zeros(base.out_features, R).double())

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T) @ self.b.T


ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def lora(model, targets=ALL, scale=ALPHA / R):
    for p in model.parameters():
        p.requires_grad = False
    n = 0
    for layer in model.model.layers:
        for part in ALL:
            owner = layer.mlp if part in ALL[4:] else layer.self_attn
            if part in targets:
                setattr(owner, part, Lora(getattr(owner, part), key(SEED, 2, n, 0), scale))
                n += 2
    return model


def compute():
    result = {"made_with": {"torch": torch.__version__.split("+")[0],
                            "transformers": transformers.__version__},
              "tied": train(make(True)), "untied": train(make(False), "linear"),
              "llama3": train(make(True, LLAMA3), "constant"),
              "lora": train(lora(make(True))),
              "lora_qv": train(lora(make(True), ALL[0:3:2]), "linear"),
              "lora_qkvo_rs": train(lora(make(False), ALL[:4], ALPHA / math.sqrt(R)), "constant")}
    with torch.no_grad():
        ids = [3, 14, 15, 9, 26, 5, 35]
        result["logits"] = [round(x, 7) for x in make(True)(torch.tensor([ids])).logits[0, -1]
                            .tolist()]
    return result


def numbers(x, path=""):
    """(path, number) of every number but the versions."""
    if isinstance(x, dict):
        for k, v in x.items():
            if k != "made_with":
                yield from numbers(v, f"{path}.{k}")
    elif isinstance(x, list):
        for i, v in enumerate(x):
            yield from numbers(v, f"{path}[{i}]")
    else:
        yield path, x


def check(path, new):
    with open(path) as f:
        kept = dict(numbers(json.load(f)))
    fresh = dict(numbers(new))
    worst = max(abs(kept[k] - fresh[k]) / max(abs(fresh[k]), 1e-3) for k in fresh if k in kept)
    same = kept.keys() == fresh.keys() and worst < 1e-6
    print(f"{'ok' if same else 'FAIL'} {len(fresh)} kept reference numbers: made anew they differ by "
          f"at most {worst:.2g}\n{int(same)} passed, {int(not same)} failed")
    return not same


def main():
    torch.set_num_threads(1)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference", "llama.json")
    new = compute()
    if "--check" in sys.argv:
        return check(path, new)
    with open(path, "w") as f:
        json.dump(new, f, indent=1)
        f.write("\n")
    return 0


sys.exit(main())
