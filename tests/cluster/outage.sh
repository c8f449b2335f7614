# Read by tests/pty/test_lab_keys.sh in the middle of a run: the API server is gone
# for a minute, at once and without a word, and then comes back.
sum() { screen; cksum <"$dir/screen"; }
outage_begun=$(date +%s)
kill -KILL "$(cat "$CLUSTER/run/apiserver.pid")"
want "the title tells the age of the link" "✗ $(say "no link") [0-9]*s"
want "so does the panel, and when it tries again" "✗ $(say "no link").*[0-9]"
drawn=$(grep -oE '[0-9]+/320' "$dir/screen" | tail -1)
# every key is answered meanwhile, and the rows of before stay
for pair in 2:step 4:kubectl 1:student 3:/320; do
    keys "${pair%%:*}"
    want "key ${pair%%:*} without a link" "${pair#*:}" 2
done
want "the curve stays as it was" "$drawn"
until [ $(($(date +%s) - outage_begun)) -ge 60 ]; do sleep 1; done
want "the age of a minute" "✗ $(say "no link") [56][0-9]*s\|✗ $(say "no link") 1m"
"$root/tests/cluster/up" "$CLUSTER" >/dev/null || die "the API server does not start again"
need "the link again" "● $(say live)" 40
# the training went on meanwhile: what it wrote comes now
need "the end of the training" "320/320" 120
