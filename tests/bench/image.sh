#!/bin/sh
# image.sh - build and push of a 10 MB and a 200 MB context (half random bytes,
# half programs of this system), beside skopeo copying the same image to the same
# registry (Debian's docker-registry), and the push to the practice registry.
#   bench image.push.10MB VALUE MB/s vs skopeo VALUE ratio R
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
[ -x "$B/podium" ] || { echo "bench image: build $B/podium first" >&2; exit 3; }
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-bench-XXXXXX")
pids=
trap 'for p in $pids; do kill $p 2>/dev/null; done; rm -rf "$work"' EXIT INT TERM
export XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" LC_ALL=C.UTF-8
now() { date +%s%N; }
rate() { awk -v mb="$1" -v ns="$2" 'BEGIN { printf "%.1f", mb / (ns / 1e9) }'; }
# seconds COMMAND...: its time in ns into $ns
timed() { t=$(now); "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; ns=$(($(now) - t)); }

registry=
if command -v docker-registry >/dev/null && command -v skopeo >/dev/null; then
    port=$(python3 -c 'import socket
s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
    printf 'version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %s/reg}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$work" "$port" >"$work/reg.yml"
    docker-registry serve "$work/reg.yml" >/dev/null 2>&1 &
    pids="$pids $!"; registry=127.0.0.1:$port; sleep 1
fi
practice=
if [ -x "$B/tests/practice_registry" ]; then
    mkdir "$work/practice"
    "$B/tests/practice_registry" serve "$work/practice" >"$work/where" 2>/dev/null &
    pids="$pids $!"; sleep 1
    read -r port ca <"$work/where"
    practice=127.0.0.1:$port; echo secret >"$work/token"
fi

for mb in 10 200; do
    ctx=$work/ctx$mb; mkdir "$ctx"
    printf 'FROM scratch\nCOPY data /data\n' >"$ctx/Dockerfile"
    mkdir "$ctx/data"
    head -c $((mb * 500000)) /dev/urandom >"$ctx/data/random"
    find /usr/bin /usr/lib -type f -size +100k -readable 2>/dev/null | LC_ALL=C sort | xargs cat 2>/dev/null | head -c $((mb * 500000)) >"$ctx/data/programs"
    timed "$B/podium" image build -o "oci:$work/out$mb:v1" "$ctx"
    echo "bench image.build.${mb}MB $(rate $mb $ns) MB/s"
    timed "$B/podium" image build -o "oci:$work/out$mb:v1" "$ctx"
    echo "bench image.rebuild.${mb}MB $(rate $mb $ns) MB/s"
    size=$(du -cb "$work/out$mb"/blobs/sha256/* | tail -1 | awk '{print $1 / 1e6}')
    if [ -n "$registry" ]; then
        timed "$B/podium" image push --plain-http "oci:$work/out$mb:v1" "$registry/podium/x:v$mb"; mine=$ns
        timed skopeo copy -q --dest-tls-verify=false "oci:$work/out$mb:v1" "docker://$registry/skopeo/x:v$mb"
        echo "bench image.push.${mb}MB $(rate "$size" $mine) MB/s vs skopeo $(rate "$size" $ns) ratio $(awk -v a=$ns -v b=$mine 'BEGIN { printf "%.2f", a / b }')"
    fi
    if [ -n "$practice" ]; then
        timed "$B/podium" image push --ca-file "$ca" --token-file "$work/token" "oci:$work/out$mb:v1" "$practice/podium/x:v$mb"
        echo "bench image.push-practice.${mb}MB $(rate "$size" $ns) MB/s"
        timed "$B/podium" image pull --ca-file "$ca" --token-file "$work/token" --store "$work/store$mb" "$practice/podium/x:v$mb"
        echo "bench image.pull-practice.${mb}MB $(rate "$size" $ns) MB/s"
    fi
    timed "$B/podium" image unpack "oci:$work/out$mb:v1" "$work/root$mb"
    echo "bench image.unpack.${mb}MB $(rate $mb $ns) MB/s"
    rm -rf "$ctx" "$work/out$mb" "$work/root$mb" "$work/store$mb"
done
