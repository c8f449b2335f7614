"""A cluster of many pods for scale.sh: pods as a kubelet leaves them, on nodes that
are objects alone, through some connections to a real API server.

    scale_load.py fill KUBECONFIG NAMESPACE PODS
    scale_load.py change KUBECONFIG NAMESPACE RATE SECONDS PODS
"""
import base64
import http.client
import json
import os
import ssl
import sys
import tempfile
import threading
import time

THREADS = 6
CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
              "PodScheduled")


def connect(path):
    """A function that makes connections as the (JSON or simple YAML) kubeconfig says."""
    with open(path) as f:
        config = json.load(f)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    ctx = ssl.create_default_context(cadata=base64.b64decode(
        cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile("wb") as pem:
        pem.write(base64.b64decode(user["client-certificate-data"]) + b"\n" +
                  base64.b64decode(user["client-key-data"]))
        pem.flush()
        ctx.load_cert_chain(pem.name)
    host, port = cluster["server"].split("//")[1].split(":")
    return lambda: http.client.HTTPSConnection(host, int(port), context=ctx)


def pod(i):
    app = "app-%d" % (i % 40)
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "worker-%05d" % i,
                "labels": {"app": app, "pod-template-hash": "%08x" % (i % 40 * 7919),
                           "team": "t%d" % (i % 7)},
                "annotations": {"prometheus.io/scrape": "true"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                                     "name": app + "-rs", "uid": "%08d-0000-4000-8000-%012d" % (
                                         i % 40, i % 40), "controller": True,
                                     "blockOwnerDeletion": True}]},
            "spec": {
                "nodeName": "node-%03d" % (i % 200), "serviceAccountName": "default",
                "automountServiceAccountToken": False,
                "volumes": [{"name": "kube-api-access-%05x" % (i * 7919 % 0xfffff), "projected": {
                    "defaultMode": 420, "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"name": "kube-root-ca.crt",
                                       "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {
                            "apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}}],
                "tolerations": [{"key": "node.kubernetes.io/" + k, "operator": "Exists",
                                 "effect": "NoExecute", "tolerationSeconds": 300}
                                for k in ("not-ready", "unreachable")],
                "containers": [{
                    "name": "main", "image": "registry.example.org/train/%s:1.4.%d" % (app, i % 3),
                    "args": ["--rank", str(i % 8), "--epochs", "3"],
                    "ports": [{"containerPort": 8080}],
                    "env": [{"name": "RUN", "value": "r%d" % (i // 8)},
                            {"name": "RANK", "value": str(i % 8)}],
                    "resources": {"limits": {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "1"},
                                  "requests": {"cpu": "1", "memory": "2Gi",
                                               "nvidia.com/gpu": "1"}},
                    "volumeMounts": [{"name": "kube-api-access-%05x" % (i * 7919 % 0xfffff),
                                      "readOnly": True, "mountPath":
                                      "/var/run/secrets/kubernetes.io/serviceaccount"}]}]}}


def status(i, restarts=0):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    well = i % 50 != 7
    ip = "10.%d.%d.%d" % (i % 250, i // 250 % 250, i % 199)
    image = "registry.example.org/train/app-%d" % (i % 40)
    state = {"running": {"startedAt": now}} if well else {"waiting": {
        "reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=main "
        "pod=worker-%05d_scale" % i}}
    return {"phase": "Running", "hostIP": "192.168.0.%d" % (i % 200), "podIP": ip,
            "hostIPs": [{"ip": "192.168.0.%d" % (i % 200)}], "podIPs": [{"ip": ip}],
            "startTime": now, "conditions": [
                {"type": c, "status": "True" if well or "Ready" not in c else "False",
                 "lastProbeTime": None, "lastTransitionTime": now} for c in CONDITIONS],
            "containerStatuses": [{
                "name": "main", "ready": well, "started": well, "state": state, "lastState": {},
                "restartCount": restarts or (0 if well else 7), "image": image + ":1.4.0",
                "imageID": image + "@sha256:%064x" % (i % 40),
                "containerID": "containerd://%064x" % (i * 0x9e3779b97f4a7c15 + restarts)}]}


def call(conn, method, path, body, manager):
    kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
    conn.request(method, path + "?fieldManager=" + manager, json.dumps(body),
                 {"Content-Type": kind})
    answer = conn.getresponse()
    text = answer.read()
    if answer.status >= 300 and answer.status != 409:
        raise SystemExit("%s %s: %d %s" % (method, path, answer.status, text[:300]))


def each(connection, numbers, work):
    """Work on numbers with some connections; the first trouble ends all."""
    numbers, lock, bad = iter(numbers), threading.Lock(), []

    def run():
        conn = connection()
        while not bad:
            with lock:
                i = next(numbers, None)
            if i is None:
                return
            try:
                work(conn, i)
            except BaseException as e:      # SystemExit too: told below, once
                bad.append(e)
    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if bad:
        raise bad[0]


def fill(connection, ns, pods):
    conn = connection()
    call(conn, "POST", "/api/v1/namespaces",
         {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}}, "scale")
    for i in range(200):
        call(conn, "POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-%03d" % i},
            "status": {"capacity": {"cpu": "96", "memory": "512Gi", "pods": "110",
                                    "nvidia.com/gpu": "8"},
                       "allocatable": {"cpu": "96", "memory": "512Gi", "pods": "110",
                                       "nvidia.com/gpu": "8"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}, "kubelet")

    def make(c, i):
        base = "/api/v1/namespaces/%s/pods" % ns
        call(c, "POST", base, pod(i), "kube-controller-manager")
        call(c, "PATCH", "%s/worker-%05d/status" % (base, i), {"status": status(i)}, "kubelet")
    each(connection, range(pods), make)


def change(connection, ns, rate, seconds, pods):
    """RATE status patches a second; prints how many were made."""
    begin, made = time.monotonic(), []

    def paced():
        for i in range(rate * seconds):
            late = begin + i / rate - time.monotonic()
            if late > 0:
                time.sleep(late)
            if time.monotonic() - begin > seconds:
                return
            made.append(i)
            yield i

    def patch(c, n):
        i = n * 37 % min(pods, 1500)
        call(c, "PATCH", "/api/v1/namespaces/%s/pods/worker-%05d/status" % (ns, i),
             {"status": {"containerStatuses": status(i, n + 1)["containerStatuses"]}}, "kubelet")
    each(connection, paced(), patch)
    print("%.0f" % (len(made) / (time.monotonic() - begin)))


def main():
    connection = connect(sys.argv[2])
    if sys.argv[1] == "fill":
        fill(connection, sys.argv[3], int(sys.argv[4]))
    else:
        change(connection, sys.argv[3], int(sys.argv[4]), int(sys.argv[5]),
               int(sys.argv[6]))


if __name__ == "__main__":
    main()
