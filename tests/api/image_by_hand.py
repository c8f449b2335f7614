#!/usr/bin/env python3
"""image_by_hand.py LAYOUT TAR...: an OCI layout with one image, tag "base", of
these tars as layers, the second and later ones gzipped. Written from the
specification, without podium's code, so that podium can be tested with it."""
import gzip
import hashlib
import json
import os
import sys

out, tars = sys.argv[1], sys.argv[2:]
os.makedirs(out + "/blobs/sha256", exist_ok=True)


def put(data, media_type):
    digest = hashlib.sha256(data).hexdigest()
    with open(f"{out}/blobs/sha256/{digest}", "wb") as f:
        f.write(data)
    return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}


layers, diff_ids = [], []
for i, path in enumerate(tars):
    data = open(path, "rb").read()
    diff_ids.append("sha256:" + hashlib.sha256(data).hexdigest())
    if i:
        layers.append(put(gzip.compress(data, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip"))
    else:
        layers.append(put(data, "application/vnd.oci.image.layer.v1.tar"))
config = put(json.dumps({"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/sh"]},
                         "rootfs": {"type": "layers", "diff_ids": diff_ids}}).encode(),
             "application/vnd.oci.image.config.v1+json")
manifest = put(json.dumps({"schemaVersion": 2, "config": config, "layers": layers}).encode(),
               "application/vnd.oci.image.manifest.v1+json")
manifest["annotations"] = {"org.opencontainers.image.ref.name": "base"}
with open(out + "/oci-layout", "w") as f:
    f.write('{"imageLayoutVersion": "1.0.0"}')
with open(out + "/index.json", "w") as f:
    json.dump({"schemaVersion": 2, "manifests": [manifest]}, f)
