#!/bin/sh
# Each line of tests/mutants/*.list is a one-line sabotage: FILE, a sed -E
# expression that changes it, the test program (or script) that must turn red,
# and optionally the one test in it; separated by tabs. A mutant that changes
# nothing, doesn't compile or leaves its test green is a failure.
#   tests/mutants/run.sh [PATTERN]
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-mutants-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
git ls-files -co --exclude-standard | tar cf - -T - | tar xf - -C "$work"
killed=0 alive=0
tab=$(printf '\t')
for list in tests/mutants/*.list; do
    grep -vE '^(#|$)' "$list" | grep -E -- "${1:-.}" >"$work/list"
    while IFS="$tab" read -r file expr program name; do
        cp "$work/$file" "$work/original"
        sed -E -i "$expr" "$work/$file"
        why=
        if cmp -s "$work/$file" "$work/original"; then
            why="changes nothing"
        else
            case $program in
            *.sh)
                if ! make -s -C "$work" B="$B/mutants" WARN= all >"$work/log" 2>&1; then
                    why="does not compile"
                elif (cd "$work" && B="$B/mutants" timeout 400 sh "$program" >"$work/log" 2>&1 </dev/null); then
                    why="lives"
                fi ;;
            *)
                if ! make -s -C "$work" B="$B/mutants" WARN= "$B/mutants/tests/$program" >"$work/log" 2>&1; then
                    why="does not compile"
                elif T_TIMEOUT=60 timeout 400 "$B/mutants/tests/$program" $name >"$work/log" 2>&1 </dev/null; then
                    why="lives"
                fi ;;
            esac
        fi
        if [ -n "$why" ]; then
            alive=$((alive + 1))
            printf '%s: %s: %s\n' "$why" "$file" "$expr"
            [ "$why" = "does not compile" ] && tail -5 "$work/log"
        else
            killed=$((killed + 1))
        fi
        cp "$work/original" "$work/$file"
        echo "$killed $alive" >"$work/count"
    done <"$work/list"
done
echo "mutants: each of $killed turned a test red; $alive did not"
echo "$killed passed, $alive failed"
[ $alive = 0 ] && [ $killed -gt 0 ]
