"""The practice cluster's API at the HTTP level: statuses, headers, watches.
practice_http.py KUBECONFIG prints "N passed, N failed"; with --bench it prints figures."""
import base64
import gzip
import http.client
import json
import re
import socket
import ssl
import sys
import threading
import time

text = open(sys.argv[1], encoding="utf-8").read()
host, port = re.search(r"https://([\d.]+):(\d+)", text).groups()
token = re.search(r"token: (\S+)", text).group(1)
ca = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text).group(1)).decode()
ctx = ssl.create_default_context(cadata=ca)
passed, failed = 0, 0
NS = "/api/v1/namespaces/default"


def connect():
    return http.client.HTTPSConnection(host, int(port), context=ctx, timeout=20)


def call(method, path, body=None, auth=True, conn=None, raw=False, **headers):
    c = conn or connect()
    h = {"Content-Type": "application/json", "User-Agent": "tester/1"}
    h.update({k.replace("_", "-"): v for k, v in headers.items()})
    if auth:
        h["Authorization"] = "Bearer " + token
    if body is not None and not isinstance(body, (str, bytes)):
        body = json.dumps(body)
    c.request(method, path, body, h)
    r = c.getresponse()
    data = r.read()
    if not raw:
        try:
            data = json.loads(data)
        except ValueError:
            data = data.decode()
    if not conn:
        c.close()
    return r, data


def check(name, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print("FAILED %s: got %r, want %r" % (name, got, want))


def cm(name, data="1", **meta):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict(name=name, **meta),
            "data": {"a": data}}


def statuses():
    r, d = call("GET", NS + "/pods", auth=False)
    check("401", (r.status, d["reason"], d["message"]), (401, "Unauthorized", "Unauthorized"))
    r, d = call("GET", "/version", auth=False)
    check("version", (r.status, d["gitVersion"][:7]), (200, "v1.34.4"))
    for path in ("/healthz", "/livez", "/readyz"):
        r, d = call("GET", path, auth=False)
        check(path, (r.status, d), (200, "ok"))
    r, d = call("GET", "/nothing")
    check("path", (r.status, d["message"]), (403, 'forbidden: User "student" cannot get path "/nothing"'))
    r, d = call("GET", "/api/v1/gadgets")
    check("404 resource", (r.status, d["message"]),
          (404, "the server could not find the requested resource"))
    r, d = call("POST", NS + "/pods/x")
    check("405", (r.status, d["reason"]), (405, "MethodNotAllowed"))
    r, d = call("GET", NS + "/pods", Accept="text/plain")
    check("406", (r.status, d["reason"]), (406, "NotAcceptable"))
    r, d = call("POST", NS + "/configmaps", "x", Content_Type="text/csv")
    check("415", (r.status, d["reason"]), (415, "UnsupportedMediaType"))
    r, d = call("POST", NS + "/configmaps", '{"kind":')
    check("bad JSON", r.status, 400)
    r, d = call("POST", NS + "/configmaps", b"x" * (4 << 20))
    check("413", r.status, 413)
    r, d = call("DELETE", "/api/v1/nodes/xeon-0")
    check("403", d["message"], 'nodes "xeon-0" is forbidden: User "student" cannot delete resource '
          '"nodes" in API group "" at the cluster scope')
    r, d = call("GET", "/api/v1/namespaces/kube-system/secrets")
    check("403 namespace", d["message"], 'secrets is forbidden: User "student" cannot list resource '
          '"secrets" in API group "" in the namespace "kube-system"')


def writes():
    r, d = call("POST", NS + "/configmaps", cm("a"))
    check("201", (r.status, d["kind"], d["apiVersion"]), (201, "ConfigMap", "v1"))
    r, d = call("POST", NS + "/configmaps?fieldValidation=Strict",
                dict(cm("b"), datum=1))
    check("strict", (r.status, d["message"]), (400, 'ConfigMap in version "v1" cannot be handled as a '
          'ConfigMap: strict decoding error: unknown field "datum"'))
    r, d = call("POST", NS + "/configmaps?fieldValidation=Warn", dict(cm("b"), datum=1))
    check("warn", (r.status, r.headers.get("Warning"), "datum" in d),
          (201, '299 - "unknown field \\"datum\\""', False))
    r, d = call("POST", NS + "/configmaps", '{"kind":"ConfigMap","metadata":{"name":"dup"},"data":{"a":"1"},'
                '"data":{"a":"2"}}')
    check("duplicate", (r.status, r.headers.get("Warning"), d["data"]),
          (201, '299 - "duplicate field \\"data\\""', {"a": "2"}))
    r, d = call("POST", NS + "/configmaps?dryRun=All", cm("dry"))
    check("dry run", r.status, 201)
    check("was none", call("GET", NS + "/configmaps/dry")[0].status, 404)
    r, d = call("POST", NS + "/configmaps", {"kind": "ConfigMap", "metadata": {"name": "t", "labels": {"a": 1}}})
    check("wrong type", d["message"], 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot '
          "unmarshal number into Go struct field ObjectMeta.metadata.labels of type string")
    r, d = call("PATCH", NS + "/configmaps/a", [{"op": "add", "path": "/data/b", "value": "2"}],
                Content_Type="application/json-patch+json")
    check("json patch", (r.status, d["data"]), (200, {"a": "1", "b": "2"}))
    r, d = call("PATCH", NS + "/configmaps/a", {"data": {"b": None}},
                Content_Type="application/merge-patch+json")
    check("merge patch", d["data"], {"a": "1"})
    r, d = call("PATCH", NS + "/configmaps/s", "data: {k: v}", Content_Type="application/apply-patch+yaml")
    check("apply needs a manager", (r.status, d["message"]), (422, "PatchOptions.meta.k8s.io \"\" is invalid: "
          "fieldManager: Required value: is required for apply patch"))
    url = NS + "/configmaps/s?fieldManager="
    r, d = call("PATCH", url + "alice", "apiVersion: v1\nkind: ConfigMap\ndata: {k: v, l: w}",
                Content_Type="application/apply-patch+yaml")
    check("apply creates", (r.status, d["data"]), (201, {"k": "v", "l": "w"}))
    first = d["metadata"]["resourceVersion"]
    r, d = call("PATCH", url + "alice", "apiVersion: v1\nkind: ConfigMap\ndata: {k: v, l: w}",
                Content_Type="application/apply-patch+yaml")
    check("apply again changes nothing", (r.status, d["metadata"]["resourceVersion"]), (200, first))
    r, d = call("PATCH", url + "alice", "apiVersion: v1\nkind: ConfigMap\ndata: {k: v}",
                Content_Type="application/apply-patch+yaml")
    check("what is applied no more goes", d["data"], {"k": "v"})
    r, d = call("PATCH", url + "bob", "apiVersion: v1\nkind: ConfigMap\ndata: {k: x}",
                Content_Type="application/apply-patch+yaml")
    check("conflict", (r.status, d["message"], d["details"]["causes"][0]["reason"]),
          (409, 'Apply failed with 1 conflict: conflict with "alice": .data.k', "FieldManagerConflict"))
    r, d = call("PATCH", url + "bob&force=true", "apiVersion: v1\nkind: ConfigMap\ndata: {k: x}",
                Content_Type="application/apply-patch+yaml")
    check("force", (r.status, d["data"], [m["manager"] for m in d["metadata"]["managedFields"]]),
          (200, {"k": "x"}, ["bob"]))
    r, d = call("PATCH", url + "bob", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndatum: 1",
                Content_Type="application/apply-patch+yaml")
    check("apply unknown field", (r.status, d["message"]), (500, "failed to create typed patch object (/s; v1, "
          "Kind=ConfigMap): .datum: field not declared in schema"))
    r, d = call("DELETE", NS + "/configmaps/a")
    check("deleted", (r.status, d["status"], d["details"]["name"]), (200, "Success", "a"))
    check("gone", call("DELETE", NS + "/configmaps/a")[1]["message"], 'configmaps "a" not found')


def lists():
    for i in range(7):
        call("POST", NS + "/configmaps", cm("l%d" % i, labels={"n": str(i % 2), "set": "l"}))
    names, token_, pages, left = [], "", 0, []
    while pages < 9:
        r, d = call("GET", NS + "/configmaps?limit=3" + ("&continue=" + token_ if token_ else ""))
        names += [i["metadata"]["name"] for i in d["items"]]
        pages += 1
        left.append(d["metadata"].get("remainingItemCount"))
        token_ = d["metadata"].get("continue", "")
        if not token_:
            break
    check("pages join", len(names), len(set(names)))
    check("sorted", names, sorted(names))
    check("rest is counted", left[0], len(names) - 3)
    check("items have no kind", "kind" in d["items"][0], False)
    r, d = call("GET", NS + "/configmaps?labelSelector=set%3Dl,n+in+(1)")
    check("labels", [i["metadata"]["name"] for i in d["items"]], ["l1", "l3", "l5"])
    r, d = call("GET", NS + "/configmaps?fieldSelector=metadata.name%3Dl2")
    check("field", len(d["items"]), 1)
    r, d = call("GET", NS + "/configmaps?resourceVersion=999999999")
    check("future", (r.status, d["details"]["causes"][0]["reason"], r.headers["Retry-After"]),
          (504, "ResourceVersionTooLarge", "1"))
    r, d = call("GET", NS + "/configmaps?limit=2&continue=zzz")
    check("bad token", r.status, 400)
    table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    r, d = call("GET", NS + "/configmaps", Accept=table)
    check("table", (d["kind"], [c["name"] for c in d["columnDefinitions"]]), ("Table", ["Name", "Data", "Age"]))
    check("row object", d["rows"][0]["object"]["kind"], "PartialObjectMetadata")
    r, d = call("GET", NS + "/configmaps?includeObject=None", Accept=table)
    check("no object", "object" in d["rows"][0], False)
    r, d = call("GET", NS + "/configmaps", Accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
    check("partial list", (d["kind"], "data" in d["items"][0]), ("PartialObjectMetadataList", False))
    r, d = call("GET", "/openapi/v3/api/v1", raw=True, Accept_Encoding="gzip")
    check("gzip", (r.headers["Content-Encoding"], gzip.decompress(d)[:10]), ("gzip", b'{"openapi"'))
    tag = r.headers["ETag"]
    check("304", call("GET", "/openapi/v3/api/v1", raw=True, If_None_Match=tag)[0].status, 304)
    v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for accept in (v2, v2.replace("v=v2", "v=v2beta1")):
        check("discovery", call("GET", "/apis", Accept=accept)[0].headers["Content-Type"], accept)
    check("legacy", call("GET", "/apis")[1]["kind"], "APIGroupList")
    check("legacy list", call("GET", "/apis/batch/v1")[1]["resources"][0]["name"], "jobs")


class Watch:
    def __init__(self, query):
        self.conn = connect()
        self.conn.request("GET", NS + "/configmaps?watch=true&" + query, None,
                          {"Authorization": "Bearer " + token})
        self.r = self.conn.getresponse()

    def next(self):
        line = self.r.readline()
        return json.loads(line) if line else None

    def close(self):
        self.conn.sock.close()


def watches():
    rv = call("GET", NS + "/configmaps")[1]["metadata"]["resourceVersion"]
    w = Watch("resourceVersion=%s&labelSelector=t%%3Dw" % rv)
    call("POST", NS + "/configmaps", cm("w1", labels={"t": "w"}))
    call("POST", NS + "/configmaps", cm("w2", labels={"t": "other"}))
    call("PATCH", NS + "/configmaps/w1", {"data": {"a": "2"}}, Content_Type="application/merge-patch+json")
    call("PATCH", NS + "/configmaps/w1", {"metadata": {"labels": {"t": "x"}}},
         Content_Type="application/merge-patch+json")
    call("PATCH", NS + "/configmaps/w1", {"metadata": {"labels": {"t": "w"}}},
         Content_Type="application/merge-patch+json")
    got = [w.next() for _ in range(4)]
    check("watch", [(e["type"], e["object"]["metadata"]["name"]) for e in got],
          [("ADDED", "w1"), ("MODIFIED", "w1"), ("DELETED", "w1"), ("ADDED", "w1")])
    w.close()
    w = Watch("resourceVersion=1")
    e = w.next()
    check("410 in the stream", (e["type"], e["object"]["code"], e["object"]["reason"]), ("ERROR", 410, "Expired"))
    check("then the end", w.next(), None)
    w = Watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
    n = 0
    while (e := w.next())["type"] == "ADDED":
        n += 1
    check("streaming list", (e["type"], e["object"]["metadata"]["annotations"]),
          ("BOOKMARK", {"k8s.io/initial-events-end": "true"}))
    check("all of them", n, len(call("GET", NS + "/configmaps")[1]["items"]))
    w.close()
    start = time.time()
    w = Watch("resourceVersion=%s&timeoutSeconds=1&allowWatchBookmarks=true" % rv)
    events = []
    while (e := w.next()):
        events.append(e["type"])
    check("ends after timeoutSeconds", (0.8 < time.time() - start < 3, events[-1]), (True, "BOOKMARK"))
    for _ in range(21):                       # more in all than the server keeps at once
        many = [Watch("resourceVersion=%s" % rv) for _ in range(20)]
        for w in many:
            w.close()
    time.sleep(0.3)
    check("left watches leave no trace", Watch("resourceVersion=%s" % rv).r.status, 200)


def bench():
    c = connect()
    call("GET", "/version", conn=c)

    def run(name, n, fn):
        times = []
        for i in range(n):
            t = time.perf_counter()
            fn(i)
            times.append((time.perf_counter() - t) * 1000)
        times.sort()
        print("bench practice.%s_p50 %.2f ms" % (name, times[n // 2]))
        print("bench practice.%s_p99 %.2f ms" % (name, times[int(n * 0.99)]))

    run("get", 500, lambda i: call("GET", NS + "/configmaps/kube-root-ca.crt", conn=c))
    run("create", 300, lambda i: call("POST", NS + "/configmaps", cm("b%d" % i), conn=c))
    run("list_300", 50, lambda i: call("GET", NS + "/configmaps", conn=c))
    run("tls_connect", 50, lambda i: call("GET", "/version"))
    done = []

    def writer(k):
        mine = connect()
        for i in range(100):
            done.append(call("POST", NS + "/configmaps", cm("p%d-%d" % (k, i)), conn=mine)[0].status)
    t = time.perf_counter()
    threads = [threading.Thread(target=writer, args=(k,)) for k in range(8)]
    for x in threads:
        x.start()
    for x in threads:
        x.join()
    print("bench practice.create_8_writers %.0f per_s" % (done.count(201) / (time.perf_counter() - t)))


def write_until_killed(names):
    """Create until the server dies or refuses; the names it acknowledged."""
    big = "x" * 20000
    conn, i = connect(), 0
    try:
        while i < 3000:
            r, d = call("POST", NS + "/configmaps", cm("k%d" % i, big), conn=conn)
            if r.status == 201:
                names.append("k%d" % i)
            elif r.status not in (500, 507):
                print("FAILED unexpected answer %d" % r.status)
                return
            elif len(names) < i - 20:         # the disk is full
                return
            i += 1
    except (OSError, http.client.HTTPException):
        pass


def verify(names):
    d = call("GET", NS + "/configmaps")[1]
    have = {i["metadata"]["name"] for i in d["items"] if i["metadata"]["name"][0:1] == "k"}
    have.discard("kube-root-ca.crt")
    lost = [n for n in names if n not in have]
    check("acknowledged writes that are lost (of %d)" % len(names), lost, [])
    check("some were acknowledged", len(names) > 5, True)


if "--write" in sys.argv:
    acked = []
    write_until_killed(acked)
    with open(sys.argv[-1], "w", encoding="utf-8") as f:
        json.dump(acked, f)
elif "--verify" in sys.argv:
    verify(json.load(open(sys.argv[-1], encoding="utf-8")))
    print("%d passed, %d failed" % (passed, failed))
elif "--bench" in sys.argv:
    bench()
else:
    for part in (statuses, writes, lists, watches):
        try:
            part()
        except (OSError, KeyError, TypeError, ValueError, http.client.HTTPException) as e:
            failed += 1
            print("FAILED %s: %r" % (part.__name__, e))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)
