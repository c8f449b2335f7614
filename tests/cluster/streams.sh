# streams.sh - what goes in and out of a pod, against a cluster: exec, cp and
# port-forward beside kubectl's, the shell in the console. Read by `.` from
# tests/cluster/test_streams.sh (a real kubelet) and tests/api/test_streams.sh (the
# practice cluster) with B, KUBECTL, KUBECONFIG, here (this folder), work (a folder)
# and ns set, pod web running an image with busybox's applets: on port $web a web
# server of /www, on port $echo a program that sends back what comes.
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $*"; }
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: \"$2\", not \"$3\""; fi; }
has() { if grep -qF -- "$2" "$3"; then ok; else bad "$1: no \"$2\" in:"; head -20 "$3"; fi; }
same() { if cmp -s "$2" "$3"; then ok; else bad "$1: $2 and $3 differ"; fi; }
k() { timeout 60 "$KUBECTL" --kubeconfig "$KUBECONFIG" -n "$ns" "$@"; }
p() { timeout 60 "$B/podium" "$@" -n "$ns" --kubeconfig "${via:-$KUBECONFIG}" --lang en; }
pexec() { timeout 60 "$B/podium" exec -n "$ns" --kubeconfig "$KUBECONFIG" --lang en "$@"; }
sums() { (cd "$1" && find . -type f | LC_ALL=C sort | while read -r f; do sha256sum "$f"; done); }
# until N PATTERN FILE: N tenths of a second
until_has() {
    polls=$1
    until grep -q -- "$2" "$3" 2>/dev/null; do
        polls=$((polls - 1))
        [ $polls -gt 0 ] || return 1
        sleep 0.1
    done
}
# a wire that is cut TIMES times after BYTES: $via goes over it
cut_wire() {
    real=$(sed -nE 's/.*https:\/\/127\.0\.0\.1:([0-9]+).*/\1/p' "$KUBECONFIG" | head -1)
    : >"$work/wire"
    python3 "$here/cutter.py" "$real" "$1" "$2" >"$work/wire" &
    wire=$!
    until_has 50 . "$work/wire"
    sed "s/127\.0\.0\.1:$real/127.0.0.1:$(cat "$work/wire")/" "$KUBECONFIG" >"$work/via"
    via=$work/via
}
mend_wire() { kill "$wire"; wait "$wire" 2>/dev/null; via=; }

streams_exec() {
    head -c 10485760 /dev/urandom >"$work/ten"
    sum=$(sha256sum <"$work/ten" | cut -d' ' -f1)
    for c in 'echo out; echo err >&2; exit 7' 'printf "a\0b\377"' 'true' 'kill -9 $$'; do
        k exec web -- sh -c "$c" >"$work/k.out" 2>"$work/k.err"; kc=$?
        pexec web -- sh -c "$c" >"$work/p.out" 2>"$work/p.err"; pc=$?
        is "exit code of $c" $pc $kc
        same "stdout of $c" "$work/p.out" "$work/k.out"
    done
    pexec -i web -- sh -c 'cat >/tmp/ten; sha256sum /tmp/ten' <"$work/ten" >"$work/out"
    has "10 MiB in, and the end of the input" "$sum" "$work/out"
    pexec web -- cat /tmp/ten >"$work/out"
    same "10 MiB out" "$work/out" "$work/ten"
    pexec -i web -- cat <"$work/ten" >"$work/out"
    same "10 MiB through" "$work/out" "$work/ten"
    pexec web -- no-such-program >"$work/out" 2>&1
    has "a program that is not there" "the image has no such program" "$work/out"
    pexec nobody -- true >"$work/out" 2>&1
    has "a pod that is not there" 'pods "nobody" not found' "$work/out"
}

streams_cp() {
    t=$work/tree
    mkdir -p "$t/sub/deep" "$t/with space"
    cp "$work/ten" "$t/big"
    head -c 700000 /dev/urandom >"$t/sub/more"
    echo small >"$t/with space/a b"
    : >"$t/empty"
    : >"$t/sub/deep/$(printf '%0120d' 0)"
    ln -s ../big "$t/sub/link"
    ln -s /etc/passwd "$t/out"
    p cp "$t" web:/tmp/tree >"$work/out" 2>&1
    has "a folder in" "5 files, 11185766 bytes, sha256 the same on both sides" "$work/out"
    has "a link that leaves it" "tree/out: a link that leaves the folder (to /etc/passwd)" "$work/out"
    p cp web:/tmp/tree "$work/back" >"$work/out" 2>&1
    has "a folder out" "sha256 the same on both sides" "$work/out"
    sums "$t" >"$work/sums"
    sums "$work/back" >"$work/sums2"
    same "the folder came back" "$work/sums" "$work/sums2"
    is "its link too" "$(readlink "$work/back/sub/link")" ../big
    k cp web:/tmp/tree "$work/kback" >/dev/null 2>&1
    sums "$work/kback" >"$work/sums3"
    same "kubectl cp brings the same" "$work/sums2" "$work/sums3"
    p cp web:/tmp/tree/big "$work/one" >/dev/null 2>&1
    same "a file under another name" "$work/one" "$t/big"
    cut_wire 4000000 2
    p cp web:/tmp/tree "$work/resumed" >"$work/out" 2>&1
    mend_wire
    has "a cut download goes on" "going on after" "$work/out"
    sums "$work/resumed" >"$work/sums2"
    same "and is whole" "$work/sums" "$work/sums2"
    cut_wire 4000000 1
    p cp "$t" web:/tmp/again >"$work/out" 2>&1
    mend_wire
    has "a cut upload goes on" "looking at what came through" "$work/out"
    has "and is whole too" "sha256 the same on both sides" "$work/out"
    pexec web -- sh -c 'ln -s /etc/x /tmp/tree/evil; mkfifo /tmp/tree/pipe' >/dev/null 2>&1
    p cp web:/tmp/tree "$work/evil" >"$work/out" 2>&1
    has "what leaves the folder stays out" "left out: tree/evil" "$work/out"
    [ ! -e "$work/evil/evil" ] && [ ! -L "$work/evil/evil" ] && ok || bad "the link was made"
    p cp web:/no/such "$work/none" >"$work/out" 2>&1
    is "a path that is not there" $? 1
}

# forward NAME ARGS...: starts it, its output in $work/NAME; port_of NAME REMOTE
forward() {
    name=$1
    shift
    "$B/podium" port-forward web "$@" -n "$ns" --kubeconfig "$KUBECONFIG" --lang en \
        >"$work/$name" 2>&1 &
    pf=$!
    until_has 50 "Forwarding from" "$work/$name"
}
port_of() { sed -nE "s/.*127\.0\.0\.1:([0-9]+) -> $2\$/\1/p" "$work/$1"; }
stop() { kill -INT $pf; wait $pf; }

streams_forward() {
    forward pf 0:"$web" 0:"$echo" 0:1
    at=$(port_of pf "$web")
    curl -s -m 10 "http://127.0.0.1:$at/big" >"$work/out"
    k exec web -- cat /www/big >"$work/want"
    same "10 MiB over a port" "$work/out" "$work/want"
    is "over IPv6 too" "$(curl -g -s -m 10 "http://[::1]:$at/index.html")" hello
    is "four at once, with half closes" \
        "$(timeout 30 python3 "$here/pump.py" "$(port_of pf "$echo")" "$work/ten" 4)" same
    curl -s -m 10 "http://127.0.0.1:$(port_of pf 1)/" >/dev/null
    is "a port where nothing listens ends" $? 52
    until_has 50 "connection refused" "$work/pf"
    has "and is told" "port 1 of pod web: connection refused" "$work/pf"
    k exec web -- touch /tmp/die >/dev/null 2>&1
    polls=100
    until [ "$(k get pod web -o 'jsonpath={.status.containerStatuses[0].restartCount}')" = 1 ] ||
        [ $polls = 0 ]; do
        polls=$((polls - 1))
        sleep 0.2
    done
    polls=100
    until [ "$(curl -s -m 5 "http://127.0.0.1:$at/index.html")" = hello ] || [ $polls = 0 ]; do
        polls=$((polls - 1))
        sleep 0.2
    done
    is "it outlives a restart" "$(curl -s -m 5 "http://127.0.0.1:$at/index.html")" hello
    until_has 50 "started again (restart 1)" "$work/pf"
    stop
    has "and is told as well" "started again (restart 1)" "$work/pf"
    forward plain --channels 0:"$web"
    curl -s -m 10 "http://127.0.0.1:$(port_of plain "$web")/index.html" >"$work/out"
    has "over channels" hello "$work/out"
    stop
    "$KUBECTL" --kubeconfig "$KUBECONFIG" -n "$ns" port-forward pod/web ":$echo" >"$work/kpf" 2>&1 &
    pf=$!
    until_has 50 "Forwarding from" "$work/kpf"
    is "kubectl's own, four at once" \
        "$(timeout 30 python3 "$here/pump.py" "$(port_of kpf "$echo")" "$work/ten" 4)" same
    kill $pf
    wait $pf 2>/dev/null
}

tm() { tmux -S "$work/tmux" -f /dev/null "$@"; }
shows() {
    polls=100
    until tm capture-pane -p | grep -q -- "$2"; do
        polls=$((polls - 1))
        [ $polls -gt 0 ] || { bad "$1: no \"$2\" on:"; tm capture-pane -p; return; }
        sleep 0.1
    done
    ok
}

streams_shell() {
    command -v tmux >/dev/null || return 0
    mkdir -p "$work/home"
    tm new-session -d -x 100 -y 30 "env HOME=$work/home TERM=tmux-256color LANG=C.UTF-8 \
        $B/podium --kubeconfig $KUBECONFIG --namespace $ns"
    shows "the console" podium
    tm send-keys : ; tm send-keys pods Enter
    shows "the pod" "web .*Running"
    tm send-keys s
    shows "the shell" "Shell: web / c"
    shows "its prompt" '[#$] '
    tm send-keys "echo 中文 \$((6*7)); stty size" Enter
    shows "what it says" "中文 42"
    shows "its size is the pane's" "25 96"
    tm resize-window -x 90 -y 28
    tm send-keys "stty size" Enter
    shows "and follows it" "23 86"
    tm send-keys "printf '\\033]0;owned\\007\\033[?1049h\\033[31mred\\033[?1049l\\033c'; echo done" Enter
    shows "hostile bytes stay inside" "done"
    shows "the console stands" "podium"
    tm send-keys C-]
    shows "left, it goes on" "goes on"
    tm send-keys s
    tm send-keys "exit 3" Enter
    shows "its exit code" "ended with 3"
    tm send-keys C-] ; tm send-keys F
    shows "which port" "Port of web"
    tm send-keys "0:$web" Enter
    shows "the list of forwards" "127.0.0.1:[0-9]"
    at=$(tm capture-pane -p | sed -nE 's/.* 127\.0\.0\.1:([0-9]+) .*/\1/p' | head -1)
    is "leads there" "$(curl -s -m 5 "http://127.0.0.1:$at/index.html")" hello
    shows "and counts" "0/1\|1/1"
    tm send-keys x
    shows "stopped" "no longer leads"
    tm kill-server
}
