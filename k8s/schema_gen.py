#!/usr/bin/env python3
"""Write k8s/schema.txt and k8s/schema_data.c from the pinned Kubernetes release.

    k8s/schema_gen.py [MODULES]      default: /root/go/pkg/mod/k8s.io

Reads kubernetes@v1.34.4/api/openapi-spec/v3/*.json (types, lists, merge keys,
required, defaults), pkg/generated/openapi (enumerations) and the .proto files
of k8s.io/api and k8s.io/apimachinery (numbers). Takes field facts only, no
descriptions. The same input gives the same bytes.
"""
import glob
import hashlib
import json
import os
import re
import sys

RELEASE, API = "v1.34.4", "v0.34.4"
KINDS = """
core.v1: Binding ConfigMap Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim
core.v1: Pod ResourceQuota Secret Service ServiceAccount
apps.v1: DaemonSet Deployment ReplicaSet StatefulSet
authentication.v1: SelfSubjectReview TokenRequest TokenReview
authorization.v1: LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview
authorization.v1: SubjectAccessReview
autoscaling.v1: Scale
batch.v1: CronJob Job
coordination.v1: Lease
events.v1: Event
networking.v1: Ingress NetworkPolicy
policy.v1: Eviction PodDisruptionBudget
rbac.v1: ClusterRole ClusterRoleBinding Role RoleBinding
scheduling.v1: PriorityClass
storage.v1: StorageClass
meta.v1: DeleteOptions Status
"""
LETTERS = {"Quantity": "q", "IntOrString": "x", "Time": "t", "MicroTime": "u",
           "RawExtension": "o", "FieldsV1": "o"}
HEAD = """\
# Field facts of Kubernetes %s, written by k8s/schema_gen.py: do not edit.
# "=TYPE [gvk=GROUP,VERSION,KIND] [atomic]" opens a type; then one field a line:
#   NAME NUMBER VALUE [!] [atomic] [L=set|map] [K=keys] [M=merge key]
#   [P=patch strategy] [E=enumeration] [D=default as JSON]
# NUMBER is protobuf's. VALUE: s string, i int32, l int64, b bool, d double, t time,
# u microtime, y bytes, q quantity, x int or string, o free JSON, else a type's
# name; "[" before it is a list, "{" a map. "!" is required. A field "~" is a
# message whose fields stand in this type themselves (protobuf only).
"""


def short(ref):
    """io.k8s.api.core.v1.Pod -> core.v1.Pod"""
    return ".".join(ref.split("/")[-1].split(".")[-3:])


def load_schemas(root):
    out = {}
    for path in sorted(glob.glob(root + "/api/openapi-spec/v3/*_openapi.json")):
        with open(path, encoding="utf-8") as f:
            schemas = json.load(f).get("components", {}).get("schemas", {})
        for name, s in schemas.items():
            out.setdefault(short(name), s)
    return out


def load_enums(root):
    """{"core.v1.PodSpec": {"dnsPolicy": [...]}} from the generated Go text."""
    out, kind, field, depth = {}, None, None, ""
    with open(root + "/pkg/generated/openapi/zz_generated.openapi.go", encoding="utf-8") as f:
        for line in f:
            m = re.match(r"func schema_k8sio_api_(\w+?)_(v\w+?)_(\w+)\(", line)
            m = m or re.match(r"func schema_pkg_apis_(meta)_(v1)_(\w+)\(", line)
            if m:
                kind = ".".join(m.groups())
                continue
            m = re.match(r'\t{5}"([^"]+)": \{$', line)
            if m:
                field = m.group(1)
            m = re.search(r"Enum: +\[\]interface\{\}\{(.*)\}", line)
            if m and kind:
                out.setdefault(kind, {})[field] = re.findall(r'"([^"]*)"', m.group(1))
    return out


def load_protos(mods):
    """{"core.v1.Pod": {"metadata": (1, "meta.v1.ObjectMeta")}}"""
    out = {}
    paths = glob.glob("%s/api@%s/*/v1/generated.proto" % (mods, API))
    paths.append("%s/apimachinery@%s/pkg/apis/meta/v1/generated.proto" % (mods, API))
    for path in sorted(paths):
        package = path.split("/")[-3]
        message = None
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r"message (\w+) \{", line)
                if m:
                    message = out.setdefault("%s.v1.%s" % (package, m.group(1)), {})
                m = re.match(r"  (?:optional |repeated )?(map<[^>]*>|[\w.]+) (\w+) = (\d+);", line)
                if m and message is not None:
                    kind = m.group(1)
                    if "<" not in kind:
                        kind = short(kind) if "." in kind else "%s.v1.%s" % (package, kind)
                    message[m.group(2)] = (int(m.group(3)), kind)
    return out


class Table:
    def __init__(self, mods):
        root = "%s/kubernetes@%s" % (mods, RELEASE)
        self.schemas, self.enums = load_schemas(root), load_enums(root)
        self.protos, self.types = load_protos(mods), {}

    def value(self, s):
        """A schema to its VALUE letter or type name; notes the type as needed."""
        ref = s.get("$ref") or (s.get("allOf") or [{}])[0].get("$ref")
        if ref:
            name = short(ref)
            if name.split(".")[-1] in LETTERS:
                return LETTERS[name.split(".")[-1]]
            self.add(name)
            return name
        kind, form = s.get("type"), s.get("format")
        if kind == "array":
            return "[" + self.value(s["items"])
        if kind == "object" and "additionalProperties" in s:
            inner = self.value(s["additionalProperties"])
            return "o" if inner.startswith("[") else "{" + inner
        return {"string": {"byte": "y"}.get(form, "s"), "boolean": "b", "number": "d",
                "integer": "l" if form == "int64" else "i"}.get(kind, "o")

    def field(self, owner, name, s, required, number):
        words = [name, str(number), self.value(s)]
        ext = {k[13:]: v for k, v in s.items() if k.startswith("x-kubernetes-")}
        items = s.get("items", {})
        words += ["!"] if name in required else []
        words += ["atomic"] if ext.get("map-type") == "atomic" else []
        if ext.get("list-type") in ("set", "map"):
            words.append("L=" + ext["list-type"])
        if "list-map-keys" in ext:
            words.append("K=" + ",".join(ext["list-map-keys"]))
        if "patch-merge-key" in ext:
            words.append("M=" + ext["patch-merge-key"])
        if "patch-strategy" in ext:
            words.append("P=" + ext["patch-strategy"])
        enums = self.enums.get(owner, {}).get(name)
        if enums:
            words.append("E=" + "|".join(enums))
        default = s.get("default", items.get("default"))
        if default not in (None, "", {}, 0):
            words.append("D=" + json.dumps(default, separators=(",", ":")))
        return " ".join(words)

    def inline(self, owner, props):
        """Messages whose fields OpenAPI shows in the owner itself."""
        out = []
        for name, (number, kind) in self.protos.get(owner, {}).items():
            inner = self.protos.get(kind)
            if name in props or not inner or not set(inner) & (set(props) | {"localObjectReference"}):
                continue
            self.add(kind, {k: v for k, v in props.items() if k in inner})
            out.append("~ %d %s" % (number, kind))
        return out

    def add(self, name, props=None):
        if name in self.types:
            return
        self.types[name] = []                      # against recursion
        s = self.schemas.get(name, {})
        numbers = self.protos.get(name, {})
        props = s.get("properties", {}) if props is None else props
        head = "=" + name
        gvk = s.get("x-kubernetes-group-version-kind", [])
        if len(gvk) == 1:
            head += " gvk=%(group)s,%(version)s,%(kind)s" % gvk[0]
        if s.get("x-kubernetes-map-type") == "atomic":
            head += " atomic"
        rows = [self.field(name, k, props[k], s.get("required", []), numbers.get(k, (0,))[0])
                for k in sorted(props)]
        self.types[name] = [head] + rows + self.inline(name, props)


def main():
    mods = sys.argv[1] if len(sys.argv) > 1 else "/root/go/pkg/mod/k8s.io"
    here = os.path.dirname(os.path.abspath(__file__))
    table = Table(mods)
    for line in KINDS.split("\n"):
        package, _, kinds = line.partition(": ")
        for kind in kinds.split():
            table.add(package + "." + kind)
    text = HEAD % RELEASE + "".join("\n".join(table.types[t]) + "\n" for t in sorted(table.types))
    with open(here + "/schema.txt", "w", encoding="utf-8") as f:
        f.write(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    with open(here + "/schema_data.c", "w", encoding="utf-8") as f:
        f.write(DATA_C % digest)


DATA_C = """\
/* schema_data.c - embeds k8s/schema.txt. Written by k8s/schema_gen.py: do not
 * edit. The digest makes this file change, and be compiled, with the text.
 * sha256 %s
 */
#include "k8s/schema.h"

__asm__(".section .rodata\\n"
        ".global schema_data_begin\\n"
        ".global schema_data_end\\n"
        "schema_data_begin:\\n"
        ".incbin \\"" PODIUM_SOURCE_DIR "/k8s/schema.txt\\"\\n"
        "schema_data_end:\\n"
        ".byte 0\\n"
        ".previous\\n");

extern const char schema_data_begin[], schema_data_end[];

const char *schema_data_text(size_t *len)
{
    *len = (size_t)(schema_data_end - schema_data_begin);
    return schema_data_begin;
}
"""

if __name__ == "__main__":
    main()
