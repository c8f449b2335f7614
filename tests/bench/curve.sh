#!/bin/sh
# The curve: appending a point, the average, a frame of a million points.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
make -s "B=$B" "$B/tests/tui_curve" "$B/tests/tui_live" >&2 || exit 1
BENCH=$out "$B/tests/tui_curve" what_it_costs >&2
BENCH=$out "$B/tests/tui_live" >&2
cat "$out"
