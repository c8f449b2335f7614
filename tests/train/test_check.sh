#!/bin/sh
# podium-train check: the recorded failures of tensor files, tokenizers and
# checkpoints (tests/cases), and others of their kinds made here. B=DIR.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-check-XXXXXX")
trap 'rm -rf "$W"' EXIT
exec env PYTHONDONTWRITEBYTECODE=1 python3 tests/train/check.py "$B/podium-train" "$W"
