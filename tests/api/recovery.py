"""The driver of test_recovery.sh: recovery.py FOLDER [NAME...]. It waits for
states and never for a time; FOLDER/bin has the programs."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

W = sys.argv[1]
BIN = W + "/bin/"
WORK = W + "/data/podium/work/first-finetune/"
PRACTICE = W + "/state/podium/practice/"
LAB = "labs/content/first-finetune"
results = {"passed": 0, "failed": 0, "skipped": 0}
begun = time.monotonic()


def check(name, good, shown=""):
    results["passed" if good else "failed"] += 1
    if not good:
        print("FAIL %s (at %d s)" % (name, time.monotonic() - begun))
        print("\n".join("    " + l for l in str(shown).rstrip().split("\n")[:45]))
    return good


def until(what, seconds=30):
    """The first true value of what(), or its last when the time is up."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


def run(*argv, stdin=None, env=None, seconds=60):
    p = subprocess.run(argv, input=stdin, capture_output=True, timeout=seconds,
                       env=dict(os.environ, **(env or {})))
    return p.returncode, p.stdout.decode("utf8", "replace"), p.stderr.decode("utf8", "replace")


def podium(*args, **more):
    return run(BIN + "podium", *args, **more)


def kubectl(*args, **more):
    return run("kubectl", *args, env={"KUBECONFIG": PRACTICE + "kubeconfig"}, **more)


def objects(kinds):
    text = kubectl("get", kinds, "-A", "-o", "json")[1]
    return json.loads(text)["items"] if text else []


def steps_of(text):
    """The (step, loss as written) of the lines that a trainer writes."""
    found = []
    for line in text.split("\n"):
        if line.startswith("{") and line.endswith("}"):
            r = json.loads(line)
            if r.get("ev") == "step":
                found.append((r["step"], r["loss"]))
    return found


def pod_steps(pod):
    return steps_of(kubectl("logs", pod)[1])


def replace(name, *pairs):
    text = open(WORK + name).read()
    for old, new in pairs:
        assert old in text, (name, old)
        text = text.replace(old, new)
    with open(WORK + name + ".new", "w") as f:
        f.write(text)
    os.rename(WORK + name + ".new", WORK + name)


class Console:
    """podium in a tmux window; all that it writes goes to FOLDER/raw too."""
    number = 0

    def __init__(self, *args, cols=120, rows=40, env="TERM=tmux-256color", tail=""):
        Console.number += 1
        self.journal = "%s/journal-%d" % (W, Console.number)
        self.raw = "%s/raw-%d" % (W, Console.number)
        self.socket = "%s/tmux-%d" % (W, Console.number)
        self.t("new-session", "-d", "-x", str(cols), "-y", str(rows), "cat")
        self.t("pipe-pane", "cat > " + self.raw)
        # on a line of its own, after CAN: what was killed left the cursor anywhere, and may have
        # left half an escape sequence that would swallow the words
        line = ("env %s %spodium %s %s; code=$?; printf '\\030\\n'; echo left with $code;"
                " exec cat") % (
            env, BIN, " ".join(args) or "--record %s --lab first-finetune" % self.journal, tail)
        self.t("respawn-pane", "-k", line)

    def t(self, *args):
        return subprocess.run(("tmux", "-S", self.socket, "-f", "/dev/null") + args,
                              capture_output=True).stdout.decode("utf8", "replace")

    def screen(self):
        return self.t("capture-pane", "-p")

    def keys(self, *names):
        self.t("send-keys", *names)

    def sees(self, text, seconds=15):
        return until(lambda: text in self.screen(), seconds)

    def want(self, name, text, seconds=15):
        return check("%s: %r on the screen" % (name, text), self.sees(text, seconds),
                     self.screen())

    def pid(self):
        shell = int(self.t("display-message", "-p", "#{pane_pid}"))
        for p in [shell] + children(shell):
            if open("/proc/%d/comm" % p).read().strip() == "podium":
                return p
        return 0

    def requests(self):
        return [json.loads(l)["body"] for l in open(self.journal)
                if l.startswith('{"msg":"request"') and l.endswith("}\n")]

    def export(self, path):
        """The palette's way; the rows as (step, loss)."""
        if os.path.exists(path):
            os.remove(path)
        self.keys(":")
        self.sees("Tab completes")
        self.keys("-l", "curve.export " + path)
        self.keys("Enter")
        until(lambda: os.path.exists(path), 5)
        with open(path) as f:
            rows = list(csv.DictReader(f))
        return [(int(r["step"]), float(r["loss"])) for r in rows if r["loss"]]

    def end(self):
        self.t("kill-server")


def children(pid):
    try:
        return [int(p) for p in open("/proc/%d/task/%d/children" % (pid, pid)).read().split()]
    except OSError:
        return []


def server_pid():
    code, out, _ = run(BIN + "podium-practice", "status", "--json")
    return json.loads(out).get("pid", 0) if code == 0 and out else 0


def processes(name):
    """Live processes of this name that this test's cluster runs."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open("/proc/%s/comm" % p).read().strip() != name:
                continue
            parent = int(re.search(r"PPid:\t(\d+)", open("/proc/%s/status" % p).read())[1])
            line = open("/proc/%d/cmdline" % parent).read()
            if W in line or W in open("/proc/%s/cmdline" % p).read():
                found.append(int(p))
        except (OSError, TypeError):
            pass
    return found


FAKE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "seven")) {
        for (int i = 0; i < 1200 && access("/go", F_OK); i++)
            usleep(50000);
        puts("the last words");
        return 7;
    }
    puts("\033]0;PWNED\007\033[5mBLINK\033[2J\033c evil \302\2332J \b\b end-of-escapes");
    for (int i = 0; i < 300000; i++)
        putchar('x');
    puts("");
    puts("after-the-long-line");
    for (int i = 0; i < 1200 && access("/go", F_OK); i++)
        usleep(50000);
    return 0;
}
"""

POD = """{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"restartPolicy":"Never",
"containers":[{"name":"c","image":"%s/default/fake:1","args":["%s"]}]}}"""


def registry():
    return re.search(r"127\.0\.0\.1:\d+", open(PRACTICE + "kubeconfig").read())[0]


# --- wrong input ------------------------------------------------------------------------

def wrong_input():
    def says(name, code, pattern, *argv, **more):
        got, out, err = run(*argv, **more)
        text = out + err
        check("%s: exit %d, wanted %d, /%s/" % (name, got, code, pattern),
              got == code and re.search(pattern, text, re.S) and "Sanitizer" not in text, text)

    for name in "podium", "podium-practice", "podium-train", "podium-shim":
        says(name + " --help", 0, "usage: podium", BIN + name, "--help")
        says(name + " --version", 0, r"\d+\.\d+", BIN + name, "--version")
        says(name + " unknown option", 2, "podium", BIN + name, "--no-such-option")
        says(name + " unknown word", 2, "podium", BIN + name, "no-such-word")
    for word in "lab", "image", "replay", "practice":
        says("podium %s --help" % word, 0, "usage: podium[ -]" + word, BIN + "podium", word,
             "--help")
        if word != "replay":
            says("podium %s nonsense" % word, 2, "nonsense", BIN + "podium", word, "nonsense")
    says("replay of nothing", 1, r"/none", BIN + "podium", "replay", W + "/none", )
    lab = W + "/bad.yaml"
    text = open(LAB + "/lab.yaml").read()
    open(lab, "w").write(text.replace("    checks:", "    chekcs:", 1))
    says("misspelt key", 1, r'bad.yaml:\d+:5: .*did you mean "checks"', BIN + "podium", "lab",
         "lint", lab)
    says("an unknown lab", 2, 'did you mean "first-finetune"', BIN + "podium", "lab", "run",
         "first-finetun", "--headless")
    says("missing kubeconfig", 3, "/none", BIN + "podium", "lab", "run", "first-finetune",
         "--headless", "--kubeconfig", W + "/none")
    open(W + "/torn.yaml", "w").write("apiVersion: v1\nkind: Config\nclusters: [\n")
    says("a torn kubeconfig", 3, r"torn\.yaml:4:1: not valid YAML", BIN + "podium", "lab", "run",
         "first-finetune", "--headless", "--kubeconfig", W + "/torn.yaml")
    context = W + "/context"
    os.makedirs(context, exist_ok=True)
    open(context + "/Dockerfile", "w").write("FROM scratch\nCOPPY a b\n")
    says("unknown instruction", 1, r"Dockerfile:2.*COPPY.*COPY", BIN + "podium", "image", "build",
         context)
    says("a folder that can't be made", 1, "/dev/null/x", "env", "XDG_DATA_HOME=/dev/null/x",
         BIN + "podium", "lab", "run", "first-finetune", "--headless", seconds=20)
    says("a full disk under stdout", 1, "No space left", "sh", "-c",
         BIN + "podium lab list >/dev/full")
    says("a journal that can't be made", 1, "/dev/null/x", BIN + "podium", "lab", "run",
         "first-finetune", "--headless", "--record", "/dev/null/x")
    says("stdin closed", 3, "terminal", "sh", "-c", BIN + "podium <&-")
    says("no terminal", 0, "lines", BIN + "podium", stdin=b"")
    says("dumb", 0, "lines", "sh", "-c", "TERM=dumb exec %spodium </dev/null" % BIN)
    c = Console("--kubeconfig", W + "/none")
    c.want("missing kubeconfig in the console", "/none")
    c.want("the catalogue without a cluster", "Your first fine-tuning")
    c.end()
    dead = W + "/dead.yaml"
    open(dead, "w").write("""apiVersion: v1
kind: Config
current-context: c
clusters: [{name: k, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: u, user: {token: abc}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
""")
    c = Console("--kubeconfig", dead, "--lab", "first-finetune")
    c.want("a dead server", "can't be reached")
    c.want("a dead server: the lab is there", "Look at the cluster")
    c.end()
    home = W + "/nohome"
    open(home, "w").write("no folder\n")
    c = Console("--lab", "first-finetune", env="TERM=tmux-256color HOME=%s XDG_DATA_HOME=%s/d "
                "XDG_STATE_HOME=%s/s XDG_CONFIG_HOME=%s/c XDG_CACHE_HOME=%s/h "
                "XDG_RUNTIME_DIR=%s/r" % ((home,) * 6))
    c.want("HOME can't be written", "nohome")
    check("HOME can't be written: alive, or left with a code",
          c.pid() or re.search("left with [13]", c.screen()), c.screen())
    c.end()


# --- kill -9 the console, kill -9 the cluster ------------------------------------------------

def walk_to_submit(c):
    c.want("open", "Look at the cluster")
    c.sees("cluster.yaml")
    until(lambda: os.path.exists(WORK + "cluster.yaml"))
    replace("cluster.yaml", ('readyNodes: "?"', "readyNodes: 3"),
            ('gaudiResource: "?"', "gaudiResource: habana.ai/gaudi"),
            ('nvidiaResource: "?"', "nvidiaResource: nvidia.com/gpu"))
    for step, actions in (1, 0), (2, 1), (3, 1), (4, 0):
        if actions:
            c.keys("r")
        if step == 4:
            until(lambda: os.path.exists(WORK + "job.yaml"))
            broken_yaml(c)
        if not c.want("work", "step %d is done" % step):
            return False
        c.keys("n")
        c.sees("step %d/9" % (step + 1))
    return True


def broken_yaml(c):
    good = open(WORK + "job.yaml").read()
    replace("job.yaml", ("kind: Job", "kind: [Job"))
    c.want("broken YAML has its place", "job.yaml:")
    os.remove(WORK + "job.yaml")
    open(WORK + "job.yaml", "w").write(good)
    replace("job.yaml", ("image: IMAGE", "image: %s/default/first-finetune:1" % registry()),
            ("memory: MEMORY", "memory: 512Mi"), ("--rate=RATE", "--rate=0.003"),
            ("--steps=320", "--steps=360"))


def training_pod():
    for p in objects("pods"):
        if p["metadata"].get("labels", {}).get("job-name") == "first-finetune" \
                and "deletionTimestamp" not in p["metadata"]:
            return p
    return None


def same_curve(name, c, pod, path):
    """The held run's CSV is the pod's step lines, number by number."""
    log = pod_steps(pod)
    until(lambda: c.export(path)[-1:] == log[-1:], 10)
    mine = c.export(path)
    check(name + ": the curve is the pod's lines, from its first step",
          len(mine) == len(log) > 0 and all(a[0] == b[0] and abs(a[1] - b[1]) <= 1e-6 * abs(b[1])
                                            for a, b in zip(mine, log)),
          "csv %d %s..%s log %d %s..%s" % (len(mine), mine[:2], mine[-2:], len(log), log[:2],
                                           log[-2:]))
    return log


def console_killed():
    """kill -9 the console in mid-run; returns the one that went on."""
    c = Console()
    if not walk_to_submit(c):
        return c
    os.remove(BIN + "podium-train")          # the image has its own
    c.want("an earlier attempt's Job", "STALE")
    c.keys("r")
    c.want("work", "step 5 is done", 30)
    c.keys("n")
    c.keys("3")
    pod = until(training_pod)["metadata"]["name"]
    trainer = until(lambda: processes("podium-train"))
    root = "/proc/%d/root/" % trainer[0] if trainer else ""
    if os.geteuid() == 0 and trainer:
        check("the process lives in the unpacked image",
              sorted(set(os.listdir(root)) - {"dev", "proc", "sys", "etc", "tmp"}) ==
              ["base", "data", "out", "podium-train"], os.listdir(root))
    check("thirty steps", until(lambda: len(pod_steps(pod)) > 30), c.screen())
    os.kill(c.pid(), signal.SIGKILL)
    c.want("killed", "left with 137")
    c.end()
    at = len(pod_steps(pod))
    c = Console()
    c.want("the same step", "step 6/9")
    c.keys("3")
    c.want("the whole curve again", "/360")
    c.keys("Space")
    c.want("steering after a kill", "paused")
    log = same_curve("after kill -9 of the console", c, pod, W + "/one.csv")
    check("it ran on meanwhile", len(log) > at - 1 and log[0][0] == 1, log[:2])
    c.keys("a")
    check("one step by hand", until(lambda: len(pod_steps(pod)) == len(log) + 1), c.screen())
    c.keys("R")
    c.sees("learning rate")
    c.keys("0.0025", "Enter")
    check("another rate", until(lambda: re.search(r'"cmd":"rate","ok":true',
                                                  kubectl("logs", pod)[1])), c.screen())
    return c


def uids(items):
    return {(o["kind"], o["metadata"]["name"]): o["metadata"]["uid"] for o in items
            if o["kind"] != "Event"}


def lost_shim():
    """A container whose shim is killed has failed, and its process is gone."""
    kubectl("create", "-f", "-", stdin=(POD % ("lost", registry(), "seven")).encode())
    pid = until(lambda: processes("fake"))
    parent = int(re.search(r"PPid:\t(\d+)", open("/proc/%d/status" % pid[0]).read())[1])
    while open("/proc/%d/comm" % parent).read().strip() != "podium-shim":
        parent = int(re.search(r"PPid:\t(\d+)", open("/proc/%d/status" % parent).read())[1])
    os.kill(parent, signal.SIGKILL)
    check("a lost shim is a failed container", until(lambda: kubectl(
        "get", "pod", "lost", "-o", "jsonpath={.status.phase}")[1] == "Failed"),
        kubectl("get", "pod", "lost", "-o", "yaml")[1])
    check("nothing of it runs on", until(lambda: not processes("fake")))


def server_killed(c):
    """kill -9 the practice cluster under a training Job and an open console."""
    kinds = "nodes,pods,jobs,pvc,configmaps,secrets,events"
    kubectl("create", "configmap", "kept", "--from-literal=a=b")
    kubectl("create", "-f", "-", stdin=(POD % ("seven", registry(), "seven")).encode())
    check("a second pod runs", until(lambda: processes("fake")), kubectl("get", "pods")[1])
    trainer = processes("podium-train")
    seven = processes("fake")
    before = uids(objects(kinds))
    c.keys("Space")
    pod = training_pod()["metadata"]["name"]
    at = pod_steps(pod)[-1][0]
    until(lambda: pod_steps(pod)[-1][0] > at + 3)
    os.kill(server_pid(), signal.SIGKILL)
    c.want("the cluster is gone", "no link")
    check("its processes live on", processes("podium-train") == trainer,
          (trainer, processes("podium-train")))
    c.keys("1")
    check("the rows' age is shown", until(lambda: re.search(r"as it was \d+s ago", c.screen())),
          c.screen())
    open("/proc/%d/root/go" % seven[0], "w").close()
    check("a pod ends meanwhile", until(lambda: not processes("fake")))
    until(lambda: re.search(r"as it was 1[4-9]s ago", c.screen()))    # it waits long by now
    code, out, err = run(BIN + "podium-practice", "start")
    check("start again", code == 0, out + err)
    after = uids(objects(kinds))
    check("every object is there", before.items() <= after.items(),
          set(before.items()) - set(after.items()))
    c.want("it reconnects by itself", "live", 40)
    check("every watch does, with the first answer",
          until(lambda: re.search("✗ seven", c.screen()), 4), c.screen())
    c.keys("3")
    check("the living pod is adopted", processes("podium-train") == trainer or
          not processes("podium-train"), (trainer, processes("podium-train")))

    def exit_code():
        p = json.loads(kubectl("get", "pod", "seven", "-o", "json")[1])
        state = p["status"].get("containerStatuses", [{}])[0].get("state", {})
        return state.get("terminated", {}).get("exitCode")
    check("the true exit code of the one that ended", until(exit_code) == 7,
          kubectl("get", "pod", "seven", "-o", "yaml")[1])
    check("and its last words", "the last words" in kubectl("logs", "seven")[1],
          kubectl("logs", "seven"))

    def complete():
        text = kubectl("get", "job", "first-finetune", "-o", "json")[1]
        return [x for x in json.loads(text)["status"].get("conditions", [])
                if x["type"] == "Complete" and x["status"] == "True"]
    check("the Job completes", until(complete, 150), kubectl("get", "job,pods")[1])
    last = json.loads(kubectl("get", "pod", pod, "-o", "json")[1])["status"]
    check("the trainer's exit code is 0, once started",
          last["containerStatuses"][0]["state"].get("terminated", {}).get("exitCode") == 0 and
          last["containerStatuses"][0]["restartCount"] == 0, last)
    log = same_curve("after kill -9 of the cluster", c, pod, W + "/two.csv")
    check("all steps, one after another", [s for s, _ in log] == list(range(1, 361)), log[-1:])
    c.want("it is done", "done")
    check("done is no error", "ended with an error" not in c.screen(), c.screen())


# --- what a log may hold, and a window that never rests ----------------------------------------

def hostile_log(c):
    kubectl("create", "-f", "-", stdin=(POD % ("evil", registry(), "evil")).encode())
    c.keys("1")
    c.want("the evil pod", "evil")
    pod = until(lambda: processes("fake"))
    for _ in range(12):
        c.keys("Tab") if "╔ 1 Cluster" not in c.screen() else None
        c.keys("Enter")
        if c.sees("after-the-long-line", 1):
            break
        c.keys("1", "j")
    c.want("a long line", "after-the-long-line", 5)
    raw = open(c.raw, "rb").read()
    check("no escape of a log reaches the terminal",
          b"]0;PWNED" not in raw.replace(b"^[", b"").replace(b"\x1b", b"") or
          b"\x1b]0;PWNED" not in raw and b"\x1b[5m" not in raw and b"\x1bc" not in raw and
          b"\xc2\x9b" not in raw, raw[-300:])
    for i in range(60):
        c.t("resize-window", "-x", str(40 + i * 37 % 120), "-y", str(10 + i * 11 % 40))
    c.t("resize-window", "-x", "120", "-y", "40")
    c.want("after a storm of sizes", "podium-practice")
    check("alive after it", c.pid(), c.screen())
    if pod:
        open("/proc/%d/root/go" % pod[0], "w").close()


# --- the API panel's lines through kubectl --------------------------------------------------

def parts(url):
    path, _, query = url.partition("?")
    ignored = {"timeout", "limit"}
    return path, sorted(q for q in query.split("&") if q and q.split("=")[0] not in ignored)


def made_by_kubectl(text):
    """(verb, path, query, body) of each request in kubectl -v=8's stderr."""
    found, body = [], ""
    for m in re.finditer(r'"Request Body" body=(?:<\n(.*?)\n >|"((?:[^"\\]|\\.)*)")|'
                         r'round_trippers.go:\d+\] (GET|POST|PUT|PATCH|DELETE) (\S+)', text, re.S):
        if m[3]:
            path = re.sub(r"^https://[^/]*", "", m[4])
            if not path.startswith(("/openapi", "/api?", "/apis?")):
                found.append((m[3],) + parts(path) + (body,))
            body = ""
        else:
            body = re.sub(r"(?m)^\t", "", m[1]) if m[1] else (m[2] or "").replace('\\"', '"')
    return found


def normal(body):
    """A body without what each client fills in: the namespace of the request."""
    try:
        o = json.loads(body) if isinstance(body, str) else body
    except ValueError:
        return body
    if isinstance(o, dict):
        o = json.loads(json.dumps(o))
        o.get("metadata", {}).pop("namespace", None)
        if not o.get("metadata", True):
            o.pop("metadata")
    return o


def by_kubectl(journals):
    seen = {}
    for j in journals:
        for line in open(j):
            if not line.startswith('{"msg":"request"') or not line.endswith("}\n"):
                continue
            r = json.loads(line)["body"]
            streams = re.search("watch=|follow=|/attach|/exec|/log\\?", r["path"])
            if r.get("kubectl") and not streams:
                seen.setdefault((r["method"], r["kubectl"]), r)
    order = {"GET": 0, "PATCH": 1, "POST": 2, "PUT": 3, "DELETE": 4}
    for (method, line), r in sorted(seen.items(), key=lambda x: order.get(x[0][0], 9)):
        body = json.dumps(r["body"]) if r.get("body") else ""
        p = subprocess.run(["sh", "-c", line.replace("kubectl ", "kubectl -v=8 ", 1)],
                           input=body.encode(), capture_output=True, timeout=20,
                           env=dict(os.environ, KUBECONFIG=PRACTICE + "kubeconfig"))
        made = made_by_kubectl(p.stderr.decode("utf8", "replace"))
        want = (method,) + parts(r["path"])
        said = p.stderr.decode("utf8", "replace")
        same = [m for m in made if m[:3] == want and normal(m[3] or "{}") == normal(body or "{}")]
        if " --raw " in line and body:       # kubectl logs no body of --raw: the server heard it
            same = [m for m in made if m[:3] == want] and (
                p.returncode == 0 or json.loads(body)["preconditions"]["uid"] in said)
        check("kubectl makes the same: " + line, same,
              "podium: %s %s\nkubectl: %s\n%s" % (want, body[:600], made,
                                                  p.stderr.decode("utf8", "replace")[-600:]))
    check("lines were compared", {m for m, _ in seen} >= {"GET", "PATCH", "DELETE"}, list(seen))


def no_secret():
    tokens = set(re.findall(r"token: *[\"']?([^\s\"']+)", open(PRACTICE + "kubeconfig").read()))
    tokens |= set(re.findall(r"token: *[\"']?([^\s\"']+)",
                             open(PRACTICE + "admin.kubeconfig").read()))
    check("there are tokens to look for", tokens)
    found, files = [], 0
    for folder, _, names in os.walk(W):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path) or path.startswith(BIN):
                continue
            files += 1
            if name in ("kubeconfig", "admin.kubeconfig", "tokens.json", "default-kubeconfig"):
                continue
            data = open(path, "rb").read()
            found += [path for t in tokens if t.encode() in data]
    check("no token in any journal, log or state file (%d files)" % files,
          files > 20 and not found, found)


def main():
    open(W + "/fake.c", "w").write(FAKE)
    os.makedirs(W + "/img", exist_ok=True)
    subprocess.run(["cc", "-O1", "-static", "-o", W + "/img/fake", W + "/fake.c"], check=True)
    open(W + "/img/Dockerfile", "w").write('FROM scratch\nCOPY fake /fake\nENTRYPOINT ["/fake"]\n')
    wrong_input()
    shutil.rmtree(W + "/data", ignore_errors=True)
    code, out, err = run(BIN + "podium-practice", "start")
    check("start", code == 0, out + err)
    wrong = W + "/wrong-token"
    open(wrong, "w").write(re.sub("token: .*", "token: notmine",
                                  open(PRACTICE + "kubeconfig").read()))
    code, out, err = podium("lab", "run", "first-finetune", "--headless", "--kubeconfig", wrong)
    check("a wrong token is said at once", code == 3 and "Unauthorized" in out, out + err)
    code, out, err = podium("image", "build", "-t", registry() + "/default/fake:1", "--push",
                            "--kubeconfig", PRACTICE + "kubeconfig", W + "/img")
    check("an image of a program of our own", code == 0, out + err)
    code, out, err = podium("lab", "run", "first-finetune", "--headless", "--until", "submit",
                            "--set", "job:job.yaml:      restartPolicy: Never\n=>")
    check("a Job without restartPolicy has its line", code == 1 and
          re.search(r"job\.yaml:\d+.*restartPolicy", out + err), out + err)
    check("what it made went again", until(lambda: not objects("jobs,pvc"), 10),
          kubectl("get", "jobs,pvc,pods")[1])
    first = W + "/journal-headless"
    code, out, err = podium("lab", "run", "first-finetune", "--headless", "--json", "--keep",
                            "--until", "submit", "--record", first,
                            "--set", "job:job.yaml:--steps=320=>--steps=2")
    check("an earlier attempt", code == 0, out + err)
    last = objects("jobs")[0]["metadata"]["uid"]
    code, out, err = podium("lab", "run", "first-finetune", "--headless", "--json", "--keep",
                            "--until", "submit",
                            "--set", "job:job.yaml:--steps=320=>--steps=2")
    check("the next attempt, at once, makes its own Job",
          code == 0 and objects("jobs")[0]["metadata"]["uid"] != last, out + err)
    c = console_killed()
    lost_shim()
    server_killed(c)
    hostile_log(c)
    c.end()
    journals = [W + "/" + n for n in os.listdir(W) if n.startswith("journal-")]
    by_kubectl(journals)
    no_secret()


try:
    main()
finally:
    print("%d passed, %d failed" % (results["passed"], results["failed"]))
sys.exit(results["failed"] > 0)
