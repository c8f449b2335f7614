#!/bin/sh
# test_login.sh - a credential plugin at the keyboard: the console leaves the screen to
# one that asks and comes back; Esc ends one that hangs; its words are shown. The
# server writes down what token it got. Waits for states. "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-login-XXXXXX")
passed=0
failed=0
screen=ask
t() { tmux -S "$dir/tmux-$screen" -f /dev/null "$@"; }
cleanup() {
    t kill-server 2>/dev/null
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
ok() { passed=$((passed + 1)); }
# shows NAME TEXT: within 20 s
shows() {
    local n=0
    while [ $n -lt 200 ]; do
        t capture-pane -p >"$dir/screen" 2>/dev/null
        grep -qF -- "$2" "$dir/screen" && { ok; return; }
        n=$((n + 1))
        sleep 0.1
    done
    failed=$((failed + 1))
    echo "FAILED $1: want: $2"
    sed 's/^/    /' "$dir/screen" | head -30
}
cat >"$dir/server.py" <<C
import sys, time
sys.path.insert(0, "$root/tests/api")
sys.dont_write_bytecode = True
import kubeconfig_server as s
pki = s.Pki("$dir/pki")
rec = s.Recorder(pki)
open("$dir/port", "w").write(str(rec.tls))
while True:
    for r in rec.take():
        open("$dir/seen", "a").write(r["authorization"] + "\n")
    time.sleep(0.1)
C
python3 "$dir/server.py" &
server=$!
n=0
while [ ! -s "$dir/port" ] && [ $n -lt 200 ]; do n=$((n + 1)); sleep 0.1; done
cat >"$dir/ask" <<'C'
#!/bin/sh
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) ;; *) echo "no terminal" >&2; exit 1 ;; esac
printf 'Word of the day: ' >&2
read -r word
[ "$word" = open ] || exit 1
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"by-keys"}}'
C
printf '#!/bin/sh\necho "look at your browser" >&2\nexec sleep 1000\n' >"$dir/hang"
chmod +x "$dir/ask" "$dir/hang"
user() { echo "- {name: $1, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./$1, interactiveMode: $2}}}"; }
cat >"$dir/config" <<C
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat "$dir/port")", certificate-authority: pki/ca.crt}}]
users:
$(user ask IfAvailable)
$(user hang Never)
contexts:
- {name: ask, context: {cluster: c, user: ask}}
- {name: hang, context: {cluster: c, user: hang}}
C
chmod 600 "$dir/config"
run() {
    screen=$1                    # a server of its own: the one before may still be going
    t new-session -d -x 100 -y 30 "env -i PATH='$PATH' HOME='$dir/home' TERM=tmux-256color \
        LANG=C.UTF-8 KUBECONFIG='$dir/config' '$B/podium' --context $1"
}
run ask
shows "the plugin has the terminal" "Word of the day:"
t send-keys open Enter
shows "the screen comes back" "live"
shows "with its labs" "Catalogue"
grep -qx "Bearer by-keys" "$dir/seen" && ok || { failed=$((failed + 1)); echo "FAILED the token did not arrive"; }
grep -vqx "Bearer by-keys" "$dir/seen" && { failed=$((failed + 1)); echo "FAILED a request went without it"; } || ok
t kill-server 2>/dev/null
run hang
shows "a plugin that hangs is named" "logging in with hang; Esc ends it"
pid=$(pgrep -f "sleep 1000" -P "$(pgrep -f "podium --context hang" | head -1)" | head -1)
t send-keys Escape
shows "Esc ends it" "was cancelled"
[ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null && ok || { failed=$((failed + 1)); echo "FAILED it still runs"; }
echo "$passed passed, $failed failed"
[ $failed = 0 ]
