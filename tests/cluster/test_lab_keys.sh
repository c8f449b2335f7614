#!/bin/sh
# A student with rights in one namespace and a keyboard works first-finetune whole
# on the real cluster (tests/pty/test_lab_keys.sh presses the keys). In the middle of
# the run the API server is killed for a minute (outage.sh): nothing may be lost.
set -u
cd "$(dirname "$0")/../.." || exit 2
student() { "$KUBECTL" --kubeconfig "$STUDENT" "$@"; }
end() { student delete job,pod,pvc -l podium/lab=first-finetune --now >/dev/null 2>&1; }
trap end EXIT
trap 'exit 1' INT TERM
end
export KEYS_KUBECONFIG="$STUDENT" KEYS_STUDENT=1 KEYS_LOGS="$CLUSTER/pods-log" KEYS_OUTAGE="$PWD/tests/cluster/outage.sh"
export PODIUM_KEYS_LANG="${PODIUM_KEYS_LANG:-en}"
sh tests/pty/test_lab_keys.sh
