"""The storage formats of the papers, written a second time, from their descriptions and not from the C code.

Each function takes a Matrix and the format's parameters and returns {name of an array: list of its elements}. Rows,
columns and slots are counted from 0. Where a paper leaves something open, the decision is the one that the program's
documentation states: stable sorting, column -1 for padding, ascending offsets, full last blocks.

THESIS: T. Liang 2012. DRM: Wang et al. 2024. NOTES: notes on SpMV in CUDA, 2024.
"""


class Matrix:
    """m rows of n columns; rows[i] is the list of (column, value), by ascending column. Stored zeros are entries."""

    def __init__(self, m, n, entries):
        self.m, self.n, self.nnz = m, n, len(entries)
        self.rows = [[] for _ in range(m)]
        for (i, j), value in sorted(entries.items()):
            self.rows[i].append((j, value))

    def entries(self):
        return [(i, j, value) for i, row in enumerate(self.rows) for j, value in row]

    def diagonals(self, first, last):
        """{offset: {row: value}} of rows first .. last-1, by ascending offset."""
        found = {}
        for i in range(first, min(last, self.m)):
            for j, value in self.rows[i]:
                found.setdefault(j - i, {})[i] = value
        return dict(sorted(found.items()))


def prefix_sums(counts):
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    return sums


def divided_up(whole, part):
    return -(-whole // part)


# ---- general formats (NOTES; THESIS figures 2.1 to 2.3) ----

def coo(A):
    entries = A.entries()
    return {"row": [i for i, _, _ in entries], "col": [j for _, j, _ in entries], "val": [v for _, _, v in entries]}


def csr(A):
    return {"ptr": prefix_sums(len(row) for row in A.rows), "col": coo(A)["col"], "val": coo(A)["val"]}


def csc(A):
    entries = sorted(A.entries(), key=lambda entry: (entry[1], entry[0]))
    counts = [0] * A.n
    for _, j, _ in entries:
        counts[j] += 1
    return {"ptr": prefix_sums(counts), "row": [i for i, _, _ in entries], "val": [v for _, _, v in entries]}


def columns_of_slots(A, width):
    """The first `width` elements of each row, element k of row i at slot k * m + i."""
    col, val = [-1] * (width * A.m), [0] * (width * A.m)
    for i, row in enumerate(A.rows):
        for k, (j, value) in enumerate(row[:width]):
            col[k * A.m + i], val[k * A.m + i] = j, value
    return col, val


def ell(A):
    col, val = columns_of_slots(A, max(map(len, A.rows), default=0))
    return {"col": col, "val": val}


def hyb(A, width=None):
    """Without a width: the largest one that at least a third of the rows fill."""
    if width is None:
        longest = max(map(len, A.rows), default=0)
        width = max((w for w in range(longest + 1) if 3 * sum(len(row) >= w for row in A.rows) >= A.m), default=0)
    col, val = columns_of_slots(A, width)
    rest = [(i, j, value) for i, row in enumerate(A.rows) for j, value in row[width:]]
    return {"ell_col": col, "ell_val": val, "row": [i for i, _, _ in rest], "col": [j for _, j, _ in rest],
            "val": [v for _, _, v in rest]}


def bsr(A, b):
    ptr, col, val = [0], [], []
    for top in range(0, A.m, b):
        blocks = {}
        for i in range(top, min(top + b, A.m)):
            for j, value in A.rows[i]:
                blocks.setdefault(j // b, [0] * (b * b))[(i - top) * b + j % b] = value
        for at in sorted(blocks):
            col.append(at)
            val += blocks[at]
        ptr.append(len(col))
    return {"ptr": ptr, "col": col, "val": val}


# ---- THESIS 2.2: SC-CSR ----

SEGMENTS = [(0, 8, 32), (8, 16, 16), (16, 32, 8), (32, float("inf"), 4)]  # rows of lengths [from, to): c rows together


def sc_csr(A, nw):
    order = sorted(range(A.m), key=lambda i: len(A.rows[i]))
    segments = [[i for i in order if low <= len(A.rows[i]) < high] for low, high, _ in SEGMENTS]
    for k in range(3):  # a segment with too few SC-rows moves to the next one
        if len(segments[k]) / SEGMENTS[k][2] < nw:
            segments[k + 1], segments[k] = segments[k] + segments[k + 1], []
    length, row_index, val, col_ind, row_ptr, segment = [], [], [], [], [0], [0]
    for rows, (_, _, c) in zip(segments, SEGMENTS):
        rows = rows + [-1] * (-len(rows) % c)
        for at in range(0, len(rows), c):
            folded = [A.rows[i] if i >= 0 else [] for i in rows[at:at + c]]
            for k in range(max(map(len, folded))):
                col_ind += [row[k][0] if k < len(row) else -1 for row in folded]
                val += [row[k][1] if k < len(row) else 0 for row in folded]
            row_ptr.append(len(val))
        length += [len(A.rows[i]) if i >= 0 else 0 for i in rows]
        row_index += rows
        segment.append(len(row_index))
    return {"length": length, "row_index": row_index, "val": val, "col_ind": col_ind, "row_ptr": row_ptr,
            "segment": segment}


# ---- THESIS 2.3: VAB, whose pieces have four elements ----

def vab(A, bs):
    row_piece = prefix_sums(divided_up(len(row), 4) for row in A.rows)
    slots = divided_up(row_piece[-1], bs) * bs * 4
    val, col = [0] * slots, [0] * slots
    for i, row in enumerate(A.rows):
        for k in range(4 * divided_up(len(row), 4)):
            piece, e = row_piece[i] + k // 4, k % 4
            at = piece // bs * 4 * bs + e * bs + piece % bs
            col[at], val[at] = row[k] if k < len(row) else (row[-1][0], 0)
    return {"val": val, "col": col, "row_piece": row_piece}


# ---- DRM 3.1 to 3.3: the formats of diagonals ----

def values_of(diagonals, first, height):
    """The values of rows first .. first+height-1, diagonal by diagonal, with 0 as padding."""
    out = [0] * (len(diagonals) * height)
    for d, values in enumerate(diagonals.values()):
        for i, value in values.items():
            out[d * height + i - first] = value
    return out


def dia(A):
    diagonals = A.diagonals(0, A.m)
    return {"offsets": list(diagonals), "data": values_of(diagonals, 0, A.m)}


def hdia(A, hack):
    hacks = [A.diagonals(top, top + hack) for top in range(0, A.m, hack)]
    return {"hackOffsets": prefix_sums(map(len, hacks)), "hdi_offsets": [d for found in hacks for d in found],
            "hdi_data": [v for k, found in enumerate(hacks) for v in values_of(found, k * hack, hack)]}


REBLOCKING = 64  # DRM 5.1: the threshold at which blocks of BRCSD-I are cut again


def brcsd1(A, least, piece=REBLOCKING):
    """Cut where a diagonal begins (row -offset) or ends (row n - offset), then into pieces of at most `piece` rows."""
    offsets = A.diagonals(0, A.m)
    cuts = sorted({row for d in offsets for row in (-d, A.n - d) if 0 < row < A.m})
    blocks = [0]
    for row in cuts:
        if row - blocks[-1] >= least and A.m - row >= least:
            blocks.append(row)
    starts = [row for first, last in zip(blocks, blocks[1:] + [A.m]) for row in range(first, last, piece)]
    records, data, ptr, start = [], [], [0], [0]
    for first, last in zip(starts, starts[1:] + [A.m]):
        found = A.diagonals(first, last)
        records += [first] + list(found)
        data += values_of(found, first, last - first)
        ptr.append(len(records))
        start.append(len(data))
    return {"brcsd1_offsets": records, "brcsd1_data": data, "brcsd1_ptr": ptr, "brcsd1_start": start}


def brcsd2(A, nrows):
    records, ptr, data, before = [], [], [], None
    blocks = [A.diagonals(top, top + nrows) for top in range(0, A.m, nrows)]
    for k, found in enumerate(blocks):
        if before is None or list(found) != list(before):
            begin = len(records)
            records += [0] + list(found)
        records[begin] += 1
        ptr.append(begin)
        data += values_of(found, k * nrows, nrows)
        before = found
    return {"brcsd2_offsets": records, "brcsd2_data": data, "brcsd2_ptr": ptr,
            "brcsd2_dnum": prefix_sums(map(len, blocks))}


def dia_adaptive(A, nrows=32, least=64, below=10, times=190):
    """DIA if it pads less than `below` % of the entries, else BRCSD-I unless it pads over `times` % of BRCSD-II."""
    if 100 * (len(A.diagonals(0, A.m)) * A.m - A.nnz) < below * A.nnz:
        return dia(A)
    first, second = brcsd1(A, least), brcsd2(A, nrows)
    padding = len(first["brcsd1_data"]) - A.nnz, len(second["brcsd2_data"]) - A.nnz
    return first if 100 * padding[0] <= times * padding[1] else second


def hdc(A, fill):
    """DIA for the diagonals that fill at least `fill` % of their m slots, CSR for the rest."""
    full = {d: values for d, values in A.diagonals(0, A.m).items() if 100 * len(values) >= fill * A.m}
    rest = Matrix(A.m, A.n, {(i, j): v for i, j, v in A.entries() if j - i not in full})
    return {"hdc_offsets": list(full), "hdc_data": values_of(full, 0, A.m), **csr(rest)}


# ---- DRM 4: divide, rearrange, merge ----

def merged_operands(operands):
    """Algorithm 1, step by step: the operands of the segments become the operands of the sub-blocks."""
    P = sorted(operands, reverse=True)
    while len(P) > 1 and P[0] > 2 * P[-1] and P[0] > 2 * P[-2]:
        least = P.pop()
        P[-1] += least
        P.sort(reverse=True)
    if len(P) % 2 and len(P) > 1:
        least = P.pop()
        P[-1] += least
        P.sort(reverse=True)
    if len(P) > 2:
        P = [P[r] + P[-1 - r] for r in range(len(P) // 2)]
    return P


def drm(A, nrows, index):
    """The arrays that follow from the order of the segments, `index`. The merging leaves the order of equal segments,
    and the order of the sub-blocks, open; drm_blo is checked by check_drm."""
    segments = [A.diagonals(h * nrows, (h + 1) * nrows) for h in index]
    return {"drm_dnum": prefix_sums(map(len, segments)), "drm_index": index,
            "drm_off": [d for found in segments for d in found],
            "drm_val": [v for h, found in zip(index, segments) for v in values_of(found, h * nrows, nrows)]}


def check_drm(A, nrows, index, blo):
    """Each segment is in one sub-block, and the sub-blocks have the operands of algorithm 1."""
    assert sorted(index) == list(range(divided_up(A.m, nrows))), "drm_index is not a permutation of the segments"
    assert blo[0] == 0 and blo[-1] == len(index) and blo == sorted(blo), f"drm_blo is {blo}"
    ope = [nrows * len(A.diagonals(h * nrows, (h + 1) * nrows)) for h in range(len(index))]
    blocks = [index[first:last] for first, last in zip(blo, blo[1:])]
    assert all(len(block) * nrows <= 1024 for block in blocks), "a sub-block has more than 1024 rows"
    found = sorted(sum(ope[h] for h in block) for block in blocks)
    assert found == sorted(merged_operands(ope)), f"operands of the sub-blocks: {found}"
