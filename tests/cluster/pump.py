"""pump.py PORT FILE N: N connections at once, each sends FILE, ends its half, and
reads to the end; prints "same" when each got FILE back."""
import socket
import sys
import threading

with open(sys.argv[2], "rb") as f:
    want = f.read()
got = []


def one():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)

    def send():
        s.sendall(want)
        s.shutdown(socket.SHUT_WR)
    t = threading.Thread(target=send)
    t.start()
    parts = []
    while True:
        part = s.recv(65536)
        if not part:
            break
        parts.append(part)
    t.join()
    got.append(b"".join(parts) == want)


all_of_them = [threading.Thread(target=one) for _ in range(int(sys.argv[3]))]
for t in all_of_them:
    t.start()
for t in all_of_them:
    t.join()
print("same" if got == [True] * len(all_of_them) else "different: %s" % got)
