#!/usr/bin/python3
"""Write tests/kits/card_table.tsv: what scipy and numpy compute for the matrices of WARPSPY_MATRICES, under the keys of `check`.

Needs Debian's python3-scipy; the tests themselves only read the table. Run from the top folder:
    WARPSPY_MATRICES=FOLDER /usr/bin/python3 tests/kits/make_card_table.py > tests/kits/card_table.tsv
"""
import csv
import math
import os
import sys
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp
from scipy.sparse import csgraph

FOLDER = os.environ["WARPSPY_MATRICES"]
MAX = 100000  # nonzeros; `check` runs all its lines up to this size
DENSE = 600    # rows; numpy's dense methods are used up to this size

warnings.filterwarnings("ignore")


def dominance(size, diagonal, total):
    """The numbers of rows with strict, weak and no dominance. Equality to 12 digits is weak; a zero diagonal fails."""
    others = total - diagonal
    weak = (abs(diagonal - others) <= 1e-12 * (others + diagonal)) & (diagonal != 0)
    strict = (diagonal > others) & ~weak & (diagonal != 0)
    return int(strict.sum()), int(weak.sum()), int(size - strict.sum() - weak.sum())


def sums(matrix):
    """The sum of each row, rounded once."""
    return np.array([math.fsum(matrix.data[matrix.indptr[i]:matrix.indptr[i + 1]]) for i in range(matrix.shape[0])])


def reach(start, step):
    seen, front = set(start), list(start)
    while front:
        for v in step(front.pop()):
            if v not in seen:
                seen.add(v)
                front.append(v)
    return seen


def parts(ones):
    """The Dulmage-Mendelsohn decomposition from a maximum matching (Pothen and Fan 1990)."""
    rows, cols = ones.shape
    col_of = csgraph.maximum_bipartite_matching(ones, perm_type="column")
    row_of = np.full(cols, -1)
    for i, j in enumerate(col_of):
        if j >= 0:
            row_of[j] = i
    turned = ones.T.tocsr()
    row_cols = lambda i: ones.indices[ones.indptr[i]:ones.indptr[i + 1]]
    col_rows = lambda j: turned.indices[turned.indptr[j]:turned.indptr[j + 1]]
    wide_cols = reach([j for j in range(cols) if row_of[j] < 0], lambda j: [col_of[i] for i in col_rows(j)])
    tall_rows = reach([i for i in range(rows) if col_of[i] < 0], lambda i: [row_of[j] for j in row_cols(i)])
    wide_rows = {row_of[j] for j in wide_cols} - {-1}
    tall_cols = {col_of[i] for i in tall_rows} - {-1}
    rest = [i for i in range(rows) if i not in wide_rows and i not in tall_rows]
    out = {"structural_rank": int((col_of >= 0).sum()), "wide_rows": len(wide_rows), "wide_cols": len(wide_cols),
           "tall_rows": len(tall_rows), "tall_cols": len(tall_cols), "square_size": len(rest)}
    n, label = csgraph.connected_components(ones[rest][:, col_of[rest]], connection="strong") if rest else (0, [])
    out.update(square_blocks=n, square_largest=int(np.bincount(label).max()) if n else 0)
    return out


def quantiles(prefix, lengths):
    names = ["min", "median", "p90", "p99", "max"]
    found = np.percentile(lengths, [0, 50, 90, 99, 100], method="inverted_cdf")
    return {f"{prefix}_{name}": int(v) for name, v in zip(names, found)}


def blocks(A, b):
    coo = A.tocoo()
    held = len(set(zip(coo.row // b, coo.col // b)))
    return A.nnz / (held * b * b)


def square(A, size, ones, hermitian):
    n = A.shape[0]
    diagonal, centre = size.diagonal(), A.diagonal().real
    row_sum, col_sum = sums(size), sums(size.T.tocsr())
    off = ones - sp.diags(ones.diagonal())
    off.eliminate_zeros()
    mirrored = off.multiply(off.T).nnz
    skew = A - A.T
    out = {"zero_diagonal": int((diagonal == 0).sum()), "mirrored": mirrored / off.nnz if off.nnz else 1,
           "pattern_symmetric": int(mirrored == off.nnz),
           "value_symmetric": int(mirrored == off.nnz and abs(skew).max() == 0),
           "hermitian": int(hermitian and mirrored == off.nnz),
           "skew": math.sqrt(math.fsum(abs(skew.data) ** 2)) / math.sqrt(math.fsum(size.data ** 2)),
           "rows_low": (centre - (row_sum - diagonal)).min(), "rows_high": (centre + (row_sum - diagonal)).max()}
    for prefix, total in (("rows", row_sum), ("cols", col_sum)):
        for key, v in zip(("strict", "weak", "failing"), dominance(n, diagonal, total)):
            out[f"{prefix}_{key}"] = v
    strong, label = csgraph.connected_components(ones, connection="strong")
    weak, mark = csgraph.connected_components(ones, connection="weak")
    out.update(strong_components=strong, strong_largest=int(np.bincount(label).max()), weak_components=weak,
               weak_largest=int(np.bincount(mark).max()))
    if n <= DENSE:
        dense_facts(A.toarray(), hermitian, out)
    return out


def dense_facts(A, hermitian, out):
    """Definiteness where it is clear: not if the condition is near 1 / eps or an eigenvalue is near 0."""
    with np.errstate(all="ignore"):
        try:
            condition = np.linalg.cond(A, 1)
        except np.linalg.LinAlgError:
            condition = math.inf
    if np.isrealobj(A) and condition < 1e12:
        out["condition_1"] = condition
    if hermitian:
        values = np.linalg.eigvalsh(A)
        if abs(values).min() > 1e-10 * abs(values).max():
            out["positive_definite"] = int(values.min() > 0)


def facts(A):
    A = A.tocsr().astype(complex if np.iscomplexobj(A.data) else float)
    A.sum_duplicates()
    A.sort_indices()
    size, ones = abs(A), A.copy()
    size.sort_indices()
    ones = sp.csr_matrix((np.ones(A.nnz), A.indices.copy(), A.indptr.copy()), A.shape)
    rows, cols = A.shape
    r, c = ones.nonzero()
    first_col = np.full(rows, rows + cols)
    np.minimum.at(first_col, r, c)
    first_row = np.full(cols, rows + cols)
    np.minimum.at(first_row, c, r)
    i, j = np.arange(rows), np.arange(cols)
    out = {"rows": rows, "cols": cols, "nnz": A.nnz, "explicit_zeros": int((A.data == 0).sum()),
           "bandwidth": int(abs(r - c).max()), "bandwidth_lower": max(int((r - c).max()), 0),
           "bandwidth_upper": max(int((c - r).max()), 0), "profile_lower": int(np.maximum(i - first_col, 0).sum()),
           "profile_upper": int(np.maximum(j - first_row, 0).sum()), "norm_1": sums(size.T.tocsr()).max(),
           "norm_inf": sums(size).max(), "norm_fro": math.sqrt(math.fsum(size.data ** 2)),
           "value_max": size.data.max(), "value_min": size.data[size.data > 0].min(),
           "empty_rows": int((np.diff(A.indptr) == 0).sum()),
           "empty_cols": int((np.bincount(A.indices, minlength=cols) == 0).sum()), "fill2": blocks(A, 2),
           "fill3": blocks(A, 3), "fill8": blocks(A, 8)}
    out.update(quantiles("row", np.diff(A.indptr)))
    out.update(quantiles("col", np.bincount(A.indices, minlength=cols)))
    out.update(parts(ones))
    if rows == cols:
        out.update(square(A, size, ones, abs(A - A.conj().T).max() == 0))
    else:
        both = sp.bmat([[None, ones], [ones.T, None]])
        weak, mark = csgraph.connected_components(both, connection="weak")
        out.update(weak_components=weak, weak_largest=int(np.bincount(mark).max()))
    return out


def main():
    with open(f"{FOLDER}/INDEX.tsv", encoding="utf-8") as index:
        names = [row["name"] for row in csv.DictReader(index, delimiter="\t") if int(row["nnz_expanded"]) <= MAX]
    found = {}
    for name in names:
        try:
            found[name] = facts(scipy.io.mmread(f"{FOLDER}/{name}.mtx.gz"))
        except (OSError, ValueError) as why:
            print(f"left out: {name}: {why}", file=sys.stderr)
    keys = list(dict.fromkeys(key for row in found.values() for key in row))
    print("\t".join(["name", *keys]))
    for name, row in found.items():
        print("\t".join([name, *(repr(float(row[k])) if isinstance(row.get(k), (float, np.floating)) else
                                 str(row.get(k, "-")) for k in keys)]))


if __name__ == "__main__":
    main()
