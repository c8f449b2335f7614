"""A server that writes down how it was asked: method, path, Host, SNI, headers,
client certificate, and through which proxy. One plain port, one TLS port, and
three proxies (HTTP, HTTPS, SOCKS5), all on loopback. Used by kubeconfig.py."""
import base64
import http.server
import json
import os
import select
import socket
import socketserver
import ssl
import struct
import subprocess
import threading

KEPT = ("authorization", "host", "upgrade", "accept-encoding")


class Pki:
    """A CA, a server certificate, and client certificates, made with openssl."""

    def __init__(self, folder):
        self.dir = folder
        os.makedirs(folder, exist_ok=True)
        self.ca = self.make("ca", "/CN=test-ca", None, "basicConstraints=critical,CA:TRUE")
        self.other_ca = self.make("other-ca", "/CN=other-ca", None,
                                  "basicConstraints=critical,CA:TRUE")
        names = "DNS:localhost,DNS:server.test,DNS:proxy.test,IP:127.0.0.1,IP:127.0.0.2"
        self.server = self.make("server", "/CN=server", self.ca, "subjectAltName=" + names)
        self.jane = self.make("jane", "/O=lab/CN=jane", self.ca, "extendedKeyUsage=clientAuth")
        self.joe = self.make("joe", "/O=lab/CN=joe", self.ca, "extendedKeyUsage=clientAuth")

    def path(self, name):
        return os.path.join(self.dir, name)

    def make(self, name, subject, signer, ext, days="30"):
        key, cert, conf = (self.path(name + s) for s in (".key", ".crt", ".cnf"))
        with open(conf, "w") as f:
            f.write("[req]\ndistinguished_name=dn\n[dn]\n[e]\n%s\n" % ext)
        run = lambda *a: subprocess.run(("openssl",) + a, check=True, capture_output=True)
        run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        base = ["req", "-new", "-key", key, "-subj", subject, "-config", conf]
        if signer is None:
            run(*base, "-x509", "-days", days, "-extensions", "e", "-out", cert)
        else:
            run(*base, "-out", self.path("csr"))
            run("x509", "-req", "-in", self.path("csr"), "-CA", signer[0], "-CAkey", signer[1],
                "-CAcreateserial", "-days", days, "-extfile", conf, "-extensions", "e", "-out",
                cert)
        return cert, key


def data(path):
    with open(path, "rb") as f:
        return base64.b64encode(f.read()).decode()


class Recorder:
    """Start with Recorder(pki); .requests is the list of what came."""

    def __init__(self, pki):
        self.requests = []
        self.lock = threading.Lock()
        self.refused = set()          # Authorization values that get a 401
        self.vias = {}                # local port of a proxy's outgoing connection: its name
        self.snis = {}
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(*pki.server)
        ctx.load_verify_locations(pki.ca[0])
        ctx.verify_mode = ssl.CERT_OPTIONAL
        ctx.sni_callback = lambda s, name, c: self.snis.__setitem__(id(s), name)
        self.ctx = ctx
        self.plain = self.serve(http_handler(self), None)
        self.tls = self.serve(http_handler(self), ctx)
        proxy_ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        proxy_ctx.load_cert_chain(*pki.server)
        self.proxies = {"http": self.serve(proxy_handler(self, "http"), None),
                        "https": self.serve(proxy_handler(self, "https"), proxy_ctx),
                        "socks5": self.serve(socks_handler(self), None)}

    def serve(self, handler, ctx):
        class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
            daemon_threads = True
            request_queue_size = 64

            def process_request_thread(self, request, address):
                try:
                    if ctx:
                        request.settimeout(20)
                        request = ctx.wrap_socket(request, server_side=True)
                except (OSError, ssl.SSLError):
                    request.close()
                    return
                super().process_request_thread(request, address)

            def handle_error(self, request, address):
                pass

        s = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=s.serve_forever, args=(0.05,), daemon=True).start()
        return s.server_address[1]

    def take(self):
        with self.lock:
            out, self.requests = self.requests, []
        return out


def subject(cert):
    parts = [kv for rdn in (cert or {}).get("subject", ()) for kv in rdn]
    return dict(parts).get("commonName", "") if cert else ""


def http_handler(rec):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *a):
            pass

        def note(self):
            tls = isinstance(self.connection, ssl.SSLSocket)
            e = {"method": self.command, "path": self.path, "tls": tls,
                 "sni": (rec.snis.get(id(self.connection)) or "") if tls else "",
                 "cert": subject(self.connection.getpeercert()) if tls else "",
                 "via": rec.vias.get(self.client_address[1], "")}
            for k in KEPT:
                e[k] = self.headers.get(k, "")
            e["impersonate"] = sorted(
                "%s: %s" % (k.lower(), v) for k, v in self.headers.items()
                if k.lower().startswith("impersonate-"))
            with rec.lock:
                rec.requests.append(e)
            return e

        def answer(self, code, body):
            text = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def handle_any(self):
            n = int(self.headers.get("Content-Length", 0) or 0)
            self.rfile.read(n)
            e = self.note()
            if e["authorization"] in rec.refused:
                self.answer(401, {"kind": "Status", "status": "Failure", "code": 401,
                                  "reason": "Unauthorized", "message": "Unauthorized"})
            elif e["upgrade"]:
                self.answer(404, {"kind": "Status", "status": "Failure", "code": 404,
                                  "reason": "NotFound", "message": "pods \"x\" not found"})
            elif self.path.endswith("/selfsubjectreviews"):
                self.answer(201, {"kind": "SelfSubjectReview", "status": {"userInfo": {
                    "username": "somebody", "groups": ["lab"]}}})
            else:
                self.answer(200, {"major": "1", "minor": "34", "gitVersion": "v1.34.4"})

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    return Handler


def pump(a, b):
    try:
        while True:
            if isinstance(a, ssl.SSLSocket) and a.pending():
                ready = [a]
            else:
                ready = select.select([a, b], [], [], 20)[0]
            if not ready:
                return
            for s in ready:
                got = s.recv(65536)
                if not got:
                    return
                (b if s is a else a).sendall(got)
    except OSError:
        pass


def proxy_handler(rec, name):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *a):
            pass

        def out(self, host, port):
            local = rec.plain if port == rec.plain else rec.tls
            s = socket.create_connection(("127.0.0.1", local))
            auth = self.headers.get("Proxy-Authorization", "")
            rec.vias[s.getsockname()[1]] = " ".join([name, "%s:%d" % (host, port), auth]).strip()
            return s

        def do_CONNECT(self):
            host, port = self.path.rsplit(":", 1)
            s = self.out(host, int(port))
            self.send_response(200)
            self.end_headers()
            pump(self.connection, s)
            s.close()
            self.close_connection = True

        def do_GET(self):
            rest = self.path.split("://", 1)[1]
            place, path = rest.split("/", 1) if "/" in rest else (rest, "")
            host, port = (place.rsplit(":", 1) + ["80"])[:2]
            n = int(self.headers.get("Content-Length", 0) or 0)
            body = self.rfile.read(n)
            s = self.out(host, int(port))
            lines = ["%s /%s HTTP/1.1" % (self.command, path)]
            lines += ["%s: %s" % kv for kv in self.headers.items()
                      if not kv[0].lower().startswith("proxy-")] + ["Connection: close", "", ""]
            s.sendall("\r\n".join(lines).encode() + body)
            while True:
                got = s.recv(65536)
                if not got:
                    break
                self.wfile.write(got)
            s.close()
            self.close_connection = True

        do_POST = do_GET

    return Handler


def socks_handler(rec):
    class Handler(socketserver.BaseRequestHandler):
        def exactly(self, n):
            out = b""
            while len(out) < n:
                got = self.request.recv(n - len(out))
                if not got:
                    raise OSError("cut")
                out += got
            return out

        def handle(self):
            _, n = self.exactly(2)
            methods, who = self.exactly(n), ""
            if 2 in methods:
                self.request.sendall(b"\5\2")
                user = self.exactly(self.exactly(2)[1])
                who = " " + user.decode() + ":" + self.exactly(self.exactly(1)[0]).decode()
                self.request.sendall(b"\1\0")
            else:
                self.request.sendall(b"\5\0")
            kind = self.exactly(4)[3]
            if kind == 3:
                host = self.exactly(self.exactly(1)[0]).decode()
            else:
                raw = self.exactly(4 if kind == 1 else 16)
                host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, raw)
            port = struct.unpack("!H", self.exactly(2))[0]
            s = socket.create_connection(("127.0.0.1", rec.plain if port == rec.plain else rec.tls))
            rec.vias[s.getsockname()[1]] = "socks5 %s:%d%s" % (host, port, who)
            self.request.sendall(b"\5\0\0\1\0\0\0\0\0\0")
            pump(self.request, s)
            s.close()

    return Handler
