"""train_torch.py MODEL tokens|tokens_full THREADS - PyTorch's tokens/s on the shape
of tests/bench/train.sh: f32, eager, batch 8 x 256, AdamW, clipping. Prints the
median of 12 steps."""
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaForCausalLM

path, case, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(threads)
model = LlamaForCausalLM.from_pretrained(path, torch_dtype=torch.float32)
if case == "tokens":
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=targets))
params = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(params, lr=1e-3)
model.train()
speeds = []
for step in range(12):
    ids = torch.randint(0, model.config.vocab_size, (8, 256))
    start = time.perf_counter()
    loss = model(input_ids=ids, labels=ids).loss
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    speeds.append(ids.numel() / (time.perf_counter() - start))
print(round(sorted(speeds)[6]))
