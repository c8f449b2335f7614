"""each_line_once.py CRI-LOG JOURNAL RUN.CSV: did every step line that the pod wrote
reach the session exactly once, in order, and does the curve have a point of each?"""
import csv
import json
import sys

log, journal, table = sys.argv[1:]


def step(text):
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return (line["step"], line["loss"]) if line.get("ev") == "step" else None


written = [step(l.split(" ", 3)[3]) for l in open(log, encoding="utf-8") if " stdout F " in l]
came = []
for line in open(journal, encoding="utf-8"):
    message = json.loads(line)
    if message.get("msg") == "log":
        came.append(step(message["body"].get("text", "")))
written = [x for x in written if x]
came = [x for x in came if x]
drawn = [int(r["step"]) for r in csv.DictReader(open(table)) if r["loss"]]
print(f"{len(written)} step lines written, {len(came)} read, {len(drawn)} points in the curve")
sys.exit(not (written and came == written and drawn == [s for s, _ in written]))
