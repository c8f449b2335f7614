#!/bin/sh
# The console on a pseudo terminal of 120x40: first paint, key to byte, bytes a
# move, idle; htop beside it where it is installed.
set -u
cd "$(dirname "$0")/../.." || exit 2
home=$(mktemp -d "${TMPDIR:-/tmp}/podium-bench-XXXXXX")
trap 'HOME=$home "${B:-build}/podium-practice" stop >/dev/null 2>&1; rm -rf "$home"' EXIT INT TERM
HOME=$home "${B:-build}/podium-practice" start >/dev/null || exit 1
HOME=$home python3 tests/bench/console.py "${B:-build}/podium"
