"""Kubeconfigs judged by kubectl itself: what it shows (config view) and what it asks a
recording server for. `table`: named cases, each also with what podium must say.
`random`: KUBECONFIG_COUNT generated sets (500), seed KUBECONFIG_SEED (printed).
Environment: KUBECTL, PODIUM (program), WORK (folder)."""
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import time

import kubeconfig_gen
import kubeconfig_server as server

KUBECTL, PODIUM, WORK = (os.environ[k] for k in ("KUBECTL", "PODIUM", "WORK"))
SAME = ("host", "sni", "authorization", "cert", "via", "impersonate", "tls")
passed = failed = 0


def check(ok, name, *why):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED " + name)
        for w in why:
            print("    " + str(w).replace("\n", "\n    ")[:1500])


def run(argv, env, cwd):
    e = {"PATH": os.environ["PATH"], "HOME": cwd, "LANG": "C.UTF-8"}
    e.update(env)
    return subprocess.run(argv, env=e, cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)


def asked(rec):
    """The requests that came, but those of a kubectl that picks its version first."""
    return [r for r in rec.take() if "timeout=5s" not in r["path"]]


def as_somebody(requests):
    """Those that carry who we are: a certificate is looked at without."""
    return [r for r in requests if r["authorization"] or r["cert"] or r["impersonate"]]


def route(r):
    return {k: r[k] for k in SAME}


def prefix_of(path, tail):
    path = path.split("?")[0]
    return path[:-len(tail)] if path.endswith(tail) else "? " + path


def same_requests(kube, ours):
    """None, or how podium's three requests differ from kubectl's one."""
    tails = ("/version", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
             "/api/v1/namespaces/%s/pods/podium-check/exec")
    want, first = route(kube), prefix_of(kube["path"], "/version")
    if len(ours) != 3:
        return "podium made %d requests, not 3" % len(ours)
    for r, tail in zip(ours, tails):
        if "%s" in tail:
            tail = "/api/v1/namespaces/" + r["path"].split("/namespaces/")[-1].split("?")[0]
        if route(r) != want:
            return "%s\nkubectl %s\npodium  %s" % (r["path"], want, route(r))
        if prefix_of(r["path"], tail) != first:
            return "prefix %r, kubectl's is %r" % (r["path"], first)
    return None


# --- the table ------------------------------------------------------------------------

def config(cluster, user, context="cluster: c, user: u", more=""):
    return ("apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n"
            "  cluster: {%s}\nusers:\n- name: u\n  user: {%s}\ncontexts:\n- name: x\n"
            "  context: {%s}\n%s" % (cluster, user, context, more))


S = 'server: "https://127.0.0.1:@TLS", certificate-authority-data: @CA'
N = 'certificate-authority-data: @CA'
V1 = "client.authentication.k8s.io/v1"


def plug(command, more="", version=V1, mode="interactiveMode: Never, "):
    return 'exec: {apiVersion: %s, command: "%s", %s%s}' % (version, command, mode, more)


def case(name, text, says=(), env=None, args=(), kubectl=None):
    """says: what podium must mention. kubectl: "elsewhere" (it goes to localhost:8080) or
    "prompt" (it asks for a user name), where podium answers by itself."""
    return {"name": name, "text": text, "says": says, "env": env or {}, "args": args,
            "kubectl": kubectl}


def cases():
    P = {"HTTPS_PROXY": "http://127.0.0.1:@HTTP"}
    Y = 'server: "https://server.test:@TLS", ' + N
    return [
        case("token", config(S, "token: abc")),
        case("token with a colon and a blank", config(S, 'token: "a:b c"')),
        case("token with a leading blank", config(S, 'token: " abc"')),
        case("token with a line break", config(S, 'token: "abc\\n"'), ["token", "line break"]),
        case("tokenFile wins over token", config(S, "token: abc, tokenFile: tok"), ["tokenFile"]),
        case("tokenFile relative", config(S, "tokenFile: ./sub/../tok")),
        case("tokenFile missing", config(S, "tokenFile: nope"), ["@DIR/nope", "tokenFile"]),
        case("tokenFile missing, token there", config(S, "token: abc, tokenFile: nope")),
        case("tokenFile empty", config(S, "tokenFile: emptytok"), ["emptytok", "empty"]),
        case("token and certificate", config(S, "token: abc, client-certificate-data: @JC, "
                                                "client-key-data: @JK")),
        case("certificate", config(S, "client-certificate-data: @JC, client-key-data: @JK"),
             ["jane"]),
        case("certificate files", config(S, "client-certificate: pki/jane.crt, client-key: "
                                            "pki/jane.key"), ["jane"]),
        case("certificate of another key", config(S, "client-certificate-data: @JC, "
             "client-key-data: @OK"), ["private key does not match public key"]),
        case("certificate and key swapped", config(S, "client-certificate-data: @JK, "
             "client-key-data: @JC"), ["swapped"]),
        case("certificate as key", config(S, "client-certificate-data: @JC, client-key-data: @JC"),
             ["client-key-data"]),
        case("certificate without key", config(S, "client-certificate-data: @JC"), ["client-key"]),
        case("key without certificate", config(S, "token: a, client-key-data: @JK")),
        case("certificate twice", config(S, 'client-certificate-data: @JC, client-certificate: '
             '"x", client-key-data: @JK'), ["client-certificate-data and client-certificate"]),
        case("certificate file missing", config(S, "client-certificate: x.crt, client-key: x.key"),
             ["@DIR/x.crt", "@DIR/x.key"]),
        case("certificate that is no PEM", config(S, "client-certificate-data: aGVsbG8=, "
             "client-key-data: @JK"), ["client-certificate-data", "PEM"]),
        case("basic", config(S, "username: a, password: b")),
        case("basic without password", config(S, "username: a")),
        case("token and basic", config(S, "token: abc, username: a"),
             ["more than one authentication method"]),
        case("tokenFile and basic", config(S, "tokenFile: tok, username: a, password: b"),
             ["only one"]),
        case("no credentials", config(S, ""), ["no credentials", "anonymous"], kubectl="prompt"),
        case("user of the server's address", config('server: "https://me:p%40w@127.0.0.1:@TLS", '
                                                    + N, "token: abc")),
        case("http sends nothing", config('server: "http://127.0.0.1:@PLAIN"', "token: abc"),
             ["no credentials are sent"]),
        case("http with user in the address", config('server: "http://me:pw@127.0.0.1:@PLAIN"',
                                                     "token: abc")),
        case("http still impersonates", config('server: "http://127.0.0.1:@PLAIN"',
                                               "token: abc, as: jane, as-groups: [x]")),
        case("no scheme", config('server: "127.0.0.1:@PLAIN"', "token: abc"), ["https://"]),
        case("no scheme, but a CA", config('server: "127.0.0.1:@TLS", ' + N, "token: abc"),
             ["no scheme"]),
        case("scheme in capitals", config('server: "HTTPS://127.0.0.1:@TLS", ' + N, "token: a")),
        case("scheme of something else", config('server: "ftp://127.0.0.1", ' + N, "token: a"),
             ["scheme"]),
        case("port out of range", config('server: "https://127.0.0.1:99999", ' + N, "token: a"),
             ["99999", "65535"]),
        case("blank before the address", config('server: " https://127.0.0.1:@TLS", ' + N,
                                                "token: a"), ["blank"]),
        case("prefix", config('server: "https://127.0.0.1:@TLS/k8s/clusters/c-1/?a=b#c", ' + N,
                              "token: a"), ["/k8s/clusters/c-1/api/v1"]),
        case("prefix of many slashes", config('server: "https://127.0.0.1:@TLS//a//./b//", ' + N,
                                              "token: a"), ["/a/b/api/v1"]),
        case("prefix with %20", config('server: "https://127.0.0.1:@TLS/a%20b", ' + N, "token: a")),
        case("no server", config("proxy-url: 'http://127.0.0.1:1'", "token: a"),
             ["no server found for cluster \"c\""], kubectl="elsewhere"),
        case("empty cluster", config("", "token: a"), ["no server found"], kubectl="elsewhere"),
        case("insecure", config('server: "https://127.0.0.1:@TLS", insecure-skip-tls-verify: true',
                                "token: a"), ["insecure-skip-tls-verify"]),
        case("insecure with a CA", config(S + ", insecure-skip-tls-verify: true", "token: a"),
             ["certificate-authority", "insecure-skip-tls-verify"]),
        case("another CA", config('server: "https://127.0.0.1:@TLS", certificate-authority-data: '
                                  "@OTHER", "token: a"), ["other-ca", "signed by test-ca"]),
        case("no CA", config('server: "https://127.0.0.1:@TLS"', "token: a"), ["certificate"]),
        case("CA file relative", config('server: "https://127.0.0.1:@TLS", certificate-authority: '
                                        "pki/ca.crt", "token: a"), ["@DIR/pki/ca.crt"]),
        case("CA file missing", config('server: "https://127.0.0.1:@TLS", certificate-authority: '
                                       "no/ca.pem", "token: a"), ["@DIR/no/ca.pem", "line"]),
        case("CA file is a folder", config('server: "https://127.0.0.1:@TLS", '
             "certificate-authority: pki", "token: a"), ["@DIR/pki"]),
        case("CA twice", config(S + ", certificate-authority: pki/ca.crt", "token: a"),
             ["both specified", "will override"]),
        case("CA not base64", config('server: "https://127.0.0.1:@TLS", certificate-authority-data: '
                                     '"@@@@"', "token: a"), ["certificate-authority-data",
                                                             "base64"]),
        case("CA base64 with a blank", config('server: "https://127.0.0.1:@TLS", '
             'certificate-authority-data: "@CA "', "token: a"), ["base64"]),
        case("CA of no PEM", config('server: "https://127.0.0.1:@TLS", certificate-authority-data: '
                                    "aGVsbG8=", "token: a"), ["PEM"]),
        case("tls-server-name", config('server: "https://127.0.0.2:@TLS", tls-server-name: '
                                       "server.test, " + N, "token: a"), ["server.test"]),
        case("localhost", config('server: "https://localhost:@TLS", ' + N, "token: a")),
        case("impersonation", config(S, 'token: a, as: jane, as-uid: u1, as-groups: [x, "y z"], '
                                        'as-user-extra: {"a/b Ü": [v1, "c d"], R: [x1]}')),
        case("groups without a user", config(S, "token: a, as-groups: [x]"),
             ["without impersonating a user"]),
        case("proxy http", config(Y + ', proxy-url: "http://pu:pp@127.0.0.1:@HTTP"', "token: a"),
             ["proxy-url"]),
        case("proxy https", config(Y + ', proxy-url: "https://127.0.0.1:@SSL"', "token: a")),
        case("proxy socks5", config(Y + ', proxy-url: "socks5://pu:pp@127.0.0.1:@SOCKS"',
                                    "token: a")),
        case("proxy for plain http", config('server: "http://server.test:@PLAIN/x", proxy-url: '
                                            '"http://127.0.0.1:@HTTP"', "token: a")),
        case("proxy and tls-server-name", config('server: "https://other.test:@TLS", '
             'tls-server-name: server.test, proxy-url: "http://127.0.0.1:@HTTP", ' + N,
                                                 "token: a")),
        case("proxy-url despite no_proxy", config(Y + ', proxy-url: "http://127.0.0.1:@HTTP"',
                                                  "token: a"), env={"NO_PROXY": "*"}),
        case("proxy-url of ftp", config(S + ', proxy-url: "ftp://x"', "token: a"),
             ["proxy-url", "ftp", "socks5"]),
        case("proxy-url without a scheme", config(S + ', proxy-url: "127.0.0.1:80"', "token: a"),
             ["proxy-url"]),
        case("proxy of the environment", config(Y, "token: a"), ["HTTPS_PROXY"], env=P),
        case("proxy of the environment, not for loopback", config(S, "token: a"), env=P),
        case("proxy excepted", config(Y, "token: a"), ["no_proxy"],
             env=dict(P, no_proxy=".test,other")),
        case("plugin", config(S, plug("./ok"))),
        case("plugin beside a token", config(S, "token: abc, " + plug("./ok")), ["not used"]),
        case("plugin beside a certificate", config(S, "client-certificate-data: @JC, "
             "client-key-data: @JK, " + plug("./ok"))),
        case("plugin beside basic", config(S, "username: a, password: b, " + plug("./ok"))),
        case("plugin over http", config('server: "http://127.0.0.1:@PLAIN"', plug("./ok"))),
        case("plugin told of the cluster", config(S + ', tls-server-name: server.test, proxy-url: '
             '"http://127.0.0.1:@HTTP", extensions: [{name: client.authentication.k8s.io/exec, '
             'extension: {a: 1, b: [x]}}]', plug("./ok", 'provideClusterInfo: true, args: [a, '
                                                         '"b c"], env: [{name: A, value: B}]'))),
        case("plugin gives a certificate", config(S, plug("./cert"))),
        case("plugin prints YAML", config(S, plug("./yaml"))),
        case("plugin prints garbage", config(S, plug("./garbage")), ["ExecCredential"]),
        case("plugin prints nothing", config(S, plug("./nothing")), ["nothing"]),
        case("plugin of another kind", config(S, plug("./kind")), ["ExecCredential"]),
        case("plugin of another version", config(S, plug("./ok", version=V1 + "beta1")),
             [V1 + "beta1", "returned version " + V1]),
        case("plugin without status", config(S, plug("./nostatus")), ["status"]),
        case("plugin with half a certificate", config(S, plug("./half")), ["not both"]),
        case("plugin that fails", config(S, plug("./fail")), ["exit code 7", "log in first"]),
        case("plugin that is missing", config(S, plug("no-such-plugin",
             'installHint: "get it here"')), ["no-such-plugin", "get it here"]),
        case("plugin path that is missing", config(S, plug("./nope")), ["@DIR/nope", "not found"]),
        case("plugin v1alpha1", config(S, plug("./ok", version=V1 + "alpha1")),
             ["v1alpha1", "v1beta1"]),
        case("plugin without apiVersion", config(S, "exec: {command: ./ok}"), ["apiVersion"]),
        case("plugin v1 without mode", config(S, plug("./ok", mode="")), ["interactiveMode"]),
        case("plugin of an unknown mode", config(S, plug("./ok", mode="interactiveMode: Maybe, ")),
             ["Maybe", "IfAvailable"]),
        case("plugin that must ask", config(S, plug("./ok", mode="interactiveMode: Always, ")),
             ["not a terminal"]),
        case("plugin without command", config(S, "exec: {apiVersion: %s}" % V1), ["command"]),
        case("auth-provider gcp", config(S, "auth-provider: {name: gcp}"),
             ["gcp", "gke-gcloud-auth-plugin"]),
        case("auth-provider and plugin", config(S, "auth-provider: {name: oidc}, " + plug("./ok")),
             ["auth-provider"]),
        case("context missing", config(S, "token: a").replace("current-context: x",
                                                              "current-context: xy"),
             ["xy", "did you mean \"x\""]),
        case("context of a flag missing", config(S, "token: a"), ["zz", "does not exist"],
             args=("--context", "zz")),
        case("no current-context", config(S, "token: a").replace("current-context: x\n", ""),
             ["no current-context", "--context: x"], kubectl="elsewhere"),
        case("cluster missing", config(S, "token: a", "cluster: d, user: u"),
             ["cluster \"d\" was not found for context \"x\""], kubectl="elsewhere"),
        case("user missing", config(S, "token: a", "cluster: c, user: v"),
             ["user \"v\" was not found"], kubectl="prompt"),
        case("user not named", config(S, "token: a", "cluster: c"), ["user was not specified"],
             kubectl="prompt"),
        case("number as token", config(S, "token: 123"), ["token of \"u\"", "string", "number"]),
        case("number as namespace", config(S, "token: a", "cluster: c, user: u, namespace: 5"),
             ["namespace", "string"]),
        case("text as flag", config('server: "https://127.0.0.1:@TLS", insecure-skip-tls-verify: '
                                    '"true"', "token: a"), ["insecure-skip-tls-verify", "true"]),
        case("yes as flag", config('server: "https://127.0.0.1:@TLS", insecure-skip-tls-verify: '
                                   'yes', "token: a")),
        case("wrong type in an entry not used", config(S, "token: a").replace(
            "contexts:", "- name: z\n  user: {token: 5}\ncontexts:"), ["\"z\"", "string"]),
        case("duplicate names", config(S, "token: a").replace(
            "contexts:", "- name: u\n  user: {token: b}\ncontexts:"), ["duplicate name \"u\""]),
        case("duplicate key", config(S, "token: a, token: b"), ["twice"]),
        case("unknown field", config(S, "token: a, tokn: b"), ["tokn", "did you mean \"token\""]),
        case("field in capitals", config(S, "Token: abc"), ["Token", "token"], kubectl="prompt"),
        case("tabs", config(S, "token: a") + "\tx: y\n", ["tabs"]),
        case("BOM", "\ufeff" + config(S, "token: a")),
        case("CRLF", config(S, "token: a").replace("\n", "\r\n")),
        case("second document", config(S, "token: a") + "---\n]broken\n"),
        case("JSON", '{"kind":"Config","apiVersion":"v1","current-context":"x","clusters":[{"name":'
             '"c","cluster":{"server":"https://127.0.0.1:@TLS","insecure-skip-tls-verify":true}}],'
             '"users":[{"name":"u","user":{"token":"j"}}],"contexts":[{"name":"x","context":'
             '{"cluster":"c","user":"u"}}]}'),
        case("anchors", "b: &b {" + S + "}\ncurrent-context: x\nclusters:\n- name: c\n  cluster: "
             "{<<: *b}\nusers: [{name: u, user: {token: a}}]\ncontexts: [{name: x, context: "
             "{cluster: c, user: u}}]\n"),
        case("a list", "- a\n", ["kubeconfig"]),
        case("another kind", config(S, "token: a").replace("kind: Config", "kind: Pod"), ["Pod"]),
        case("another version", config(S, "token: a").replace("apiVersion: v1", "apiVersion: v2"),
             ["v2"]),
        case("an empty file", "", ["current-context"], kubectl="elsewhere"),
        case("a list of files, some missing", config(S, "token: a"),
             ["not there, passed over"], env={"KUBECONFIG": "/no/such::@DIR/config:@DIR/config"}),
        case("first file wins whole", config(S, "token: a"), ["is not used from here"],
             env={"KUBECONFIG": "@DIR/first:@DIR/config"}),
        case("a folder in the list", config(S, "token: a"), ["@DIR/pki"],
             env={"KUBECONFIG": "@DIR/config:@DIR/pki"}),
        case("a broken file in the list", config(S, "token: a"), ["@DIR/broken"],
             env={"KUBECONFIG": "@DIR/config:@DIR/broken"}),
        case("only missing files", config(S, "token: a"), ["/no/such", "no kubeconfig was found"],
             env={"KUBECONFIG": "/no/such:/no/other"}, kubectl="elsewhere"),
        case("a link", config(S, "token: abc, tokenFile: tok"),
             env={"KUBECONFIG": "@DIR/elsewhere/link"}),
        case("--kubeconfig missing", config(S, "token: a"), ["/no/such"],
             args=("--kubeconfig=/no/such",)),
        case("--token", config(S, "token: a"), args=("--token=flag",)),
        case("--token over a file", config(S, "tokenFile: tok"), args=("--token=flag",)),
        case("--server", config(S + ", tls-server-name: other.test", "token: a"),
             args=("--server=https://localhost:@TLS",)),
        case("--as", config(S, "token: a, as: jane"), args=("--as=joe",)),
        case("--insecure-skip-tls-verify", config(S, "token: a"),
             args=("--insecure-skip-tls-verify",)),
        case("--tls-server-name", config(S, "token: a"), args=("--tls-server-name=server.test",)),
        case("--cluster and --user", config(S, "token: a").replace(
            "users:", "- name: d\n  cluster: {server: 'http://127.0.0.1:@PLAIN/d'}\nusers:"),
            args=("--cluster=d",)),
        case("--user missing", config(S, "token: a"), ["nobody"], args=("--user=nobody",)),
    ]


PLUGINS = {
    "ok": """echo "$KUBERNETES_EXEC_INFO" >>info; echo "$A:$1:$2" >>info
echo '{"apiVersion":"%s","kind":"ExecCredential","status":{"token":"plug"}}'""" % V1,
    "cert": 'cat cert.json',
    "yaml": "printf 'apiVersion: %s\\nkind: ExecCredential\\nstatus: {token: ytok}\\n'" % V1,
    "garbage": "echo hello", "nothing": "exit 0",
    "kind": """echo '{"apiVersion":"%s","kind":"Foo","status":{"token":"plug"}}'""" % V1,
    "nostatus": """echo '{"apiVersion":"%s","kind":"ExecCredential"}'""" % V1,
    "half": """echo '{"apiVersion":"%s","kind":"ExecCredential","status":{"clientKeyData":"x"}}'"""
            % V1,
    "fail": "echo 'log in first' >&2; exit 7"}


def prepare(folder, pki):
    os.makedirs(folder + "/elsewhere", exist_ok=True)
    os.symlink(pki.dir, folder + "/pki")
    os.symlink("../config", folder + "/elsewhere/link")
    files = {"tok": " filetok\n\n", "emptytok": " \n", "broken": "a: [\n",
             "elsewhere/tok": "of the link's folder",
             "first": "users:\n- name: u\n  user: {token: of-first}\n",
             "cert.json": json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": {
                 "clientCertificateData": open(pki.joe[0]).read(),
                 "clientKeyData": open(pki.joe[1]).read()}})}
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    for name, text in PLUGINS.items():
        path = os.path.join(folder, name)
        with open(path, "w") as f:
            f.write("#!/bin/sh\ncd '%s'\n%s\n" % (folder, text))
        os.chmod(path, 0o755)


def fill(text, folder, pki, rec):
    values = {"@TLS": rec.tls, "@PLAIN": rec.plain, "@HTTP": rec.proxies["http"],
              "@SSL": rec.proxies["https"], "@SOCKS": rec.proxies["socks5"], "@DIR": folder,
              "@CA": server.data(pki.ca[0]), "@OTHER": server.data(pki.other_ca[0]),
              "@JC": server.data(pki.jane[0]), "@JK": server.data(pki.jane[1]),
              "@OK": server.data(pki.joe[1])}
    for k, v in values.items():
        text = text.replace(k, str(v))
    return text


def take_info(folder):
    path = folder + "/info"
    lines = open(path).read().splitlines() if os.path.exists(path) else []
    if lines:
        os.remove(path)
    return [x for x in lines if x][-2:]


def judge(c, pki, rec, folder):
    """One case by both; the answers' differences, in words."""
    prepare(folder, pki)
    with open(folder + "/config", "w", newline="") as f:
        f.write(fill(c["text"], folder, pki, rec))
    env = {"KUBECONFIG": folder + "/config"}
    env.update({k: fill(v, folder, pki, rec) for k, v in c["env"].items()})
    args = [fill(a, folder, pki, rec) for a in c["args"]]
    k = run([KUBECTL, "version"] + args, env, folder)
    theirs, told = asked(rec), take_info(folder)
    p = run([PODIUM, "kubeconfig", "check", "--timeout", "10"] + args, env, folder)
    ours, told_us = asked(rec), take_info(folder)
    about = "kubectl %d: %s\npodium %d: %s%s" % (k.returncode, k.stderr.strip(), p.returncode,
                                                 p.stdout[-700:], p.stderr)
    problems = [w for w in (fill(x, folder, pki, rec) for x in c["says"])
                if w.lower() not in p.stdout.lower()]
    if problems:
        return "podium does not say %s\n%s" % (problems, about)
    if told != told_us:
        return "the plugin was told otherwise\n%s\n%s" % (told, told_us)
    if c["kubectl"] == "prompt":
        return None if "Username" in k.stdout else "kubectl did not ask\n" + about
    if c["kubectl"] == "elsewhere":
        fine = "localhost:8080" in k.stderr and p.returncode == 1 and not ours
        return None if fine else "kubectl did not go to localhost:8080, or podium goes on\n" + about
    if not theirs:
        fine = k.returncode != 0 and p.returncode == 1 and not as_somebody(ours)
        return None if fine else "kubectl asks for nothing, podium does\n" + about
    if p.returncode != 0:
        return "kubectl connects, podium does not\n" + about
    return same_requests(theirs[-1], ours)


def parallel(jobs, workers=2):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda j: j(), jobs))


def table(pki):
    recs = [server.Recorder(pki) for _ in range(2)]
    free = list(recs)
    todo = [c for c in cases() if os.environ.get("ONLY", "") in c["name"]]

    def job(n, c):
        rec = free.pop()
        try:
            return judge(c, pki, rec, os.path.join(WORK, "t%d" % n))
        except (OSError, subprocess.SubprocessError, ValueError) as e:
            return repr(e)
        finally:
            free.append(rec)

    answers = parallel([lambda n=n, c=c: job(n, c) for n, c in enumerate(todo)])
    for c, why in zip(todo, answers):
        check(why is None, "case: " + c["name"], why)


# --- the recorded cases ----------------------------------------------------------------

def must_mention(path):
    out, inside = [], False
    for line in open(path, encoding="utf-8"):
        inside = line.startswith("must_mention:") or (inside and line.startswith("- "))
        if inside and line.startswith("- "):
            out.append(line[2:].strip().strip("'\""))
    return out


def recorded():
    """Each folder of tests/cases/kubeconfig: what expected.yaml wants said is said."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cases/kubeconfig")
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        files = [os.path.join(folder, f) for f in ("config", "config2")
                 if os.path.exists(os.path.join(folder, f))]
        r = run([PODIUM, "kubeconfig", "explain"], {"KUBECONFIG": ":".join(files)}, WORK)
        for words in must_mention(os.path.join(folder, "expected.yaml")):
            check(any(w.lower() in r.stdout.lower() for w in words.split("|")),
                  "recorded %s: %s" % (name, words), r.stdout)


# --- random ---------------------------------------------------------------------------

def tidy(v):
    """Without what is empty: kubectl prints some defaults, podium none."""
    if isinstance(v, dict):
        out = {k: tidy(x) for k, x in v.items()}
        return {k: x for k, x in out.items() if x not in (None, "", False) and x != {} and x != []}
    return [tidy(x) for x in v] if isinstance(v, list) else v


def view(program, env, folder, more):
    kube = [KUBECTL, "config", "view", "--raw", "-o", "json"]
    argv = kube if program == KUBECTL else [PODIUM, "kubeconfig", "view", "--raw"]
    r = run(argv + more, env, folder)
    return (tidy(json.loads(r.stdout)) if r.returncode == 0 else None), r


def minified(whole, context):
    """A context of a merged view, as --minify would give it."""
    c = next(x for x in whole["contexts"] if x["name"] == context)["context"]
    pick = lambda k, name: [x for x in whole.get(k, []) if x["name"] == name]
    return {"kind": "Config", "apiVersion": "v1", "clusters": pick("clusters", c.get("cluster")),
            "users": pick("users", c.get("user")), "contexts": pick("contexts", context),
            "current-context": context}


def batch(n, size, seed, pki, rec):
    """`size` sets in one list, judged by one call; now and then one with a fault."""
    rng = random.Random("%d/%d" % (seed, n))
    gen = kubeconfig_gen.Gen(rng, pki, rec)
    folder, paths, contexts = os.path.join(WORK, "b%d" % n), [], []
    for i in range(size):
        p, c = gen.make("s%d." % i, os.path.join(folder, str(i)), False)
        paths, contexts = paths + p, contexts + c
    word = None
    if n % 6 == 5:
        bad, word = gen.fault(folder)
        paths.insert(rng.randrange(len(paths) + 1), bad)
    env = {"KUBECONFIG": ":".join(paths)}
    want, k = view(KUBECTL, env, folder, [])
    got, p = view(PODIUM, env, folder, [])
    if word:
        ok = want is None and got is None and word.lower() in p.stderr.lower()
        return [] if ok else ["batch %d: fault %s: kubectl %s / podium %s" % (
            n, open(bad).read(), k.stderr, p.stderr)]
    if want != got:
        return ["batch %d of seed %d differs: %s\n%s\n%s" % (n, seed, first_difference(want, got),
                                                            k.stderr, p.stderr)]
    one = rng.choice(contexts)
    small, p = view(PODIUM, env, folder, ["--minify", "--context", one])
    if small != tidy(minified(want, one)):
        return ["batch %d of seed %d, context %s differs when minified: %s" % (
            n, seed, one, first_difference(tidy(minified(want, one)), small))]
    if n % 8 == 0:                      # and that this is what kubectl calls minified
        want, k = view(KUBECTL, env, folder, ["--minify", "--context", one])
        if small != want:
            return ["batch %d of seed %d, context %s: %s" % (n, seed, one,
                                                             first_difference(want, small))]
    return []


def first_difference(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted(set(a) | set(b)):
            if a.get(k) != b.get(k):
                return first_difference(a.get(k), b.get(k), at + "." + k)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, "%s[%d]" % (at, i))
    return "%s: kubectl %.300r, podium %.300r" % (at, a, b)


def live(n, seed, pki, rec):
    """One set whose request is made by both."""
    rng = random.Random("%d/live/%d" % (seed, n))
    folder = os.path.join(WORK, "l%d" % n)
    gen = kubeconfig_gen.Gen(rng, pki, rec)
    paths, contexts = gen.make("", folder, True)
    with open(folder + "/plugin", "w") as f:
        f.write("#!/bin/sh\n%s\n" % PLUGINS["ok"].split("\n")[1])
    os.chmod(folder + "/plugin", 0o755)
    env = {"KUBECONFIG": ":".join(paths)}
    if rng.random() < 0.4:
        env[rng.choice(["HTTPS_PROXY", "https_proxy"])] = gen.proxy()
        env["NO_PROXY"] = rng.choice(["", "server.test", ".test", "*", "10.0.0.0/8,localhost"])
    context = rng.choice(contexts)
    k = run([KUBECTL, "version", "--context", context], env, folder)
    theirs = asked(rec)
    p = run([PODIUM, "kubeconfig", "check", "--context", context], env, folder)
    ours = asked(rec)
    if not theirs:
        fine = k.returncode != 0 and p.returncode == 1 and not as_somebody(ours)
        why = None if fine else "kubectl asks for nothing"
    else:
        why = same_requests(theirs[-1], ours)
    return [] if why is None else ["live set %d of seed %d, context %s: %s\nkubectl: %s\npodium: %s"
                                   % (n, seed, context, why, k.stderr, p.stdout[-900:])]


def random_sets(pki):
    seed = int(os.environ.get("KUBECONFIG_SEED") or time.time())
    count = int(os.environ.get("KUBECONFIG_COUNT") or 500)
    size = int(os.environ.get("KUBECONFIG_BATCH") or 10)
    lives = int(os.environ.get("KUBECONFIG_LIVE") or 30)
    print("kubeconfigs: %d generated, seed %d (KUBECONFIG_SEED)" % (count, seed))
    recs = [server.Recorder(pki) for _ in range(2)]
    free = list(recs)

    def with_server(fn, *args):
        rec = free.pop()
        try:
            return fn(*args, pki, rec)
        except (OSError, subprocess.SubprocessError, ValueError, StopIteration) as e:
            return ["%s %s: %r" % (fn.__name__, args, e)]
        finally:
            free.append(rec)

    jobs = [lambda n=n: with_server(batch, n, size, seed) for n in range((count + size - 1) // size)]
    jobs += [lambda n=n: with_server(live, n, seed) for n in range(lives)]
    for problems in parallel(jobs):
        check(not problems, "generated", *problems)
    print("kubeconfigs: %d judged by kubectl config view, %d by its request" % (count, lives))


if __name__ == "__main__":
    made = server.Pki(os.path.join(WORK, "pki"))
    if "table" in sys.argv[1:]:
        table(made)
        recorded()
    if "random" in sys.argv[1:]:
        random_sets(made)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0)
