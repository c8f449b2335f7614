#!/bin/sh
# test_plain.sh - the console as lines: a script of typed commands takes the lab
# first-finetune from its first step to "done" on a fresh practice cluster, in
# English; a shorter lab is done in Chinese at 40 columns; the way out by Ctrl-C,
# Ctrl-D and signals; one look by `podium status`, which changes nothing.
# Everything that was said is then read byte by byte: no escape, no control
# byte, no line wider than it may be.
#
# B names the build folder. The script waits by the console's own `wait`.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$root/build}
case $B in /*) ;; *) B=$root/$B ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-plain-XXXXXX")
passed=0
failed=0

own() {
    env -i PATH="$PATH" HOME="$dir/home" TERM=xterm-256color LANG=C.UTF-8 \
        XDG_CONFIG_HOME="$dir/config" XDG_DATA_HOME="$dir/data" XDG_STATE_HOME="$dir/state" \
        XDG_CACHE_HOME="$dir/cache" XDG_RUNTIME_DIR="$dir/run" \
        LSAN_OPTIONS="${LSAN_OPTIONS:-}" "$@"
}
run=0
t() { tmux -S "$dir/tmux-$run" -f /dev/null "$@"; }
cleanup() {
    t kill-server 2>/dev/null
    own "$B/podium-practice" stop --pods >/dev/null 2>&1
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    [ -n "${2:-}" ] && tail -25 "$2" | sed 's/^/  |/'
}
# want WHAT TEXT FILE: a line with TEXT (a basic regular expression)
want() { if grep -q -- "$2" "$3"; then ok; else bad "$1: no \"$2\"" "$3"; fi; }
# until_file TEXT FILE SECONDS
until_file() {
    polls=$(($3 * 20))
    while [ $polls -gt 0 ]; do
        grep -q -- "$1" "$2" 2>/dev/null && return 0
        polls=$((polls - 1))
        sleep 0.05
    done
    return 1
}
# only_lines FILE WIDTH: bytes and widths
only_lines() {
    python3 - "$1" "$2" <<'PY' >"$dir/bytes"
import sys, unicodedata
data = open(sys.argv[1], "rb").read()
bad = sorted({b for b in data if b < 32 and b != 10 or b == 127})
if bad:
    print("control bytes", bad)
text = data.decode("utf-8")
if any(0x80 <= ord(c) < 0xa0 for c in text):
    print("C1 control characters")
wide = lambda c: 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
for line in text.split("\n"):
    w = sum(map(wide, line))
    if w > int(sys.argv[2]):
        print(w, "columns:", line)
PY
    if [ -s "$dir/bytes" ]; then bad "$1 holds more than lines" "$dir/bytes"; else ok; fi
}

mkdir -p "$dir/home" "$dir/run"
chmod 700 "$dir/run"

# --- the whole lab, in English -------------------------------------------------------
mkfifo "$dir/typed"
own "$B/podium" --plain --lang en <"$dir/typed" >"$dir/lab" 2>&1 &
pid=$!
exec 3>"$dir/typed"
cat >&3 <<'X'
wait link
open first-finetune
menu
replace readyNodes: "?" => readyNodes: 5
replace gaudiResource: "?" => gaudiResource: habana.ai/gaudi
replace nvidiaResource: "?" => nvidiaResource: nvidia.com/gpu
replace readyNodes: 5 => readyNodes: 3
wait checks
next
run
wait checks
n
r
wait checks
next
show
X
# the only thing that has to be heard: the image's name
if until_file '^43: ' "$dir/lab" 60; then ok; else bad "job.yaml is not read out" "$dir/lab"; fi
image=$(grep -oE '[0-9.]+:[0-9]+/[^ ,]+:1' "$dir/lab" | head -1)
cat >&3 <<X
replace image: IMAGE => image: $image
replace memory: MEMORY => memory: 64Mi
replace --rate=RATE => --rate=0.003
why
replace memory: 64Mi => memory: 512Mi
wait checks
next
run
wait checks
pods
events
next
wait checks
next
pause
inspect
norms
train.step 3
rate
0.002
resume
wait checks
hint
curve
next
run
wait run
wait checks
log 2
next
check
wait checks
where
curve
steps
X
exec 3>&-
wait $pid
code=$?
if [ $code = 0 ]; then ok; else bad "the script ended with $code" "$dir/lab"; fi
only_lines "$dir/lab" 72
want "a wrong count" "WRONG: The nodes are counted right" "$dir/lab"
want "a wrong count says what" "Expected: 3. Found: 5." "$dir/lab"
want "the build's progress" "building the image: [1-9][0-9]* percent" "$dir/lab"
want "too little memory" "Expected: at least 384Mi, at most 2Gi. Found: 64Mi." "$dir/lab"
want "the pod" "^Pod first-finetune-.*: Running, 1 of 1 containers ready" "$dir/lab"
want "what the cluster does" "^Not yet. The newest event: " "$dir/lab"
want "the loss" "^Training step [0-9]* of 320, loss [0-9.]*, average [0-9.]*" "$dir/lab"
want "the question" "^learning rate? Type it and Enter" "$dir/lab"
want "the trainer's answer" "^Trainer: paused at step" "$dir/lab"
want "the norms" "^0.q_proj.A  *[0-9.]*  *[0-9.]*" "$dir/lab"
want "the verdict" "^Verdict: the training is done: 320 steps" "$dir/lab"
want "the table" "^  Step 1: loss [0-9.]*, average [0-9.]*, validation" "$dir/lab"
want "the end" "^the lab is done" "$dir/lab"
want "the adapter" "^Your adapter is in" "$dir/lab"
want "where" "^Step 9 of 9: Prove that it learned. It is done." "$dir/lab"
points=$(grep -c '^Training step ' "$dir/lab")
if [ "$points" -ge 10 ] && [ "$points" -le 60 ]; then ok; else bad "$points lines of the loss"; fi
[ -s "$dir/data/podium/work/first-finetune/adapter/adapter_model.safetensors" ] && ok ||
    bad "no adapter"

# --- one look -------------------------------------------------------------------------
sums() { (cd "$dir/data/podium/work" && find . -type f -exec cksum {} + | sort); }
sums >"$dir/before"
own "$B/podium" --lang en status >"$dir/status" 2>&1
code=$?
if [ $code = 0 ]; then ok; else bad "status ended with $code" "$dir/status"; fi
want "status: the lab" "^Step 9 of 9: .*done" "$dir/status"
want "status: the run" "^Training step 320 of 320, loss" "$dir/status"
sums >"$dir/after"
if cmp -s "$dir/before" "$dir/after"; then ok; else bad "status changed a file"; fi
only_lines "$dir/status" 72
own "$B/podium" --lang en --kubeconfig /nowhere status >"$dir/nowhere" 2>&1
code=$?
if [ $code = 3 ]; then ok; else bad "status without a cluster ended with $code" "$dir/nowhere"; fi
want "status: the next step" "^Next step: " "$dir/nowhere"

# --- a shorter lab, in Chinese, at 40 columns ------------------------------------------
cp -R "$root/tests/pty/plain-lab" "$dir/labs"
cat >"$dir/zh.typed" <<'X'
wait link
1
menu
hint
replace nodes: 0 => nodes: 4
wait checks 9
replace nodes: 4 => nodes: 3
wait checks
undo
undo
show
where
nodes
quit
X
own COLUMNS=40 "$B/podium" --plain --lang zh --labs "$dir/labs" <"$dir/zh.typed" >"$dir/zh" 2>&1
code=$?
# a wait that was not fulfilled is told to whoever started the script
if [ $code = 1 ]; then ok; else bad "the Chinese script ended with $code" "$dir/zh"; fi
only_lines "$dir/zh" 40
want "Chinese: the step" "第 1 步（共 1 步）：数一数节点" "$dir/zh"
want "Chinese: wrong" "期望：3。实际：4。" "$dir/zh"
want "Chinese: undone" "answer.yaml 已恢复到上一次修改之前" "$dir/zh"
want "Chinese: and done again" "^1: nodes: 3" "$dir/zh"
want "Chinese: done" "实验完成" "$dir/zh"
if grep -qE '^(Step|Check|Waiting|Node|Type) ' "$dir/zh"; then bad "English in the Chinese" "$dir/zh"; else ok; fi

# text that would steer a terminal stays text, and LC_ALL=C shows ASCII alone
printf 'open nosuch\033]0;x\007\nwhere\n' >"$dir/evil.typed"
own LC_ALL=C "$B/podium" --plain --labs "$dir/labs" <"$dir/evil.typed" >"$dir/evil" 2>&1
only_lines "$dir/evil" 72
if LC_ALL=C grep -q '[^ -~]' "$dir/evil"; then bad "LC_ALL=C: not ASCII" "$dir/evil"; else ok; fi

# --- at a terminal ----------------------------------------------------------------------
if command -v tmux >/dev/null 2>&1; then
    screen() { t capture-pane -p >"$dir/screen" 2>/dev/null; }
    until_shows() {
        polls=200
        while [ $polls -gt 0 ]; do
            screen
            grep -q -- "$1" "$dir/screen" && return 0
            polls=$((polls - 1))
            sleep 0.05
        done
        return 1
    }
    shows() { if until_shows "$2"; then ok; else bad "$1: no \"$2\"" "$dir/screen"; fi; }
    begin() {
        t kill-server 2>/dev/null
        run=$((run + 1))
        own tmux -S "$dir/tmux-$run" -f /dev/null new-session -d -x 60 -y 24 \
            "trap : INT; PODIUM_PLAIN=1 $B/podium --lang en; echo left with \$?; exec cat"
        shows "$1" "^lab?"
    }
    begin "Ctrl-C"
    t send-keys "wait run" Enter
    shows "Ctrl-C" "^Waiting until"
    t send-keys C-c
    shows "Ctrl-C ends the waiting" "^Waiting ended"
    t send-keys C-c
    shows "Ctrl-C twice" "^left with 0"
    begin "Ctrl-D"
    t send-keys 1 Enter
    shows "the prompt says where" "^step 9 of 9>"
    t send-keys C-d
    shows "Ctrl-D" "^left with 0"
    for signal in TERM HUP; do
        begin "SIG$signal"
        kill -"$signal" "$(pgrep -P "$(t display-message -p '#{pane_pid}')")"
        shows "SIG$signal" "^podium was ended by signal"
    done
else
    echo "SKIP there is no tmux: no terminal"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
