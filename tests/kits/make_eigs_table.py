#!/usr/bin/python3
"""Write tests/kits/eigs_table.tsv: eigenvalues of real matrices that are not symmetric, by scipy and numpy.

Of matrices of WARPSPY_MATRICES, ARPACK (scipy.sparse.linalg.eigs) finds the largest by modulus; of the two matrices that
test_eigs_general.c makes itself, `grcar` and `waves`, LAPACK finds all. Left out are
matrices with conditions beyond 1e6 or multiple values among these, and those whose next modulus differs by less than 0.1%.
Needs scipy; the tests themselves only read the table. Run from the top folder:
    WARPSPY_MATRICES=FOLDER python3 tests/kits/make_eigs_table.py > tests/kits/eigs_table.tsv
"""
import gzip
import math
import os

import numpy as np
import scipy.io
import scipy.linalg
from scipy.sparse.linalg import eigs

FOLDER = os.environ["WARPSPY_MATRICES"]
START = np.random.default_rng(1)
PAIRS, MATRICES, ROWS, BYTES, CONDITION, GAP = 4, 20, 700, 60000, 1e6, 0.999


def grcar(n):
    return sum(np.eye(n, k=k) for k in range(4)) - np.eye(n, k=-1)


def waves(n):
    a = np.zeros((n, n))
    for i in range(n):
        for k in range(5):
            a[i, (7 * i + 17 * k + 3) % n] += math.sin(1 + 3 * i + 5 * k)
    return a


def spectrum(a):
    """The values by modulus, and their conditions."""
    value, left, right = scipy.linalg.eig(a, left=True, right=True)
    share = abs(np.sum(left.conj() * right, axis=0))
    order = np.lexsort((-value.imag, -value.real, -np.round(abs(value), 10)))
    with np.errstate(divide="ignore"):
        return value[order], 1 / share[order]


def write(name, values, conditions):
    for value, condition in zip(values, conditions):
        print(f"{name}\t{value.real:.17g}\t{value.imag:.17g}\t{condition:.6g}")


def candidates():
    for file in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, file)
        if not file.endswith(".mtx.gz") or os.path.getsize(path) > BYTES:
            continue
        with gzip.open(path, "rt") as lines:
            head = lines.readline().split()
        if head[2] != "coordinate" or head[3] in ("complex", "pattern") or head[4] != "general":
            continue
        rows, cols, _ = scipy.io.mminfo(path)[:3]
        if rows == cols and 30 <= rows <= ROWS:
            yield file[:-len(".mtx.gz")], scipy.io.mmread(path).tocsc().astype(float)


def main():
    print("matrix\treal\timag\tcondition")
    write("grcar", *spectrum(grcar(40)))
    write("waves", *spectrum(waves(90)))
    count = 0
    for name, a in candidates():
        if not np.isfinite(a.data).all() or abs(a - a.T).max() < 1e-9 * abs(a).max():
            continue
        every, conditions = spectrum(a.toarray())
        size = abs(every)
        if size[PAIRS - 1] < 1e-6 * size[0] or size[PAIRS] > GAP * size[PAIRS - 1] or max(conditions[:PAIRS]) > CONDITION:
            continue
        first = every[:PAIRS + 1]
        if min(abs(first[i] - first[j]) for i in range(PAIRS + 1) for j in range(i)) < 1e-4 * size[0]:
            continue
        value = eigs(a, k=PAIRS, ncv=min(len(size) - 1, 80), which="LM", tol=1e-13, maxiter=100000, return_eigenvectors=False, v0=START.random(len(size)))
        near = [np.argmin(abs(every - v)) for v in value]
        assert max(abs(every[near] - value)) < 1e-6 * size[0], name
        assert len(value) == PAIRS and min(abs(value)) > 0.9999 * size[PAIRS - 1], name
        write(name, value, conditions[near])
        count += 1
        if count == MATRICES:
            break


main()
