"""The lines of a followed log against what the container wrote.

  logs_check.py LOG WORDS FIRST LAST [MAY_MISS]

Lines of LOG end in "number N". Each number of FIRST..LAST must stand there once
and in order. With MAY_MISS numbers may be left out, but never more often than
WORDS (stderr) says that lines may be gone.
"""
import re
import sys

log, words, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
may_miss = len(sys.argv) > 5
numbers = [int(m[1]) for m in re.finditer(r"number (\d+)$", open(log, errors="replace").read(), re.M)]
said = len(re.findall(r"may be gone", open(words, errors="replace").read()))
places = [(a, b) for a, b in zip([first - 1] + numbers, numbers + [last + 1]) if b > a + 1]
holes = len(places)
back = [(a, b) for a, b in zip(numbers, numbers[1:]) if b <= a]
missing = last - first + 1 - len(set(numbers))
print(f"{len(numbers)} lines, {missing} missing in {holes} places, {said} told, {len(back)} back")
if back:
    sys.exit(f"a line came again or out of order: {back[0]}")
if (holes and not may_miss) or holes > said or (not numbers):
    sys.exit(f"lines are missing, between (from, to): {places[:5]}")
if not holes and said and not may_miss:
    sys.exit("a gap was told and nothing is missing")
