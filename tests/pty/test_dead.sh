#!/bin/sh
# test_dead.sh - the console never waits for a cluster: in a network namespace whose
# firewall drops packets and whose name server is mute, each key is answered within
# 50 ms (dead.py). Needs root and iptables; B=DIR has the programs.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
if [ "${1:-}" != inside ]; then
    left_out() { echo "left out: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
    [ "$(id -u)" = 0 ] || left_out "a network namespace needs root"
    unshare -nm true 2>/dev/null || left_out "no network namespaces here"
    command -v iptables >/dev/null || left_out "no iptables"
    exec unshare -nm sh "$0" inside
fi
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-dead-XXXXXX")
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8 TERM=xterm-256color
unset KUBECONFIG LANGUAGE
export ASAN_OPTIONS=detect_leaks=0    # a search for leaks is no part of leaving
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
end() {
    "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$W"
}
trap end EXIT
trap 'exit 1' INT TERM
ip link set lo up && ip addr add 10.9.0.2/32 dev lo && ip addr add 10.9.0.53/32 dev lo || exit 1
if ! iptables -A INPUT -d 10.9.0.2 -j DROP 2>"$W/why" || ! iptables -A INPUT -d 10.9.0.53 -j DROP; then
    echo "left out: iptables: $(head -1 "$W/why")"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
echo "nameserver 10.9.0.53" >"$W/resolv.conf"
mount --bind "$W/resolv.conf" /etc/resolv.conf || exit 1
echo "hosts: files dns" >"$W/nsswitch.conf"
mount --bind "$W/nsswitch.conf" /etc/nsswitch.conf || exit 1
"$B/podium-practice" start >/dev/null || exit 1
"$B/podium-practice" kubeconfig >"$W/practice.yaml"
python3 - "$W/practice.yaml" "$W/config.yaml" >"$W/port" <<'P'
import re, sys
text = open(sys.argv[1]).read()
print(re.search(r"server: *\"?https://127\.0\.0\.1:(\d+)", text)[1])
name = re.search(r"current-context: *(\S+)", text)[1]
cluster, user = (re.search(rf"^ *{k}: *(\S+)$", text[text.index("contexts:"):], re.M)[1] for k in ("cluster", "user"))
ctx = lambda n, c: f"- name: {n}\n  context: {{cluster: {c}, user: {user}}}\n"
mute = lambda n, s: f"- name: {n}\n  cluster: {{server: \"{s}\", insecure-skip-tls-verify: true}}\n"
text = re.sub(r"^contexts:\n", "contexts:\n" + ctx("live", cluster) + ctx("dead", "dead") +
              ctx("noname", "noname"), text, flags=re.M)
text = re.sub(r"^clusters:\n", "clusters:\n" + mute("dead", "https://10.9.0.2:6443") +
              mute("noname", "https://api.cluster.example.test:6443"), text, flags=re.M)
open(sys.argv[2], "w").write(text)
P
python3 tests/pty/dead.py "$B/podium" "$W/config.yaml" "$W" "$(cat "$W/port")"
