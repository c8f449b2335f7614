"""relay.py TARGET_HOST TARGET_PORT - a wire that can be cut: prints its port, then
passes bytes on. "cut" on stdin ends all connections and refuses new ones,
"mend" takes them again; the end of stdin ends it."""
import selectors
import socket
import sys

target = (sys.argv[1], int(sys.argv[2]))
sel = selectors.DefaultSelector()
pairs = {}


def listen(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(64)
    sel.register(s, selectors.EVENT_READ, "listen")
    return s


def drop(c):
    for s in (c, pairs.pop(c, None)):
        if s is None:
            continue
        pairs.pop(s, None)
        try:
            sel.unregister(s)
        except (KeyError, ValueError):
            pass
        s.close()


server = listen(0)
port = server.getsockname()[1]
print(port, flush=True)
sel.register(sys.stdin, selectors.EVENT_READ, "stdin")
while True:
    for key, _ in sel.select():
        if key.data == "stdin":
            word = sys.stdin.readline().strip()
            if not word:
                sys.exit(0)
            if word == "cut" and server:
                sel.unregister(server)
                server.close()
                server = None
                for c in list(pairs):
                    drop(c)
            elif word == "mend" and not server:
                server = listen(port)
        elif key.data == "listen":
            a, _ = key.fileobj.accept()
            try:
                b = socket.create_connection(target, 5)
            except OSError:
                a.close()
                continue
            pairs[a], pairs[b] = b, a
            sel.register(a, selectors.EVENT_READ, "pipe")
            sel.register(b, selectors.EVENT_READ, "pipe")
        elif key.fileobj in pairs:
            try:
                data = key.fileobj.recv(65536)
                if data:
                    pairs[key.fileobj].sendall(data)
            except OSError:
                data = b""
            if not data:
                drop(key.fileobj)
