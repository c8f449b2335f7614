#!/usr/bin/env python3
"""make_tok_cases.py TOKENIZER_JSON COUNT [CORPUS_DIR] > cases.jsonl

Strings and their ids as the `tokenizers` package gives them, with the
tokenizer's own splitter and with those of GPT-2 and Llama 3: one JSON object a
line, {"split", "text", "ids"}. tests/train/tok_cases.jsonl was made with COUNT
500; the same script with 20000 and the corpus is the long check
(TOK_CASES=FILE build/tests/train_tok matches_the_reference).
"""
import json
import os
import random
import sys

from tokenizers import Tokenizer

BYTE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPLITS = {
    "smollm": None,
    "gpt2": BYTE,
    "llama3": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
        dict(BYTE, use_regex=False)]},
}
FIXED = [
    "", " ", "  ", "\n", "\r\n", "a", " a", "  a", "a ", "a  ", "\ta", "\t\ta", "a\n\n b", "a \n b",
    "it's we'll I'D THEY'RE 'tis ''s 's't'll'x 'S 'T 'LL'Ve", "don't", "'ſ 'K", "x'ſy",
    "12345", " 12345", "1 2  3   4", "a1b22c333", "3.14e-10", "٣٤٥", "½ ⅓ Ⅷ ①②", "一二三", "第12章",
    "habana.ai/gaudi: 8", "requests.habana.ai/gaudi", "nvidia.com/gpu", "kubectl get pods -A",
    "Kubernetes 集群里有 3 个节点。", "在 Gaudi 上微调 LLaMA-2，学习率 1e-4。", "“引号”、《书名》——破折号……",
    "\u3000全角空格\u3000\u3000x", "a\u00a0b\u00a0\u00a0c", "\u2028\u2029 x", "é e\u0301 ü", "naïve café",
    "👍🏽 👨‍👩‍👧", "한국어 日本語 ภาษาไทย हिन्दी العربية", "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ",
    "<|endoftext", "\x00\x01\x7f\x80", "\x1c\x1d x", "---\n- a: b\n  c: [1, 2]\n", "if (x) {\n\treturn;\n}\n",
    "\n\n\n\n", " \n \n x", "x \r\n\r\n  y", "   \n", "a" * 300, "ab" * 200, "中" * 200, " " * 70 + "x",
    "###  Response:\n", "...!!!???", " ...\n\n", "a...\nb", "$%^&*()_+\n\n", "١٢٣٤", "௧௨௩", "𝟘𝟙𝟚 𝒜𝒷", "\ufeffx",
]
POOL = ("abcXYZ'.,:;!?-_/()[]{}#\"\n\r\t    0123456789的是不了人我在有他这中大来上国"
        "，。、；：？！（）“”ſKéüñßæøλжя가나あいア½²Ⅷ٣👍\u3000\u00a0\u2003\u200b\u0301\u0e31")


def random_text(rng):
    kind = rng.random()
    if kind < 0.6:
        return "".join(rng.choice(POOL) for _ in range(rng.randint(1, 40)))
    if kind < 0.8:
        return "".join(chr(c) for c in (rng.randrange(1, 0x30000) for _ in range(rng.randint(1, 12)))
                       if not 0xd800 <= c < 0xe000)
    words = ["it's", "I'LL", "node", "节点", " ", "  ", "\n", "12", "gpu:", "训练", "。", "3.5", "'s", "\t"]
    return "".join(rng.choice(words) for _ in range(rng.randint(1, 20)))


def texts(count, folder, rng):
    yield from FIXED
    lines = []
    for lang in ("zh", "en") if folder else ():
        with open(os.path.join(folder, "val.%s.txt" % lang), encoding="utf-8") as f:
            lines += [line for line in f if line != "\f\n"]
    rng.shuffle(lines)
    for i in range(count - len(FIXED)):
        if lines and i % 2:
            yield lines.pop()
            if not lines:
                folder = None
        else:
            yield random_text(rng)


def main(path, count, folder):
    with open(path, encoding="utf-8") as f:
        spec = json.load(f)
    tokenizers = {}
    for name, split in SPLITS.items():
        tokenizers[name] = Tokenizer.from_str(
            json.dumps(dict(spec, pre_tokenizer=split) if split else spec))
    rng = random.Random(20)
    for i, text in enumerate(texts(count, folder, rng)):
        for name in SPLITS if i < len(FIXED) else [list(SPLITS)[i % 3]]:
            ids = tokenizers[name].encode(text, add_special_tokens=False).ids
            print(json.dumps({"split": name, "text": text, "ids": ids}, ensure_ascii=False,
                             separators=(",", ":")))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
