#!/bin/sh
# The same runs in podium-train and in PyTorch (parity.py). PYTHON names the
# interpreter that has torch, transformers and peft.
exec "${PYTHON:-python3}" "$(dirname "$0")/parity.py" "${B:-build}/podium-train"
