#!/bin/sh
# test_lab_keys.sh - a person with nothing but a keyboard, who reads Chinese: in a
# terminal of 80x24 the lab first-finetune goes from its first step to "done" on a
# fresh practice cluster. This script presses keys and reads the screen; it writes
# no file of the lab and runs no headless command. PODIUM_KEYS_LANG=en does the
# same in English: the texts are looked up in docs/po/zh.po, word for word.
#
# Meanwhile it measures: three wrong edits are called WRONG with what was
# expected and found; the curve shows at least ten different frames before the
# Job completes; every step line is drawn within a second of the time stamp that
# the pod's log (CRI form, as the shim wrote it) gives it. "Drawn" is judged by
# capture-pane every 50 ms, so the figure includes that delay.
#
# tests/cluster/test_lab_keys.sh does it on a real cluster, with KEYS_KUBECONFIG, as a
# student who may not see the nodes (KEYS_STUDENT=1); KEYS_OUTAGE is a script that is
# read in the middle of the run.
#
# B names the build folder. Waits for states, never for a time. Ends with
# "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/pty/keys.sh"

# wrong WHAT EXPECTED FOUND: the checks call it so
wrong() {
    want "$1 is WRONG" "$(say WRONG)"
    want "$1: expected" "$(say expected)  *$2"
    want "$1: found" "$(say found)  *$3"
}
steps=9
begin_console 80 24
shot catalogue
keys Enter
need "the lab opens" "$(say "step %d/%d" 1 9)"

# --- 1 look: a wrong count, a wrong name, then the right ones -------------------
if [ -n "${KEYS_STUDENT:-}" ]; then
    edit
else
    wide step "$(say "ready %d/%d" 3 3)"
    until_shows "$(say "ready %d/%d" 3 3)"
    edit; down "readyNodes:"; value 12 3 5; save
    wrong "a wrong count" "3" "5"
    edit; down "readyNodes:"; value 12 1 3
fi
down "gaudiResource:"; value 15 3 intel.com/gaudi; save
wrong "a wrong name" "habana.ai/gaudi" "intel.com/gaudi"
if [ -n "${KEYS_STUDENT:-}" ]; then
    want "what a student may not see" "$(say SKIPPED)"
    want "the right that is missing" "ClusterRole"
fi
shot wrong
edit; down "gaudiResource:"; value 15 15 habana.ai/gaudi
down "nvidiaResource:"; value 16 3 nvidia.com/gpu; save
step_done 1

# --- 2 build, 3 push -----------------------------------------------------------
next_step 2; keys r; step_done 2 30
next_step 3; keys r; step_done 3 30
keys 6
wide build "COPY"
keys 1

# --- 4 the Job: too little memory, then enough ---------------------------------
next_step 4; edit
# it opens at its first fault; the image's name stands above
keys PageUp PageUp; until_shows "$(say "line %d of %zu" 1 43)"; screen
image=$(grep -oE '[0-9.]+:[0-9]+/[^ ]+:1' "$dir/screen" | head -1)
[ -n "$image" ] || die "the screen does not say the image's name"
keys C-n; until_shows "$(say "line %d of %zu" 17 43)"; screen
down "image: IMAGE"; value 17 5 "$image"
keys PageDown PageDown; until_shows "$(say "line %d of %zu" 43 43)"; screen
down "memory: MEMORY"; value 22 6 64Mi
down "rate=RATE"; value 21 4 0.003; save
wrong "too little memory" "$(say "at least %s" 384Mi)" "64Mi"
edit; keys PageDown PageDown; until_shows "$(say "line %d of %zu" 43 43)"; screen
down "memory: 64Mi"; value 22 4 512Mi; save
step_done 4

# --- 5 submit, 6 watch ---------------------------------------------------------
# every 50 ms: the time, the step that the screen shows, a sum of the curve
poll() {
    while :; do
        t capture-pane -p >"$dir/polled" 2>/dev/null || return
        now=$(date +%s.%N)
        step=$(sed -nE 's/.*[^0-9]([0-9]+)\/320.*/\1/p' "$dir/polled" | tail -1)
        [ -n "$step" ] && echo "$now $step $(sed -n '3,18s/^[│║][^│║]*[│║]*//p' "$dir/polled" | cksum)"
        sleep 0.05
    done
}
next_step 5; keys r; step_done 5 30
poll >"$dir/polls" &
poller=$!
next_step 6; keys 3
need "the curve" "[0-9]/320" 20
step_done 6 30

# --- 7 steer, by the keys of the curve -----------------------------------------
next_step 7; keys Space
need "pause" "$(say "paused at step %<PRId64>: Space goes on, a takes one step" "*" | sed 's/[：:].*//')"
paused=$(sed -nE 's/.*% +([0-9]+)\/320.*/\1/p' "$dir/screen")
keys I; need "inspect" "$(say "look at"): norms"; keys Enter
need "the norms" "q_proj"
shot norms
keys Escape
until_gone "$(say "norms @ %.0f: weights %s, grad %s" "" "" "" | sed 's/ @.*/ @/')"
# the next step walked through: six stages, and what is said is what happens
keys 7; need "the steering" "$(say "walk")"
keys Enter; need "the walk" "1/6  $(say batch)"
keys Right Right; need "the loss" "3/6  $(say loss)"
keys G; until_shows '[.][0-9]\{6,\}'
said=$(grep -oE '[0-9]+\.[0-9]{6,}' "$dir/screen" | tail -1)     # the step's loss ends the page
[ -n "$said" ] || die "the walk does not say its loss"
keys Right Right Right; need "the update" "6/6  $(say update)"
keys a
# said once as what the step did, once as what the walk had worked out
polls=200
until screen && [ "$(grep -o -- "$said" "$dir/screen" | wc -l)" -ge 2 ] || [ $polls = 0 ]; do
    polls=$((polls - 1))
    sleep 0.05
done
if [ $polls -gt 0 ]; then ok; else bad "the step that was walked did not end at $said"; fi
keys 3
keys a a
want "one step" "$(say "takes one step from step %.0f, then waits" "*")"
want "three steps, one a key" "[^0-9]$((paused + 3))/320"
keys R; need "rate" "$(say "learning rate"):"; text 0.002; keys Enter
need "the new rate" "$(say "rate %.3g from step %.0f on; the schedule makes it %.3g now" 0.002 "*" "*" | sed 's/\.\*.*//')"
keys Space
step_done 7
if [ -n "${PODIUM_PICTURES:-}" ]; then
    wide step-curve "[0-9]/320"
    keys z
    wide curve "[0-9]/320"
    keys z 2
    wide log "loss"
    keys 4
    wide api "kubectl"
    beside pods pods "first-finetune"
    beside nodes nodes "gaudi-0"
    beside events events "Scheduled"
    beside contexts ctx "in use"
    beside namespaces ns "kube-system"
    beside connection conn "server says"
    beside rights rights "see pods"
    beside settings settings "config.yaml"
    beside messages messages "Messages"
    beside keys keys "keys.yaml"
    beside help help "╔ Help"
    keys ":"
    want "palette" "^ :"
    shot palette
    leave
    run why
    want "why" "job/first-finetune"
    until_gone "◌ job/first-finetune"
    wide why "job/first-finetune"
    run tab.train
    keys Enter
    until_shows "forward"
    wide train "forward"
    run "big on"
    wide big "[0-9]/320"
    run "big off"
    keys 3
    until_shows "[0-9]/320"
fi
[ -z "${KEYS_OUTAGE:-}" ] || . "$KEYS_OUTAGE"
before=$(awk '{print $3}' "$dir/polls" | sort -u | wc -l)
if [ "$before" -ge 10 ]; then ok; else bad "only $before frames of the curve so far"; fi

# --- 8 keep, 9 prove -----------------------------------------------------------
next_step 8; keys r; step_done 8 150
kill "$poller" 2>/dev/null
wait "$poller" 2>/dev/null
poller=
next_step 9; keys c
need "done" "$(say "the lab is done")" 30
want "the screen says so" "$(say " The lab is done.")"
shot done

# --- what was measured ---------------------------------------------------------
log=$(find "$dir/state" "$dir/data" ${KEYS_LOGS:-} -path '*/train/0.log' -newer "$dir/begun" 2>/dev/null | head -1)
[ -n "$log" ] || die "the pod's log is not there"
# the pod's lines as "SECONDS STEP" (the stamp is UTC)
sed -nE 's/^([^ ]+)T([0-9:.]+)Z stdout F .*"ev":"step","step":([0-9]+),.*/\1 \2 \3/p' "$log" |
    awk '{split($1, d, "-"); split($2, c, ":");
          y = d[1] - (d[2] <= 2); m = (d[2] + 9) % 12; e = int(y / 400); o = y - e * 400
          n = o * 365 + int(o / 4) - int(o / 100) + int((153 * m + 2) / 5) + d[3] - 1
          printf "%.3f %d\n", (e * 146097 + n - 719468) * 86400 + c[1] * 3600 + c[2] * 60 + c[3], $3}' \
    >"$dir/written"
# the first time that each step, or a later one, was on the screen
awk 'FNR == NR {at[FNR] = $1; step[FNR] = $2; n = FNR; next}
     {while (i < n && step[i + 1] + 0 < $2) i++
      if (i + 1 > n) {print "step " $2 " was never drawn"; late++; next}
      late += at[i + 1] - $1 > 1; if (at[i + 1] - $1 > most) most = at[i + 1] - $1
      sum += at[i + 1] - $1; lines++}
     END {printf "%d %d %.0f %.0f\n", lines, late, 1000 * most, lines ? 1000 * sum / lines : 0}' \
    "$dir/polls" "$dir/written" >"$dir/late"
read -r lines late most mean <<EOF
$(tail -1 "$dir/late")
EOF
# what the pictures' tour did not draw is not late
if [ -n "${PODIUM_PICTURES:-}" ]; then
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
    exit
fi
frames=$(awk '$2 < 320 {print $3}' "$dir/polls" | sort -u | wc -l)
echo "curve: $frames frames before the last step; $lines step lines drawn on average" \
    "$mean ms, at most $most ms after the pod wrote them (screen read every 50 ms)"
if [ "$frames" -ge 10 ]; then ok; else bad "only $frames frames of the curve"; fi
if [ -n "${KEYS_OUTAGE:-}" ]; then     # late they are: but none is missing, and none came twice
    if twice=$(python3 "$root/tests/pty/each_line_once.py" "$log" "$dir/journal" \
        "$dir/data/podium/work/first-finetune/run.csv"); then ok
    else bad "the curve after the outage: $twice"; fi
    echo "after the outage: $twice"
elif [ "$lines" -ge 300 ] && [ "$late" = 0 ]; then ok
else bad "$lines lines drawn, $late later than 1 s: $(head -3 "$dir/late")"; fi

keys Escape
want "the catalogue" "$(say "Catalogue  %zu/%zu done, %d/%d steps" 1 "*" "*" "*")"
keys q
want "leaving" "left with 0"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
