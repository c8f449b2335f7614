#!/usr/bin/env python3
"""check_overlap.py JSONL [FRACTION] - how much validation shares with training.

Splits by template as core/train/data_records.c does, and prints for the
validation answers the longest run of characters and the share of 5-grams that
stand in one single training answer. The fixed words of the form (Answer, Why,
Check and their Chinese) are taken out first. Exit 1 when an answer, or a
question, stands in training too.
"""
import json
import math
import re
import sys
from difflib import SequenceMatcher


def name_hash(name):
    h = 14695981039346656037
    for b in name.encode():
        h = (h ^ b) * 1099511628211 % 2**64
    return h ^ h >> 29


def content(record):
    return re.sub(r"^(Answer: |Why: |Check: |结论：|原因：|检查：)", "", record["output"], flags=re.M)


def grams(text, n=5):
    words = re.findall(r"[a-zA-Z0-9./_=-]+|[^\sa-zA-Z0-9]", text)
    return {tuple(words[i:i + n]) for i in range(len(words) - n + 1)}


def main(path, fraction):
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    templates = sorted({r["template"] for r in records}, key=lambda t: (name_hash(t), t))
    held = set(templates[:math.ceil(fraction * len(templates))])
    val = [r for r in records if r["template"] in held]
    train = [r for r in records if r["template"] not in held]
    train_answers = [content(r) for r in train]
    train_grams = [grams(t) for t in train_answers]
    share, runs, same = [], [], 0
    for r in val:
        text = content(r)
        g = grams(text)
        best = max(range(len(train)), key=lambda i: len(g & train_grams[i]))
        share.append(len(g & train_grams[best]) / max(len(g), 1))
        m = SequenceMatcher(None, text, train_answers[best], autojunk=False)
        runs.append(m.find_longest_match().size / len(text))
        same += text in train_answers
        same += any(q["instruction"] == r["instruction"] and q["input"] == r["input"] for q in train)
    print("training:   %d records, %d templates" % (len(train), len(templates) - len(held)))
    print("validation: %d records, %d templates: %s" % (len(val), len(held), " ".join(sorted(held))))
    print("answers or questions that stand in training too: %d" % same)
    print("5-grams shared with the nearest training answer: mean %.1f %%, most %.1f %%"
          % (100 * sum(share) / len(share), 100 * max(share)))
    print("longest common run, share of the answer: mean %.1f %%, most %.1f %%"
          % (100 * sum(runs) / len(runs), 100 * max(runs)))
    return same > 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.15))
