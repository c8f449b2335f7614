"""Measure a full-screen program on a pseudo terminal; see console.sh."""
import fcntl
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LABS = os.path.join(HERE, "..", "screens", "labs")


class Screen:
    """A program on a pty of 120x40."""

    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "PODIUM_CLOCK": "off",
                   "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
            os.read(0, 1)        # until the size is set
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.start = time.monotonic()
        os.write(self.fd, b"\n")
        self.read(0.002, 0.002)  # the echo

    def read(self, quiet, limit, until=None):
        """Bytes until `quiet` seconds pass without any, or until a text stands in
        them: (count, first, last) in seconds."""
        begin, data, first, last = time.monotonic(), b"", None, None
        while time.monotonic() - begin < limit:
            ready, _, _ = select.select([self.fd], [], [], quiet)
            if not ready:
                if data:
                    break
                continue
            try:
                data += os.read(self.fd, 65536)
            except OSError:
                break
            last = time.monotonic()
            first = first or last
            if until and until in data:
                break
        return len(data), first, last

    def key(self, key):
        """Milliseconds to the first and the last byte of the answer, and its bytes."""
        begin = time.monotonic()
        os.write(self.fd, key)
        count, first, last = self.read(0.03, 0.5)
        if not count:
            return None
        return (first - begin) * 1000, (last - begin) * 1000, count

    def stat(self):
        """CPU seconds, and how often it was woken."""
        with open("/proc/%d/stat" % self.pid) as f:
            part = f.read().rsplit(")", 1)[1].split()
        with open("/proc/%d/status" % self.pid) as f:
            woken = [int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt")][0]
        return (int(part[11]) + int(part[12])) / os.sysconf("SC_CLK_TCK"), woken

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 5
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0 and time.monotonic() < end:
            self.read(0.01, 0.05)
        os.close(self.fd)


def first_paint(argv):
    times, sizes = [], []
    for _ in range(9):
        s = Screen(argv)
        count, first, _ = s.read(0.3, 5)
        times.append((first - s.start) * 1000)
        sizes.append(count)
        s.close()
    return statistics.median(times), statistics.median(sizes)


def percentile(values, p):
    return sorted(values)[min(len(values) * p // 100, len(values) - 1)]


def moves(argv, sequence, opening=b""):
    """A cursor move: first byte (median), last byte (95 %), bytes (median, most)."""
    s = Screen(argv)
    s.read(0.7, 4)
    if opening:
        s.key(opening)
    got = []
    for i in range(120):
        r = s.key(sequence[i % len(sequence)])
        s.read(0.13, 0.13)       # what follows once the cursor rests is no part of the move
        got += [r] if r else []
    s.close()
    return (statistics.median(r[0] for r in got), percentile([r[1] for r in got], 95),
            statistics.median(r[2] for r in got), max(r[2] for r in got))


def typed(s, times):
    """Milliseconds from a key to the very sign on the screen, while all else moves."""
    got = []
    for i in range(times):
        sign = b"^" if i % 2 else b"~"
        begin = time.monotonic()
        os.write(s.fd, sign)
        _, _, last = s.read(0.5, 2, sign)
        got.append((last - begin) * 1000 if last else 2000)
        os.write(s.fd, b"\x7f")
        s.read(0.01, 0.02 + i % 17 / 1000)
    return statistics.median(got), percentile(got, 95), max(got)


def under_load(podium):
    with subprocess.Popen([sys.executable, os.path.join(HERE, "cluster.py"), os.environ["HOME"]],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        config = cluster.stdout.readline().strip()
        s = Screen([podium, "--kubeconfig", config, "--labs", LABS, "--lab", "check-cluster"])
        s.read(0.5, 2)
        for key in (b"1", b"j", b"\r"):      # the pod's log
            os.write(s.fd, key)
            s.read(0.3, 0.6)
        before, begin = s.stat()[0], time.monotonic()
        flow, _, _ = s.read(0.5, 3)
        cpu = (s.stat()[0] - before) / (time.monotonic() - begin)
        os.write(s.fd, b":")
        s.read(0.1, 0.3)
        result = typed(s, 150)
        s.close()
        cluster.stdin.close()
    return result, flow / 3, cpu


def build_context(folder):
    """2 GB to read, hash and compress."""
    os.makedirs(folder)
    with open(os.path.join(folder, "Dockerfile"), "w") as f:
        f.write("FROM scratch\nCOPY data /data\n")
    block = os.urandom(1 << 20)
    with open(os.path.join(folder, "data"), "wb") as f:
        for i in range(2048):
            f.write(block[i % 1024:] + block[:i % 1024])


def during_build(podium):
    folder = os.path.join(os.environ["HOME"], "context")
    build_context(folder)
    with open(os.path.join(os.environ["HOME"], "build.log"), "wb") as log:
        build = subprocess.Popen([podium, "image", "build", "-t", "bench:1", folder], stdout=log,
                                 stderr=log)
    s = Screen([podium, "--kubeconfig", "/nowhere/config", "--labs", LABS])
    s.read(0.5, 2)
    os.write(s.fd, b":")
    s.read(0.1, 0.3)
    result = typed(s, 100)
    running = build.poll() is None
    s.close()
    build.kill()
    build.wait()
    return result if running else None


def idle(argv, seconds):
    s = Screen(argv)
    s.read(1.0, 5)
    cpu, woken = s.stat()
    count, _, _ = s.read(seconds, seconds)
    after, after_woken = s.stat()
    s.close()
    return count / seconds, (after_woken - woken) / seconds, (after - cpu) / seconds * 100


def line(name, ours, unit, theirs):
    """theirs: {peer: value}"""
    if not theirs:
        print("bench console.%s %.4g %s" % (name, ours, unit), flush=True)
    for peer, value in theirs.items():
        print("bench console.%s %.4g %s vs %s %.4g ratio %.3g"
              % (name, ours, unit, peer, value, ours / value if value else 0), flush=True)


def table(names, ours, peers):
    for i, (name, unit) in enumerate(names):
        line(name, ours[i], unit, {p: v[i] for p, v in peers.items()})


def main():
    podium = os.path.abspath(sys.argv[1])
    peers = {}
    for name in ("htop", "btop"):
        path = shutil.which(name)
        if path:
            peers[name] = [path] + (["--utf-force"] if name == "btop" else [])
        else:
            print("console: no %s here (apt-get install %s), so no line beside it" % (name, name))
    table((("first-paint", "ms"), ("first-screen", "bytes")), first_paint([podium]),
          {n: first_paint(a) for n, a in peers.items()})
    arrows = [b"\x1b[B", b"\x1b[B", b"\x1b[A", b"\x1b[A"]
    labs = [podium, "--labs", LABS]
    table((("move-first-byte-median", "ms"), ("move-last-byte-p95", "ms"),
           ("move-bytes-median", "bytes"), ("move-bytes-most", "bytes")), moves(labs, arrows),
          {n: moves(a, arrows) for n, a in peers.items()})
    line("palette-move-bytes-median", moves(labs, arrows, b":")[2], "bytes", {})
    table((("idle", "bytes/s"), ("idle-wakeups", "/s"), ("idle-cpu", "%")), idle([podium], 5),
          {n: idle(a, 5) for n, a in peers.items()})
    got, flow, cpu = under_load(podium)
    table((("key-to-sign-median-500-events-5000-lines", "ms"),
           ("key-to-sign-p95-500-events-5000-lines", "ms"),
           ("key-to-sign-most-500-events-5000-lines", "ms")), got, {})
    line("flow-500-events-5000-lines", flow, "bytes/s", {})
    line("cpu-500-events-5000-lines", cpu * 100, "%", {})
    got = during_build(podium)
    if got:
        line("key-to-sign-p95-during-a-2-GB-build", got[1], "ms", {})
    else:
        print("console: the build ended before the keys were measured, so no line for it")


if __name__ == "__main__":
    main()
