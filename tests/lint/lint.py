"""podium's lint: layers, owners of third-party headers, banned functions,
sizes, openings, translations. Prints file:line: what, and exits 1 on any."""
import ast
import os
import re
import subprocess
import sys

RANK = {"core/base": 0, "core/io": 1, "core/train": 1, "k8s": 2, "k8s/image": 2,
        "k8s/explain": 2, "k8s/rules": 2, "k8s/practice": 3, "labs": 3, "tui": 4, "tui/plot": 5}
# directories of equal rank that must not meet
APART = {"core/io": ["core/train"], "core/train": ["core/io"], "labs": ["k8s/practice"],
         "k8s/practice": ["labs"], "k8s": ["core/train"], "k8s/image": ["core/train"],
         "k8s/explain": ["core/train", "k8s/image"],
         "tui": ["core/train", "k8s/practice"]}
# a third-party header and the only files that may include it
OWNERS = {r"n?curses\w*\.h|ncursesw/.*|term\.h": ["tui/term.c"],
          r"curl/.*": ["core/io/loop.c", "core/io/http.c", "core/io/ws.c",
                     "core/io/http_setup.c", "core/io/curl_*.c"],
          r"cjson/.*": ["core/base/json_share_io.h"],
          r"yaml\.h": ["core/base/yaml.c"],
          r"jansson\.h": ["core/train/tjson.c"],
          r"pcre2.*": ["core/train/rx.c"],
          r"libssh2.*": ["core/io/ssh.c"],
          r"sqlite3\.h": ["k8s/practice/store.c"],
          r"microhttpd\.h": ["k8s/practice/server*.c"],
          r"archive(_entry)?\.h": ["k8s/image/*.c", "labs/model_get.c", "tests/unit/labs_model.c"],
          r"libintl\.h": ["core/base/i18n.c"],
          r"vterm.*\.h": ["tui/shell_term.c", "tests/unit/*.c"],
          r"cairo/.*|fontconfig/.*": ["tui/plot/plot_draw.c"],
          r"zlib\.h|openssl/.*": ["core/io/*.c", "k8s/image/*.c", "k8s/practice/*.c", "k8s/*.c",
                                  "k8s/explain/*.c", "k8s/rules/*.c"]}
BANNED = ["strcpy", "strcat", "sprintf", "vsprintf", "strtok", "gets", "asctime", "ctime", "gmtime",
          "localtime", "mktemp", "tmpnam", "system", "popen", "alloca", "setjmp", "longjmp",
          "atof", "scanf", "gethostbyname"]
LIMIT_C, LIMIT_H, LIMIT_FN, LIMIT_COMPLEXITY, LIMIT_COLUMNS = 800, 200, 60, 20, 100

faults = []


def fault(path, line, text):
    faults.append("%s:%d: %s" % (path, line, text))


def sources():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
                         capture_output=True, text=True, check=True).stdout.split()
    return sorted(p for p in out if os.path.exists(p))


def room(path):
    d = os.path.dirname(path)
    return d if d in RANK else None


def strip(text):
    """Code without comments and strings, line structure kept."""
    def blank(m):
        s = m.group(0)
        return (s[0] + '"' if s[0] == '"' else "") + re.sub(r"[^\n]", " ", s)[2:] if s[0] == '"' \
            else re.sub(r"[^\n]", " ", s)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)


# what turns: only tui/motion.c may hold signs that follow each other, or choose
# one by the clock
SPINNERS = [r'"[|]/-\\{1,2}"', r'"/-\\{1,2}[|]"', "⠋.*⠙", "⣾.*⣽", "◐.*◓", "◴.*◷", "▖.*▘",
            r"(now_ms|clock_ms\(\))[^;]*/[^;]*%[^;]*\]"]


def check_motion(path, text):
    if not path.startswith("tui/") or path == "tui/motion.c":
        return
    for n, line in enumerate(text.split("\n"), 1):
        if any(re.search(p, line) for p in SPINNERS):
            fault(path, n, "signs that move belong in tui/motion.c")


def matches(path, patterns):
    import fnmatch
    return any(fnmatch.fnmatch(path, p) for p in patterns)


def check_includes(path, lines):
    here = room(path)
    for n, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        quoted, name = m.group(1) == '"', m.group(2)
        if quoted and here:
            there = os.path.dirname(name)
            if there not in RANK:
                fault(path, n, 'include "%s" from the root of the tree' % name)
            elif RANK[there] > RANK[here] or there in APART.get(here, []) or \
                    (RANK[there] == RANK[here] and there != here and
                     {there, here} not in ({"k8s", "k8s/image"}, {"k8s", "k8s/explain"},
                                             {"k8s", "k8s/rules"})):
                fault(path, n, "%s may not include %s" % (here, name))
        if not quoted and here:
            for pattern, owners in OWNERS.items():
                if re.fullmatch(pattern, name) and not matches(path, owners):
                    fault(path, n, "<%s> belongs to %s" % (name, ", ".join(owners)))


def check_text(path, text, lines):
    code = strip(text).split("\n")
    for n, line in enumerate(code, 1):
        for m in re.finditer(r"\b(\w+)\s*\(", line):
            if m.group(1) in BANNED:
                fault(path, n, "%s is banned (docs/ARCHITECTURE.md, rules)" % m.group(1))
        if room(path) and not path.startswith("k8s/practice/") and \
                re.search(r"practice", line, re.I):
            fault(path, n, "a practice-only name outside k8s/practice")
    for n, line in enumerate(lines, 1):
        if len(line) > LIMIT_COLUMNS and "http" not in line:
            fault(path, n, "%d columns (at most %d)" % (len(line), LIMIT_COLUMNS))
        if "\t" in line:
            fault(path, n, "a tab")
        if line.rstrip() != line:
            fault(path, n, "white space at the end")
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            fault(path, n, "a note to self")


def check_opening(path, text, lines):
    if room(path) and not text.startswith("/* %s - " % os.path.basename(path)):
        fault(path, 1, "must open with /* %s - what it is" % os.path.basename(path))
    limit = LIMIT_C if path.endswith(".c") else LIMIT_H
    if room(path) and len(lines) > limit:
        fault(path, 1, "%d lines (at most %d)" % (len(lines), limit))


def check_functions(paths):
    cs = [p for p in paths if p.endswith(".c") and room(p)]
    out = subprocess.run(["pmccabe"] + cs, capture_output=True, text=True).stdout
    lengths = []
    for row in out.splitlines():
        part = row.split("\t")
        if len(part) < 6:
            continue
        complexity, length = int(part[1]), int(part[4])
        where = re.match(r"(.*)\((\d+)\): (.*)", part[5])
        if not where:
            continue
        lengths.append(length)
        if complexity > LIMIT_COMPLEXITY:
            fault(where.group(1), int(where.group(2)), "%s has complexity %d (at most %d)"
                  % (where.group(3), complexity, LIMIT_COMPLEXITY))
        if length > LIMIT_FN:
            fault(where.group(1), int(where.group(2)), "%s has %d lines (at most %d)"
                  % (where.group(3), length, LIMIT_FN))
    return sorted(lengths)


def check_top_level():
    allowed = {"Makefile", "README.md", "LICENSE", ".gitignore", ".ci", "tui", "core", "labs",
               "themes", "k8s", "tests", "docs"}
    out = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split()
    for top in sorted({p.split("/")[0] for p in out} - allowed):
        fault(top, 1, "not one of the top-level rooms")


def po_entries(text):
    """msgid -> (msgstr, fuzzy), unescaped; the header is left out."""
    entries = {}
    for block in re.split(r"\n\s*\n", text):
        part, at, fuzzy = {"msgid": "", "msgstr": ""}, None, False
        for line in block.split("\n"):
            m = re.match(r'(?:(msgid|msgstr) )?(".*")$', line)
            if m:
                at = m.group(1) or at
                part[at] += ast.literal_eval(m.group(2))
            elif line.startswith("#,") and "fuzzy" in line:
                fuzzy = True
        if part["msgid"]:
            entries[part["msgid"]] = (part["msgstr"], fuzzy)
    return entries


DIRECTIVE = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?"
                       r"(?:<\w+>|(?:hh|h|ll|l|z|j|t)?[diouxXeEfFgGcsp]))")


def check_translations():
    """The catalogue has every marked text, and no other; directives stay as
    they are and in their order, white space at both ends too."""
    po = "docs/po/zh.po"
    pot = subprocess.run(["docs/po/update.sh", "--pot"], capture_output=True, text=True)
    if pot.returncode:
        fault("docs/po/update.sh", 1, pot.stderr.strip())
        return
    used = po_entries(pot.stdout)
    have = po_entries(open(po, encoding="utf-8").read())
    for key in sorted(set(used) - set(have)):
        fault(po, 1, "no Chinese for %r: run docs/po/update.sh" % key)
    for key in sorted(set(have) - set(used)):
        fault(po, 1, "unused: %r" % key)
    for key, (value, fuzzy) in have.items():
        if not value or fuzzy:
            fault(po, 1, "not translated: %r" % key)
        elif DIRECTIVE.findall(key) != DIRECTIVE.findall(value):
            fault(po, 1, "the directives differ: %r" % key)
        elif key.endswith("\n") != value.endswith("\n") or \
                (key[0] == " ") != (value[0] == " "):
            fault(po, 1, "another beginning or end: %r" % key)


def check_leftovers():
    """No English of podium's own on the Chinese screens: neither a text that has
    a translation, nor words that no fixture put there."""
    texts = [k for k in po_entries(open("docs/po/zh.po", encoding="utf-8").read())
             if len(k) >= 8 and re.fullmatch(r"[A-Za-z][A-Za-z', -]* [A-Za-z', -]*[a-z.]", k)]
    data = ""
    for root in ("tests/unit", "tests/screens", "tests/cases", "core/train", "labs/content"):
        for folder, _, names in os.walk(root):
            for name in names:
                if not name.endswith((".txt", ".safetensors")) or root == "tests/cases":
                    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                        data += f.read()
    data = re.sub(r'"\s*\n\s*"|\\+n|\s+', " ", data)
    for name in sorted(os.listdir("tests/screens")):
        if not name.endswith("-zh.txt"):
            continue
        screen = open("tests/screens/" + name, encoding="utf-8").read()
        for key in texts:
            if key in screen and key not in data:
                fault("tests/screens/" + name, 1, "English where Chinese belongs: %r" % key)
        for words in set(re.findall(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", screen)):
            if words not in data:
                fault("tests/screens/" + name, 1, "English that no test put there: %r" % words)


def check_mutants():
    """A sabotage that changes nothing tests nothing."""
    for name in sorted(os.listdir("tests/mutants")):
        if not name.endswith(".list"):
            continue
        path = "tests/mutants/" + name
        for i, line in enumerate(open(path, encoding="utf-8"), 1):
            f = line.rstrip("\n").split("\t")
            if len(f) < 3 or line.startswith("#"):
                continue
            told = subprocess.run(["sed", "-E", f[1], f[0]], capture_output=True)
            if told.returncode or told.stdout == open(f[0], "rb").read():
                fault(path, i, "the sabotage changes nothing in %s" % f[0])


def main():
    paths = sources()
    for path in paths:
        text = open(path, encoding="utf-8").read()
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        check_includes(path, lines)
        check_motion(path, text)
        check_text(path, text, lines)
        check_opening(path, text, lines)
    lengths = check_functions(paths)
    check_top_level()
    check_translations()
    check_leftovers()
    check_mutants()
    for f in faults:
        print(f)
    if lengths:
        print("lint: %d files, %d functions, median %d lines, 90%% within %d; %d faults"
              % (len(paths), len(lengths), lengths[len(lengths) // 2],
                 lengths[len(lengths) * 9 // 10], len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
