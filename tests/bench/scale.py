"""Measure podium, kubectl and k9s on a cluster of many pods; see scale.sh.

    scale.py PODIUM KUBECTL K9S|- KUBECONFIG NAMESPACE PODS
"""
import os
import re
import resource
import subprocess
import sys
import time

from console import Screen, percentile

HERE = os.path.dirname(os.path.abspath(__file__))
RATE, SECONDS = 500, int(os.environ.get("SCALE_SECONDS", "60"))


def say(name, value, unit, peer=None, other=None):
    """One line of `make bench`; a peer's value stands beside ours."""
    line = "bench %s %.3g %s" % (name, value, unit)
    if other:
        line += " vs %s %.3g ratio %.2f" % (peer, other, value / other)
    print(line, flush=True)


def user(s):
    with open("/proc/%d/stat" % s.pid) as f:
        return int(f.read().rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")


def peak_mb(s):
    with open("/proc/%d/status" % s.pid) as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) / 1024


def settle(s, quiet, limit):
    """Until the processor rests for `quiet` seconds: the list is whole."""
    begin = last = time.monotonic()
    spent = user(s)
    while time.monotonic() - last < quiet and time.monotonic() - begin < limit:
        s.read(0.05, 0.1)
        if user(s) != spent:
            spent, last = user(s), time.monotonic()
    return last


def first_rows(s, limit):
    _, _, last = s.read(0.05, limit, b"worker-0")
    return last - s.start if last else limit


def idle(s, seconds):
    """CPU seconds a minute, nothing being touched."""
    before, begin = s.stat()[0], time.monotonic()
    while time.monotonic() - begin < seconds:
        s.read(0.2, 0.5)
    return (s.stat()[0] - before) * 60 / (time.monotonic() - begin)


def podium(program, config):
    s = Screen([program, "--kubeconfig", config])
    s.read(0.02, 0.3)
    os.write(s.fd, b":")
    s.read(0.02, 0.2)
    os.write(s.fd, b"pods\r")
    got = {"first": first_rows(s, 30)}
    settle(s, 2, 120)
    got["user"], got["rss"] = user(s), peak_mb(s)
    got["idle"] = idle(s, 30)
    os.write(s.fd, b"/")
    s.read(0.1, 0.5)
    keys = [s.key(bytes([c])) for c in b"worker-0123"]
    os.write(s.fd, b"\x1b")
    s.read(0.2, 0.5)
    os.write(s.fd, b"\x1b")
    s.read(0.2, 0.5)
    got["filter"] = max(k[1] for k in keys if k)
    return s, got


def busy(s, config, ns, pods):
    """Keys typed into the command line while pods change; the list behind it moves."""
    argv = [sys.executable, os.path.join(HERE, "scale_load.py"), "change", config, ns, str(RATE),
            str(SECONDS), pods]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as load:
        os.write(s.fd, b":")
        s.read(0.2, 1)
        cpu, begin, times = s.stat()[0], time.monotonic(), []
        while load.poll() is None:
            s.read(0.02, 0.05)
            sign = b"^" if len(times) % 2 else b"~"
            at = time.monotonic()
            os.write(s.fd, sign)
            _, _, last = s.read(0.5, 2, sign)
            times.append((last - at) * 1000 if last else 2000)
            os.write(s.fd, b"\x7f")
        share = (s.stat()[0] - cpu) / (time.monotonic() - begin)
        rate = float(load.stdout.read() or 0)
    return times, share, rate


def kubectl(program, config, ns):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run([program, "--kubeconfig", config, "-n", ns, "get", "pods"], check=True,
                   stdout=subprocess.DEVNULL)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_maxrss / 1024, wall


def k9s(program, config, ns):
    s = Screen([program, "--kubeconfig", config, "-n", ns, "-c", "pods", "--readonly"])
    got = {"first": first_rows(s, 60)}
    settle(s, 2, 20)
    got["user"], got["rss"] = user(s), peak_mb(s)
    got["idle"] = idle(s, 20)
    s.close()
    return got


def main():
    program, kube, other, config, ns, pods = sys.argv[1:]
    user_s, rss, wall = kubectl(kube, config, ns)
    s, p = podium(program, config)
    k = k9s(other, config, ns) if other != "-" else {}
    print("bench scale.pods %s pods in one namespace" % pods)
    say("scale.kubectl.wall", wall, "s")
    say("scale.first-rows", p["first"], "s", "k9s", k.get("first"))
    say("scale.list.user", p["user"], "s", "kubectl", user_s)
    say("scale.list.rss", p["rss"], "MB", "kubectl", rss)
    if k:
        say("scale.list.user", p["user"], "s", "k9s", k["user"])
        say("scale.list.rss", p["rss"], "MB", "k9s", k["rss"])
    say("scale.idle", p["idle"], "s-CPU/min", "k9s", k.get("idle"))
    say("scale.filter.key", p["filter"], "ms")
    times, share, rate = busy(s, config, ns, pods)
    say("scale.events", rate, "1/s")
    say("scale.events.key.p99", percentile(times, 99), "ms")
    say("scale.events.cpu", share * 100, "%")
    say("scale.events.rss", peak_mb(s), "MB")
    s.close()


if __name__ == "__main__":
    main()
