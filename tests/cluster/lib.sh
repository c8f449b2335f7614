# What build, up, down and run.sh share; read by `.` with $here = this folder.
K8S=1.34.4                 # go.mod says the same
KUBECTL_OTHER_V=1.31.14    # kubectl-other/go.mod: k8s.io/kubectl v0.31.14
GO_MIN=24                  # Go 1.24
# where the machine has no such Go: this one, a zip of the module proxy
GO_TOOLCHAIN=v0.0.1-go1.25.8.linux-amd64
GO_SHA256=8e788d62e01f4f22037f2d59c751a08b4fa5ca9c1baab8f1caee8612bc3e46d1
# of the tools that the scripts call
APT_TOOLS="openssl curl iproute2 python3 util-linux procps busybox-static"
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/podium/cluster
BIN=$CACHE/$K8S
# programs of Debian packages, and those that a folder of the cache has
PATH=$PATH:/usr/sbin:/sbin:$CACHE/debian/usr/bin:$CACHE/debian/usr/sbin
CNI=/usr/lib/cni
[ -x $CNI/bridge ] || CNI=$CACHE/debian/usr/lib/cni

# what is said last is kept for run.sh: the reason
say() { echo "cluster: $*" >&2; [ -z "${CLUSTER_WHY:-}" ] || echo "$*" >"$CLUSTER_WHY"; }
die() { say "$*"; exit 1; }

# wait_for SECONDS WHAT COMMAND...: until the command succeeds
wait_for() {
    polls=$(($1 * 10))
    what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        polls=$((polls - 1))
        [ $polls -gt 0 ] || { say "$what did not come"; return 1; }
        sleep 0.1
    done
}
# alive NAME: the daemon that the folder's pid file names, and not another
# process that has got its number since
alive() {
    [ -s "$dir/run/$1.pid" ] && grep -q -a -s -F -- "$dir/" "/proc/$(cat "$dir/run/$1.pid")/cmdline"
}
