#!/bin/sh
# test_rights.sh - a student whose Role is of one namespace, on a real cluster, at
# the keyboard: the contexts of several files with a broken, a refused and a mute
# one; a namespace that may not be listed; what is not allowed closes one panel
# and names the Role line; the Role that podium asks for is applied and is enough;
# kubectl says the same of each right; the wire is cut and mended.
#
# B, KUBECONFIG (all rights) and KUBECTL come from the harness. Waits for states.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/podium-rights-XXXXXX")
ns=rights-$$ other=rights-$$-b
passed=0
failed=0

admin() { "$KUBECTL" --kubeconfig "$KUBECONFIG" "$@"; }
t() { tmux -S "$dir/tmux" -f /dev/null "$@"; }
own() {
    env -i PATH="$PATH" HOME="$dir/home" TERM=tmux-256color LANG=C.UTF-8 \
        KUBECONFIG="$dir/stu.yaml:$dir/more.yaml" XDG_STATE_HOME="$dir/state" \
        LSAN_OPTIONS="${LSAN_OPTIONS:-}" "$@"
}
cleanup() {
    t kill-server 2>/dev/null
    exec 3>&- 4>&-
    admin delete namespace "$ns" "$other" --wait=false >/dev/null 2>&1
    admin delete clusterrole,clusterrolebinding "podium-$ns" >/dev/null 2>&1
    wait
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
want() { if until_shows "$2" "${3:-10}"; then ok; else bad "$1: no \"$2\""; fi; }
need() { if until_shows "$2" "${3:-10}"; then ok; else die "$1: no \"$2\""; fi; }
never() { if grep -q -- "$2" "$dir/screen"; then bad "$1: \"$2\""; else ok; fi; }
keys() { t send-keys "$@"; }
# run COMMAND: by its name
run() {
    keys ":"
    until_shows "^ :"
    t send-keys -l -- "$1"
    until_shows "^ :$1"
    keys Enter
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
plain() { own "$B/podium" --plain 2>&1; }
# right VERB RESOURCE: what kubectl says
right() { own "$KUBECTL" --context stu auth can-i "$1" "$2" 2>/dev/null; }

# --- a student, two namespaces, files with five contexts --------------------------------
if ! command -v tmux >/dev/null 2>&1; then
    echo "SKIP there is no tmux"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$dir/home"
: >"$dir/screen"
admin create namespace "$ns" >/dev/null && admin create namespace "$other" >/dev/null ||
    die "no namespace"
admin -n "$ns" create serviceaccount stu >/dev/null
user=system:serviceaccount:$ns:stu
admin apply -f - >/dev/null <<END || die "no Role"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: stu, namespace: $ns}
rules:
- {apiGroups: [""], resources: [pods, pods/log, persistentvolumeclaims], verbs: [get, list, watch]}
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: stu, namespace: $ns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: stu}
subjects: [{kind: ServiceAccount, name: stu, namespace: $ns}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: stu, namespace: $other}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: stu, namespace: $other}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: stu}
subjects: [{kind: ServiceAccount, name: stu, namespace: $ns}]
---
apiVersion: v1
kind: Pod
metadata: {name: sleeper, namespace: $ns}
spec:
  nodeSelector: {podium.dev/never: "yes"}
  containers: [{name: c, image: podium.test/none:1}]
END
server=$(admin config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
ca=$(admin config view --raw --minify -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
token=$(admin -n "$ns" create token stu --duration=2h)
hostport=${server#https://}
# a wire that can be cut, and a server that takes calls and says nothing
mkfifo "$dir/wire" "$dir/mute"
python3 "$root/tests/cluster/relay.py" "${hostport%:*}" "${hostport##*:}" <"$dir/wire" >"$dir/port" &
python3 -c 'import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
print(s.getsockname()[1], flush=True); sys.stdin.read()' <"$dir/mute" >"$dir/mute-port" &
exec 3>"$dir/wire" 4>"$dir/mute"
polls=100
until [ -s "$dir/port" ] && [ -s "$dir/mute-port" ] || [ $polls = 0 ]; do
    polls=$((polls - 1))
    sleep 0.05
done
cat >"$dir/stu.yaml" <<END
apiVersion: v1
kind: Config
current-context: stu
clusters:
- {name: class, cluster: {server: "https://127.0.0.1:$(cat "$dir/port")", certificate-authority-data: $ca}}
users:
- {name: stu, user: {token: $token}}
contexts:
- {name: stu, context: {cluster: class, user: stu, namespace: $ns}}
END
cat >"$dir/plugin" <<END
#!/bin/sh
touch "$dir/plugin-ran"
exit 1
END
chmod +x "$dir/plugin"
cat >"$dir/more.yaml" <<END
apiVersion: v1
kind: Config
clusters:
- {name: direct, cluster: {server: "$server", certificate-authority-data: $ca}}
- {name: refused, cluster: {server: "https://127.0.0.1:1"}}
- {name: mute, cluster: {server: "https://127.0.0.1:$(cat "$dir/mute-port")"}}
users:
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: Never
      command: $dir/plugin
contexts:
- {name: by-plugin, context: {cluster: direct, user: plugin}}
- {name: refused, context: {cluster: refused, user: stu}}
- {name: mute, context: {cluster: mute, user: stu}}
- {name: half, context: {cluster: nowhere, user: stu}}
END
before=$(cat "$dir/stu.yaml" "$dir/more.yaml" | sha256sum)

# --- contexts ------------------------------------------------------------------------------
t new-session -d -x 100 -y 30 "$(own env | sed -n 's/^\(PATH\|HOME\|KUBECONFIG\|XDG_STATE_HOME\|LANG\|LSAN_OPTIONS\)=\(.*\)$/\1='"'\2'"'/p' |
    tr '\n' ' ') exec '$B/podium'" || die "no terminal"
need "the first screen" "● live" 15
run ctx
need "all contexts of both files" "half .*cluster \"nowhere\""
want "the one in use" "● stu .*in use"
keys j
want "one that answers is looked at" "by-plugin .*answers, [0-9]*ms  v1"
if [ -e "$dir/plugin-ran" ]; then bad "the look ran a credential plugin"; else ok; fi
keys j
want "one that refuses" "refused .*no answer: 127.0.0.1 port 1"
keys j
want "a mute one is asked" "mute .*asking" 5
keys k                        # a key is answered while that is under way
want "the selection moves meanwhile" "^║ refused  "
want "and the mute one is given up" "mute .*no answer" 12
leave
# --- what is not allowed -------------------------------------------------------------------
run pods
want "pods are listed" "sleeper"
leave
run events
want "events are refused: verb, resource, namespace" "not allowed: list events in $ns"
want "the Role line" 'resources: \["events"\], verbs: \["get", "list", "watch"\]'
leave
run nodes
want "nodes are refused: a ClusterRole" "Ask for a ClusterRole"
leave
run pods
want "and the rest works" "sleeper"
leave
run ns
want "namespaces needn't be listed" "Listing all namespaces is not allowed here"
want "what may be done here" "$ns .*yes *yes *no"
keys n
until_shows "^ namespace"
t send-keys -l -- "$other"
keys Enter
want "any name leads there" "stu/$other .* live"
run pods
want "its pods" "Pods $other  0"
want "none, after its list" "║  none"
leave
t kill-server
printf 'wait link\nwhere\nns %s\nwhere\nquit\n' "$ns" | plain >"$dir/said"
grep -q "namespace $other: connected" "$dir/said" && ok || { cat "$dir/said"; bad "the choice is kept"; }
[ "$(cat "$dir/stu.yaml" "$dir/more.yaml" | sha256sum)" = "$before" ] && ok || bad "a kubeconfig was written"

# --- rights: kubectl says the same, and the Role that is asked for is enough -----------------
printf 'wait link\nrights\nquit\n' | plain >"$dir/said"
checked=0
while read -r verb resource; do
    line=$(tr '\n' ' ' <"$dir/said" | grep -o "([a-z ]*$verb[a-z ]* on $resource): [a-z]*" | head -1)
    case "$line" in
    *": yes") said=yes ;;
    *) said=no ;;
    esac
    [ "$(right "$verb" "$resource")" = "$said" ] && checked=$((checked + 1)) || {
        cat "$dir/said"
        bad "kubectl says otherwise of $verb $resource: $line"
    }
done <<END
list pods
create jobs.batch
get pods/log
create pods/attach
delete persistentvolumeclaims
list events
create secrets
END
[ $checked = 7 ] && ok
sed -n '/^---$/,/^ *name: "system:serv/p' "$dir/said" >"$dir/role.yaml"
awk '/^kind: ClusterRole$/ {exit} {print}' "$dir/role.yaml" | sed '$d' >"$dir/own-role.yaml"
admin apply --dry-run=server -f "$dir/role.yaml" >"$dir/applied" 2>&1 && ok || {
    cat "$dir/role.yaml" "$dir/applied"
    bad "the Role is no YAML that the server takes"
}
sed "s/^  name: podium$/  name: podium-$ns/" "$dir/role.yaml" | admin apply -f - >"$dir/applied" 2>&1 || {
    cat "$dir/applied"
    bad "the Role can't be applied"
}
own "$B/podium" status >"$dir/said" 2>&1
grep -q "You may do all that labs need" "$dir/said" && ok || { cat "$dir/said"; bad "status: rights"; }
tr "\n" " " <"$dir/said" | grep -q "user $user" && ok || { cat "$dir/said"; bad "status: user"; }
[ "$(right create pods/exec) $(right patch jobs.batch) $(right list nodes)" = "yes yes yes" ] && ok ||
    bad "the Role that was asked for is not enough"

# --- the connection, and a wire that is cut ---------------------------------------------------
t new-session -d -x 100 -y 40 "$(own env | sed -n 's/^\(PATH\|HOME\|KUBECONFIG\|XDG_STATE_HOME\|LANG\|LSAN_OPTIONS\)=\(.*\)$/\1='"'\2'"'/p' |
    tr '\n' ' ') exec '$B/podium'" || die "no terminal"
need "the screen" "● live" 15
run conn
want "TLS" "TLS *TLSv1.3"
want "how one is known" "token in the kubeconfig"
want "the token's claims" "it names *$user"
want "who one is" "server says *$user"
want "when the token ends" "your token *in 1[01][0-9]m"
want "the CA" "^║ CA *in "
grep -q "$(printf %s "$token" | cut -c1-40)" "$dir/screen" && bad "the token is on the screen" || ok
leave
run pods
need "pods" "sleeper"
echo cut >&3
want "the link is down: how old, and when it is tried again" "no link: [0-9].*old, next try in" 15
want "the rows stay" "sleeper"
never "nothing is said to be none" "║  none"
echo mend >&3
want "it is back by itself" "● live" 40
screen
never "and the rows are not old" "no link"
t kill-server
echo "$passed passed, $failed failed"
[ $failed = 0 ]
