#!/bin/sh
# The lab engine on a practice cluster: `lab new`, `lint` and `test` on labs that
# are right and on labs with one fault each, the shipped lab why-pending, --set and
# --answer, a dead server, and what is left behind. B=DIR has the programs.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
W=$(mktemp -d "${TMPDIR:-/tmp}/podium-engine-XXXXXX")
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_STATE_HOME="$W/state" XDG_CONFIG_HOME="$W/config" \
    XDG_CACHE_HOME="$W/cache" XDG_RUNTIME_DIR="$W/run" LC_ALL=C.UTF-8
unset KUBECONFIG LANGUAGE
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
end() {
    "$B/podium-practice" reset >/dev/null 2>&1
    rm -rf "$W"
}
trap end EXIT
trap 'exit 1' INT TERM
passed=0 failed=0

# check NAME CODE WANTED-CODE [PATTERN]: the last command's code and a line of
# its output; "!PATTERN": no such line.
check() {
    ok=0
    [ "$2" = "$3" ] || ok=1
    case ${4:-} in
    "") ;;
    !*) grep -q -- "${4#!}" "$W/out" && ok=1 ;;
    *) grep -q -- "$4" "$W/out" || ok=1 ;;
    esac
    if [ $ok = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: exit $2, want $3, with ${4:-any line}"
        tail -8 "$W/out" | cut -c1-500
    fi
}
podium() {
    timeout 150 "$B/podium" "$@" >"$W/out" 2>&1
    rc=$?
}
# lab NAME SED: a copy of the template "basic" with one fault.
lab() {
    podium lab new "$W/$1"
    sed -E -i "$2" "$W/$1/lab.yaml"
}

# --- new, lint ---------------------------------------------------------------------
podium lab new "$W/mine"
check "new" $rc 0 "podium lab test"
podium lab new "$W/mine"
check "new does not overwrite" $rc 2 "there already"
podium lab new "$W/Not_an_id"
check "new wants an id" $rc 2 "no id"
podium lab new "$W/other" --template fault
check "another template" $rc 0
podium lab new "$W/third" --template nope
check "an unknown template" $rc 2 "basic"
podium lab lint "$W/mine" "$W/other" labs/content/why-pending labs/content/first-finetune
check "what ships is clean" $rc 0 "!error"
lab typo 's/^    checks:/    chekcs:/'
podium lab lint "$W/typo" --json
check "a misspelt key has its place and the right one" $rc 1 '"line":43,"column":5.*did you mean \\"checks\\"'
lab unused 's/^  COPIES:/  IDLE: x\n  COPIES:/'
podium lab lint "$W/unused"
check "an unused variable" $rc 1 "lab.yaml:12:3: unused-var"
lab spoilt 's/en: Only the question mark changes./en: "copies: \\"${COPIES}\\""/'
podium lab lint "$W/spoilt"
check "a hint that gives the solution away" $rc 1 "hint-solves"
lab nofile 's,from: files/settings.yaml,from: files/gone.yaml,'
podium lab lint "$W/nofile"
check "a file that is not there" $rc 1 "gone.yaml"
lab nozh 's/(title: \{en: Count the nodes), zh: [^}]*/\1/'
podium lab lint "$W/nozh"
check "a missing translation" $rc 1 ":16:17: translation"

# --- test: right labs ------------------------------------------------------------------
podium lab test "$W/mine" "$W/other" --settle 1s --json
check "the templates pass" $rc 0 '"lab":"mine","steps":2,"of":2,"checks":1,"findings":0,"tested":true'
podium lab test labs/content/why-pending --settle 1s
check "why-pending passes" $rc 0 "5 of 5 steps.* 0 findings"

# --- test: one fault each ----------------------------------------------------------------
lab presolved 's/(kind: configmaps)/kind: nodes/; s/name: presolved$/name: xeon-0/; s/expect: .*/expect: {"kind": Node}/'
sed -E -i 's/expect: .*/expect: {"metadata.name": xeon-0}/' "$W/presolved/lab.yaml"
podium lab test "$W/presolved" --settle 1s
check "a check that passes before anything is done" $rc 1 "pre-solved: look: \"The cluster has your value\""
lab unsolved '/find: .copies: ...., put/s/put: .*}$/put: "copies: 5"}/'
podium lab test "$W/unsolved" --settle 1s
check "a solve that does not solve" $rc 1 "solve: write: .*data.copies"
lab lax 's/expect: \{"data.copies": .*/expect: {"data.copies": {exists: yes}}/'
podium lab test "$W/lax" --settle 1s
check "a check that takes any answer is found by its wrong ones" $rc 1 "wrong: write: .* passes"
lab easy 's/count: \{kind: nodes, where: .*/is: 99/'
podium lab test "$W/easy" --settle 1s
check "a wrong answer that is right" $rc 1 'wrong: look: "99" passes'

# --- runs ----------------------------------------------------------------------------------
podium lab run why-pending --headless --json --until mend --set 'mend:job.yaml:nothing like it=>x'
check "--set that finds nothing" $rc 2 "is not in its file"
podium lab run why-pending --headless --json --until mend --set 'mend:other.yaml:a=>x'
check "--set of another file" $rc 2 "none of its step"
podium lab run why-pending --headless --json --answer nodes:ready=7
check "--answer that is wrong" $rc 1 '"result":"WRONG"'
podium lab run why-pending --headless --json --answer nodes:nothing=7
check "--answer to no question" $rc 2 "no such question"
podium lab run why-pending --headless --json --until mend --set 'mend:job.yaml:memory: 64Mi=>memory: 900Gi'
check "a wrong edit stays wrong" $rc 1 "more than the process needs"
podium lab run why-pending --headless --lang zh --until nodes
check "a run speaks Chinese" $rc 0 "完成"

# --- nothing is left -----------------------------------------------------------------------------
podium lab run why-pending --headless --json --keep --until find
check "--keep" $rc 0
"$B/podium-practice" kubeconfig >"$W/kc" 2>/dev/null
podium lab reset why-pending
check "reset tells what it deletes" $rc 0 "deleting jobs/why-pending-train"
podium lab reset why-pending
check "reset again has nothing to do" $rc 0 "(0 objects deleted)"
ls "$XDG_DATA_HOME"/podium/work >"$W/out" 2>&1
check "reset leaves no folder of a lab that was never begun" 0 0 "!why-pending"

# --- no cluster -------------------------------------------------------------------------------------
cat >"$W/dead" <<'Y'
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: u}}]
users: [{name: u, user: {}}]
current-context: a
Y
t0=$(date +%s)
podium lab run why-pending --headless --json --kubeconfig "$W/dead"
check "a dead server" $rc 3 "127.0.0.1"
check "is given up after 15 seconds" $(($(date +%s) - t0 < 20)) 1

echo "$passed passed, $failed failed"
[ $failed = 0 ]
