#!/usr/bin/env python3
"""make_instructions.py OUT - the bilingual instruction set of the lab.

Every record has Alpaca's keys and two more: template (the topic; the split
into training and validation goes by it, and both languages share it) and
lang. Every answer has one form: the answer, why, how to check.
"""
import json
import sys

import instructions_k8s
import instructions_train

FORM = {"en": "Answer: %s\nWhy: %s\nCheck: %s", "zh": "结论：%s\n原因：%s\n检查：%s"}


def records():
    for topic in instructions_k8s.TOPICS + instructions_train.TOPICS:
        template = topic.__name__.replace("_", "-")
        for row in topic():
            for lang, (question, given, *answer) in (("en", row[:5]), ("zh", row[5:])):
                yield {"instruction": question, "input": given,
                       "output": FORM[lang] % tuple(answer), "template": template, "lang": lang}


def main(path):
    seen, n = set(), 0
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        for r in records():
            question = (r["instruction"], r["input"])
            if question in seen:
                sys.exit("asked twice: %s %s" % question)
            seen.add(question)
            f.write(json.dumps(r, ensure_ascii=False) + "\n")
            n += 1
    print("%d records" % n)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
