#!/bin/sh
# Bring docs/po/zh.po up to date with the sources: new texts come in untranslated,
# unused ones go, nothing is guessed. `update.sh --pot` prints the template alone.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The error table's texts stand in a macro's arguments: rewrite it as marked texts.
sed -nE 's/^ *X\(PD_[A-Z]+, "[^"]*", ("[^"]*"),\s*("[^"]*")\).*/N_(\1) N_(\2)/p' \
    core/base/err.h | sed 's/N_("")//' > "$tmp/err.h"
files=$(git ls-files -co --exclude-standard 'core/*.[ch]' 'k8s/*.[ch]' 'labs/*.[ch]' 'tui/*.[ch]' |
    while read -r f; do [ ! -e "$f" ] || echo "$f"; done)
# shellcheck disable=SC2086
xgettext --from-code=UTF-8 --language=C -k -k_ -kN_ --no-wrap --no-location --package-name=podium \
    -o "$tmp/podium.pot" $files "$tmp/err.h" 2> "$tmp/said" ||
    { cat "$tmp/said" >&2; exit 1; }
if [ "${1:-}" = --pot ]; then
    cat "$tmp/podium.pot"
    exit
fi
msgmerge --quiet --no-fuzzy-matching --no-wrap --no-location --sort-output \
    -o "$tmp/zh.po" docs/po/zh.po "$tmp/podium.pot"
msgattrib --no-obsolete --no-fuzzy --no-wrap --sort-output "$tmp/zh.po" |
    sed '/^"POT-Creation-Date/d' > docs/po/zh.po
msgfmt --check-format --statistics -o /dev/null docs/po/zh.po
