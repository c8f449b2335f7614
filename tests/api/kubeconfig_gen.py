"""Random kubeconfigs: sets of one to three files with clusters, users and contexts in
every field, written in several styles of YAML. A set's names begin with its own
prefix, so that many sets can be judged by one call."""
import json
import os
import re

import kubeconfig_server as server

PLAIN = re.compile(r"^[a-z][a-z0-9/.-]*[a-z0-9]$")
WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
TEXTS = ["a", "x y", "käse", "实验", "a: b", "#no", "it's", 'say "hi"', "-", "1", "0x1", "~", "true",
         "a\\b", "%41", "{x}", "[x]", "& *", "é\u0301", "tab\there", "=", "a=b", ""]


def scalar(rng, v):
    if isinstance(v, bool):
        return rng.choice(["true", "True", "yes", "on"] if v else ["false", "no", "off"])
    if v is None:
        return rng.choice(["null", "~", ""])
    if PLAIN.match(v) and v not in WORDS and rng.random() < 0.6:
        return v
    if rng.random() < 0.3 and "\n" not in v and "\t" not in v and all(ord(c) < 256 for c in v):
        return "'" + v.replace("'", "''") + "'"
    return json.dumps(v, ensure_ascii=rng.random() < 0.5)


def flow(rng, v):
    if isinstance(v, dict):
        return "{" + ", ".join("%s: %s" % (json.dumps(k), flow(rng, x)) for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(flow(rng, x) for x in v) + "]"
    return "null" if v is None else scalar(rng, v)


def block(rng, v, indent, out):
    pad = "  " * indent
    for k, x in v.items():
        key = k if PLAIN.match(k) and k not in WORDS else json.dumps(k)
        if isinstance(x, dict) and x and rng.random() < 0.7:
            out.append("%s%s:" % (pad, key))
            block(rng, x, indent + 1, out)
        elif isinstance(x, list) and x and rng.random() < 0.7:
            out.append("%s%s:" % (pad, key))
            for e in x:
                if isinstance(e, dict) and e:
                    lines = []
                    block(rng, e, indent + 1, lines)
                    lines[0] = pad + "- " + lines[0].lstrip()
                    out += lines
                else:
                    out.append("%s- %s" % (pad, flow(rng, e)))
        else:
            out.append("%s%s: %s" % (pad, key, flow(rng, x) if isinstance(x, (dict, list))
                                     else scalar(rng, x)))
            if rng.random() < 0.1:
                out[-1] += "   # why"


def write(rng, doc):
    kind = rng.random()
    if kind < 0.15:
        return json.dumps(doc, indent=rng.choice([None, 2]), ensure_ascii=False)
    out = []
    block(rng, doc, 0, out)
    text = "\n".join(out) + "\n"
    if rng.random() < 0.2:
        text = "---\n" + text
    if rng.random() < 0.1:
        text = "# made\n\n" + text
    if rng.random() < 0.1:
        text += "---\nkind: Other\n"
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return ("\ufeff" if rng.random() < 0.05 else "") + text


class Gen:
    def __init__(self, rng, pki, rec):
        self.rng, self.pki, self.rec = rng, pki, rec

    def maybe(self, d, p, key, make):
        if self.rng.random() < p:
            d[key] = make()

    def text(self):
        return self.rng.choice(TEXTS)

    def data(self, path):
        d = server.data(path)
        if self.rng.random() < 0.2:
            d = "\n".join(d[i:i + 64] for i in range(0, len(d), 64)) + "\n"
        return d

    def proxy(self):
        r, rec = self.rng, self.rec
        kind = r.choice(["http", "https", "socks5"])
        who = r.choice(["", "", "pu:pp@"]) if kind != "https" else ""
        return "%s://%s127.0.0.1:%d" % (kind, who, rec.proxies[kind])

    def address(self, live):
        r, rec = self.rng, self.rec
        path = r.choice(["", "", "/", "/k8s/c-1", "/a//b/", "/a/./b/../c/", "/p?q=1", "/p#f"])
        if live and r.random() < 0.15:
            return "http://127.0.0.1:%d%s" % (rec.plain, path)
        host = r.choice(["127.0.0.1", "127.0.0.1", "localhost", "server.test"])
        who = r.choice([""] * 8 + ["me:p%40w@"])
        return "https://%s%s:%d%s" % (who, host, rec.tls, path)

    def cluster(self, live, folder):
        r, c = self.rng, {}
        c["server"] = self.address(live)
        if r.random() < 0.15:
            c["insecure-skip-tls-verify"] = True
        elif r.random() < 0.6:
            c["certificate-authority-data"] = self.data(self.pki.ca[0])
        else:
            c["certificate-authority"] = r.choice(
                [self.pki.ca[0], os.path.relpath(self.pki.ca[0], folder)])
        self.maybe(c, 0.3, "tls-server-name", lambda: r.choice(["server.test", "localhost"]))
        if "server.test" in c["server"] or r.random() < 0.25:
            c["proxy-url"] = self.proxy()
        self.maybe(c, 0.2, "disable-compression", lambda: r.choice([True, False]))
        self.maybe(c, 0.15, "extensions", lambda: [{"name": "x", "extension": {"k": self.text()}}])
        return c

    def user(self, live, folder):
        r, u, pki = self.rng, {}, self.pki
        kind = r.choice(["token", "file", "both", "basic", "cert", "certfile", "mixed"])
        who = r.choice([pki.jane, pki.joe])
        if kind in ("token", "both", "mixed"):
            u["token"] = r.choice(["abc", "a:b c", "x.y.z", "käse" if not live else "k", "t=="])
        if kind in ("file", "both"):
            u["tokenFile"] = r.choice(["tok", os.path.join(folder, "tok"), "./tok"])
        if kind == "basic":
            u["username"] = r.choice(["me", "a b", "ü" if not live else "u"])
            self.maybe(u, 0.8, "password", lambda: r.choice(["pw", "p:w", "\"q\""]))
        if kind in ("cert", "mixed"):
            u["client-certificate-data"] = self.data(who[0])
            u["client-key-data"] = self.data(who[1])
        if kind == "certfile":
            u["client-certificate"] = os.path.relpath(who[0], folder)
            u["client-key"] = who[1]
        if r.random() < 0.3:
            u["as"] = r.choice(["jane", "system:serviceaccount:a:b"])
            self.maybe(u, 0.5, "as-groups", lambda: r.sample(["g1", "g 2", "system:masters"], 2))
            self.maybe(u, 0.5, "as-uid", lambda: "uid-1")
            self.maybe(u, 0.5, "as-user-extra",
                       lambda: {r.choice(["reason", "a/b", "K%C"]): ["v1", "v 2"]})
        if r.random() < 0.25:
            u["exec"] = {"apiVersion": "client.authentication.k8s.io/" + r.choice(["v1", "v1beta1"]),
                         "command": r.choice(["./plugin", "aws"]), "interactiveMode": "Never"}
            self.maybe(u["exec"], 0.5, "args", lambda: [r.choice(["a", "b c"]), "get-token"])
            self.maybe(u["exec"], 0.5, "env", lambda: [{"name": "A", "value": self.text()}])
            self.maybe(u["exec"], 0.5, "provideClusterInfo", lambda: True)
            self.maybe(u["exec"], 0.3, "installHint", self.text)
        self.maybe(u, 0.1, "unknown-field", self.text)
        return u

    def make(self, prefix, folder, live):
        """One set: writes its files, returns (paths, context names)."""
        r = self.rng
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "tok"), "w") as f:
            f.write(r.choice(["", " ", "\n"]) + "filetoken" + r.choice(["", "\n", " \n"]))
        paths, contexts, known = [], [], {"clusters": [], "users": []}
        for n in range(r.choice([1, 1, 2, 3])):
            doc = {"apiVersion": "v1", "kind": "Config"}
            if r.random() < 0.2:
                del doc["apiVersion"], doc["kind"]
            for many, one, make in (("clusters", "cluster", self.cluster),
                                    ("users", "user", self.user)):
                names = r.sample(["c1", "c2", "c 3", "\u96c6"], r.choice([1, 2]))
                doc[many] = [{"name": prefix + x, one: make(live, folder)} for x in names]
                known[many] += [prefix + x for x in names]
            doc["contexts"] = []
            for x in r.sample(["k1", "k2", "k 3", "k:4"], r.choice([1, 2, 3])):
                c = {"cluster": r.choice(known["clusters"]), "user": r.choice(known["users"])}
                self.maybe(c, 0.5, "namespace", lambda: r.choice(["lab", "team-a", "default"]))
                doc["contexts"].append({"name": prefix + x, "context": c})
                contexts.append(prefix + x)
            if r.random() < 0.8:
                doc["current-context"] = r.choice(contexts)
            keys = list(doc)
            r.shuffle(keys)
            path = os.path.join(folder, "f%d" % n)
            with open(path, "w", newline="") as f:
                f.write(write(r, {k: doc[k] for k in keys}))
            os.chmod(path, 0o600)
            paths.append(path)
        return paths, sorted(set(contexts))

    FAULTS = [
        ("clusters: {}\n", "list"), ("users: [{name: 5}]\n", "string"),
        ("users: [{name: u, user: {token: 5}}]\n", "string"),
        ("users: [{name: u, user: {as-groups: x}}]\n", "list"),
        ("users: [{name: u, user: {exec: []}}]\n", "map"),
        ("clusters: [{name: c, cluster: {insecure-skip-tls-verify: 'true'}}]\n", "true or false"),
        ("clusters: [{name: c, cluster: {certificate-authority-data: '@@'}}]\n", "base64"),
        ("clusters: [{name: c}, {name: c}]\n", "duplicate"), ("contexts: [5]\n", "map"),
        ("kind: Pod\n", "Pod"), ("apiVersion: v2\n", "v2"), ("- a\n", "map"), ("a: [\n", "YAML"),
        ("\ta: b\n", "YAML"), ("current-context: 5\n", "string"), ("preferences: x\n", "map"),
        ("users: [{name: u, user: {as-user-extra: {a: b}}}]\n", "list"),
        ("contexts: [{name: k, context: {namespace: 5}}]\n", "string")]

    def fault(self, folder):
        """A file that spoils whatever it is merged with, and a word of the reason."""
        text, word = self.rng.choice(self.FAULTS)
        path = os.path.join(folder, "fault")
        with open(path, "w") as f:
            f.write(text)
        return path, word
