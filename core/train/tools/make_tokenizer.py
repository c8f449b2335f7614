#!/usr/bin/env python3
"""make_tokenizer.py CORPUS_DIR OUT [SIZE] - learn the byte-level BPE vocabulary.

Reads train.{zh,en}.txt, gives both languages the same weight, learns merges
until there are SIZE (default 4096) tokens, and writes OUT in the form of
tokenizer.json that SmolLM uses: each digit by itself, then GPT-2's pattern.
Token 0 is <|endoftext|>, 1-256 are the bytes. Standard library only; the same
corpus gives the same file.
"""
import heapq
import json
import os
import re
import sys
import unicodedata
from collections import Counter, defaultdict

SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def char_class(major):
    """The characters of a Unicode category as the inside of [...]."""
    out, start = [], None
    for c in range(0x110001):
        inside = c < 0x110000 and unicodedata.category(chr(c))[0] == major
        if inside and start is None:
            start = c
        elif not inside and start is not None:
            out.append("\\U%08x-\\U%08x" % (start, c - 1))
            start = None
    return "".join(out)


LETTER, NUMBER = char_class("L"), char_class("N")
PIECE = re.compile(
    "[%(n)s]|'s|'t|'re|'ve|'m|'ll|'d| ?[%(l)s]+| ?[^%(s)s%(l)s%(n)s]+|"
    "[%(s)s]+(?![^%(s)s%(n)s])|[%(s)s]+" % {"l": LETTER, "n": NUMBER, "s": SPACE})


def alphabet():
    """byte -> the character that stands for it in tokenizer.json."""
    out, extra = {}, 0x100
    for b in range(256):
        if 0x21 <= b <= 0x7e or 0xa1 <= b <= 0xac or b >= 0xae:
            out[b] = chr(b)
        else:
            out[b] = chr(extra)
            extra += 1
    return out


def count_words(folder):
    """Pieces with their counts; both languages weigh the same number of bytes."""
    counts, total = {}, {}
    for lang in ("zh", "en"):
        words = Counter()
        with open(os.path.join(folder, "train.%s.txt" % lang), encoding="utf-8") as f:
            for line in f:
                words.update(PIECE.findall(line.replace("\f", "")))
        counts[lang] = words
        total[lang] = sum(n * len(w.encode()) for w, n in words.items())
    most = max(total.values())
    merged = Counter()
    for lang, words in counts.items():
        factor = max(1, round(8 * most / total[lang]))
        for word, n in words.items():
            merged[word.encode()] += n * factor
    return merged


class Learner:
    """Pair counts kept up to date word by word; the commonest pair wins, ties
    go to the smaller pair."""

    def __init__(self, words):
        self.words = [[1 + b for b in w] for w in words]
        self.count = list(words.values())
        self.pairs, self.where = Counter(), defaultdict(set)
        for i, ids in enumerate(self.words):
            for pair in zip(ids, ids[1:]):
                self.pairs[pair] += self.count[i]
                self.where[pair].add(i)
        self.heap = [(-n, p) for p, n in self.pairs.items()]
        heapq.heapify(self.heap)

    def best(self):
        while self.heap:
            n, pair = heapq.heappop(self.heap)
            now = self.pairs.get(pair, 0)
            if now == -n and now > 0:
                return pair
            if 0 < now < -n:
                heapq.heappush(self.heap, (-now, pair))
        return None

    def merge(self, pair, new):
        a, b = pair
        changed = set()
        for i in self.where.pop(pair):
            ids, n = self.words[i], self.count[i]
            out, k = [], 0
            while k < len(ids):
                if k + 1 < len(ids) and ids[k] == a and ids[k + 1] == b:
                    out.append(new)
                    k += 2
                else:
                    out.append(ids[k])
                    k += 1
            if len(out) == len(ids):
                continue
            for p in zip(ids, ids[1:]):
                self.pairs[p] -= n
            for p in zip(out, out[1:]):
                self.pairs[p] += n
                if new in p:
                    self.where[p].add(i)
                    changed.add(p)
            self.words[i] = out
        self.pairs.pop(pair, None)
        for p in changed:
            heapq.heappush(self.heap, (-self.pairs[p], p))


def main(folder, out_path, size):
    words = count_words(folder)
    words = {w: n for w, n in sorted(words.items()) if len(w) > 1}
    learner = Learner(words)
    pieces = [b""] + [bytes([b]) for b in range(256)]
    ids = {p: i for i, p in enumerate(pieces)}
    merges = []
    while len(pieces) < size:
        pair = learner.best()
        if not pair:
            break
        piece = pieces[pair[0]] + pieces[pair[1]]
        if piece not in ids:                     # two merges may give one piece
            ids[piece] = len(pieces)
            pieces.append(piece)
        learner.merge(pair, ids[piece])
        merges.append(pair)
    look = alphabet()
    text = ["".join(look[b] for b in p) for p in pieces]
    text[0] = "<|endoftext|>"
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                  "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": text[0], "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": True}, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(text)},
                  "merges": [[text[a], text[b]] for a, b in merges]}}
    with open(out_path, "w", encoding="utf-8", newline="\n") as f:
        json.dump(tokenizer, f, ensure_ascii=False, indent=0)
        f.write("\n")
    print("%d tokens, %d merges, %d bytes" % (len(pieces), len(merges), os.path.getsize(out_path)))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 4096)
