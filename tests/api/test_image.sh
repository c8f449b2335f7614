#!/bin/sh
# test_image.sh - podium's images beside the tools that others use: skopeo and
# Debian's docker-registry as peers of client and layout, skopeo as a client of
# the practice registry, containerd's image import, a debootstrap image (as root;
# kept in $XDG_CACHE_HOME/podium-test).
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/podium-image-XXXXXX")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/podium-test
passed=0 failed=0 skipped=0 pids=
end() {
    for p in $pids; do kill "$p" 2>/dev/null; done
    rm -rf --one-file-system "$work"
}
trap end EXIT INT TERM

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; [ -n "${2:-}" ] && tail -5 "$2" | sed 's/^/    /'; }
skip() { skipped=$((skipped + 1)); echo "SKIP $1: $2"; }
# check NAME COMMAND...: the command must succeed
check() {
    name=$1; shift
    if "$@" >"$work/log" 2>&1; then ok; else bad "$name" "$work/log"; fi
}
# same NAME A B
same() { if [ "$2" = "$3" ]; then ok; else bad "$1: \"$2\" is not \"$3\""; fi; }
# says NAME FILE PATTERN
says() { if grep -qE -- "$3" "$2"; then ok; else bad "$1: no /$3/" "$2"; fi; }

[ -x "$B/podium" ] && [ -x "$B/tests/practice_registry" ] || {
    echo "$B/podium and $B/tests/practice_registry must be built first"; exit 2; }
export XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" HOME="$work" LC_ALL=C.UTF-8
export ASAN_OPTIONS=detect_leaks=0
image() { "$B/podium" image "$@"; }
have() { command -v "$1" >/dev/null; }
free_port() { python3 -c 'import socket
s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
# wait until something listens on the port
listening() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        python3 -c "import socket; socket.create_connection(('127.0.0.1',$1)).close()" 2>/dev/null && return 0
        sleep 0.2
    done
    return 1
}
digest_of() { sed -n 's/.*"ev":"done","digest":"\([^"]*\)".*/\1/p' "$1"; }

# --- a scratch image --------------------------------------------------------
mkdir -p "$work/ctx/app/deep"
echo hello >"$work/ctx/app/hello.txt"
echo 数据 >"$work/ctx/app/deep/数据.txt"
printf '#!/bin/sh\n' >"$work/ctx/app/run" && chmod 755 "$work/ctx/app/run"
ln -s hello.txt "$work/ctx/app/link"
cat >"$work/ctx/Dockerfile" <<'D'
FROM scratch
WORKDIR /work
COPY app /app
ENV MODE=test
LABEL org.example.a="b c"
USER 1000:1000
ENTRYPOINT ["/app/run"]
CMD ["one", "two"]
D
check "build from scratch" image build --json -o "oci:$work/out:v1" "$work/ctx"
cp "$work/log" "$work/build.json"
digest=$(digest_of "$work/build.json")
says "build speaks JSON lines" "$work/build.json" '^\{"ev":"instruction","n":3,"total":8,"text":"COPY app /app"\}$'
says "build names its layers" "$work/build.json" '^\{"ev":"layer","digest":"sha256:[0-9a-f]{64}","size":[0-9]+,"cached":false\}$'
check "every line is JSON" python3 -c "
import json,sys
ev=[json.loads(l)['ev'] for l in open('$work/build.json')]
sys.exit(not (ev[-1]=='done' and ev.count('done')==1))"
image build --json -o "oci:$work/out:v1" "$work/ctx" >"$work/again.json" 2>&1
same "a second build has the same digest" "$(digest_of "$work/again.json")" "$digest"
says "and its layers are cached" "$work/again.json" '"cached":true'
printf 'FROM scratch\nFORM x\n' >"$work/bad"
image build --json -f "$work/bad" -o "oci:$work/out:x" "$work/ctx" >"$work/err.json" 2>&1
same "an error is exit 1" $? 1
says "an error has its place" "$work/err.json" '"ev":"error","code":"PD-PARSE","text":"unknown instruction: FORM","hint":"did you mean FROM\?","file":"[^"]*bad","line":2,"column":1'
image build --nope "$work/ctx" >"$work/log" 2>&1
same "a wrong option is exit 2" $? 2

if have skopeo; then
    same "skopeo reads the layout" "$(skopeo inspect --format '{{.Digest}}' "oci:$work/out:v1" 2>&1)" "$digest"
    skopeo inspect --config "oci:$work/out:v1" >"$work/config.json" 2>&1
    check "skopeo reads the config" python3 -c "
import json,sys
c=json.load(open('$work/config.json')); k=c['config']
sys.exit(not (k['Entrypoint']==['/app/run'] and k['Cmd']==['one','two'] and k['User']=='1000:1000'
 and k['WorkingDir']=='/work' and 'MODE=test' in k['Env'] and k['Labels']=={'org.example.a':'b c'}
 and len([h for h in c['history'] if not h.get('empty_layer')])==len(c['rootfs']['diff_ids'])==2))"
    check "skopeo copies and verifies it" skopeo copy -q "oci:$work/out:v1" "dir:$work/dir"
    check "tar reads the layer" sh -c "tar tzf '$work/out/blobs/sha256/'*$(python3 -c "
import json; m=json.load(open('$work/dir/manifest.json')); print(m['layers'][1]['digest'][7:])") | grep -q 'app/deep/数据.txt'"
else
    skip "skopeo" "not installed"
fi

# --- stages, archives, here-documents, an ADD of a URL ---------------------------
mkdir -p "$work/multi/wheels" && echo w >"$work/multi/wheels/a.whl"
(cd "$work/ctx/app" && tar czf "$work/multi/app.tgz" hello.txt deep)
printf 'fetched\n' >"$work/multi/fetched.txt"
sum=$(sha256sum "$work/multi/fetched.txt" | cut -d' ' -f1)
(cd "$work/multi" && exec python3 -c 'import http.server,sys
s=http.server.ThreadingHTTPServer(("127.0.0.1",0),http.server.SimpleHTTPRequestHandler)
print(s.server_address[1],flush=True); s.serve_forever()') >"$work/http.port" 2>/dev/null &
pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s "$work/http.port" ] && break; sleep 0.2; done
cat >"$work/multi/Dockerfile" <<D
ARG NAME=tool
FROM scratch AS unused
RUN make everything
FROM scratch AS files
ARG NAME
ADD app.tgz /src/
COPY --chown=7:8 --chmod=750 wheels/*.whl /bin/\$NAME
COPY <<-'TEXT' /etc/motd
	hello \$NAME
	TEXT
ADD --checksum=sha256:$sum http://127.0.0.1:$(cat "$work/http.port")/fetched.txt /data/
FROM scratch
COPY --from=files / /all/
COPY --from=files --chown=1000 /bin/tool /mine
EXPOSE 80-82
HEALTHCHECK CMD ["/mine"]
ENTRYPOINT ["/mine"]
D
check "build stages" image build --json -o "oci:$work/multi-out:v1" "$work/multi"
cp "$work/log" "$work/multi.json"
says "the plan says what is left out" "$work/multi.json" '"ev":"plan".*"text":"RUN make everything","stage":"unused","skipped":true'
says "a step ends" "$work/multi.json" '^\{"ev":"step","n":[0-9]+,"cached":false,"ms":[0-9]+\}$'
image build --json -o "oci:$work/multi-out2:v1" "$work/multi" >"$work/log" 2>&1
same "stages are reproducible" "$(digest_of "$work/log")" "$(digest_of "$work/multi.json")"
check "they unpack" image unpack "oci:$work/multi-out:v1" "$work/multi-root"
same "the archive was unpacked" "$(cat "$work/multi-root/all/src/deep/数据.txt")" "数据"
same "the here-document is as written" "$(cat "$work/multi-root/all/etc/motd")" "hello \$NAME"
same "the URL was fetched" "$(cat "$work/multi-root/all/data/fetched.txt")" fetched
image build -o "oci:$work/x:v1" --target unused "$work/multi" >"$work/log" 2>&1
says "RUN is refused with its line" "$work/log" 'Dockerfile:3:1: RUN needs a container engine.*podman'
sed -i 's/sha256:[0-9a-f]*/sha256:0000000000000000000000000000000000000000000000000000000000000000/' "$work/multi/Dockerfile"
image build -o "oci:$work/x:v1" "$work/multi" >"$work/log" 2>&1
says "a wrong checksum is refused" "$work/log" 'Dockerfile:11:[0-9]+: the fetched file has the checksum'
same "nothing is left of unpacked stages" "$(ls "$work/cache/podium/roots" 2>/dev/null | wc -l)" 0
image lint --json "$work/multi" >"$work/log" 2>&1
says "lint speaks JSON" "$work/log" '"ev":"linted","errors":0'
if have skopeo; then
    check "skopeo verifies the stages' layers" skopeo copy -q "oci:$work/multi-out:v1" "dir:$work/multi-dir"
fi
# a build that is killed leaves whole blobs and nothing else
mkdir "$work/kill" && head -c 120000000 /dev/urandom >"$work/kill/big"
printf 'FROM scratch\nCOPY big /\n' >"$work/kill/Dockerfile"
"$B/podium" image build --json -o "oci:$work/kill-out:v1" "$work/kill" >"$work/kill.json" 2>&1 &
killed=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    grep -q '"ev":"pack"' "$work/kill.json" 2>/dev/null && break; sleep 0.1; done
kill -9 "$killed" 2>/dev/null; wait "$killed" 2>/dev/null
same "a killed build leaves no half blob" "$(find "$work/kill-out" -name '.podium-*' | wc -l) $(find "$work/kill-out/blobs" -type f | wc -l)" "0 0"
rm -rf "$work/kill"

# --- a registry of someone else ----------------------------------------------
if have docker-registry && have skopeo; then
    port=$(free_port)
    cat >"$work/registry.yml" <<Y
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $work/registry}, delete: {enabled: true}}
http: {addr: "127.0.0.1:$port"}
Y
    docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
    pids="$pids $!"
    r=127.0.0.1:$port
    check "docker-registry starts" listening "$port"
    check "push" image push --plain-http --json "oci:$work/out:v1" "$r/lab/train:v1"
    says "push shows progress" "$work/log" '"ev":"push","digest":"sha256:[0-9a-f]{64}","done":[0-9]+,"total":[0-9]+'
    same "it is what was built" "$(skopeo inspect --tls-verify=false --format '{{.Digest}}' "docker://$r/lab/train:v1")" "$digest"
    check "push again (all there), plain HTTP of the loopback found out" image push "oci:$work/out:v1" "$r/lab/train:v2"
    check "pull" image pull --plain-http --json "$r/lab/train:v1"
    same "pull gives the same" "$(digest_of "$work/log")" "$digest"
    check "pull by digest" image pull --plain-http "$r/lab/train@$digest" "oci:$work/pulled"
    check "push with a mount" image push --plain-http "$r/lab/train:v1" "$r/other/name:v1"
    check "skopeo stores Docker's schema 2" skopeo copy -q --format v2s2 --dest-tls-verify=false "oci:$work/out:v1" "docker://$r/lab/docker:v2"
    printf 'FROM %s/lab/docker:v2\nCOPY app/hello.txt /app/more.txt\nENV MORE=1\n' "$r" >"$work/Dockerfile2"
    check "build FROM what skopeo copied" image build --plain-http -f "$work/Dockerfile2" -o "oci:$work/out2:v1" "$work/ctx"
    check "its layers unpack" image unpack "oci:$work/out2:v1" "$work/root2"
    same "both layers are there" "$(cat "$work/root2/app/hello.txt" "$work/root2/app/more.txt")" "$(printf 'hello\nhello')"
    check "skopeo takes it" skopeo copy -q --dest-tls-verify=false "oci:$work/out2:v1" "docker://$r/lab/more:v1"
    check "FROM a layout" sh -c "printf 'FROM oci:%s/out:v1\nCOPY app/run /run2\n' '$work' >'$work/D3' && '$B/podium' image build -f '$work/D3' -o 'oci:$work/out3:v1' '$work/ctx'"
    image pull --plain-http "$r/lab/train:nope" >"$work/log" 2>&1
    same "a missing tag is exit 1" $? 1
    says "and says so" "$work/log" "MANIFEST_UNKNOWN"
    echo secret >"$work/password"
    image pull --user me --password-file "$work/password" "$r/lab/train:v1" >"$work/log" 2>&1
    says "credentials don't go over plain HTTP: it is named" "$work/log" "speaks plain HTTP.*--plain-http"
else
    skip "docker-registry" "docker-registry or skopeo is not installed"
fi

# --- the practice cluster's registry ---------------------------------------------
mkdir "$work/practice"
"$B/tests/practice_registry" serve "$work/practice" >"$work/where" 2>"$work/practice.log" &
pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s "$work/where" ] && break; sleep 0.2; done
read -r port ca <"$work/where"
r=127.0.0.1:$port
cat >"$work/kubeconfig" <<Y
apiVersion: v1
kind: Config
current-context: practice
contexts: [{name: practice, context: {cluster: practice, user: student}}]
clusters: [{name: practice, cluster: {server: "https://$r", certificate-authority: "$ca"}}]
users: [{name: student, user: {token: secret}}]
Y
check "push with the kubeconfig's CA and token" image push --kubeconfig "$work/kubeconfig" --json "oci:$work/out:v1" "$r/lab/train:v1"
check "pull back" image pull --kubeconfig "$work/kubeconfig" --json --store "$work/store" "$r/lab/train:v1"
same "the same image" "$(digest_of "$work/log")" "$digest"
image push "oci:$work/out:v1" "$r/lab/train:v1" >"$work/log" 2>&1
says "without the CA it is not trusted" "$work/log" "PD-TLS"
image push --ca-file "$ca" "oci:$work/out:v1" "$r/lab/train:v1" >"$work/log" 2>&1
says "without a login it is refused" "$work/log" "PD-K8S-AUTH"
check "build and push in one" image build --kubeconfig "$work/kubeconfig" --json -t "$r/lab/built:v1" --push "$work/ctx"
if have skopeo; then
    mkdir "$work/certs" && cp "$ca" "$work/certs/ca.crt"
    login="--creds student:secret --cert-dir $work/certs"
    same "skopeo inspects" "$(skopeo inspect $login --format '{{.Digest}}' "docker://$r/lab/built:v1" 2>&1)" "$digest"
    check "skopeo pushes" skopeo copy -q --dest-creds student:secret --dest-cert-dir "$work/certs" "oci:$work/out:v1" "docker://$r/skopeo/oci:v1"
    check "skopeo pushes schema 2" skopeo copy -q --format v2s2 --dest-creds student:secret --dest-cert-dir "$work/certs" "oci:$work/out:v1" "docker://$r/skopeo/docker:v1"
    check "skopeo pulls" skopeo copy -q --src-creds student:secret --src-cert-dir "$work/certs" "docker://$r/skopeo/docker:v1" "dir:$work/dir2"
    same "skopeo lists tags" "$(skopeo list-tags $login "docker://$r/skopeo/oci" 2>/dev/null | tr -d ' \n')" "{\"Repository\":\"$r/skopeo/oci\",\"Tags\":[\"v1\"]}"
    check "skopeo deletes" skopeo delete $login "docker://$r/skopeo/oci:v1"
    skopeo inspect $login "docker://$r/skopeo/oci:v1" >"$work/log" 2>&1
    says "and it is gone" "$work/log" "manifest unknown|there is no v1"
    skopeo inspect --cert-dir "$work/certs" "docker://$r/lab/built:v1" >"$work/log" 2>&1
    says "skopeo without a login is refused" "$work/log" "authentication required|unauthorized|log in"
fi

# --- containerd --------------------------------------------------------------------
if have containerd && have ctr && [ "$(id -u)" = 0 ]; then
    mkdir "$work/cd"
    cat >"$work/cd/config.toml" <<T
version = 2
root = "$work/cd/root"
state = "$work/cd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
  address = "$work/cd/sock"
T
    containerd -c "$work/cd/config.toml" >"$work/cd/log" 2>&1 &
    pids="$pids $!"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -S "$work/cd/sock" ] && break; sleep 0.2; done
    (cd "$work/out" && tar cf "$work/out.tar" oci-layout index.json blobs)
    check "containerd imports it" ctr -a "$work/cd/sock" images import --no-unpack --base-name lab/train "$work/out.tar"
    same "with the digest of the build" "$(ctr -a "$work/cd/sock" images ls 2>/dev/null | awk '$1 == "lab/train:v1" {print $3}')" "$digest"
    mkdir -p "$work/hosts/$r"
    printf 'server = "https://%s"\n[host."https://%s"]\n  ca = "%s"\n' "$r" "$r" "$ca" >"$work/hosts/$r/hosts.toml"
    check "containerd pulls from the practice registry" ctr -a "$work/cd/sock" content fetch --hosts-dir "$work/hosts" --user student:secret "$r/lab/built:v1"
else
    skip "containerd" "it is not installed, or this is not root"
fi

# --- a debootstrap image --------------------------------------------------------------
# as many entries, kinds and symlinked folders as a real one has
tree_of() {
    (cd "$1" && find . -mindepth 1 \( -type d -printf 'd %p %m\n' -o -type l -printf 'l %p %l\n' \
        -o -type f -printf 'f %p %m %s %n\n' \) | LC_ALL=C sort)
}
base=$cache/debootstrap.tar
if [ "$(id -u)" != 0 ]; then
    skip "debootstrap image" "this is not root"
elif ! have debootstrap; then
    skip "debootstrap image" "debootstrap is not installed"
else
    if [ ! -s "$base" ]; then
        mkdir -p "$cache"
        mirror=$(sed -nE 's/^deb (\[[^]]*\] )?(https?:[^ ]+) .*/\2/p; s/^URIs: *(http[^ ]+).*/\2\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -1)
        debootstrap --variant=minbase bookworm "$work/deb" "${mirror:-http://deb.debian.org/debian}" >"$work/log" 2>&1 &&
            tar cf "$base.new" --numeric-owner --exclude='./dev/*' --exclude='./proc/*' --exclude='./var/cache/apt/*' -C "$work/deb" . && mv "$base.new" "$base"
    fi
    if [ ! -s "$base" ]; then
        skip "debootstrap image" "debootstrap failed: $(tail -1 "$work/log")"
    else
        mkdir "$work/tree" && tar xf "$base" -C "$work/tree"
        # an image of two layers by hand: the tree, and one with whiteouts
        mkdir "$work/l2" && mkdir -p "$work/l2/usr/share/doc" "$work/l2/etc/apt" "$work/l2/opt"
        : >"$work/l2/usr/share/doc/.wh..wh..opq"
        echo only >"$work/l2/usr/share/doc/only"
        : >"$work/l2/etc/.wh.motd"
        echo kept >"$work/l2/etc/apt/added" && ln "$work/l2/etc/apt/added" "$work/l2/opt/linked"
        tar cf "$work/l2.tar" --numeric-owner -C "$work/l2" etc usr opt
        check "an image of the debootstrap tree" python3 tests/api/image_by_hand.py "$work/deboci" "$base" "$work/l2.tar"
        printf 'FROM oci:%s/deboci:base\nCOPY app/run /bin/podium-run\nCOPY app/hello.txt /lib/\n' "$work" >"$work/Ddeb"
        check "build FROM it" image build -f "$work/Ddeb" -o "oci:$work/debout:v1" "$work/ctx"
        check "unpack it" image unpack "oci:$work/debout:v1" "$work/debroot"
        (cd "$work/tree" && rm -rf usr/share/doc/* etc/motd && echo only >usr/share/doc/only &&
            echo kept >etc/apt/added && ln etc/apt/added opt/linked &&
            install -m 755 "$work/ctx/app/run" usr/bin/podium-run && install -m 644 "$work/ctx/app/hello.txt" usr/lib/)
        tree_of "$work/tree" >"$work/want"; tree_of "$work/debroot" >"$work/got"
        if cmp -s "$work/want" "$work/got"; then ok; else bad "the unpacked tree differs"; diff "$work/want" "$work/got" | head -10; fi
        check "/bin is still a link" test -L "$work/debroot/bin"
        check "the image's own shell runs" chroot "$work/debroot" /bin/sh -c 'test -x /bin/podium-run && cat /etc/debian_version'
        # and without root
        chmod 755 "$work"; mkdir "$work/user" && chown 12345:12345 "$work/user"
        if have setpriv; then
            check "unpack it without root" setpriv --reuid 12345 --regid 12345 --clear-groups env HOME="$work/user" XDG_DATA_HOME="$work/user" "$B/podium" image unpack "oci:$work/debout:v1" "$work/user/root"
            tree_of "$work/user/root" | sed -E 's/^([df] [^ ]+ )([0-9]+)/\1/' >"$work/got"
            sed -E 's/^([df] [^ ]+ )([0-9]+)/\1/' "$work/want" >"$work/want2"
            if cmp -s "$work/want2" "$work/got"; then ok; else bad "the tree without root differs"; diff "$work/want2" "$work/got" | head -10; fi
        fi
        if have skopeo; then
            check "skopeo verifies its layers" skopeo copy -q "oci:$work/debout:v1" "dir:$work/debdir"
        fi
    fi
fi

if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed = 0 ]
