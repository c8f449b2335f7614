#!/bin/sh
# podium-plot by hand: the picture has the run's points, other runs beside it,
# labels in Chinese; mistakes are told with what to do.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
B=$(cd "$B" && pwd)
plot=$B/podium-plot
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() {
    name=$1; shift
    if "$@" >"$dir/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "FAIL $name"; tail -5 "$dir/log"
    fi
}

# 500 steps: an exponential, a wave for noise, one spike, one NaN
make_run() {
    awk -v up="$1" 'BEGIN {
        print "step,loss,val_loss,lr,gnorm,tok_s,tokens,epoch,seconds"
        for (i = 1; i <= 500; i++) {
            l = 0.9 + up + 2.4 * exp(-i / 60) + 0.1 * sin(i * 7.7)
            if (i == 208) l = 2.6
            printf "%d,%s,%s,1e-3,0.7,900,%d,%.4f,%.2f\n", i, i == 300 ? "NaN" : sprintf("%.6f", l),
                i % 50 ? "" : sprintf("%.4f", l + 0.1), i * 500, i / 166, i * 1.7
        }
    }'
}
make_run 0 > "$dir/a.csv"
make_run 0.3 > "$dir/b.csv"

the_svg_has_the_points() {
    "$B/podium" plot "$dir/a.csv" -o "$dir/a.svg" --smooth 0.9 &&
        python3 tests/api/plot_check.py svg "$dir/a.svg" "$dir/a.csv" 0.9
}
the_average_is_the_one_asked_for() {
    "$plot" "$dir/a.csv" -o "$dir/a5.svg" --smooth=0.5 &&
        python3 tests/api/plot_check.py svg "$dir/a5.svg" "$dir/a.csv" 0.5 &&
        ! python3 tests/api/plot_check.py svg "$dir/a5.svg" "$dir/a.csv" 0.9
}
the_png_has_size_and_curve() {
    "$plot" "$dir/a.csv" "$dir/b.csv" -o "$dir/a.png" --width 1000 --height 500 --no-raw &&
        python3 tests/api/plot_check.py png "$dir/a.png" 1000 500
}
chinese_labels() {
    "$plot" "$dir/a.csv" -o "$dir/zh.png" --lang zh --title "训练损失" --log-y --log-x --x tokens \
        2> "$dir/said" && [ -s "$dir/zh.png" ] || return 1
    if fc-list :lang=zh-cn | grep -q .; then [ ! -s "$dir/said" ]; else [ -s "$dir/said" ]; fi
}
without_such_a_font_it_is_said() {
    printf '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>' \
        > "$dir/fonts.conf"
    FONTCONFIG_FILE="$dir/fonts.conf" "$plot" "$dir/a.csv" -o "$dir/nf.png" --title "训练" \
        2> "$dir/said" && grep -q fonts-noto-cjk "$dir/said"
}
a_run_log_is_read() {
    { echo "some line"; echo '{"v":1,"ev":"step","step":1,"loss":2.5}'
      echo '{"v":1,"ev":"step","step":2,"loss":2.25}'; } > "$dir/log.jsonl"
    "$plot" --points "$dir/log.jsonl" | grep -q '"of":"loss","text":"1 2.5 2 2.25 "'
}
the_newest_run_is_listed_first() {
    mkdir "$dir/runs"
    cp "$dir/a.csv" "$dir/runs/20261101-000000-a.csv"
    cp "$dir/b.csv" "$dir/runs/20261102-000000-b.csv"
    echo nothing > "$dir/runs/notes.txt"; cp "$dir/a.csv" "$dir/runs/.now.csv"
    "$plot" --list "$dir/runs" > "$dir/list" && [ "$(wc -l < "$dir/list")" = 2 ] &&
        head -1 "$dir/list" | grep -q '20261102.*"steps":500' && "$plot" --list "$dir/none"
}
refused() {     # code, words, arguments
    code=$1 words=$2; shift 2
    "$plot" "$@" 2> "$dir/said"; [ $? = "$code" ] && grep -q "$words" "$dir/said"
}
mistakes_are_told() {
    echo "step,loss
1,x" > "$dir/bad.csv"
    refused 1 "bad.csv:2" "$dir/bad.csv" -o "$dir/x.svg" &&
        refused 1 "can't be read" "$dir/none.csv" -o "$dir/x.svg" &&
        refused 1 "svg or .png" "$dir/a.csv" -o "$dir/x.gif" &&
        refused 1 "can't be written" "$dir/a.csv" -o "$dir/no/x.png" &&
        refused 2 "no such option" "$dir/a.csv" --frob &&
        refused 2 "missing or wrong" "$dir/a.csv" -o "$dir/x.svg" --smooth 2 &&
        refused 2 "needed" "$dir/a.csv"
}
# cairo would cost the console its quick start
the_console_does_not_load_cairo() {
    ! ldd "$B/podium" | grep -q cairo
}

for t in the_svg_has_the_points the_average_is_the_one_asked_for the_png_has_size_and_curve \
    chinese_labels without_such_a_font_it_is_said a_run_log_is_read \
    the_newest_run_is_listed_first mistakes_are_told the_console_does_not_load_cairo; do
    check $t $t
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
