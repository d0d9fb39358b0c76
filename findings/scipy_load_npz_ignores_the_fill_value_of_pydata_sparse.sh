#!/usr/bin/env bash
# scipy.sparse.load_npz: reads a file of PyData sparse whose other elements are not 0 as if they were 0.
#
# Expected: PyData sparse's save_npz stores the value of all elements that are not listed, fill_value. A reader that
#   cannot represent it fails, or fills it in.
# What happens: if the file says so, SciPy takes the arrays for those of its own coordinate format, without a look at
#   fill_value, and returns a matrix whose other elements are 0.
# Why it matters: both libraries use the extension .npz and arrays of the same names, and exchange files. A distance
#   matrix with fill_value inf or 1 becomes another matrix without a warning. A reader of such files has to look at
#   fill_value.
# Versions: SciPy 1.17.1, sparse 0.19.3, NumPy 2.4.6 (Python 3.11 or newer). Seen on 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install scipy==1.17.1 sparse==0.19.3 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import scipy
import scipy.sparse
import sparse

matrix = sparse.COO(np.array([[0, 1], [1, 0]]), np.array([2.0, 3.0]), shape=(2, 2), fill_value=7.0)
sparse.save_npz("a.npz", matrix)
print("SciPy", scipy.__version__, "and sparse", sparse.__version__)
print("arrays in the file:", {k: v.tolist() for k, v in np.load("a.npz").items()})
read = scipy.sparse.load_npz("a.npz").toarray()
print("written:", matrix.todense().tolist())
print("read by SciPy:", read.tolist())
assert matrix.todense().tolist() == [[7, 2], [3, 7]]
assert read.tolist() == [[0, 2], [3, 0]], "SciPy looks at fill_value now"
PYTHON
