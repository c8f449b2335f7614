#!/usr/bin/env python3
"""make_corpus.py DIR - the text that the tokenizer and the base model learn from.

Downloads the Debian packages of SOURCES with apt-get, takes the prose out of
their documentation and writes, below DIR:

  train.{zh,en}.txt   documents, each ended by a line with a form feed
  val.{zh,en}.txt     held-out documents; both translations of a document are
                      held out together
  corpus.json         packages, versions, licences and sizes

Only the Python standard library and apt-get are used. The same package
versions give the same bytes.
"""
import glob
import gzip
import hashlib
import html.parser
import json
import os
import re
import subprocess
import sys

# package, language, licence of the text, files (below the package's root)
D = "usr/share/doc/"
SOURCES = [
    ("debian-reference-zh-cn", "zh", "GPL-2+", "usr/share/debian-reference/*.html"),
    ("debian-reference-en", "en", "GPL-2+", "usr/share/debian-reference/*.html"),
    ("debian-handbook", "zh", "GPL-2+ or CC-BY-SA-3.0", D + "debian-handbook/html/zh-CN/*.html"),
    ("debian-handbook", "en", "GPL-2+ or CC-BY-SA-3.0", D + "debian-handbook/html/en-US/*.html"),
    ("debian-faq-zh-cn", "zh", "its own copyleft notice", D + "debian/FAQ/zh-cn/*.html"),
    ("debian-faq", "en", "its own copyleft notice", D + "debian/FAQ/*.html"),
    ("maint-guide-zh-cn", "zh", "GPL-2+", "usr/share/doc/maint-guide-zh-cn/html/*.html"),
    ("maint-guide", "en", "GPL-2+", "usr/share/doc/maint-guide/html/*.html"),
    ("debmake-doc", "zh", "Expat", D + "debmake-doc/html/*.zh-cn.html"),
    ("debmake-doc", "en", "Expat", D + "debmake-doc/html/*.en.html"),
    ("developers-reference", "en", "GPL-2+", "usr/share/developers-reference/*.html"),
    ("harden-doc", "en", "GPL-2+", D + "harden-doc/html/en-US/*.html"),
    ("harden-doc", "zh", "GPL-2+", D + "harden-doc/html/zh-CN/*.html"),
    ("installation-guide-amd64", "zh", "GPL-2", D + "installation-guide-amd64/zh_CN/*.html"),
    ("installation-guide-amd64", "en", "GPL-2", D + "installation-guide-amd64/en/*.html"),
    ("debian-edu-doc-zh-cn", "zh", "GPL-2+", D + "**/*.html"),
    ("debian-edu-doc-en", "en", "GPL-2+", D + "**/*.html"),
    ("gnome-user-docs", "zh", "CC-BY-SA-3.0", "usr/share/help/zh_CN/**/*.page"),
    ("gnome-user-docs", "en", "CC-BY-SA-3.0", "usr/share/help/C/**/*.page"),
    ("libreoffice-help-zh-cn", "zh", "MPL-2.0", "usr/share/libreoffice/help/zh-CN/text/**/*.html"),
    ("libreoffice-help-en-us", "en", "MPL-2.0", "usr/share/libreoffice/help/en-US/text/**/*.html"),
    ("gimp-help-zh-cn", "zh", "GFDL-1.2+", "usr/share/gimp/2.0/help/zh_CN/*.html"),
    ("gimp-help-en", "en", "GFDL-1.2+", "usr/share/gimp/2.0/help/en/*.html"),
    ("kicad-doc-zh", "zh", "GPL-3+ or CC-BY-3.0+", D + "kicad/help/zh/*.html"),
    ("kicad-doc-en", "en", "GPL-3+ or CC-BY-3.0+", D + "kicad/help/en/*.html"),
    ("manpages-zh", "zh", "GPL-2+, GFDL-1.2+, public domain",
     "usr/share/man/zh_CN/man*/*.gz"),
    ("kubernetes-client", "en", "Apache-2.0", "usr/share/man/man1/*.gz"),
    ("podman", "en", "Apache-2.0", "usr/share/man/man*/*.gz"),
    ("buildah", "en", "Apache-2.0", "usr/share/man/man*/*.gz"),
    ("manpages", "en", "Linux-man-pages-copyleft, GPL-2+, BSD",
     "usr/share/man/man*/*.gz"),
    ("manpages-dev", "en", "Linux-man-pages-copyleft, GPL-2+, BSD",
     "usr/share/man/man*/*.gz"),
]
HELD_OUT = 25          # one document in so many
EN_CEILING = 1.0       # English bytes at most so many times the Chinese

SKIP = {"script", "style", "head", "pre", "title", "footer", "nav", "svg", "code_block",
        "screen", "listing", "info", "revision", "credit"}
BLOCK = {"p", "li", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr", "div",
         "blockquote", "section", "title", "item", "note", "page", "hr", "br", "table"}


class Text(html.parser.HTMLParser):
    """The blocks of an HTML or Mallard page as a list of strings."""

    def __init__(self, mallard):
        super().__init__(convert_charrefs=True)
        self.skip = SKIP - {"title", "section"} if mallard else SKIP
        if mallard:
            self.skip = self.skip | {"links", "code", "media"} - {"media"}
        self.depth, self.blocks, self.now = 0, [], []

    def flush(self):
        text = re.sub(r"\s+", " ", "".join(self.now)).strip()
        self.now = []
        if text:
            self.blocks.append(text)

    def navigation(self, attrs):
        cls = dict(attrs).get("class") or ""
        ident = dict(attrs).get("id") or ""
        return ("nav" in cls or "toc" in cls or "legal" in cls or "docnav" in cls or
                ident in ("DEBUG", "SearchFrame", "DonationFrame", "TopLeftHeader"))

    def handle_starttag(self, tag, attrs):
        if self.depth:
            self.depth += tag == self.skipped
            return
        if tag in self.skip or (tag in ("div", "p", "ul", "table") and self.navigation(attrs)):
            self.flush()
            self.skipped, self.depth = tag, 1
        elif tag in BLOCK:
            self.flush()

    def handle_endtag(self, tag):
        if self.depth:
            self.depth -= tag == self.skipped
        elif tag in BLOCK:
            self.flush()

    def handle_data(self, data):
        if not self.depth:
            self.now.append(data)


def blocks_html(data, mallard):
    parser = Text(mallard)
    parser.feed(data)
    parser.close()
    parser.flush()
    return parser.blocks


MAN_ESCAPES = [(r"\\f\[?[A-Z]{1,2}\]?", ""), (r"\\\(bu|\\\[bu\]", ""), (r"\\\(em|\\\[em\]", "-"),
               (r"\\\(aq|\\\[aq\]", "'"), (r"\\\(dq|\\\[dq\]", '"'), (r"\\\((lq|rq)", '"'),
               (r"\\e|\\\\", r"\\"), (r"\\[&|^/,%:c]", ""), (r"\\-", "-"), (r"\\ |\\~", " "),
               (r"\\s[-+]?\d", ""), (r"\\\*\(?..?|\\\[..\]|\\\(..", ""), (r"\\.", "")]


def man_line(line):
    for pattern, to in MAN_ESCAPES:
        line = re.sub(pattern, to.replace("\\", "\\\\") if to else to, line)
    return line


def blocks_man(data):
    """Paragraphs of a man page: requests end one, font requests are words."""
    blocks, now, off = [], [], False
    zh = re.search("[一-鿿]", data) is not None

    def flush():
        text = re.sub(r"\s+", " ", ("" if zh else " ").join(now)).strip()
        now.clear()
        if text:
            blocks.append(text)

    for line in data.splitlines():
        m = re.match(r"[.']\s*([A-Za-z\\\"]+)\s*(.*)", line)
        if line.startswith(("'\\\"", '.\\"')):
            continue
        if not m:
            if not off:
                now.append(man_line(line))
            continue
        request, rest = m.group(1), m.group(2)
        if request in ("nf", "EX", "TS"):
            flush()
            off = True
        elif request in ("fi", "EE", "TE"):
            off = False
        elif request in ("B", "I", "BR", "RB", "IR", "RI", "BI", "IB", "SM", "SB") and not off:
            words = re.findall(r'"([^"]*)"|(\S+)', rest)
            now.append(man_line(("" if len(request) == 2 else " ").join(a or b for a, b in words)))
        else:
            flush()
            if request in ("SH", "SS") and rest:
                blocks.append(man_line(rest.strip('"')))
    flush()
    return blocks


HAN = re.compile("[㐀-鿿]")
JUNK = re.compile(r"https?://\S{60,}|This page is:|Title is:|Home \| |\|\s*Up\s*\||^Note$|^©|"
                  r"Report a bug|Report a documentation|All rights reserved|"
                  r"^(Prev|Next|Up|Home|上一页|下一页|起始页|上一级|目录|Table of Contents)\b")


def clean(block, lang):
    """A block as it goes into the corpus, or '' when it is not worth it."""
    block = re.sub("[​-‏ ⁠﻿­\x00-\x08\x0e-\x1f]", lambda m: " "
                   if m.group() == " " else "", block)
    block = re.sub(r"\s+", " ", block).strip()
    block = re.sub(r"(?<=[，。、；：！？（）《》“”一-鿿]) (?=[，。、；：！？（）《》“”一-鿿])", "", block)
    han = len(HAN.findall(block))
    letters = sum(c.isalpha() for c in block)
    if JUNK.search(block) or len(block) > 4000:
        return ""
    if lang == "zh":
        return block if han >= 6 and han >= 0.3 * letters else ""
    if han or len(block) < 24 or letters < 0.6 * len(block) or "�" in block:
        return ""
    foreign = sum(ord(c) > 0x24f and c.isalpha() for c in block)
    return block if foreign <= 0.02 * letters and " " in block else ""


def document_key(package, path):
    """The same for the translations of one document."""
    name = re.sub(r"[._-](zh[-_](cn|CN)|en([-_]US)?)\b", "", os.path.basename(path))
    return re.sub(r"-(zh-cn|zh|en-us|en)$", "", package) + "/" + name


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return f.read().decode("utf-8", "replace")


def documents(root, package, lang, pattern):
    """(key, blocks) of each file; long files are cut at 24 kB."""
    base = os.path.join(root, package)
    for path in sorted(glob.glob(os.path.join(base, pattern), recursive=True)):
        if os.path.islink(path) or re.search(r"gfdl|licen[cs]e|copyright|gpl|search\.html|"
                                             r"genindex|/ix01|bibliography", path, re.I):
            continue
        data = read(path)
        if path.endswith(".gz"):
            blocks = blocks_man(data)
        else:
            blocks = blocks_html(data, path.endswith(".page"))
        key, part, size, n = document_key(package, path), [], 0, 0
        for block in blocks:
            part.append(block)
            size += len(block.encode())
            if size > 24000:
                yield "%s#%d" % (key, n), part
                part, size, n = [], 0, n + 1
        if part:
            yield "%s#%d" % (key, n), part


def fetch(root):
    """Download and unpack; returns {package: version}."""
    debs = os.path.join(root, "debs")
    os.makedirs(debs, exist_ok=True)
    packages = sorted({s[0] for s in SOURCES})
    have = {os.path.basename(p).split("_")[0] for p in glob.glob(debs + "/*.deb")}
    missing = [p for p in packages if p not in have]
    if missing:
        subprocess.run(["apt-get", "download", *missing], cwd=debs, check=True)
    versions = {}
    for package in packages:
        deb = sorted(glob.glob("%s/%s_*.deb" % (debs, package)))[-1]
        versions[package] = subprocess.run(["dpkg-deb", "-f", deb, "Version"], check=True,
                                           capture_output=True, text=True).stdout.strip()
        target = os.path.join(root, "x", package)
        if not os.path.isdir(target):
            os.makedirs(target)
            subprocess.run(["dpkg-deb", "-x", deb, target], check=True)
    return versions


def collect(root):
    """{lang: [(key, source index, text)]} without repeated blocks."""
    seen, out = set(), {"zh": [], "en": []}
    for index, (package, lang, _, pattern) in enumerate(SOURCES):
        for key, blocks in documents(os.path.join(root, "x"), package, lang, pattern):
            kept = []
            for block in (clean(b, lang) for b in blocks):
                mark = hashlib.blake2b(re.sub(r"\W+", "", block).lower().encode(),
                                       digest_size=10).digest()
                if block and mark not in seen:
                    seen.add(mark)
                    kept.append(block)
            text = "\n".join(kept) + "\n"
            if len(text.encode()) > 200:
                out[lang].append((key, index, text))
    return out


def digest(key):
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def main(root):
    versions = fetch(root)
    docs = collect(root)
    bytes_zh = sum(len(t.encode()) for _, _, t in docs["zh"])
    report = {"packages": [], "split": {}}
    used = [0] * len(SOURCES)
    for lang in ("zh", "en"):
        order = sorted(docs[lang], key=lambda d: (digest(d[0]), d[0]))
        total, files = 0, {"train": [], "val": []}
        for key, index, text in order:
            size = len(text.encode())
            if lang == "en" and total + size > EN_CEILING * bytes_zh:
                continue
            total += size
            used[index] += size
            held = digest("held " + key.split("#")[0]) % HELD_OUT == 0
            files["val" if held else "train"].append(text)
        for split, texts in files.items():
            with open(os.path.join(root, "%s.%s.txt" % (split, lang)), "w", newline="\n") as f:
                f.write("\f\n".join(texts))
            report["split"]["%s.%s" % (split, lang)] = {
                "documents": len(texts), "bytes": sum(len(t.encode()) for t in texts)}
    for (package, lang, licence, _), size in zip(SOURCES, used):
        report["packages"].append({"package": package, "version": versions[package],
                                   "lang": lang, "licence": licence, "bytes": size})
    with open(os.path.join(root, "corpus.json"), "w") as f:
        json.dump(report, f, indent=1, ensure_ascii=False)
        f.write("\n")
    for p in report["packages"]:
        print("%-28s %-2s %9d  %s" % (p["package"], p["lang"], p["bytes"], p["version"]))
    print(json.dumps(report["split"]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
