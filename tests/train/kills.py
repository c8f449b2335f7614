"""The runs of test_kills.sh."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

TRAIN, WORK = sys.argv[1:3]
KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("KILLS_SEED", str(time.time_ns() % 10**9)))
MODEL, DATA = os.path.join(WORK, "m"), os.path.join(WORK, "data.jsonl")
passed = failed = 0


def check(what, ok, more=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what} {more}")


def make():
    base = "labs/content/first-finetune/base/tokenizer.json"
    subprocess.run([TRAIN, "init", "--out", MODEL, "--tokenizer", base, "--hidden", "16", "--ffn", "32",
                    "--layers", "1"], check=True, capture_output=True)
    with open(DATA, "w") as f:
        for i in range(40):
            f.write(json.dumps({"instruction": f"Say {i}", "input": "", "output": f"It is {i * 3}.",
                                "template": f"t{i % 8}", "lang": "en"}) + "\n")


def command(out, threads, *more):
    return [TRAIN, "train", "--model", MODEL, "--data", DATA, "--out", out, "--steps", "16", "--batch", "2",
            "--accum", "3", "--save-every", "1", "--eval-every", "5", "--rate", "0.01", "--warmup", "3",
            "--lora-dropout", "0.1", "--seed", "5", "--threads", str(threads), *more]


def results(out):
    """The bytes that must not depend on what happened; times are taken out."""
    got = {}
    top = os.path.join(out, "checkpoint-16")
    for folder, name in ((out, "adapter_model.safetensors"), (out, "adapter_config.json"),
                         (top, "adapter_model.safetensors"), (top, "optimizer.safetensors"),
                         (top, "state.json"), (out, "trainer_state.json")):
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        if name == "trainer_state.json":
            data = re.sub(rb'"eval_(runtime|samples_per_second|steps_per_second)": [^,]*,', b"", data)
        got[os.path.relpath(os.path.join(folder, name), out)] = data
    return got


def differ(a, b):
    return [k for k in a if a[k] != b[k]]


def straight(name, threads):
    out = os.path.join(WORK, name)
    start = time.monotonic()
    r = subprocess.run(command(out, threads), capture_output=True, text=True)
    check(f"{name} ends well", r.returncode == 0, r.stdout[-300:])
    return out, time.monotonic() - start


def log(text):
    """Records of steps and evaluations without their times."""
    rows = {}
    for line in text.splitlines():
        if '"ev":"step"' in line or '"ev":"eval"' in line:
            r = json.loads(line)
            rows[r["ev"], r["step"]] = {k: v for k, v in r.items() if k not in ("ms", "tok_s")}
    return rows


def killed(want, length, rng):
    """Runs that are killed and resumed until KILLS kills were made."""
    kills = rounds = 0
    out = os.path.join(WORK, "killed")
    shutil.rmtree(out, ignore_errors=True)
    while kills < KILLS:
        p = subprocess.Popen(command(out, rng.choice((1, 2)), "--resume"), stdout=subprocess.PIPE)
        try:
            p.wait(timeout=rng.random() ** 2 * length)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            kills += 1
        said = p.communicate()[0].decode(errors="replace")
        if p.returncode == -signal.SIGKILL:
            continue
        rounds += 1
        bad = differ(want, results(out)) if p.returncode == 0 else [said[-300:]]
        check(f"round {rounds} after {kills} kills", not bad, bad)
        if bad:
            return kills
        shutil.rmtree(out)
    r = subprocess.run(command(out, 1, "--resume"), capture_output=True, text=True)
    check("the last round", r.returncode == 0 and not differ(want, results(out)), r.stdout[-300:])
    return kills


def left_overs(want):
    """A torn checkpoint and a half-written one are passed over with a sentence."""
    out = os.path.join(WORK, "torn")
    shutil.copytree(os.path.join(WORK, "killed"), out)
    newest = os.path.join(out, "checkpoint-16", "optimizer.safetensors")
    with open(newest, "r+b") as f:
        f.truncate(os.path.getsize(newest) - 5)
    os.makedirs(os.path.join(out, "checkpoint-17.tmp"))
    r = subprocess.run(command(out, 1, "--resume"), capture_output=True, text=True)
    warned = [json.loads(x)["text"] for x in r.stdout.splitlines() if '"ev":"warn"' in x]
    check("a torn checkpoint", r.returncode == 0 and len(warned) == 1 and "checkpoint-16" in warned[0], r.stdout)
    check("goes on from the one before", '"ev":"step","step":16' in r.stdout and not differ(want, results(out)))


def full_disk():
    """A file system that can't hold a checkpoint; without root: a limit of file size."""
    full = os.path.join(WORK, "full")
    os.makedirs(full)
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96k", "none", full], capture_output=True).returncode == 0
    out = os.path.join(full, "out")
    cmd = command(out, 1)
    if not mounted:
        cmd = ["sh", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "sh", *cmd]
    r = subprocess.run(cmd, capture_output=True, text=True)
    errors = [json.loads(x) for x in r.stdout.splitlines() if '"ev":"error"' in x]
    check("a full disk ends the run", r.returncode == 1 and len(errors) == 1, r.stdout[-400:])
    text = errors[0]["text"] + errors[0]["hint"] if errors else ""
    check("with a sentence", "can't be written" in text or "space" in text or "too large" in text, text)
    left = os.listdir(out)
    check("nothing half-written is left", not any(x.endswith((".tmp", ".part")) for x in left), left)
    c = subprocess.run([TRAIN, "check", out], capture_output=True, text=True)
    whole = [x for x in left if x.startswith("checkpoint-")]
    check("what is there is whole", c.returncode == (0 if whole else 1), c.stdout + c.stderr)
    if mounted:
        subprocess.run(["umount", full])


def broken_disk(want):
    """Each fsync and each rename of a run fails once, as a dying disk lets them: strace
    gives the answer in the kernel's place."""
    out, trace = os.path.join(WORK, "broken"), os.path.join(WORK, "trace")
    base = ["strace", "-f", "-qq", "-o", trace]
    try:
        tried = subprocess.run(base + ["true"], capture_output=True).returncode
    except FileNotFoundError:
        tried = "not there"
    if tried:
        print(f"  left out: strace can't trace here ({tried})")
        return
    for call in ("fsync", "rename"):
        subprocess.run(base + ["-e", "trace=" + call] + command(out, 1), capture_output=True, check=True)
        with open(trace) as f:
            calls = sum(call + "(" in line for line in f)
        for nth in sorted({1, 2, 3, calls // 3, calls // 2, *range(calls - 12, calls + 1)}):
            shutil.rmtree(out)
            broken(call, nth, out, base)
            r = subprocess.run(command(out, 1, "--resume"), capture_output=True, text=True)
            bad = differ(want, results(out)) if r.returncode == 0 else [r.stdout[-300:]]
            check(f"after {call} {nth} failed it goes on to the same bytes", not bad, bad)


def broken(call, nth, out, base):
    inject = ["-e", "trace=" + call, "-e", f"inject={call}:error=EIO:when={nth}"]
    r = subprocess.run(base + inject + command(out, 1), capture_output=True, text=True)
    errors = [json.loads(x)["text"] for x in r.stdout.splitlines() if '"ev":"error"' in x]
    check(f"{call} {nth} fails: the run ends with it", r.returncode == 1 and len(errors) == 1 and
          "Input/output error" in errors[0] and out in errors[0], (r.returncode, errors))
    left = os.listdir(out)
    check(f"{call} {nth}: nothing half-written", not any(x.endswith((".tmp", ".part")) for x in left), left)
    for x in left:
        if x.startswith("checkpoint-"):
            c = subprocess.run([TRAIN, "check", os.path.join(out, x)], capture_output=True, text=True)
            check(f"{call} {nth}: {x} is whole", c.returncode == 0, c.stdout + c.stderr)


print(f"KILLS_SEED={SEED}")
make()
whole, took = straight("whole", 1)
want = results(whole)
for threads in (2, 4):
    out, _ = straight(f"threads{threads}", threads)
    check(f"{threads} threads give the same bytes", not differ(want, results(out)), differ(want, results(out)))
out = os.path.join(WORK, "again")
r = subprocess.run(command(out, 1, "--checkpointing"), capture_output=True, text=True)
check("computing activations again gives the same bytes", r.returncode == 0 and not differ(want, results(out)))
start = time.monotonic()
n = killed(want, took * 1.1, random.Random(SEED))
check("all kills were made", n >= KILLS, n)
print(f"{n} kills in {time.monotonic() - start:.1f} s, a run takes {took:.2f} s")
left_overs(want)
full_disk()
broken_disk(want)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
