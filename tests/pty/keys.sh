# keys.sh - a keyboard and a screen for the scripts that work the console as a person
# does: a terminal of tmux, keys, texts in the language, pictures. Sourced, with $root
# set; ends the script where there is no tmux. Waits for states, never for a time.
B=${B:-$root/build}
case $B in /*) ;; *) B=$root/$B ;; esac
if ! command -v tmux >/dev/null 2>&1; then
    echo "SKIP there is no tmux: the console can't be given a terminal"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-keys-XXXXXX")
passed=0
failed=0
poller=

lang=${PODIUM_KEYS_LANG:-zh}
# say MSGID [VALUE...]: a text of the console in the language, as a basic regular
# expression; the values take the places of its % directives, "*" any.
say() {
    id=$1
    shift
    text=$id
    if [ "$lang" = zh ]; then
        text=$(awk -v id="$id" 'BEGIN {want = "msgid \"" id "\""} found {print; exit} $0 == want {found = 1}' \
            "$root/docs/po/zh.po" | sed -nE 's/^msgstr "(.*)"$/\1/p')
        [ -n "$text" ] || die "docs/po/zh.po has no \"$id\""
    fi
    for value in "$@"; do
        [ "$value" != "*" ] || value=".*"
        text=$(printf '%s\n' "$text" | sed -E "s/%(<PRId64>|[-.0-9]*[a-z]+)/$(printf '%s' "$value" | sed 's/[\/&]/\\&/g')/")
    done
    printf '%s' "$text"
}

t() { tmux -S "$dir/tmux" -f /dev/null "$@"; }
# what a person's shell would have, and nothing of ours
own() {
    env -i PATH="$PATH" HOME="$dir/home" TERM=tmux-256color LANG=C.UTF-8 \
        XDG_CONFIG_HOME="$dir/config" XDG_DATA_HOME="$dir/data" XDG_STATE_HOME="$dir/state" \
        XDG_CACHE_HOME="$dir/cache" XDG_RUNTIME_DIR="$dir/run" \
        ${KEYS_KUBECONFIG:+KUBECONFIG="$KEYS_KUBECONFIG"} \
        ${PODIUM_MODELS:+PODIUM_MODELS="$PODIUM_MODELS"} \
        LSAN_OPTIONS="${LSAN_OPTIONS:-}" "$@"
}
cleanup() {
    [ -n "$poller" ] && kill "$poller" 2>/dev/null
    t kill-server 2>/dev/null
    [ -n "${KEYS_KUBECONFIG:-}" ] || own "$B/podium-practice" stop --pods >/dev/null 2>&1
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

screen() { t capture-pane -p >"$dir/screen" 2>/dev/null; }
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/  |/' "$dir/screen"
}
die() {
    bad "$1"
    echo "$passed passed, $failed failed"
    exit 1
}
# until TEXT [SECONDS]: waits for it (a basic regular expression) on the screen
until_shows() {
    polls=$((${2:-10} * 20))
    while [ $polls -gt 0 ]; do
        screen
        grep -q -- "$1" "$dir/screen" && return 0
        polls=$((polls - 1))
        sleep 0.05
    done
    return 1
}
until_gone() {
    polls=200
    while [ $polls -gt 0 ]; do
        screen
        grep -q -- "$1" "$dir/screen" || return 0
        polls=$((polls - 1))
        sleep 0.05
    done
    return 1
}
want() { if until_shows "$2" "${3:-10}"; then ok; else bad "$1: no \"$2\""; fi; }
# what the rest can't do without
need() { if until_shows "$2" "${3:-10}"; then ok; else die "$1: no \"$2\""; fi; }
keys() { t send-keys "$@"; }
text() { t send-keys -l -- "$1"; }

# --- pictures: PODIUM_PICTURES=DIR keeps screens on the way, and some beside it ----
shot() {
    [ -n "${PODIUM_PICTURES:-}" ] || return 0
    name=$1
    [ "$lang" = en ] || name=$1-$lang
    t capture-pane -e -p | python3 "$root/tests/pty/picture.py" >"$PODIUM_PICTURES/$name.svg"
}
# wide NAME TEXT: the same screen at 120x36, once it shows TEXT there
wide() {
    [ -n "${PODIUM_PICTURES:-}" ] || return 0
    t resize-window -x 120 -y 36
    until_shows "^.\{119\}" && until_gone "^.\{1,79\}[^ ]$"
    want "wide $1" "$2"
    shot "$1"
    t resize-window -x 80 -y 24
    until_gone "^.\{81\}"
}
# Esc, and wait for another heading: with the next key at once it would be Alt
leave() {
    screen
    heading=$(sed -n 2p "$dir/screen")
    keys Escape
    polls=100
    while [ $polls -gt 0 ] && screen && [ "$(sed -n 2p "$dir/screen")" = "$heading" ]; do
        polls=$((polls - 1))
        sleep 0.05
    done
}
# run COMMAND: by its name
run() {
    keys ":"
    until_shows "^ :"
    text "$1"
    until_shows "^ :$1"
    keys Enter
}
# beside NAME COMMAND TEXT: a screen opened by its name, and left again
beside() {
    [ -n "${PODIUM_PICTURES:-}" ] || return 0
    run "$2"
    want "$1" "$3"
    shot "$1"
    leave
}

# down TEXT: the cursor of the editor to the line that shows it
down() {
    line=$(grep -n -- "$1" "$dir/screen" | head -1 | sed -nE 's/^[0-9]+:║ *([0-9]+)[ !].*/\1/p')
    [ -n "$line" ] || die "the editor does not show \"$1\""
    at=$(sed -nE "s/.*$(say "line %d of %zu" "([0-9]+)" "[0-9]+").*/\\1/p" "$dir/screen")
    n=$((line - at))
    while [ $n -gt 0 ]; do keys Down; n=$((n - 1)); done
    while [ $n -lt 0 ]; do keys Up; n=$((n + 1)); done
    until_shows "$(say "line %d of %zu" "$line" "*")" || die "the cursor does not reach line $line"
}
# value COLUMN COUNT TEXT: at a column of the line, COUNT characters become TEXT
value() {
    keys Home
    n=$1; while [ $n -gt 0 ]; do keys Right; n=$((n - 1)); done
    n=$2; while [ $n -gt 0 ]; do keys DC; n=$((n - 1)); done
    text "$3"
    need "typing" "$3"
}
edit() { keys e; need "editor" "\^S $(say save)"; screen; }
save() {
    keys C-s
    need "saving" "$(say "saved %s" "")"
    keys Escape
    need "closing the editor" "Esc $(say back)"
}
step_done() { need "step $1" "$(say "step %d is done" "$1")" "${2:-10}"; }
# with $steps set
next_step() { keys n; need "step $1" "$(say "step %d/%d" "$1" "$steps")"; }
# begin_console WIDTH HEIGHT: podium in a terminal of that size, on its catalogue
begin_console() {
    mkdir -p "$dir/home" "$dir/run"
    chmod 700 "$dir/run"
    touch "$dir/begun"
    own tmux -S "$dir/tmux" -f /dev/null new-session -d -x "$1" -y "$2" \
        "$B/podium --lang $lang --record $dir/journal; echo left with \$?; exec cat"
    need "start" "$(say "Catalogue  %zu/%zu done, %d/%d steps" "*" "*" "*" "*")"
    need "the practice cluster" "● $(say live)"
}
