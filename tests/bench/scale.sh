#!/bin/sh
# A list of SCALE_PODS (15,000) pods of 5.6 KB on a real kube-apiserver, with
# kubectl's table and k9s beside it: first rows, processor, memory, idle, a key of a
# filter, and keys while 500 pods a second change. k9s is built from its Go module
# into the cache once (some minutes); where it can't be, its lines are left out.
set -u
cd "$(dirname "$0")/../.." || exit 2
home=$(mktemp -d "${TMPDIR:-/tmp}/podium-scale-XXXXXX")
. tests/bench/scale_up
trap 'scale_down; rm -rf "$home"' EXIT INT TERM
K9S_V=v0.50.16
k9s=${XDG_CACHE_HOME:-$HOME/.cache}/podium/k9s
[ -x "$k9s/k9s" ] || (
    mkdir -p "$k9s" && cd "$k9s" &&
        GOPATH=$k9s/go GOCACHE=$k9s/gocache GOBIN=$k9s GOFLAGS=-modcacherw nice \
            go install -ldflags '-s -w' "github.com/derailed/k9s@$K9S_V" >build.log 2>&1 &&
        rm -rf go gocache
) || echo "scale: k9s left out: $(tail -n 1 "$k9s/build.log" 2>/dev/null)" >&2
[ -x "$k9s/k9s" ] && k9s=$k9s/k9s || k9s=-
scale_up || { echo "scale: left out: no real API server on this machine" >&2; exit 0; }
pods=${SCALE_PODS:-15000}
nice python3 tests/bench/scale_load.py fill "$home/admin.json" scale "$pods" || exit 1
HOME=$home python3 tests/bench/scale.py "${B:-build}/podium" "$BIN/kubectl" "$k9s" \
    "$home/admin.json" scale "$pods"
