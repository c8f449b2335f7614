"""The runs of test_epochs.sh."""
import json
import math
import os
import subprocess
import sys

TRAIN, WORK = sys.argv[1:3]
MODEL, DATA = os.path.join(WORK, "m"), os.path.join(WORK, "data.jsonl")
CASE = json.load(open("tests/cases/training-numerics/005-last-window-dropped/plan.json"))
passed = failed = 0


def check(what, ok, more=""):
    global passed, failed
    ok = bool(ok)
    passed += ok
    failed += not ok
    if not ok:
        print(f"FAIL {what}: {more}")


def run(name, *options):
    r = subprocess.run([TRAIN, "train", "--model", MODEL, "--data", DATA, "--out", os.path.join(WORK, name),
                        "--val-templates", "v", "--threads", "1", "--rate", "0.01", "--eval-every", "0", *options],
                       capture_output=True, text=True)
    rows = [json.loads(x) for x in r.stdout.splitlines()]
    return ([x for x in rows if x["ev"] == "hello"], [x for x in rows if x["ev"] == "step"], rows)


subprocess.run([TRAIN, "init", "--out", MODEL, "--tokenizer", "labs/content/first-finetune/base/tokenizer.json",
                "--hidden", "16", "--ffn", "32", "--layers", "1"], check=True, capture_output=True)
n = CASE["samples"]
with open(DATA, "w") as f:
    for i in range(n):
        f.write(json.dumps({"instruction": f"Say {i}", "output": "It is " + "so " * (i % 4) + str(i),
                            "template": "t", "lang": "en"}) + "\n")
    f.write(json.dumps({"instruction": "Ask", "output": "Answer", "template": "v", "lang": "en"}) + "\n")

accum, want = CASE["grad_accum"], CASE["expected_optimizer_steps"]
hello, steps, rows = run("one", "--epochs", "1", "--batch", str(CASE["micro_batch"]), "--accum", str(accum))
check("the last samples count", hello and hello[0]["steps"] == want and [s["step"] for s in steps] == [1, 2, 3], rows)
check("the epoch is whole", [round(s["epoch"], 6) for s in steps] == [0.4, 0.8, 1.0], steps)
hello, steps, rows = run("two", "--epochs", "2", "--batch", "1", "--accum", str(accum))
check("two epochs", [round(s["epoch"], 6) for s in steps] == [0.4, 0.8, 1.0, 1.4, 1.8, 2.0], rows)
tokens = [b["tokens"] - a["tokens"] for a, b in zip([{"tokens": 0}] + steps, steps)]
check("each epoch has the same tokens", sum(tokens[:3]) == sum(tokens[3:]), tokens)
# one batch of all ten is one update an epoch; its loss is the mean over all tokens
_, whole, rows = run("whole", "--epochs", "1", "--batch", "10", "--rate", "0")
_, parts, _ = run("parts", "--epochs", "1", "--batch", "1", "--accum", "16", "--rate", "0")
_, odd, _ = run("odd", "--epochs", "1", "--batch", "3", "--accum", "4", "--rate", "0")
same = [x[0] for x in (whole, parts, odd)]
check("10 x 1, 1 x 10 and 3 x 4 are one window", all(len(x) == 1 for x in (whole, parts, odd)) and
      max(x["loss"] for x in same) - min(x["loss"] for x in same) < 1e-6 * same[0]["loss"] and
      max(x["gnorm"] for x in same) - min(x["gnorm"] for x in same) < 1e-5 * same[0]["gnorm"], same)
_, windows, _ = run("windows", "--epochs", "1", "--batch", "1", "--accum", "4", "--rate", "0")
mean = sum(w["loss"] * t for w, t in zip(windows, tokens[:3])) / sum(tokens[:3])
check("a window is divided by its own tokens", math.isclose(mean, same[0]["loss"], rel_tol=1e-6), (mean, same[0]))
_, frac, rows = run("half", "--epochs", "1.5", "--batch", "1", "--accum", "4")
check("one and a half epochs", len(frac) == 5, rows)
_, warm, rows = run("warm", "--epochs", "4", "--batch", "2", "--accum", "1", "--warmup-ratio", "0.25", "--schedule", "linear")
check("a share of warmup", len(warm) == 20 and [round(s["lr"] * 100, 6) for s in warm[:6]] ==
      [0, 0.2, 0.4, 0.6, 0.8, 1.0], [s["lr"] for s in warm[:7]])
straight = open(os.path.join(WORK, "two", "adapter_model.safetensors"), "rb").read()
run("cut", "--epochs", "2", "--batch", "1", "--accum", "4", "--save-every", "1", "--keep", "0")
for step in (6, 5, 4):
    subprocess.run(["rm", "-rf", os.path.join(WORK, "cut", f"checkpoint-{step}")], check=True)
    run("cut", "--epochs", "2", "--batch", "1", "--accum", "4", "--resume")
    check(f"resumed before step {step}", open(os.path.join(WORK, "cut", "adapter_model.safetensors"), "rb").read() == straight)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
