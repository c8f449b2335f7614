#!/bin/sh
# Install the Debian packages named, those that are missing. Says what it
# installs; asks sudo when not root.
set -eu
missing=
for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "podium: installing with apt-get:$missing"
run=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "podium: not root and no sudo; as root, run: apt-get install$missing" >&2
        exit 1
    }
    run=sudo
fi
$run apt-get update -qq || true
$run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
