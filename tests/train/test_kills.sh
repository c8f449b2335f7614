#!/bin/sh
# 200 SIGKILLs at random points of a run (KILLS_SEED names them), and a disk that
# is full: what comes out in the end equals a run that nothing happened to.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
[ -w /dev/shm ] && : "${TMPDIR:=/dev/shm}"     # the fsyncs of a real disk take most of the time
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-kills-XXXXXX")
trap 'umount "$W/full" 2>/dev/null; rm -rf "$W"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 tests/train/kills.py "$B/podium-train" "$W"
