#!/usr/bin/env python3
"""Write tests/kits/least_table.tsv: what scipy.sparse.linalg.lsqr and lsmr, and numpy.linalg.lstsq, find for the systems
of tests/unit/test_least.c. Run from the top folder; the tests themselves only read the table:
    WARPSPY_MATRICES=FOLDER python3 tests/kits/make_least_table.py > tests/kits/least_table.tsv

A line: the system, the right side (ones, or varied: A x for a varied x), ||x|| and sum cos(j) x_j of the x of least norm
that minimises ||b - A x||, ||b - A x|| / ||b||, the rank, and the iterations of lsqr and of lsmr (atol = btol = 1e-10,
conlim = 0).
"""
import os
import sys

import numpy
import scipy.io
import scipy.sparse
import scipy.sparse.linalg

REAL = ("Maragal_1", "Trec4", "cat_ears_3_1", "ch3-3-b1", "ch4-4-b2", "ch5-5-b1", "farm", "illc1033", "klein-b1",
        "lp_afiro", "lp_e226_transposed", "n3c4-b3", "n3c5-b3", "rel4", "well1033", "wheel_5_1")
MADE = ((40, 25, 3, 0), (25, 40, 3, 0), (60, 30, 4, 1), (33, 47, 4, 2), (30, 30, 4, 3), (1, 9, 1, 0), (9, 1, 1, 0))
TOL = 1e-10


def made(rows, cols, step, kind):
    """kind 1: columns of different size; 2: equal columns, so that A is singular; 3: an empty row and column"""
    A = numpy.zeros((rows, cols))
    for i in range(rows):
        for j in range(cols):
            k = j % (cols // 2) if kind == 2 else j
            if (3 * i + 5 * k) % step == 0 and not (kind == 3 and (i == 4 or k == 6)):
                A[i, j] = (7 * i + 13 * k + i * k) % 19 - 9 + (4 if i == k else 0)
            if kind == 1:
                A[i, j] *= 2.0 ** -(j % 11)
    return scipy.sparse.csr_matrix(A)


def varied(n):
    v = numpy.array([((i * (i + 1) // 2) * 40503) % 65536 / 65536 for i in range(n)])
    return numpy.ones(1) if n == 1 else v - v.mean()


def line(name, A, right):
    b = numpy.ones(A.shape[0]) if right == "ones" else A @ varied(A.shape[1])
    x, _, rank, _ = numpy.linalg.lstsq(A.toarray(), b, rcond=None)
    most = 20 * max(A.shape) + 1000
    its = [scipy.sparse.linalg.lsqr(A, b, atol=TOL, btol=TOL, conlim=0, iter_lim=most)[2],
           scipy.sparse.linalg.lsmr(A, b, atol=TOL, btol=TOL, conlim=0, maxiter=most)[2]]
    r = numpy.linalg.norm(b - A @ x) / numpy.linalg.norm(b)
    weighted = float(numpy.cos(numpy.arange(len(x))) @ x)
    return f"{name}\t{right}\t{numpy.linalg.norm(x):.15e}\t{weighted:.15e}\t{r:.15e}\t{rank}\t{its[0]}\t{its[1]}\n"


def main():
    folder = os.environ["WARPSPY_MATRICES"]
    sys.stdout.write("system\tright side\tnorm of x\tsum cos(j) x_j\tresidual\trank\tlsqr\tlsmr\n")
    for right in ("ones", "varied"):
        for name in REAL:
            A = scipy.io.mmread(os.path.join(folder, name + ".mtx.gz"))
            sys.stdout.write(line(name, scipy.sparse.csr_matrix(A, dtype=float), right))
        for of in MADE:
            sys.stdout.write(line(" ".join(str(k) for k in of), made(*of), right))


main()
