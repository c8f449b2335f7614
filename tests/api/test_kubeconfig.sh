#!/bin/sh
# Kubeconfigs judged by kubectl itself: its view and its request against a server that
# writes down how it was asked (kubeconfig.py). KUBECTL names the kubectl (default: of
# $PATH), KUBECONFIG_SEED and KUBECONFIG_COUNT the generated part. B=DIR has the programs.
# Prints "N passed, N failed".
set -u
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "skipped: $1"
    echo "0 passed, 0 failed"
    exit 0
}
kubectl=${KUBECTL:-$(command -v kubectl)} || skip "kubectl is not installed (apt-get install kubernetes-client)"
command -v openssl >/dev/null || skip "openssl makes the certificates, and is not installed"
version=$("$kubectl" version --client -o json 2>/dev/null |
    python3 -c 'import json,sys; print(json.load(sys.stdin)["clientVersion"]["minor"].rstrip("+"))')
[ "${version:-0}" -ge 27 ] ||
    skip "$kubectl is of minor ${version:-unknown}; before 27 it reads kubeconfigs otherwise (set KUBECTL)"
# a kubectl that only picks another by the server's version asks the server twice
real=$(readlink -f "$kubectl")
if "$kubectl" version --client 2>/dev/null | grep -q dispatcher && [ -x "$real.1.$version" ]; then
    kubectl=$real.1.$version
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
KUBECTL=$kubectl PODIUM=$B/podium WORK=$work PYTHONDONTWRITEBYTECODE=1 \
    python3 "$here/kubeconfig.py" table random
