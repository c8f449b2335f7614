#!/bin/sh
# Build each tests/fuzz/fuzz_*.c with libFuzzer, ASan and UBSan, and run it for
# FUZZ_SECONDS (default 30). Lines "fuzz: DIR-OR-FILE.c..." in its opening
# comment name what is linked.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}/fuzz
command -v clang >/dev/null || tests/lint/packages.sh clang || exit 3
mkdir -p "$B/corpus"
ok=0 bad=0
pkgs="ncursesw libcurl yaml-0.1 libcjson libarchive libssl libcrypto zlib jansson libpcre2-8 libutf8proc vterm"
for f in tests/fuzz/fuzz_*.c; do
    n=$(basename "$f" .c)
    dirs=$(sed -nE 's/.*fuzz: (.*[^ */]).*/\1/p' "$f" | tr '\n' ' ')
    src=
    for d in $dirs; do
        case $d in *.c) src="$src $(ls $d)" ;; *) src="$src $(ls "$d"/*.c | grep -vE "_main\.c$|tui/podium\.c$")" ;; esac
    done
    mkdir -p "$B/corpus/$n"
    if ! clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
        -I. -DPODIUM_SOURCE_DIR='"."' -DPODIUM_VERSION='"fuzz"' $(pkg-config --cflags $pkgs) "$f" $src -o "$B/$n" \
        $(pkg-config --libs $pkgs) -lm -lpthread >"$B/$n.log" 2>&1; then
        echo "$n: does not compile"; tail -5 "$B/$n.log"; bad=$((bad + 1)); continue
    fi
    if (cd "$B" && "./$n" -max_total_time="${FUZZ_SECONDS:-30}" -max_len=4096 -timeout=5 \
        -rss_limit_mb=2048 "corpus/$n" >"$n.log" 2>&1); then
        echo "$n: $(grep -E 'DONE|cov:' "$B/$n.log" | tail -1 | tr -s ' \t' ' ')"; ok=$((ok + 1))
    else
        echo "$n: FAILED"; grep -vE '^#' "$B/$n.log" | tail -25; bad=$((bad + 1))
    fi
done
echo "$ok passed, $bad failed"
[ $bad = 0 ] && [ $ok -gt 0 ]
