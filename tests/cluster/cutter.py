"""cutter.py PORT BYTES TIMES: passes connections on to 127.0.0.1:PORT and prints its
own port; the first TIMES connections over which more than BYTES went are reset."""
import socket
import struct
import sys
import threading

port, limit, times = int(sys.argv[1]), int(sys.argv[2]), [int(sys.argv[3])]
lock = threading.Lock()


def cut(a, b):
    for s in (a, b):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.shutdown(socket.SHUT_RDWR)
        s.close()


def pump(a, b, state):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
            with lock:
                state["bytes"] += len(data)
                if state["bytes"] > limit and times[0] > 0 and not state["cut"]:
                    state["cut"] = True
                    times[0] -= 1
                    cut(a, b)
                    return
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(64)
print(server.getsockname()[1], flush=True)
while True:
    one, _ = server.accept()
    two = socket.create_connection(("127.0.0.1", port))
    state = {"bytes": 0, "cut": False}
    for a, b in ((one, two), (two, one)):
        threading.Thread(target=pump, args=(a, b, state), daemon=True).start()
