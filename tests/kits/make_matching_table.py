#!/usr/bin/python3
"""Write tests/kits/matching_table.tsv: what scipy finds for the square matrices of WARPSPY_MATRICES: the structural rank of the
nonzero entries, log2 of the largest product of a full matching, and the diagonal blocks of the block triangular form.

Needs Debian's python3-scipy; the tests themselves only read the table. Run from the top folder:
    WARPSPY_MATRICES=FOLDER /usr/bin/python3 tests/kits/make_matching_table.py > tests/kits/matching_table.tsv
"""
import math
import os

import numpy as np
import scipy.io
import scipy.sparse as sp
from scipy.sparse import csgraph

FOLDER = os.environ["WARPSPY_MATRICES"]
MAX = 100000  # nonzeros


def matching_of(matrix):
    """The rows and columns of the matching with the largest product. Adding 1 to every cost changes no choice, and keeps
    scipy from taking a cost of 0 for an entry that is absent."""
    cost = matrix.copy()
    cost.data = np.log2(abs(matrix).max()) - np.log2(abs(matrix.data)) + 1
    return csgraph.min_weight_full_bipartite_matching(cost)


print("name\trows\trank\tproduct\tblocks\tlargest")
for file in sorted(os.listdir(FOLDER)):
    if not file.endswith(".mtx.gz"):
        continue
    matrix = sp.csr_matrix(scipy.io.mmread(os.path.join(FOLDER, file)))
    stored = matrix.copy()
    stored.data = np.ones(stored.nnz)
    matrix.eliminate_zeros()
    size = matrix.shape[0]
    if size != matrix.shape[1] or not 0 < matrix.nnz <= MAX or not np.isfinite(abs(matrix.data)).all():
        continue
    rank = int(csgraph.structural_rank(matrix))
    words = ["-", "-", "-"]
    if rank == size:
        rows, columns = matching_of(matrix)
        order = np.empty(size, int)
        order[columns] = rows
        product = math.fsum(np.log2(abs(np.asarray(matrix[rows, columns]).ravel())))
        n, label = csgraph.connected_components(stored[order], connection="strong")
        words = [repr(product), str(n), str(np.bincount(label).max())]
    print("\t".join([file[:-7], str(size), str(rank)] + words))
