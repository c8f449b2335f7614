#!/bin/sh
# make parity: the kept references made anew, and the numbers against PyTorch, PEFT,
# transformers and llama.cpp. PYTHON names an interpreter that has them. Without it, and
# where python3 has no torch, the pinned packages of parity.txt are installed once into
# an environment outside the clone (some gigabytes; needs PyPI).
set -u
cd "$(dirname "$0")/../.." || exit 2
has() { "$1" -c 'import torch, transformers, peft' 2>/dev/null; }
here=tests/train
if [ -z "${PYTHON:-}" ]; then
    PYTHON=python3
    pins=$(sha256sum $here/parity.txt | cut -c1-12)
    env=${XDG_CACHE_HOME:-$HOME/.cache}/podium/parity/$pins
    if ! has python3; then
        PYTHON=$env/bin/python
        if ! has "$PYTHON"; then
            echo "parity: installing $here/parity.txt into $env"
            { python3 -m venv "$env" && "$env/bin/pip" install -q -r $here/parity.txt; } || {
                echo "left out: parity: the packages of $here/parity.txt can't be installed here"
                echo "0 passed, 0 failed, 1 skipped"
                exit 0
            }
        fi
    fi
fi
failed=0
echo "== $here/make_reference.py --check"
"$PYTHON" $here/make_reference.py --check || failed=1
for script in $here/parity*.py; do
    echo "== $script"
    "$PYTHON" "$script" "${B:-build}/podium-train" || failed=1
done
exit $failed
