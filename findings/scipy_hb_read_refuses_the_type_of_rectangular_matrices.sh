#!/usr/bin/env bash
# scipy.io.hb_read: refuses a Harwell-Boeing file whose type says that its matrix is rectangular.
#
# Expected: the users' guide of the collection (Duff, Grimes, Lewis 1992) defines the second letter of the type: S, U,
#   H, Z, or R for a rectangular matrix. RRA is a real rectangular assembled matrix.
# What happens: hb_read fails for RRA: "Only unsymmetric matrices supported for now". The same file with the type RUA,
#   which is for square matrices, is read and gives the rectangular matrix. hb_write writes RUA for rectangular matrices.
# Why it matters: a program that writes files by the guide writes files that SciPy cannot read, and one that reads files
#   of SciPy has to accept U for matrices that are not square.
# Versions: SciPy 1.17.1, NumPy 2.4.6 (Python 3.11 or newer). Seen on 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install scipy==1.17.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import scipy
import scipy.io
import scipy.sparse

print("SciPy", scipy.__version__)
matrix = scipy.sparse.csc_array([[1.0, 0, 2], [0, 3, 0]])
scipy.io.hb_write("a.rua", matrix)
text = open("a.rua").read()
lines = text.splitlines()
print("the type that hb_write writes for a 2 x 3 matrix:", lines[2][:3])
assert lines[2].startswith("RUA")
open("a.rra", "w").write(text.replace("\nRUA", "\nRRA", 1))
assert (scipy.io.hb_read("a.rua", spmatrix=False).toarray() == matrix.toarray()).all()
try:
    scipy.io.hb_read("a.rra", spmatrix=False)
except ValueError as e:
    print("RRA:", e)
    assert "unsymmetric" in str(e)
else:
    raise SystemExit("hb_read reads RRA now")
PYTHON
