#!/bin/sh
# test_terminals.sh - the console in tmux under the terminals that people have:
# no screen may be blank, none may leave without a sentence. Waits for a text,
# never for a time. B names the build folder. Ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$root/build}
case $B in /*) ;; *) B=$root/$B ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-pty-XXXXXX")
sock=$dir/tmux-0
run=0
passed=0
failed=0

t() { tmux -S "$sock" -f /dev/null "$@"; }
cleanup() { t kill-server 2>/dev/null; rm -rf "$dir"; }
trap cleanup EXIT

# wait_for TEXT: until the screen holds it, at most 10 s
wait_for() {
    i=0
    while [ $i -lt 200 ]; do
        t capture-pane -p >"$dir/screen" 2>/dev/null
        grep -qF -- "$1" "$dir/screen" && return 0
        i=$((i + 1))
        sleep 0.05
    done
    return 1
}

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/  |/' "$dir/screen"
}
# wait_gone TEXT: until the screen no longer holds it (an ESC and the next key
# must not arrive as one Alt key)
wait_gone() {
    i=0
    while [ $i -lt 200 ]; do
        t capture-pane -p >"$dir/screen" 2>/dev/null
        grep -qF -- "$1" "$dir/screen" || return 0
        i=$((i + 1))
        sleep 0.05
    done
    return 1
}
want() { if wait_for "$2"; then ok; else bad "$1: no \"$2\""; fi; }
refuse() { if grep -qF -- "$2" "$dir/screen"; then bad "$1: \"$2\""; else ok; fi; }

# wait_left PID: until the process is gone, at most 10 s
wait_left() {
    i=0
    while [ $i -lt 200 ]; do
        kill -0 "$1" 2>/dev/null || return 0
        i=$((i + 1))
        sleep 0.05
    done
    return 1
}

# begin COLS ROWS ENV... : the console in a fresh tmux window
begin() {
    cols=$1 rows=$2
    shift 2
    t kill-server 2>/dev/null
    run=$((run + 1))
    sock=$dir/tmux-$run
    t new-session -d -x "$cols" -y "$rows" \
        "env -u LC_ALL -u LC_CTYPE -u NO_COLOR -u EDITOR -u VISUAL HOME=$dir/home LANG=C.UTF-8 \
         $* $B/podium --kubeconfig /nowhere/config --labs $root/tests/screens/labs; \
         echo left with \$?; exec cat"
}

# walk NAME: catalogue, a lab, its tabs, help, and out
walk() {
    want "$1" "Catalogue"
    want "$1" "LoRA on Gaudi"
    t send-keys j Enter
    want "$1" "Look at the node"
    t send-keys 3
    want "$1" "No training log yet"
    t send-keys '?'
    want "$1" "smooth"
    t send-keys Escape
    if wait_gone "smooth less"; then ok; else bad "$1: Esc does not close the help"; fi
    t send-keys : r a
    want "$1" "set the learning"
    t send-keys Escape
    if wait_gone "Tab completes"; then ok; else bad "$1: Esc does not close the palette"; fi
    t send-keys q q
    want "$1" "q quit"
    t send-keys q
    want "$1" "left with 0"
}

for term in xterm-256color tmux-256color screen-256color xterm linux vt100 xterm-kitty foot; do
    begin 100 30 TERM=$term
    walk "$term"
done

begin 80 24 TERM=xterm-256color LC_ALL=C
want "LC_ALL=C" "Catalogue"
if LC_ALL=C grep -q '[^ -~]' "$dir/screen"; then bad "LC_ALL=C: a byte that is not ASCII"; else ok; fi
walk "LC_ALL=C"

begin 80 24 TERM=vt100
want "vt100" "Catalogue"
refuse "vt100" "lqqq"
walk "vt100"

begin 80 24 TERM=xterm-256color NO_COLOR=1
walk "NO_COLOR"
begin 80 24 TERM=xterm-256color LINES=10 COLUMNS=20
walk "LINES and COLUMNS set"

begin 40 12 TERM=xterm-256color
want "40x12" "Labs"
t send-keys j Enter
want "40x12" "Look at the node"
t send-keys 3
want "40x12" "No training log yet"

begin 80 24 TERM=dumb
want "dumb" "can't place the cursor"
want "dumb: lines instead" "lab?"
t send-keys quit Enter
want "dumb" "left with 0"

begin 80 24 TERM=no-such-terminal
want "unknown" "/nowhere/config"
t send-keys '!'
want "unknown" "TERM=no-such-terminal is not known here; used xterm-256color"
t send-keys Escape
walk "unknown"

begin 80 24 TERM=xterm-256color COLORTERM=truecolor
walk "true colour"
begin 80 24 TERM=xterm-256color LC_ALL=xx_YY.UTF-8
walk "a locale that is not there"
begin 80 24 TERM=xterm-256color LANG=en_US.ISO-8859-1
want "latin 1" "Catalogue"
if LC_ALL=C grep -q '[^ -~]' "$dir/screen"; then bad "latin 1: a byte that is not ASCII"; else ok; fi
begin 80 24 TERM=xterm-256color PODIUM_THEME=contrast-light
walk "a ground of its own"
begin 300 100 TERM=tmux-256color
walk "300x100"
begin 39 11 TERM=tmux-256color
want "too small" "need 40x12, have 39x11"

# live: larger, smaller, and what a fresh start shows in the end
begin 120 40 TERM=tmux-256color PODIUM_CLOCK=off
want "resized" "/nowhere/config"
t resize-window -x 60 -y 15
want "resized to 60x15" "Labs About"
t resize-window -x 20 -y 5
want "resized to 20x5" "need 40x12"
t resize-window -x 90 -y 30
want "resized to 90x30" "Catalogue"
want "resized to 90x30" "/nowhere/config"
cp "$dir/screen" "$dir/after"
begin 90 30 TERM=tmux-256color PODIUM_CLOCK=off
want "fresh 90x30" "/nowhere/config"
if cmp -s "$dir/screen" "$dir/after"; then ok; else bad "90x30 after resizing is not a fresh start"; fi

# stopped, and back in the foreground
t kill-server 2>/dev/null
run=$((run + 1))
sock=$dir/tmux-$run
t new-session -d -x 90 -y 30 "env -u LC_ALL HOME=$dir/home LANG=C.UTF-8 PS1='ready> ' bash --norc -i"
want "shell" "ready>"
t send-keys "$B/podium --kubeconfig /nowhere/config --labs $root/tests/screens/labs" Enter
want "before the stop" "Catalogue"
t send-keys C-z
want "stopped" "Stopped"
t send-keys "echo e''cho works" Enter
want "the shell's line is whole" "echo works"
t resize-window -x 70 -y 20
t send-keys fg Enter
want "continued at another size" "Labs About"
t send-keys q
want "after the stop" "ready>"
t send-keys "stty -a | grep -c ' echo '" Enter
want "echo is back" "1"

# detached, attached again by a terminal of another size
t kill-server 2>/dev/null
begin 100 30 TERM=tmux-256color
want "detached" "Catalogue"
inner=$sock
sock=$dir/tmux-outer
t new-session -d -x 70 -y 20 "TMUX= TERM=xterm-256color tmux -S $inner -f /dev/null attach; exec cat"
want "attached at 70x19" "Labs About"
tmux -S "$inner" detach-client
want "detached" "[detached"
t kill-server
sock=$dir/tmux-other
t new-session -d -x 130 -y 42 "TMUX= TERM=xterm-256color tmux -S $inner -f /dev/null attach; exec cat"
want "attached at 130x41" "Catalogue"
want "attached at 130x41" "q quit"
t kill-server
sock=$inner

# hung up: it ends by itself, and what was recorded is whole
begin 90 30 TERM=tmux-256color
want "hung up" "Catalogue"
t kill-server
begin 90 30 TERM=tmux-256color
t kill-server 2>/dev/null
run=$((run + 1))
sock=$dir/tmux-$run
t new-session -d -x 90 -y 30 "exec env HOME=$dir/home LANG=C.UTF-8 $B/podium --kubeconfig \
    /nowhere/config --labs $root/tests/screens/labs --record $dir/hup.journal"
want "recorded" "/nowhere/config"
pid=$(t display-message -p '#{pane_pid}')
t kill-server
if wait_left "$pid"; then ok; else bad "a hang-up does not end it"; fi
if "$B/podium" replay "$dir/hup.journal" --dump >"$dir/screen" 2>&1 && grep -q REPLAY "$dir/screen"
then ok; else bad "the journal of a session that was hung up"; fi

begin 80 24 TERM=xterm-256color
want "chinese" "Catalogue"
t send-keys L
want "chinese" "在 Gaudi 上微调"
t send-keys L
want "english again" "LoRA on Gaudi"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
