#!/usr/bin/env python3
"""make_tok_hashes.py TOKENIZER_JSON COUNT [own] > tok_hashes.txt

COUNT strings of both languages, of all Unicode and of random bytes, each with a
hash of the ids that the `tokenizers` package gives: "HASH JSON-STRING" a line.
The hash (FNV-1a over ids) goes over the tokenizer's own splitter, GPT-2's and
Llama 3's, in this order; with `own` over its own alone. The kept
tests/train/tok_hashes.txt has 10500; `make parity` makes others anew.
"""
import json
import os
import random
import sys

from tokenizers import Tokenizer

from make_tok_cases import FIXED, SPLITS, random_text

DATA = os.path.join(os.path.dirname(__file__), "../../labs/content/first-finetune/data/instructions.jsonl")


def sentences(rng):
    out = set()
    with open(DATA, encoding="utf-8") as f:
        for line in f:
            r = json.loads(line)
            for key in ("instruction", "input", "output"):
                out.update(r[key].split("\n"))
    out = sorted(s for s in out if 0 < len(s.encode()) < 100)
    rng.shuffle(out)
    return out


def any_unicode(rng):
    top = rng.choice((0x100, 0x800, 0x3100, 0x10000, 0x110000))
    codes = (rng.randrange(top) for _ in range(rng.randint(1, 10)))
    return "".join(chr(c) for c in codes if not 0xd800 <= c < 0xe000)


def random_bytes(rng):
    """Bytes as far as they are UTF-8: the package takes nothing else."""
    return rng.randbytes(rng.randint(1, 30)).decode("utf-8", rng.choice(("ignore", "replace")))


def strings(count, rng):
    own = sentences(rng)
    yield from FIXED
    for i in range(count - len(FIXED)):
        kind = i % 4
        if kind == 0 and own:
            yield own.pop()
        elif kind == 1:
            yield any_unicode(rng)
        elif kind == 2:
            yield random_bytes(rng)
        else:
            yield random_text(rng)


def fnv(h, v):
    return ((h ^ v) * 16777619) & 0xffffffff


def main(path, count, own):
    with open(path, encoding="utf-8") as f:
        spec = json.load(f)
    splits = [None] if own else list(SPLITS.values())
    tokenizers = [Tokenizer.from_str(json.dumps(dict(spec, pre_tokenizer=s) if s else spec)) for s in splits]
    for text in strings(count, random.Random(int(os.environ.get("SEED", 6)))):
        h = 2166136261
        for t in tokenizers:
            for i in t.encode(text, add_special_tokens=False).ids:
                h = fnv(h, i)
            h = fnv(h, 0xffffffff)
        print("%08x %s" % (h, json.dumps(text, ensure_ascii=False)))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), "own" in sys.argv[3:])
