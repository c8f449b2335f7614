"""train_torch.py MODEL CASE THREADS ROWS LENGTH STEPS - PyTorch's tokens/s: f32,
eager, sdpa, no cache, AdamW, clipping to 1, the model loaded from its file.
CASE: r8 (LoRA on q, k, v, o), r16 (on all seven), all8, full. Five steps to
warm up; prints the median of the rest, and the peak of resident memory in MB."""
import resource
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaForCausalLM

path, case = sys.argv[1:3]
threads, rows, length, steps = map(int, sys.argv[3:7])
WARM_UP = 5
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
ALL = ATTENTION + ["gate_proj", "up_proj", "down_proj"]
LORA = {"r8": (8, ATTENTION), "r16": (16, ALL), "all8": (8, ALL)}

torch.set_num_threads(threads)
model = LlamaForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="sdpa")
model.config.use_cache = False
if case in LORA:
    r, targets = LORA[case]
    model = get_peft_model(model, LoraConfig(r=r, lora_alpha=16, target_modules=targets))
params = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(params, lr=1e-4)
model.train()
speeds = []
for step in range(WARM_UP + steps):
    ids = torch.randint(0, model.config.vocab_size, (rows, length))
    start = time.perf_counter()
    loss = model(input_ids=ids, labels=ids).loss
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    speeds.append(ids.numel() / (time.perf_counter() - start))
kept = sorted(speeds[WARM_UP:])
print(f"{kept[len(kept) // 2]:.1f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")
