#!/usr/bin/env bash
# scipy.io.hb_write: the header states fields of 25 characters, and the file has fields of 24.
#
# Expected: in a Harwell-Boeing file, the fourth line gives the Fortran format of the values, and each value uses as
#   many characters as the format states. Programs in Fortran read the fields by their columns.
# What happens: for values with exponents of three digits, hb_write states (3E25.16) and writes each value in 24
#   characters. Read by columns, the second value of a line begins with its second character and ends with the first
#   character of the next one. scipy.io.hb_read reads the file correctly, because it takes the width from the line.
# Why it matters: a reader that trusts the header gets other numbers, or an error, from a file that its writer reads
#   without loss. A reader of such files has to compare the length of the lines with the format.
# Versions: SciPy 1.17.1, NumPy 2.4.6 (Python 3.11 or newer). Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install scipy==1.17.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import re
import scipy
import scipy.io
import scipy.sparse

values = [1 / 3, 1e-100, 1e100, -2 / 7, 5.0]
matrix = scipy.sparse.csc_array((values, ([0, 2, 1, 0, 2], [0, 0, 1, 2, 2])), shape=(3, 3))
scipy.io.hb_write("matrix.rua", matrix)
lines = open("matrix.rua").read().splitlines()
print("SciPy", scipy.__version__)
for line in lines:
    print("   |" + line)
per_line, width = map(int, re.search(r"\((\d+)E(\d+)\.\d+\)", lines[3]).groups())
first = next(line for line in lines[4:] if "E" in line)
written = len(first) / per_line
print(f"stated: {per_line} fields of {width} characters; written: {written:g} characters each")
print("read by columns:", [first[i : i + width] for i in range(0, len(first), width)])
same = abs(scipy.io.hb_read("matrix.rua") - matrix).max() == 0
print("read by scipy.io.hb_read: the same values" if same else "read by scipy.io.hb_read: other values")
if not (scipy.__version__ == "1.17.1" and width == 25 and written == 24 and same):
    raise SystemExit("the behaviour has changed")
PYTHON
