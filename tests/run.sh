#!/bin/sh
# Run every test: the unit programs in $B/tests, then the scripts
# tests/{train,api,pty}/test_*.sh. Each prints "N passed, N failed[, N skipped]";
# this adds them up. A program that prints no such line, or dies, is a failure.
#   tests/run.sh [PATTERN]    only those whose name matches
# RUN_CLUSTER=1: those of tests/cluster instead (called by tests/cluster/run.sh).
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
export B
export LC_ALL=C.UTF-8 TZ=UTC
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
[ -n "${RUN_CLUSTER:-}" ] || unset KUBECONFIG
unset LINES COLUMNS NO_COLOR LANGUAGE COLORTERM

# one FILE: run it, keep what it says, how it ended and how long it took
one() {
    name=$(echo "${1#"$B/tests/"}" | tr / _)
    start=$(date +%s)
    case $1 in
    *.sh) timeout -k 5 400 sh "$1" >"$out/$name.log" 2>&1 </dev/null ;;
    *) timeout -k 5 400 "$1" >"$out/$name.log" 2>&1 </dev/null ;;
    esac
    echo "$? $(($(date +%s) - start))" >"$out/$name.rc"
}
if [ "${1:-}" = --one ]; then      # of the pools below
    one "$2"
    exit 0
fi

out=$(mktemp -d "${TMPDIR:-/tmp}/podium-run-XXXXXX")
trap 'rm -rf "$out"' EXIT INT TERM
export out
pattern=${1:-.}
for t in "$B"/tests/*; do
    [ -z "${RUN_CLUSTER:-}" ] && [ -x "$t" ] && [ -f "$t" ] && basename "$t" | grep -q -- "$pattern" && echo "$t"
done >"$out/programs"
if [ -n "${RUN_CLUSTER:-}" ]; then ls tests/cluster/test_*.sh
else ls tests/train/test_*.sh tests/api/test_*.sh tests/pty/test_*.sh
fi 2>/dev/null | grep -- "$pattern" >"$out/scripts"

# Two at a time; alone what measures how soon a line is on the screen, and what
# takes the cluster's server away.
alone='test_lab_keys\|test_outage\|test_dead'
xargs -r -n 1 -P 2 sh tests/run.sh --one <"$out/programs"
grep -v -- "$alone" "$out/scripts" | xargs -r -n 1 -P 2 sh tests/run.sh --one
grep -- "$alone" "$out/scripts" | xargs -r -n 1 sh tests/run.sh --one

passed=0 failed=0 skipped=0
for rc in "$out"/*.rc; do
    [ -e "$rc" ] || continue
    name=$(basename "$rc" .rc)
    read -r code seconds <"$rc"
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$out/$name.log" | tail -1)
    p=$(echo "$line" | sed -nE 's/^([0-9]+) passed.*/\1/p')
    f=$(echo "$line" | sed -nE 's/.* ([0-9]+) failed.*/\1/p')
    s=$(echo "$line" | sed -nE 's/.* ([0-9]+) skipped.*/\1/p')
    passed=$((passed + ${p:-0})); failed=$((failed + ${f:-0})); skipped=$((skipped + ${s:-0}))
    if [ "$code" != 0 ] && [ "${f:-0}" = 0 ]; then failed=$((failed + 1)); fi
    if [ -z "$line" ] && [ "$code" = 0 ]; then failed=$((failed + 1)); code="no result"; fi
    printf '%-28s %s  %ss\n' "$name" "${line:-no result, exit $code}" "$seconds"
    if [ "$code" != 0 ] || [ "${s:-0}" != 0 ]; then
        grep -vE '^[0-9]+ passed, ' "$out/$name.log" | head -c 6000 | sed 's/^/    /'
        [ "$code" != 0 ] && echo "    again: B=$B tests/run.sh '$name'"
    fi
done
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed = 0 ] && [ $passed -gt 0 ]
