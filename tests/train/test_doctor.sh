#!/bin/sh
# podium-train doctor: the recorded data sets (tests/cases/dataset) and others of
# their kinds. B=DIR.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-doctor-XXXXXX")
trap 'rm -rf "$W"' EXIT
exec env PYTHONDONTWRITEBYTECODE=1 python3 tests/train/doctor.py "$B/podium-train" "$W"
