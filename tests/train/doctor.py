"""The cases of test_doctor.sh: a data set, then {kind: rows} that must be found
and nothing else."""
import json
import os
import subprocess
import sys

TRAIN, WORK = sys.argv[1:3]
MODEL = "labs/content/first-finetune/base"
passed = failed = 0


def run(path, *options):
    return subprocess.run([TRAIN, "doctor", path, *options], capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE=""))


def check(data, want, *parts, options=(), code=None):
    """data: bytes, text, or a list of rows; want: {kind: [rows]}."""
    global passed, failed
    path = os.path.join(WORK, "data.jsonl")
    if isinstance(data, str) and os.path.exists(data):
        path = data
    else:
        if isinstance(data, list):
            data = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in data)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
    r = run(path, "--json", *options)
    found = [json.loads(line) for line in r.stdout.splitlines()]
    got = {}
    for f in found:
        got.setdefault(f["kind"], []).extend(f["rows"])
    got = {k: sorted(v) for k, v in got.items()}
    said = " ".join(f["text"] + " " + f["hint"] for f in found)
    wrong = [p for p in parts if p not in said]
    bad = any(f["severity"] == "error" for f in found)
    if got == want and not wrong and r.returncode == (1 if bad else 0) and code in (None, r.returncode):
        passed += 1
    else:
        failed += 1
        print(f"FAIL {str(data)[:100]!r}: exit {r.returncode}\n  got  {got}\n  want {want}\n  lacks {wrong}\n{r.stderr}")


def row(n, **more):
    return dict({"instruction": f"Say {n}", "output": f"It is {n}."}, **more)


def chat(*turns):
    return {"messages": [{"role": r, "content": c} for r, c in turns]}


def kept():
    check("tests/cases/dataset/002-mixed-types/data.jsonl",
          {"unknown-form": [1, 2, 3, 4, 5, 6], "column-type-changes": []},
          "score: number in rows 1-3, 5, 6; string in row 4", "list in row 5", "null in row 6",
          "make the column one type", code=1)
    check("tests/cases/dataset/005-sharegpt-keys/data.jsonl",
          {"assistant-first": [2], "user-last": [2], "no-assistant": [3], "empty-conversation": [4],
           "chat-format-variant": [1, 2, 4]}, "role/content", "end with an assistant turn", code=1)
    check("labs/content/first-finetune/data/instructions.jsonl", {}, code=0)
    human = run("tests/cases/dataset/002-mixed-types/data.jsonl").stdout
    check("tests/cases/dataset/002-mixed-types/data.jsonl",
          {"unknown-form": [1, 2, 3, 4, 5, 6], "column-type-changes": []})
    global failed
    if "score: number in rows 1-3, 5, 6; string in row 4" not in human:
        failed += 1
        print("FAIL the sentences:", human)


def files():
    check("", {"empty-file": []}, code=1)
    check(" \n\n", {"empty-file": []}, code=1)
    check(json.dumps(row(1)).encode("utf-16"), {"not-utf8": []}, "UTF-16", "UTF-8")
    check(json.dumps(row(1)).encode("utf-16-le"), {"not-utf8": []}, "UTF-16")
    check(b"\xef\xbb\xbf" + json.dumps(row(1)).encode() + b"\n", {"bom": []}, "byte order mark")
    check("\r\n".join(json.dumps(row(n)) for n in (1, 2)) + "\r\n", {"crlf": [1, 2]}, code=0)
    check(json.dumps(row(1)) + "\n\n" + json.dumps(row(2)) + "\n", {"empty-line": [2]}, code=0)
    check(json.dumps(row(1)).encode() + b"\n" + b'{"instruction":"\xff","output":"x"}\n', {"bad-utf8": [2]})
    check(json.dumps([row(1), row(2), row(3, output="")]), {"json-array": [], "empty-answer": [3]})
    check(json.dumps(row(1), indent=1), {"pretty-printed": [1, 2, 3, 4]})


def lines():
    good = json.dumps(row(1)) + "\n"
    check(good + "{'instruction': 'a', 'output': None}\n", {"python-repr": [2]}, "json.dumps")
    check(good + '{"instruction": "a", "output": "b", "s": NaN}\n', {"nan": [2]})
    check(good + '{"instruction": "a", "output": "b",}\n', {"trailing-comma": [2]})
    check(good + json.dumps(row(2)) + ",\n" + json.dumps(row(3)) + "\n", {"trailing-comma": [2]})
    check(good + json.dumps(row(2)) + json.dumps(row(3)) + "\n", {"two-on-a-line": [2]})
    check(good + '{"instruction": "a", "outp', {"cut-off": [2]})
    check(good + "hello\n", {"not-json": [2]})
    check(good + '"a"\n[1]\n', {"no-object": [2, 3]})
    check(good + '{"instruction": "it is {\'a\': None}", "output": "NaN,}"}\n', {}, code=0)


def rows():
    check([{"instructon": "a", "output": "b"}], {"unknown-form": [1]}, 'did you mean "instruction"', code=1)
    check([row(1), row(2, output=" \n"), row(3, instruction="")], {"empty-answer": [2], "empty-prompt": [3]})
    check([row(1), row(2), row(1)], {"duplicate": [3]}, "row 1", code=0)
    check([row(1), dict(row(1), output="No.")], {"conflicting": [2]}, code=0)
    check([row(n, score=n) for n in range(1, 10)] + [row(10)], {"column-missing": []}, "score")
    check([row(1, tags=["a"]), row(2, tags="a")], {"column-type-changes": []}, "tags", "list in row 1",
          "string in row 2")
    check([row(1), row(2, output="x <|im_end|>")], {"special-token": [2]}, "<|im_end|>", code=0)
    check([row(1), row(2, output="caf\u00c3\u00a9 \ufffd")], {"mojibake": [2, 2]})
    check([row(1), row(2, output="a\x07b")], {"control-character": [2]}, "0x07")
    check([{"prompt": "a", "completion": "b"}, {"prompt": "c", "completion": "d"}], {}, code=0)
    check([{"text": "a"}, {"text": " "}], {"empty-answer": [2]})
    check([row(1), row(2, output="word " * 400)], {"too-long": [2]}, "128 tokens",
          options=("--model", MODEL, "--seq", "128"))


def chats():
    ask, say = ("user", "hi"), ("assistant", "hello")
    check([chat(ask, say), chat(("system", "brief"), ("user", "a"), say)], {}, code=0)
    check([chat(ask)], {"no-assistant": [1]})
    check([chat(("user", "1"), say, ("user", "2"))], {"user-last": [1]})
    check([chat(ask, ("user", "again"), say)], {"same-role-twice": [1]}, "the user", code=0)
    check([chat(("alien", "hi"), say)], {"unknown-role": [1]}, "alien")
    check([chat(ask, ("assistant", ""))], {"empty-answer": [1]})
    check([{"messages": [{"role": "user"}, {"role": "assistant", "content": "x"}]}], {"bad-turn": [1]}, "no text")
    check([{"messages": [{"content": "x"}]}], {"bad-turn": [1], "no-assistant": [1]}, "no role")
    check([{"messages": "x"}], {"empty-conversation": [1]})
    check([{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}],
          {"chat-format-variant": [1]}, code=0)


kept()
files()
lines()
rows()
chats()
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
