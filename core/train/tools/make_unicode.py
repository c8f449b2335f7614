#!/usr/bin/env python3
"""make_unicode.py > core/train/tok_unicode.c - letters and numbers as ranges.

Asks the `tokenizers` package, which every tokenizer.json is written for, what
its regular expressions take for a letter or a number, so that both split
alike. Needs that package (pip install tokenizers); the build does not.
"""
import tokenizers
from tokenizers import Regex, pre_tokenizers


def members(pattern):
    """Code points that the pattern matches."""
    split, out = pre_tokenizers.Split(Regex(pattern), "isolated"), set()
    for base in range(0, 0x110000, 4096):
        text = "".join("\x01" + chr(c) for c in range(base, base + 4096)
                       if not 0xd800 <= c < 0xe000)
        if text:
            out.update(ord(p) for p, (a, b) in split.pre_tokenize_str(text)
                       if b - a == 1 and p != "\x01")
    return sorted(out)


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def main():
    rows = [(lo, hi, "L") for lo, hi in ranges(members(r"\p{L}"))]
    rows += [(lo, hi, "N") for lo, hi in ranges(members(r"\p{N}"))]
    rows += [(lo, hi, "S") for lo, hi in ranges(members(r"\s"))]
    rows.sort()
    print("/* tok_unicode.c - what is a letter, a number, a space: made by\n"
          " * core/train/tools/make_unicode.py from tokenizers %s. Do not edit. */\n"
          '#include "core/train/tok_impl.h"\n\n'
          "#define L TOK_LETTER\n#define N TOK_NUMBER\n#define S TOK_SPACE\n\n"
          "const struct tok_range tok_unicode[] = {" % tokenizers.__version__)
    cells = ["{0x%x, 0x%x, %s}," % r for r in rows]
    line = "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 100:
            print(line)
            line = "   "
        line += " " + cell
    print(line + "\n};\nconst size_t tok_unicode_n = ARRAY_LEN(tok_unicode);")


if __name__ == "__main__":
    main()
