#!/bin/sh
# --epochs: whole passes, the last window of accumulation smaller (the recorded case
# training-numerics/005), and what the records say of it.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-epochs-XXXXXX")
trap 'rm -rf "$W"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 tests/train/epochs.py "$B/podium-train" "$W"
