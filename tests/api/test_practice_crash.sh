#!/bin/sh
# kill -9 at any time, and a disk that fills up: what the practice cluster
# acknowledged over HTTP is there afterwards. B=DIR has the programs.
set -u
B=${B:-build}
here=$(cd "$(dirname "$0")" && pwd)
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -p "$work/run" "$work/state"
config=$work/state/podium/practice/kubeconfig
mounted=
end() {
    "$B/podium-practice" reset >/dev/null 2>&1
    [ -n "$mounted" ] && umount "$work/state" 2>/dev/null
    rm -rf "$work"
}
trap end EXIT
passed=0 failed=0
count() {
    passed=$((passed + $(sed -nE 's/^([0-9]+) passed.*/\1/p' "$work/out")))
    failed=$((failed + $(sed -nE 's/.* ([0-9]+) failed$/\1/p' "$work/out")))
    grep -v ' passed, ' "$work/out"
}
pid() {
    "$B/podium-practice" status --json | sed 's/.*"pid":\([0-9]*\).*/\1/'
}
start() {
    "$B/podium-practice" start >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
}

start
for delay in 0.4 1.1; do
    python3 "$here/practice_http.py" "$config" --write "$work/acked" &
    writer=$!
    sleep $delay
    kill -9 "$(pid)"
    wait $writer
    start
    python3 "$here/practice_http.py" "$config" --verify "$work/acked" >"$work/out"
    count
    "$B/podium-practice" reset >/dev/null
    start
done
"$B/podium-practice" reset >/dev/null

# two starts at once: one server
"$B/podium-practice" start >"$work/one" & one=$!
"$B/podium-practice" start >"$work/two" || failed=$((failed + 1))
wait $one || failed=$((failed + 1))
if cmp -s "$work/one" "$work/two"; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "FAILED two starts: two servers"; fi
"$B/podium-practice" reset >/dev/null

# a killed server holds its lock and its port a moment longer: start waits, serves,
# and does so on the same port, since the port is part of the names of images
check() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "FAILED $1: $2, not $3"; fi
}
port() { sed -n 's|.*server: https://127.0.0.1:||p' "$config"; }
alive() { "$B/podium-practice" status >/dev/null && echo yes || echo no; }
start
was=$(port)
kill -9 "$(pid)"
start
check "start right after kill -9: does it run" "$(alive)" yes
check "start right after kill -9: the port" "$(port)" "$was"
"$B/podium-practice" stop >/dev/null
flock "$work/state/podium/practice/lock" sleep 0.7 &
python3 -c "import socket, time
s = socket.create_server(('127.0.0.1', $was)); time.sleep(1)" &
sleep 0.2
start
check "start beside a dying server: does it run" "$(alive)" yes
check "start beside a dying server: the port" "$(port)" "$was"
wait
"$B/podium-practice" stop >/dev/null
flock "$work/state/podium/practice/lock" sleep 5 &
holder=$!
sleep 0.2
"$B/podium-practice" start >"$work/one" 2>&1
check "start beside a dead lock: the code" $? 1
check "start beside a dead lock: it says why" "$(grep -c 'holds .*/lock' "$work/one")" 1
kill $holder
wait
"$B/podium-practice" reset >/dev/null

if mkdir -p "$work/state" && mount -t tmpfs -o size=6m tmpfs "$work/state" 2>/dev/null; then
    mounted=yes
    start
    python3 "$here/practice_http.py" "$config" --write "$work/acked"
    kill -9 "$(pid)"
    mount -o remount,size=64m "$work/state"
    start
    python3 "$here/practice_http.py" "$config" --verify "$work/acked" >"$work/out"
    count
else
    echo "not tried: a full disk (mounting a tmpfs needs root)"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
