#!/bin/sh
# make lint: every rule that a machine can keep. Allow lists are empty.
set -u
cd "$(dirname "$0")/../.." || exit 2
exec python3 tests/lint/lint.py "$@"
