"""Measure a full-screen program on a pseudo terminal; see console.sh."""
import fcntl
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import sys
import termios
import time


class Screen:
    """A program on a pty of 120x40."""

    def __init__(self, argv):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"],
                   "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read(self, quiet, limit):
        """Bytes until `quiet` seconds pass without any: (count, first, last) in seconds."""
        begin, count, first, last = time.monotonic(), 0, None, None
        while time.monotonic() - begin < limit:
            ready, _, _ = select.select([self.fd], [], [], quiet)
            if not ready:
                if count:
                    break
                continue
            count += len(os.read(self.fd, 65536))
            last = time.monotonic()
            first = first or last
        return count, first, last

    def key(self, key):
        """Milliseconds to the first and the last byte of the answer, and its bytes."""
        begin = time.monotonic()
        os.write(self.fd, key)
        count, first, last = self.read(0.05, 0.5)
        if not count:
            return None
        return (first - begin) * 1000, (last - begin) * 1000, count

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def first_paint(argv):
    times, sizes = [], []
    for _ in range(7):
        s = Screen(argv)
        count, first, _ = s.read(0.3, 5)
        times.append((first - s.start) * 1000)
        sizes.append(count)
        s.close()
    return statistics.median(times), statistics.median(sizes)


def keys(argv, sequence, opening=b""):
    s = Screen(argv)
    s.read(1.0, 5)
    if opening:
        s.key(opening)
    got = [r for r in (s.key(sequence[i % len(sequence)]) for i in range(200)) if r]
    s.close()
    return (statistics.median(r[0] for r in got), sorted(r[1] for r in got)[len(got) * 95 // 100],
            statistics.median(r[2] for r in got))


def idle(argv, seconds):
    s = Screen(argv)
    s.read(1.0, 5)
    count, _, _ = s.read(seconds, seconds)
    with open("/proc/%d/stat" % s.pid) as f:
        part = f.read().rsplit(")", 1)[1].split()
    s.close()
    return count / seconds, (int(part[11]) + int(part[12])) / os.sysconf("SC_CLK_TCK")


def line(name, ours, unit, peer=None, theirs=None):
    text = "bench %s %.4g %s" % (name, ours, unit)
    if theirs is not None:
        text += " vs %s %.4g ratio %.3g" % (peer, theirs, ours / theirs if theirs else 0)
    print(text, flush=True)


def main():
    podium, htop = [os.path.abspath(sys.argv[1])], shutil.which("htop")
    peer = [htop] if htop else None
    if not peer:
        print("console: no htop here, so no peer")
    paint, size = first_paint(podium)
    theirs = first_paint(peer) if peer else (None, None)
    line("console.first-paint", paint, "ms", "htop", theirs[0])
    line("console.first-screen", size, "bytes", "htop", theirs[1])
    ours = keys(podium, [b"\x1b[B", b"\x1b[A"], b":")
    theirs = keys(peer, [b"\x1b[B", b"\x1b[A"]) if peer else (None, None, None)
    for i, (name, unit) in enumerate((("key-first-byte-median", "ms"), ("key-last-byte-p95", "ms"),
                                      ("key-bytes-median", "bytes"))):
        line("console." + name, ours[i], unit, "htop", theirs[i])
    rate, cpu = idle(podium, 5)
    line("console.idle", rate, "bytes/s", "htop", idle(peer, 5)[0] if peer else None)
    line("console.cpu-after-6-s-idle", cpu, "s")


if __name__ == "__main__":
    main()
