"""A cluster that never rests, for console.py: an API server on a free port with
one node and one pod, EVENTS_A_SECOND changes on the watch of events and
LINES_A_SECOND lines in the pod's log. Prints the kubeconfig it wrote."""
import http.server
import json
import os
import sys
import threading
import time

EVENTS_A_SECOND, LINES_A_SECOND = 500, 5000
NOW = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
POD = {"kind": "Pod", "apiVersion": "v1",
       "metadata": {"name": "busy-0", "namespace": "default", "uid": "u-pod",
                    "resourceVersion": "5", "creationTimestamp": NOW},
       "spec": {"nodeName": "node-0", "containers": [{"name": "train", "image": "x"}]},
       "status": {"phase": "Running", "startTime": NOW, "containerStatuses": [
           {"name": "train", "ready": True, "restartCount": 0, "image": "x", "imageID": "x",
            "state": {"running": {"startedAt": NOW}}}]}}
NODE = {"kind": "Node", "apiVersion": "v1",
        "metadata": {"name": "node-0", "uid": "u-node", "resourceVersion": "4",
                     "creationTimestamp": NOW},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi"},
                   "capacity": {"cpu": "8", "memory": "32Gi"},
                   "conditions": [{"type": "Ready", "status": "True"}]}}


def event(n):
    return {"kind": "Event", "apiVersion": "v1",
            "metadata": {"name": "e-%d" % (n % 200), "namespace": "default", "uid": "u-%d" % n,
                         "resourceVersion": str(100 + n), "creationTimestamp": NOW},
            "involvedObject": {"kind": "Pod", "name": "busy-0", "namespace": "default"},
            "type": "Normal", "reason": "Busy", "message": "change number %d" % n,
            "count": n + 1, "firstTimestamp": NOW, "lastTimestamp": NOW}


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def stream(self, kind, rate, make):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        n, begin = 0, time.monotonic()
        while True:
            due = int((time.monotonic() - begin) * rate)
            if due > n:
                self.chunk(b"".join(make(i) for i in range(n, due)))
                n = due
            time.sleep(0.01)

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        try:
            if path.endswith("/log"):
                self.stream("text/plain", LINES_A_SECOND,
                            lambda i: b"%s line %d of the trainer, loss 1.2345\n"
                            % (NOW.encode(), i))
            elif "watch=" in query and path.endswith("/events"):
                self.stream("application/json", EVENTS_A_SECOND, lambda i: json.dumps(
                    {"type": "ADDED" if i < 200 else "MODIFIED", "object": event(i)}).encode() + b"\n")
            elif "watch=" in query:
                self.stream("application/json", 0, None)
            elif path == "/version":
                self.answer({"major": "1", "minor": "34", "gitVersion": "v1.34.4"})
            else:
                items = {"nodes": [NODE], "pods": [POD]}.get(path.rsplit("/", 1)[1], [])
                self.answer({"kind": "List", "apiVersion": "v1", "items": items,
                             "metadata": {"resourceVersion": "99"}})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads = True
    path = os.path.join(sys.argv[1], "busy.kubeconfig")
    with open(path, "w") as f:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "busy",
                   "clusters": [{"name": "busy", "cluster": {
                       "server": "http://127.0.0.1:%d" % server.server_address[1]}}],
                   "users": [{"name": "me", "user": {"token": "t"}}],
                   "contexts": [{"name": "busy", "context": {"cluster": "busy", "user": "me"}}]}, f)
    print(path, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
