"""The cases of test_diagnose.sh: series with a known cause (or none), and runs of
podium-train that are built to fail in a known way."""
import json
import math
import os
import random
import struct
import subprocess
import sys

TRAIN, WORK = sys.argv[1:3]
BASE, DATA = "labs/content/first-finetune/base", "labs/content/first-finetune/data/instructions.jsonl"
ENV = dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE="")
passed = failed = 0
rng = random.Random(3)


def verdict(ok, name, said):
    global passed, failed
    ok = bool(ok)
    passed += ok
    failed += not ok
    if not ok:
        print(f"FAIL {name}: {said}")


def ask(path):
    r = subprocess.run([TRAIN, "diagnose", path, "--json"], capture_output=True, text=True, env=ENV)
    return r.returncode, [json.loads(x) for x in r.stdout.splitlines()], r.stderr


def series(name, rows, want, *parts, form="csv", head="step,loss,grad_norm,learning_rate,eval_loss"):
    """rows of (loss, gnorm, lr, val); want: the causes in order."""
    path = os.path.join(WORK, name + "." + form)
    with open(path, "w") as f:
        if form == "csv":
            f.write(head + "\n")
            for i, r in enumerate(rows):
                f.write(",".join([str(i)] + ["" if x is None else f"{x:.5g}" for x in r]) + "\n")
        else:
            keys = ("loss", "grad_norm", "learning_rate", "eval_loss")
            made = [dict({"step": i}, **{k: x for k, x in zip(keys, r) if x is not None})
                    for i, r in enumerate(rows)]
            if form == "json":
                json.dump({"log_history": made, "global_step": len(made)}, f, indent=2)
            else:
                f.write("\n".join(str({k: str(v) for k, v in m.items()}) if form == "log" else json.dumps(m)
                                  for m in made))
    code, found, err = ask(path)
    got = [d["cause"] for d in found]
    said = " ".join(d["text"] + " " + d["hint"] for d in found)
    lacks = [p for p in parts if p not in said]
    verdict(got == want and not lacks and code == (0 if want in (["fine"],) else 1), name,
            f"got {got}, want {want}, lacks {lacks}: {said} {err}")


def falling(n, start=4.0, end=2.0, noise=0.02, gnorm=1.0, lr=1e-4):
    return [[end + (start - end) * math.exp(-3 * i / n) + rng.gauss(0, noise), gnorm * (1 + rng.gauss(0, 0.1)),
             lr, None] for i in range(n)]


def made():
    path = "tests/cases/training-numerics/002-nan-after-step/loss.csv"
    code, found, _ = ask(path)
    verdict(code == 1 and [d["cause"] for d in found] == ["loss-nan"] and found[0]["step"] == 30 and
            all(x in found[0]["text"] for x in ("30", "29", "9.10", "NaN")), path, found)
    for form in ("csv", "jsonl", "json", "log"):
        rows = falling(80)
        rows[50] = [float("nan"), float("nan"), 1e-4, None]
        rows[49][1] = 12.5
        series("nan-" + form, rows, ["loss-nan"], "blew up", "step 50", "12.50", "step 49", form=form)
        series("fine-" + form, falling(80), ["fine"], form=form)
    quiet = falling(60)
    quiet[40][0] = float("inf")
    series("inf-without-a-spike", quiet, ["loss-nan"], "step 40", "all was finite")
    series("nan-at-once", [[float("nan"), float("nan"), 1e-4, None]] * 20, ["loss-nan"], "masked")
    series("grad-nan-loss-zero", [[0, float("nan"), 1e-4, None]] * 20, ["loss-nan"], "the gradient norm")
    series("rate-zero", [[4.1 + rng.gauss(0, 0.02), 1, 0, None] for _ in range(40)], ["rate-zero"])
    series("masked", [[0, 0, 1e-4, None]] * 30, ["no-gradient"], "masked")
    series("frozen", [[3.2, 0, 1e-4, None]] * 30, ["no-gradient"], "no gradient")
    series("flat", [[3.2 + rng.gauss(0, 0.01), 0.5, 1e-7, None] for _ in range(60)], ["flat"])
    up = falling(40) + [[2.1 + 0.05 * i, 3, 1e-2, None] for i in range(40)]
    series("diverges", up, ["diverges"], "lowest at step")
    warm = [[4 - 0.05 * i if i < 20 else 3 + 0.08 * (i - 20), 1, min(i / 20, 1) * 1e-2, None] for i in range(60)]
    series("diverges-at-the-peak", warm, ["diverges"], "peak of 0.01")
    over = falling(100, end=0.3)
    for i in range(0, 100, 10):
        over[i][3] = 3 - 0.2 * i / 10 if i < 40 else 2.2 + 0.1 * (i - 40) / 10
    series("overfits", over, ["overfits"], "step 40", "by heart")
    series("oscillates", [[3 + (-1) ** i * 1.2 + rng.gauss(0, 0.1), 8, 1e-2, None] for i in range(80)], ["oscillates"])
    spike = falling(80)
    spike[50][0] = 9.0
    series("spike", spike, ["spike"], "step 50", "9.000")
    ended = falling(80)
    for i in range(50, 80):
        ended[i][2] = 0
    series("rate-ended", ended, ["rate-ended"], "step 50")
    series("short", falling(4), ["too-short"])
    for seed in range(12):
        rng.seed(seed)
        series(f"fine-{seed}", falling(60 + 10 * seed, noise=0.01 * seed), ["fine"])
    for i, text in enumerate(("", "a,b\n1,2\n", "step,loss\n1,x\n", "<html>\n")):
        path = os.path.join(WORK, f"bad{i}.csv")
        open(path, "w").write(text)
        code, found, err = ask(path)
        verdict(code == 1 and not found and len(err) > 20, path, err)


def run(name, *options, model=BASE, data=DATA):
    """A run: its error record (or None) and its folder."""
    out = os.path.join(WORK, name)
    r = subprocess.run([TRAIN, "train", "--model", model, "--data", data, "--out", out, "--threads", "1",
                        "--eval-every", "0", *options], capture_output=True, text=True, env=ENV)
    errors = [json.loads(x) for x in r.stdout.splitlines() if '"ev":"error"' in x]
    return (errors[0] if errors else None), out, r


def tiny(name, change):
    """A tiny model whose tensor data `change` edits."""
    to = os.path.join(WORK, name)
    subprocess.run([TRAIN, "init", "--out", to, "--tokenizer", BASE + "/tokenizer.json", "--hidden", "16",
                    "--ffn", "32", "--layers", "2"], check=True, capture_output=True)
    path = os.path.join(to, "model.safetensors")
    raw = bytearray(open(path, "rb").read())
    head = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])
    base = 8 + struct.unpack("<Q", raw[:8])[0]
    change(raw, {k: (base + v["data_offsets"][0], base + v["data_offsets"][1]) for k, v in head.items()
                 if k != "__metadata__"})
    open(path, "wb").write(raw)
    return to


def failures():
    """Eight runs built to fail."""
    def nan(raw, at):
        b = at["model.layers.1.mlp.up_proj.weight"][0]
        raw[b:b + 4] = struct.pack("<f", float("nan"))
    e, _, _ = run("nan-weight", "--steps", "3", model=tiny("m1", nan))
    verdict(e and "layers.1" in e["text"] and "evaluation after step 0" in e["text"] and
            "podium-train check" in e["hint"], "a NaN in the weights", e)

    def huge(raw, at):
        b, end = at["model.layers.0.self_attn.q_proj.weight"]
        raw[b:end] = struct.pack("<f", 3e38) * ((end - b) // 4)
    e, _, _ = run("overflow", "--steps", "3", model=tiny("m2", huge))
    verdict(e and "layer 0" in e["text"] and "check" in e["hint"], "weights that overflow", e)
    options = ("--full", "--steps", "400", "--rate", "50", "--clip", "0", "--weight-decay", "1", "--beta1", "0",
               "--beta2", "0", "--schedule", "constant", "--batch", "2", "--accum", "2")
    e, out, r = run("blows-up", *options, model=tiny("m3", lambda raw, at: None))
    verdict(e and "not a number" in e["text"] and "lines" in e["text"] and "batch" in e["text"] and
            "rate is far above" in e["hint"] and "--replay" in e["hint"], "a rate of 50", e or r.stdout[-200:])
    verdict(not os.path.exists(os.path.join(out, "model.safetensors")) and
            not any(x.startswith("checkpoint") for x in os.listdir(out)), "no checkpoint of NaN", os.listdir(out))
    bad = int(e["text"].split("step ")[1].split(":")[0]) if e else 2
    e2, _, r = run("blows-up", *options, "--replay", str(bad), model=os.path.join(WORK, "m3"))
    verdict(e2 and f"step {bad}:" in e2["text"] and "not a number" in e2["text"], "its replay", e2 or r.stdout[-200:])
    small = os.path.join(WORK, "m3")
    _, out, _ = run("rate0", "--steps", "12", "--rate", "0", model=small)
    verdict([d["cause"] for d in ask(out + "/trainer_state.json")[1]] == ["rate-zero"], "a rate of 0", out)
    _, out, _ = run("high", "--steps", "60", "--rate", "5", "--clip", "0", "--schedule", "constant", "--batch", "4",
                    "--warmup", "20", "--full", model=small)
    got = [d["cause"] for d in ask(out + "/trainer_state.json")[1]]
    verdict(set(got) & {"diverges", "oscillates"}, "a rate of 5", got)
    _, out, _ = run("low", "--steps", "25", "--rate", "1e-9", "--batch", "8", "--schedule", "constant", model=small)
    got = [d["cause"] for d in ask(out + "/trainer_state.json")[1]]
    verdict(got == ["flat"], "a rate of 1e-9", got)
    few = os.path.join(WORK, "few.jsonl")
    rows = [json.loads(x) for x in open(DATA)]
    open(few, "w").write("".join(json.dumps(r) + "\n" for r in rows[:300:50]))
    _, out, _ = run("heart", "--steps", "200", "--rate", "0.01", "--full", "--batch", "5", "--eval-every", "20",
                    data=few, model=small)
    got = [d["cause"] for d in ask(out + "/trainer_state.json")[1]]
    verdict("overfits" in got, "five records learned by heart", got)
    e, _, r = run("long", "--steps", "2", "--seq", "20")
    verdict(e and "too long" in e["text"], "records that are too long", e)
    _, out, _ = run("good", "--steps", "60", "--rate", "0.01", "--warmup", "5", "--full", "--batch", "4", model=small)
    got = [d["cause"] for d in ask(out + "/trainer_state.json")[1]]
    verdict(got == ["fine"], "a good run", got)


made()
failures()
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
