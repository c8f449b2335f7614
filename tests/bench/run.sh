#!/bin/sh
# make bench: every tests/bench/*.sh but this one prints lines
#   bench NAME VALUE UNIT [vs PEER VALUE ratio R]
set -u
cd "$(dirname "$0")/../.." || exit 2
export B=${B:-build}
for t in tests/bench/*.sh; do
    [ "$t" = tests/bench/run.sh ] || sh "$t"
done
