#!/bin/sh
# What a session survives, with the real programs: kill -9 of the console and of
# the practice cluster in mid-run, wrong input, hostile logs, kubectl beside the
# API panel, no token anywhere. B=DIR has the programs. "N passed, N failed".
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
for tool in tmux kubectl python3 cc; do
    command -v $tool >/dev/null && continue
    echo "not tried: $tool is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
done
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-recovery-XXXXXX")
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8 LANG=C.UTF-8
unset KUBECONFIG LANGUAGE EDITOR VISUAL NO_COLOR
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
end() {
    for s in "$W"/tmux-*; do tmux -S "$s" kill-server 2>/dev/null; done
    "$W/bin/podium-practice" reset >/dev/null 2>&1
    rm -rf "$W"
}
trap end EXIT
trap 'exit 1' INT TERM
mkdir "$W/bin"
cp "$B/podium" "$B/podium-practice" "$B/podium-shim" "$B/podium-train" "$W/bin/" || exit 1
timeout 280 python3 "$here/recovery.py" "$W" "$@"
