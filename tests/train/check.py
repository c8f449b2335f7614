"""The cases of test_check.sh: each is a path, the exit code of `podium-train
check`, and what the answer must hold."""
import json
import os
import shutil
import struct
import subprocess
import sys

TRAIN, WORK = sys.argv[1:3]
CASES = "tests/cases"
passed = failed = 0


def check(path, code, *parts, without=()):
    """Run it on path; parts must occur (a|b: either), without must not."""
    global passed, failed
    r = subprocess.run([TRAIN, "check", path], capture_output=True, text=True,
                       env=dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE=""))
    said = r.stdout + r.stderr
    wrong = [p for p in parts if not any(x.lower() in said.lower() for x in p.split("|"))]
    wrong += ["not: " + p for p in without if p in said]
    if r.returncode == code and not wrong:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {path}: exit {r.returncode} (want {code}), lacks {wrong}\n{said}")


def tensors(entries, meta=True):
    """A safetensors file of {name: (dtype, shape, bytes)}."""
    head, data = ({"__metadata__": {"format": "pt"}} if meta else {}), b""
    for name, (dtype, shape, raw) in entries.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def put(name, data):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def split_model(name, shards, index=None):
    """The model WORK/m again as WORK/name, its tensors dealt to `shards` files."""
    with open(os.path.join(WORK, "m", "model.safetensors"), "rb") as f:
        raw = f.read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    head.pop("__metadata__")
    to = os.path.join(WORK, name)
    os.makedirs(to)
    shutil.copy(os.path.join(WORK, "m", "config.json"), to)
    parts, where = [{} for _ in range(shards)], {}
    for i, (t, e) in enumerate(sorted(head.items())):
        b, end = e["data_offsets"]
        parts[i % shards][t] = (e["dtype"], e["shape"], raw[8 + n + b:8 + n + end])
        where[t] = f"model-{i % shards + 1:05}-of-{shards:05}.safetensors"
    for i, p in enumerate(parts):
        put(f"{name}/model-{i + 1:05}-of-{shards:05}.safetensors", tensors(p))
    size = sum(len(v[2]) for p in parts for v in p.values())
    said = {"metadata": {"total_size": size}, "weight_map": where}
    if index:
        index(said)
    put(f"{name}/model.safetensors.index.json", json.dumps(said).encode())
    return to


def kept():
    check(f"{CASES}/safetensors/002-truncated-data/adapter_model.safetensors", 1, "40",
          "truncat|short|incomplete", "736", "776", "layers.0.self_attn.v_proj.lora_B")
    check(f"{CASES}/safetensors/005-lora-b-shape-zero/adapter_model.safetensors", 1, "[0]|shape",
          "lora_", "4 of 4")
    check(f"{CASES}/safetensors/008-incomplete-last-checkpoint/run", 0, "checkpoint-500",
          "checkpoint-1000 is incomplete", without=["from checkpoint-1000"])
    check(f"{CASES}/tokenizer/005-vocab-vs-embedding", 1, "32001|32002", "32000", "<NEW1>",
          "modules_to_save", "resize")


def wrong_files():
    good = tensors({"a": ("F32", [1], b"\0" * 4)})
    check(put("good.safetensors", good), 0, "1 tensors")
    check(put("a.safetensors", b"<!DOCTYPE html><html>404</html>"), 1, "web page", "download link")
    check(put("b.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), 1,
          "Git LFS pointer", "git lfs pull")
    check(put("c.safetensors", b"PK\3\4" + b"\0" * 60), 1, "zip", "torch")
    check(put("d.safetensors", b"\x80\2}q\0." + b"x" * 40), 1, "pickle")
    check(put("e.safetensors", b"GGUF" + b"\3\0\0\0" + b"\0" * 40), 1, "GGUF", "import")
    check(put("f.safetensors", b""), 1, "empty")
    check(put("g.safetensors", b"\0" * 4096), 1, "zeros")
    check(put("h.safetensors", struct.pack("<Q", 1 << 60) + b"{}"), 1, "larger than the file")
    check(put("i.safetensors", good[:-2]), 1, "2 are missing", "truncated", "a is the first")
    check(put("j.safetensors", good + b"x"), 1, "goes on behind")
    check(put("k.safetensors", tensors({"a": ("F33", [1], b"\0" * 4)})), 1, "dtype")
    check(put("l.gguf", b"<html>"), 1, "does not begin with GGUF", "web page")
    check(os.path.join(WORK, "none"), 1, "No such file")


def models():
    subprocess.run([TRAIN, "init", "--out", os.path.join(WORK, "m"), "--seed", "3"], check=True,
                   capture_output=True)
    check(os.path.join(WORK, "m"), 0, "Llama of 2 layers", "no tokenizer.json")
    check(split_model("s3", 3), 0, "Llama of 2 layers")
    check(split_model("size", 2, lambda j: j["metadata"].update(total_size=7)), 0, "total_size", "7")

    to = shutil.copytree(os.path.join(WORK, "m"), os.path.join(WORK, "more"))
    with open(os.path.join(to, "model.safetensors"), "rb") as f:
        raw = f.read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    head["extra.weight"] = {"dtype": "F4", "shape": [8], "data_offsets": [len(raw) - 8 - n, len(raw) - 4 - n]}
    text = json.dumps(head).encode()
    put("more/model.safetensors", struct.pack("<Q", len(text)) + text + raw[8 + n:] + b"\0" * 4)
    check(to, 0, "no use for: 1", "extra.weight")

    def elsewhere(j):
        j["weight_map"]["model.norm.weight"] = "../m/model.safetensors"
    check(split_model("out", 2, elsewhere), 1, "must lie in the folder")

    def swapped(j):
        t = j["weight_map"]
        t["model.norm.weight"] = next(f for f in t.values() if f != t["model.norm.weight"])
    check(split_model("swap", 2, swapped), 1, "model.norm.weight", "it stands in")
    to = split_model("gone", 3)
    os.remove(os.path.join(to, "model-00002-of-00003.safetensors"))
    check(to, 1, "model-00002-of-00003", "not complete")
    to = split_model("twice", 2)
    shutil.copy(os.path.join(to, "model-00001-of-00002.safetensors"),
                os.path.join(to, "model-00002-of-00002.safetensors"))
    check(to, 1, "stands in|looks for")
    to = shutil.copytree(os.path.join(WORK, "m"), os.path.join(WORK, "vocab"))
    config = json.load(open(os.path.join(to, "config.json")))
    json.dump(dict(config, vocab_size=300), open(os.path.join(to, "config.json"), "w"))
    check(to, 1, "embed_tokens", "[256, 64]", "[300, 64]", "vocab_size")
    to = shutil.copytree(os.path.join(WORK, "m"), os.path.join(WORK, "nan"))
    path = os.path.join(to, "model.safetensors")
    raw = bytearray(open(path, "rb").read())
    raw[-4:] = struct.pack("<f", float("nan"))
    open(path, "wb").write(raw)
    check(to, 1, "no number", "tensor model.norm.weight|tensor model.layers|tensor lm_head")


def checkpoints():
    """Folders as transformers' Trainer leaves them."""
    one = tensors({"base_model.model.q.lora_A.weight": ("F32", [1], b"\0" * 4)})
    state = b'{"global_step": 5, "log_history": []}'
    put("r/checkpoint-5/adapter_model.safetensors", one)
    put("r/checkpoint-5/trainer_state.json", state)
    put("r/checkpoint-9/adapter_model.safetensors", one)
    check(os.path.join(WORK, "r"), 0, "checkpoint-5 is whole", "checkpoint-9 is incomplete",
          "trainer_state.json is missing")
    put("r/checkpoint-9/trainer_state.json", state[:9])
    check(os.path.join(WORK, "r"), 0, "checkpoint-5 is whole", "checkpoint-9 is incomplete")
    put("r/checkpoint-9/trainer_state.json", state)
    check(os.path.join(WORK, "r"), 0, "checkpoint-9 is whole", without=["incomplete"])
    os.makedirs(os.path.join(WORK, "r/checkpoint-12"))
    check(os.path.join(WORK, "r"), 0, "checkpoint-9 is whole", "checkpoint-12 is incomplete",
          "no tensor file")
    os.makedirs(os.path.join(WORK, "e"))
    check(os.path.join(WORK, "e"), 1, "no whole checkpoint")


kept()
wrong_files()
models()
checkpoints()
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
