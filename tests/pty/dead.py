"""dead.py PODIUM KUBECONFIG DIR PORT - the console where packets go nowhere.

Runs in a network namespace of its own: PORT is a live API server on loopback that
this script mutes (packets are dropped, nothing is refused), 10.9.0.2 never
answers, and neither does the name server. Each key must be answered by the first
byte on the terminal within 50 ms, plus what a bare terminal with `cat` needed at
that time: at the start, in the midst of watches, in changing contexts, in leaving.
Closes with "N passed, N failed".
"""
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

podium, kubeconfig, folder, port = sys.argv[1:]
LIMIT = 50.0
passed = failed = 0


def drop(on):
    for what in ("--dport", "--sport"):
        subprocess.run(["iptables", "-D" if not on else "-I", "INPUT", "-p", "tcp", what, port,
                        "-j", "DROP"], check=True)


class Terminal:
    def __init__(self, argv):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execvp(argv[0], argv)
        self.pid = pid
        self.worst = 0.0
        self.slowest = ""
        self.keys = 0
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def read(self, seconds):
        """The bytes that come within so long, b"" when none; None at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.fd, 65536) or None
        except OSError:
            return None

    def quiet(self):
        while self.read(0.012):
            pass

    def key(self, k):
        self.quiet()
        start = time.monotonic()
        os.write(self.fd, k.encode())
        if not self.read(5):
            raise SystemExit(f"no answer at all to the key {k!r}")
        ms = (time.monotonic() - start) * 1000
        if ms > self.worst:
            self.worst, self.slowest = ms, k
        self.keys += 1

    def until_painted(self):
        start = time.monotonic()
        while time.monotonic() - start < 5:
            if self.read(0.05):
                break
        self.quiet()
        return (time.monotonic() - start) * 1000

    def gone(self, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if self.read(0.005) is None or os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
        return False


cat = Terminal(["cat"])


def check(what, t):
    global passed, failed
    limit = LIMIT + cat.worst
    cat.worst = 0.0
    good = t.worst <= limit
    passed, failed = passed + good, failed + (not good)
    print(f"{'' if good else 'FAIL '}{what}: {t.keys} keys, slowest {t.slowest!r} {t.worst:.1f} ms "
          f"(limit {limit:.0f})", flush=True)
    t.worst, t.keys = 0.0, 0


def console(context):
    journal = os.path.join(folder, f"{context}.journal")
    t = Terminal([podium, "--kubeconfig", kubeconfig, "--context", context, "--lang", "en",
                  "--record", journal])
    t.until_painted()
    return t, journal


def press(t, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for k in ("j", "k", "L"):
            t.key(k)
        cat.key("x")                 # how long a terminal takes on this machine now


def type_line(t, text):
    for k in text:
        t.key(k)
    t.key("\r")


def seen(journal, what, least=1, limit=10):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        with open(journal, errors="replace") as f:
            if f.read().count(what) >= least:
                return True
        time.sleep(0.02)
    return False


def verify(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}", flush=True)


def leave(what, t):
    """Back to the catalogue, then out; only the last key is timed."""
    cat.worst = 0.0
    cat.key("x")
    t.quiet()
    start = time.monotonic()
    os.write(t.fd, b"q")
    out = t.gone(20)
    ms = (time.monotonic() - start) * 1000
    verify(f"leaving {what} took {ms:.0f} ms", out and ms <= 2 * LIMIT + cat.worst)
    print(f"leaving {what}: {ms:.1f} ms", flush=True)


for context in ("dead", "noname"):
    t, journal = console(context)
    press(t, 1.2)
    check(f"start, context {context}", t)
    leave(f"while {context} is being connected to", t)

t, journal = console("live")
verify("the live cluster is connected to", seen(journal, '"state":"live"', 3))
press(t, 0.3)
check("live", t)
drop(True)
press(t, 1.5)
check("packets dropped in mid-watch", t)
for context in ("dead", "noname", "dead", "live", "noname"):
    type_line(t, f":ctx {context}")
    press(t, 0.4)
check("changing contexts, each of them mute", t)
for k in (":conn\r", "\x12", "\x12", "q", ":ctx\r", "p", "j", "p", "q"):
    os.write(t.fd, k.encode())       # such a key may change nothing; L always does
    t.key("L")
check("connection panel, asking again, asking each context", t)
type_line(t, ":ctx live")
drop(False)
lives = open(journal, errors="replace").read().count('"state":"live"')
press(t, 0.5)
verify("the cluster is back", seen(journal, '"state":"live"', lives + 1, 20))
check("packets pass again", t)
drop(True)
press(t, 0.3)
check("dropped once more", t)
leave("while packets are dropped", t)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
