#!/usr/bin/env python3
"""make_tok_spaced.py > tok_spaced.jsonl: tokenizers of SentencePiece's kind as files
write them, and the ids that the `tokenizers` package (0.23) gives with special
tokens. One line a tokenizer: {"tokenizer", "rows": [{"text", "ids"}]}. With a number as
argument so many random texts a tokenizer (SEED), for make parity."""
import json
import os
import random
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

MARK = "\u2581"
CORPUS = ["the pod waits for a node", "the node has no room for the pod", "an adapter of low rank is trained",
          "训练一个适配器，节点没有空间", "the loss falls, the loss rises", "  two spaces  and three   here",
          "for i in range(10):\n    print(i)", "节点 的 训练"] * 3
TEXTS = ["", " ", "  ", "a", " a", "the pod", "the  pod ", "\n", "\n\nthe", "a\tb", "训练节点", "空 间", "é½①", "🙂 ok",
         "<s>the", "the</s>pod", "</s> the", "the <s> pod", MARK, MARK + "the", "a" + MARK + "b", "<0x41>", "\u0000x",
         "for i in range(3):\n    print(i)", "rank-8 LoRA!", "THE", "the the the", "x" * 40, " " * 9 + "y"]
PIECES = ["the", " ", "  ", "pod", "node", "\n", "训练", "节", "é", "🙂", "<s>", "</s>", MARK, "a", "loss", "\t", "0", "ü"]


def model():
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always", split=False)
    special = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=480, special_tokens=special, show_progress=False))
    return json.loads(t.to_str())


def metaspace(scheme, split):
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}


def begin():
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}


def variants():
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    prepend = {"type": "Prepend", "prepend": MARK}
    yield {"normalizer": {"type": "Sequence", "normalizers": [prepend, replace]}, "pre_tokenizer": None,
           "post_processor": begin()}
    yield {"normalizer": replace, "pre_tokenizer": None, "post_processor": None}
    for scheme in ("always", "first", "never"):
        for split in (False, True):
            yield {"normalizer": None, "pre_tokenizer": metaspace(scheme, split),
                   "post_processor": begin() if split else None}


def without_fallback(j):
    j = json.loads(json.dumps(j))
    j["model"]["byte_fallback"] = False
    return j


def texts(n):
    rng = random.Random(int(os.environ.get("SEED", 1)))
    return ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12))) for _ in range(n)]


base = model()
base["added_tokens"] = base["added_tokens"][:3]
for k, change in enumerate(variants()):
    j = dict(base, **change)
    if k == 2:
        j = without_fallback(j)
    t = Tokenizer.from_str(json.dumps(j))
    rows = [{"text": s, "ids": t.encode(s).ids} for s in TEXTS + texts(int(sys.argv[1]) if sys.argv[1:] else 20)]
    json.dump({"tokenizer": j, "rows": rows}, sys.stdout, ensure_ascii=False)
    print()
