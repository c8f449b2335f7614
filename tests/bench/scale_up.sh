# Read by `.` with $home = a folder: etcd and a real kube-apiserver, no more, on
# free ports; $home/admin.json is the kubeconfig. scale_down ends them.
CLUSTER_BIN=${XDG_CACHE_HOME:-$HOME/.cache}/podium/cluster
scale_down() {
    for p in $scale_pids; do kill "$p" 2>/dev/null; done
}
scale_up() {
    scale_pids=
    tests/cluster/build >/dev/null && tests/cluster/debian >/dev/null || return 1
    here=$PWD/tests/cluster
    . tests/cluster/lib.sh
    set -- $(python3 -c 'import socket
held = [socket.socket() for _ in range(3)]
for s in held: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])')
    pki=$home/pki
    mkdir -p "$pki"
    key() { openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$1.key"; }
    sign() {
        key "$1"
        openssl req -new -key "$pki/$1.key" -subj "$2" -out "$pki/$1.csr" 2>/dev/null
        echo "subjectAltName=IP:127.0.0.1" >"$pki/ext"
        openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial \
            -days 30 -extfile "$pki/ext" -out "$pki/$1.crt" 2>/dev/null
    }
    key ca
    key sa
    openssl req -x509 -new -key "$pki/ca.key" -subj /CN=scale-ca -days 30 -out "$pki/ca.crt"
    sign server /CN=kube-apiserver
    sign admin /O=system:masters/CN=admin
    b64() { base64 -w0 "$pki/$1"; }
    echo '{"apiVersion": "v1", "kind": "Config", "current-context": "scale", "clusters":' \
        '[{"name": "scale", '" \"cluster\": {\"server\": \"https://127.0.0.1:$3\"," \
        "\"certificate-authority-data\": \"$(b64 ca.crt)\"}}], \"users\": [{\"name\": \"admin\"," \
        "\"user\": {\"client-certificate-data\": \"$(b64 admin.crt)\", \"client-key-data\":" \
        "\"$(b64 admin.key)\"}}], \"contexts\": [{\"name\": \"scale\", \"context\": {\"cluster\":" \
        '"scale", "user": "admin", "namespace": "scale"}}]}' >"$home/admin.json"
    nice etcd --data-dir "$home/etcd" --unsafe-no-fsync --log-level error \
        --listen-client-urls "http://127.0.0.1:$1" --advertise-client-urls "http://127.0.0.1:$1" \
        --listen-peer-urls "http://127.0.0.1:$2" --initial-advertise-peer-urls \
        "http://127.0.0.1:$2" --initial-cluster "default=http://127.0.0.1:$2" \
        --quota-backend-bytes 4294967296 >"$home/etcd.log" 2>&1 </dev/null &
    scale_pids="$scale_pids $!"
    nice "$BIN/kube-apiserver" --etcd-servers "http://127.0.0.1:$1" --bind-address 127.0.0.1 \
        --secure-port "$3" --endpoint-reconciler-type none --authorization-mode RBAC \
        --disable-admission-plugins ServiceAccount --service-cluster-ip-range 10.254.0.0/24 \
        --client-ca-file "$pki/ca.crt" --tls-cert-file "$pki/server.crt" \
        --tls-private-key-file "$pki/server.key" --event-ttl 24h --shutdown-delay-duration 0s \
        --service-account-issuer https://kubernetes.default.svc --max-requests-inflight 2000 \
        --max-mutating-requests-inflight 1000 --service-account-key-file "$pki/sa.key" \
        --service-account-signing-key-file "$pki/sa.key" >"$home/apiserver.log" 2>&1 </dev/null &
    scale_pids="$scale_pids $!"
    wait_for 90 kube-apiserver "$BIN/kubectl" --kubeconfig "$home/admin.json" get --raw /readyz
}
