#!/usr/bin/env python3
"""make_tok_splits.py > tok_splits.jsonl: pre-tokenizers as files write them, and
the ids that the `tokenizers` package (0.23) gives. One line a tokenizer:
{"pre", "normalizer", "rows": [{"text", "ids"}]}; the model is bytes and a few merges, as
split_json in tests/unit/train_tok_steps.c makes it."""
import json
import sys
from tokenizers import Tokenizer

BYTE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|"
         r"'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BEHAVIOURS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
TEXTS = ["", "a", "a\n\nb", "\n\n\n", "a\\n+b", "aab 12 3.5", " aa  aa ", "it's I'LL 'Sx", "中文 aa中\n中",
         "aa12bb345", "-a--b---", "a-b", "--", "ABcdEF aab's", "\ta\r\n\r\n b", "é½①x", "\u3000a\u00a0b"]


def alphabet():
    nxt = 0x100
    for b in range(256):
        plain = 0x21 <= b <= 0x7e or 0xa1 <= b <= 0xac or b >= 0xae
        yield chr(b) if plain else chr(nxt)
        nxt += not plain


def tokenizer(pre, normalizer=None):
    vocab = {c: i for i, c in enumerate(alphabet())}
    merges = [("a", "a"), ("aa", "b"), ("Ċ", "Ċ"), ("a", "Ċ"), ("1", "2"), ("-", "-"), ("a", "-"), ("Ġ", "a")]
    for a, b in merges:
        vocab[a + b] = len(vocab)
    return Tokenizer.from_str(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": normalizer,
        "pre_tokenizer": pre, "post_processor": None, "decoder": None,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": vocab, "merges": [list(m) for m in merges]}}))


def split(kind, text, how="Isolated", invert=False):
    return {"type": "Split", "pattern": {kind: text}, "behavior": how, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps) + [BYTE]}


def all_pre():
    for how in BEHAVIOURS:
        for invert in (False, True):
            yield sequence(split("Regex", "-", how, invert))
            yield sequence(split("String", "\\n+", how, invert))
            yield sequence(split("Regex", r"\d+|\n", how, invert))
    yield sequence(split("Regex", r"\n+"))
    yield sequence(split("Regex", QWEN2))
    yield sequence(split("Regex", GPT4O))
    yield sequence(split("Regex", r"x*"))
    yield sequence({"type": "Digits", "individual_digits": False})
    yield sequence({"type": "Digits", "individual_digits": True}, split("String", "a"))
    yield sequence(split("Regex", r"(?<=a)b"), split("String", "-", "Removed"))
    yield BYTE
    yield {"type": "Sequence", "pretokenizers": [split("String", "aa"), dict(BYTE, use_regex=True)]}


# composed and not, Hangul, compatibility, order of marks
MARKED = ["e\u0301 \u00e9", "\u1112\u1161\u11ab \ud55c", "\ufb01 \u00bd \u2167", "a\u0323\u0307 a\u0307\u0323", "\u212b", "a"]


def all_files():
    for pre in all_pre():
        yield pre, None, TEXTS
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        yield BYTE, {"type": form}, MARKED
    yield BYTE, {"type": "Sequence", "normalizers": [{"type": "NFC"}]}, MARKED
    yield dict(BYTE, add_prefix_space=True, use_regex=True), None, TEXTS
    yield dict(BYTE, add_prefix_space=True), None, TEXTS


for pre, normalizer, texts in all_files():
    t = tokenizer(pre, normalizer)
    rows = [{"text": s, "ids": t.encode(s, add_special_tokens=False).ids} for s in texts]
    json.dump({"pre": pre, "normalizer": normalizer, "rows": rows}, sys.stdout, ensure_ascii=False)
    print()
