#!/bin/sh
# podium-train diagnose: recorded and made series, and real runs built to fail.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-diagnose-XXXXXX")
trap 'rm -rf "$W"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 tests/train/diagnose.py "$B/podium-train" "$W"
