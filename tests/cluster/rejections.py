#!/usr/bin/env python3
"""What an API server says of wrong manifests, held against what podium check says
without one: sentence by sentence, nothing more and nothing less.

    rejections.py PODIUM KUBECTL NAMESPACE      (KUBECONFIG in the environment)

Each case is sent as it is (create, dryRun=All, fieldValidation=Strict) and checked
offline. Prints what differs and, last, "N agreed, N differ".
"""
import base64
import copy
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile

PODIUM, KUBECTL, NS = sys.argv[1:4]
PLURAL = {"Job": "/apis/batch/v1/namespaces/%s/jobs", "Pod": "/api/v1/namespaces/%s/pods",
          "ConfigMap": "/api/v1/namespaces/%s/configmaps",
          "Secret": "/api/v1/namespaces/%s/secrets",
          "Service": "/api/v1/namespaces/%s/services",
          "PersistentVolumeClaim": "/api/v1/namespaces/%s/persistentvolumeclaims",
          "Deployment": "/apis/apps/v1/namespaces/%s/deployments"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "ft"},
       "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
           {"name": "trainer", "image": "r/x:1"}]}}}}
POD = "spec.template.spec."
BOX = POD + "containers.0."


def put(obj, path, value):
    """obj with value at a.b.0.c; None deletes."""
    obj = copy.deepcopy(obj)
    at, keys = obj, path.split(".")
    for k in keys[:-1]:
        if isinstance(at, list):
            at = at[int(k)]
        else:
            at = at.setdefault(k, {})
    if value is None:
        del at[keys[-1]]
    elif isinstance(at, list):
        at.insert(int(keys[-1]), value)
    else:
        at[keys[-1]] = value
    return obj


def job(*pairs):
    obj = JOB
    for path, value in zip(pairs[::2], pairs[1::2]):
        obj = put(obj, path, value)
    return obj


def of(version, kind, **rest):
    return dict({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}, **rest)


def deployment(**spec):
    return of("apps/v1", "Deployment", spec=dict({
        "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
                {"name": "c", "image": "x"}]}}}, **spec))


def limits(lim=None, req=None):
    r = {}
    if lim:
        r["limits"] = lim
    if req:
        r["requests"] = req
    return job(BOX + "resources", r)


CASES = {
    # the twenty commonest, and more of their kind
    "no restartPolicy": job(POD + "restartPolicy", None),
    "restartPolicy Always": job(POD + "restartPolicy", "Always"),
    "restartPolicy misspelt": job(POD + "restartPolicy", "never"),
    "label value with a colon": job("metadata.labels", {"date": "2025-03-11T08:00"}),
    "label value too long": job("metadata.labels", {"note": "x" * 64}),
    "label key": job("metadata.labels", {"a b": "c"}),
    "label key prefix": job("metadata.labels", {"A.b/": "c"}),
    "annotation key": job("metadata.annotations", {"a b": "c"}),
    "template label": job("spec.template.metadata", {"labels": {"x": "li wei"}}),
    "name with capitals": job("metadata.name", "My_Job"),
    "no name": job("metadata", {"labels": {"a": "b"}}),
    "container name": job(BOX + "name", "Trainer_1"),
    "container name too long": job(BOX + "name", "a" * 64),
    "no container name": job(BOX + "name", None),
    "request above limit": limits({"cpu": "1"}, {"cpu": "2"}),
    "memory request above limit": limits({"memory": "1Gi"}, {"memory": "2Gi"}),
    "devices not equal": limits({"habana.ai/gaudi": 8}, {"habana.ai/gaudi": 6}),
    "devices without limit": limits(None, {"habana.ai/gaudi": 1}),
    "half a device": limits({"nvidia.com/gpu": "0.5"}),
    "negative cpu": limits({"cpu": "-1"}),
    "unknown resource": limits({"gpu": 1}),
    "huge pages alone": limits({"hugepages-2Mi": "4Mi"}),
    "huge pages not whole": limits({"hugepages-2Mi": "3Mi", "memory": "1Gi"}),
    "unknown field": job("spec.tmplate", {}),
    "pull secrets in the container": job(BOX + "imagePullSecrets", [{"name": "x"}]),
    "two unknown fields": job("spec.a", 1, BOX + "zz", 1),
    "number as text": job("spec.parallelism", "two"),
    "fraction": job("spec.completions", 1.5),
    "text as bool": job("spec.suspend", "true"),
    "command as text": job(BOX + "command", "python train.py"),
    "number as argument": job(BOX + "args", ["--epochs", 3]),
    "number in env": job(BOX + "env", [{"name": "A", "value": 3}]),
    "bool in env": job(BOX + "env", [{"name": "A", "value": True}]),
    "bool in nodeSelector": job(POD + "nodeSelector", {"gpu": True}),
    "number as label": job("metadata.labels", {"run": 17}),
    "map for a list": job(POD + "containers", {"name": "a"}),
    "text for a map": job("spec.template", "x"),
    "list for a map": job("metadata.labels", ["a"]),
    "text in a list of maps": job(BOX + "env", ["A=1"]),
    "quantity 8GB": limits({"memory": "8GB"}),
    "quantity 8gi": limits({"memory": "8gi"}),
    "quantity with blank": limits({"memory": "8 Gi"}),
    "duplicate container": job(POD + "containers.1", {"name": "trainer", "image": "y"}),
    "duplicate init container": job(POD + "initContainers", [{"name": "trainer", "image": "y"}]),
    "duplicate port name": job(BOX + "ports", [{"name": "p", "containerPort": 1},
                                               {"name": "p", "containerPort": 2}]),
    "duplicate volume": job(POD + "volumes", [{"name": "d", "emptyDir": {}},
                                              {"name": "d", "emptyDir": {}}]),
    "mount without volume": job(BOX + "volumeMounts", [{"name": "d", "mountPath": "/d"}]),
    "mount path twice": job(POD + "volumes", [{"name": "d", "emptyDir": {}}],
                            BOX + "volumeMounts", [{"name": "d", "mountPath": "/d"},
                                                   {"name": "d", "mountPath": "/d"}]),
    "mount without path": job(POD + "volumes", [{"name": "d", "emptyDir": {}}],
                              BOX + "volumeMounts", [{"name": "d"}]),
    "claim without name": job(POD + "volumes", [{"name": "d", "persistentVolumeClaim": {}}]),
    "volume of two types": job(POD + "volumes", [{"name": "d", "emptyDir": {},
                                                  "hostPath": {"path": "/x"}}]),
    "hostPath type": job(POD + "volumes", [{"name": "d", "hostPath": {"path": "/x",
                                                                      "type": "directory"}}]),
    "hostPath with ..": job(POD + "volumes", [{"name": "d", "hostPath": {"path": "/x/../y"}}]),
    "configMap volume mode": job(POD + "volumes", [{"name": "d", "configMap": {
        "name": "x", "defaultMode": 777}}]),
    "configMap volume without name": job(POD + "volumes", [{"name": "d", "configMap": {}}]),
    "no image": job(BOX + "image", None),
    "no containers": job(POD + "containers", []),
    "pull policy": job(BOX + "imagePullPolicy", "always"),
    "port too large": job(BOX + "ports", [{"containerPort": 70000}]),
    "port 0": job(BOX + "ports", [{"name": "p"}]),
    "port name too long": job(BOX + "ports", [{"containerPort": 1, "name": "a-very-long-name-1"}]),
    "port name": job(BOX + "ports", [{"containerPort": 1, "name": "80"}]),
    "protocol": job(BOX + "ports", [{"containerPort": 1, "protocol": "tcp"}]),
    "negative completions": job("spec.completions", -1),
    "negative parallelism": job("spec.parallelism", -1),
    "negative backoffLimit": job("spec.backoffLimit", -1),
    "negative ttl": job("spec.ttlSecondsAfterFinished", -1),
    "negative deadline": job("spec.activeDeadlineSeconds", -1),
    "pod deadline 0": job(POD + "activeDeadlineSeconds", 0),
    "completion mode": job("spec.completionMode", "indexed"),
    "indexed without completions": job("spec.completionMode", "Indexed", "spec.parallelism", 2),
    "backoffLimitPerIndex alone": job("spec.backoffLimitPerIndex", 1),
    "podReplacementPolicy": job("spec.podReplacementPolicy", "Now"),
    "toleration operator": job(POD + "tolerations", [{"key": "a", "operator": "exists"}]),
    "toleration Exists with value": job(POD + "tolerations", [{"key": "a", "operator": "Exists",
                                                               "value": "b"}]),
    "toleration without key": job(POD + "tolerations", [{"operator": "Equal", "value": "b"}]),
    "toleration effect": job(POD + "tolerations", [{"key": "a", "operator": "Exists",
                                                    "effect": "noschedule"}]),
    "toleration seconds": job(POD + "tolerations", [{"key": "a", "operator": "Exists",
                                                     "tolerationSeconds": 3}]),
    "nodeSelector value": job(POD + "nodeSelector", {"gpu": "a b"}),
    "dnsPolicy": job(POD + "dnsPolicy", "clusterfirst"),
    "service account": job(POD + "serviceAccountName", "A_b"),
    "env without name": job(BOX + "env", [{"value": "a"}]),
    "env with =": job(BOX + "env", [{"name": "A=B", "value": "a"}]),
    "env value and valueFrom": job(BOX + "env", [{"name": "A", "value": "a", "valueFrom": {
        "fieldRef": {"fieldPath": "metadata.name"}}}]),
    "env secret without key": job(BOX + "env", [{"name": "A", "valueFrom": {"secretKeyRef": {
        "name": "s"}}}]),
    "envFrom of nothing": job(BOX + "envFrom", [{"prefix": "A_"}]),
    "probe without handler": job(BOX + "livenessProbe", {"periodSeconds": 3}),
    "probe negative": job(BOX + "readinessProbe", {"exec": {"command": ["x"]},
                                                   "periodSeconds": -1}),
    "probe of an init container": job(POD + "initContainers", [{
        "name": "i", "image": "y", "livenessProbe": {"exec": {"command": ["x"]}}}]),
    "several at once": job(BOX + "image", None, BOX + "name", "A", "spec.backoffLimit", -1,
                           BOX + "ports", [{"containerPort": 70000}]),
    "pod: restartPolicy": of("v1", "Pod", spec={"restartPolicy": "never", "containers": [
        {"name": "a", "image": "x"}]}),
    "pvc without access mode": of("v1", "PersistentVolumeClaim", spec={
        "resources": {"requests": {"storage": "1Gi"}}}),
    "pvc access mode": of("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["RWX"], "resources": {"requests": {"storage": "1Gi"}}}),
    "pvc modes that exclude": of("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce", "ReadWriteOncePod"],
        "resources": {"requests": {"storage": "1Gi"}}}),
    "pvc without size": of("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"]}),
    "pvc size 0": of("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}),
    "pvc volume mode": of("v1", "PersistentVolumeClaim", spec={
        "accessModes": ["ReadWriteOnce"], "volumeMode": "block",
        "resources": {"requests": {"storage": "1Gi"}}}),
    "secret not base64": of("v1", "Secret", data={"a": "hello world!"}),
    "secret cut base64": of("v1", "Secret", data={"a": "aGVsbG8"}),
    "secret one =": of("v1", "Secret", data={"a": "aGVsbG8xCg="}),
    "secret more behind =": of("v1", "Secret", data={"a": "aGVsbG8=aa"}),
    "secret number": of("v1", "Secret", stringData={"a": 3}),
    "secret type tls": of("v1", "Secret", type="kubernetes.io/tls", data={"tls.crt": "YQ=="}),
    "secret dockerconfigjson": of("v1", "Secret", type="kubernetes.io/dockerconfigjson"),
    "configmap key": of("v1", "ConfigMap", data={"a/b": "x"}),
    "configmap key ..": of("v1", "ConfigMap", data={"..": "x"}),
    "configmap number": of("v1", "ConfigMap", data={"a": 1}),
    "configmap over 1 MiB": of("v1", "ConfigMap", data={"a": "x" * (1 << 20), "b": "y"}),
    "service name": of("v1", "Service", metadata={"name": "1a"}, spec={"ports": [{"port": 80}]}),
    "service port": of("v1", "Service", spec={"ports": [{"port": 0}]}),
    "service without ports": of("v1", "Service", spec={"selector": {"a": "b"}}),
    "service port names": of("v1", "Service", spec={"ports": [{"port": 1}, {"port": 2}]}),
    "service target port": of("v1", "Service", spec={"ports": [{"port": 1, "targetPort": 70000}]}),
    "service type": of("v1", "Service", spec={"type": "nodeport", "ports": [{"port": 1}]}),
    "selector mismatch": deployment(selector={"matchLabels": {"a": "c"}}),
    "no selector": put(deployment(), "spec.selector", None),
    "empty selector": deployment(selector={}),
    "deployment restartPolicy": put(deployment(), "spec.template.spec.restartPolicy", "Never"),
    "negative replicas": deployment(replicas=-1),
}


class Server:
    """The cluster of the current context, asked without kubectl's start each time."""
    def __init__(self, folder):
        view = subprocess.run([KUBECTL, "config", "view", "--raw", "--minify", "--flatten", "-o",
                               "json"], capture_output=True, text=True, check=True)
        config = json.loads(view.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        url = re.match(r"https://([^:/]+):(\d+)", cluster["server"])
        tls = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        tls.check_hostname = False
        if "client-certificate-data" in user:
            for name in ("client-certificate-data", "client-key-data"):
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(base64.b64decode(user[name]))
            tls.load_cert_chain(os.path.join(folder, "client-certificate-data"),
                                os.path.join(folder, "client-key-data"))
        self.headers = {"Content-Type": "application/json"}
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        self.http = http.client.HTTPSConnection(url.group(1), int(url.group(2)), context=tls,
                                                timeout=30)

    def says(self, case):
        """The message of the Status; "" when it is taken."""
        path = PLURAL[case["kind"]] % NS + "?dryRun=All&fieldValidation=Strict"
        self.http.request("POST", path, json.dumps(case), self.headers)
        answer = json.loads(self.http.getresponse().read())
        return answer["message"] if answer.get("kind") == "Status" else ""


def check(folder):
    """{file: [(path, sentence, finding)]} of the errors."""
    p = subprocess.run([PODIUM, "check", "-f", folder, "--json"], capture_output=True, text=True)
    out = {}
    for line in p.stdout.splitlines():
        x = json.loads(line)
        out[os.path.basename(x["file"])] = [(f["path"], f["message"], f) for f in x["findings"]
                                            if f["level"] == "error"]
    return out


def differs(says, ours):
    if not ours or not says:
        return "server: %s\n  podium: %s" % (says or "takes it", ours or "takes it")
    for path, sentence, x in ours:
        if not x["server"] or not x["why"] or not x["next"] or not x["line"]:
            return "%s: not the server's, or without reason, next step or line" % sentence
    if "strict decoding error" in says:
        rest = says.split("strict decoding error: ", 1)[1]
        for path, sentence, _ in ours:
            if sentence not in rest:
                return "server: %s\n  podium: %s" % (says, sentence)
            rest = rest.replace(sentence, "", 1)
        return rest if rest.strip(", ") else None
    if "cannot be handled as a" in says:           # decoding ends at the first fault
        text = says.split(": ", 1)[1]
        return None if text in [s for _, s, _ in ours] else \
            "server: %s\n  podium: %s" % (text, [s for _, s, _ in ours])
    if " is invalid: " not in says:
        return "server: %s" % says
    rest = says.split(" is invalid: ", 1)[1]
    for path, sentence, _ in ours:
        # the label is found by podium; the server names the map
        text = "%s: %s" % (path, sentence)
        if text not in rest:
            return "server: %s\n  podium: %s" % (says, text)
        rest = rest.replace(text, "", 1)
    return None if not rest.strip("[], ") else "server alone: %s" % rest


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as keys:
        for i, case in enumerate(CASES.values()):
            with open(os.path.join(folder, "%03d.json" % i), "w") as f:
                json.dump(case, f)
        ours, server = check(folder), Server(keys)
        for i, (name, case) in enumerate(CASES.items()):
            why = differs(server.says(case), ours["%03d.json" % i])
            if why:
                bad += 1
                print("%s:\n  %s" % (name, why[:1500]))
    print("%d agreed, %d differ" % (len(CASES) - bad, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
