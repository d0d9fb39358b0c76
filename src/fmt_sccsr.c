/* SC-CSR, segmented and combined: rows sorted by length, shortest first, cut in four segments by length, and in each
   segment c neighbouring rows folded into one SC-row that a warp processes.

     segment   0        1         2          3
     length    0..7     8..15     16..31     32..
     c         32       16        8          4

   An SC-row holds the first elements of its c rows, then their second ones, and so on up to the longest: slot
   row_ptr[s] + k*c + r is element k of its row r; missing ones have column -1 and value 0. length and row_index tell
   of the sorted rows; the last SC-row of a segment is filled up with rows of length 0 and index -1. Segment g's rows
   are segment[g] .. segment[g+1]-1 of them.

   A segment that would not keep the device busy, with less than nw SC-rows, moves whole to the next one. The paper's
   rule is nw = 0.5 * multiprocessors * active blocks of each * warps of a block, 480 on its GTX 295. The usual value
   is that of 80 multiprocessors with 8 blocks of 256 threads (8 warps): 0.5 * 80 * 8 * 8 = 2560, a V100. */
#include "format.h"

enum { NW_USUAL = 2560 };

/* The rows in sorted order, and how many of them each segment has. */
struct sorted {
    int *row;
    int64_t n[SCCSR_SEGMENTS];
};

static int64_t rows_folded(int g)
{
    return 32 >> g;
}

/* Sort by counting, stable. */
static bool sort_rows(const struct csr *A, struct sorted *T, struct err *e)
{
    int64_t longest = longest_row(A);
    int *first = mem_zero(longest + 2, sizeof *first, "a count of row lengths", e);
    T->row = mem_new(A->rows, sizeof *T->row, "rows sorted by length", e);
    bool ok = first && T->row;
    if (ok) {
        for (int64_t i = 0; i < A->rows; i++) first[csr_row_length(A, i) + 1]++;
        for (int64_t n = 0; n <= longest; n++) first[n + 1] += first[n];
        for (int64_t i = 0; i < A->rows; i++) T->row[first[csr_row_length(A, i)]++] = (int)i;
    }
    mem_free(first);
    return ok;
}

static void cut_segments(const struct csr *A, int64_t nw, struct sorted *T)
{
    int g = 0;
    for (int64_t k = 0; k < A->rows; k++) {
        while (g < SCCSR_SEGMENTS - 1 && csr_row_length(A, T->row[k]) >= 8 << g) g++;
        T->n[g]++;
    }
    for (g = 0; g < SCCSR_SEGMENTS - 1; g++) {
        if (T->n[g] >= nw * rows_folded(g)) continue;
        T->n[g + 1] += T->n[g];
        T->n[g] = 0;
    }
}

static bool sort_and_cut(const struct csr *A, int64_t nw, struct sorted *T, struct err *e)
{
    *T = (struct sorted){0};
    if (!sort_rows(A, T, e)) {
        mem_free(T->row);
        return false;
    }
    cut_segments(A, nw, T);
    return true;
}

static int64_t sc_rows(const struct sorted *T, int g)
{
    return (T->n[g] + rows_folded(g) - 1) / rows_folded(g);
}

/* The slots of SC-row s of a segment that begins at sorted row `first`: its last row is its longest. */
static int64_t slots_of(const struct csr *A, const struct sorted *T, int g, int64_t first, int64_t s)
{
    int64_t c = rows_folded(g), last = (s + 1) * c < T->n[g] ? (s + 1) * c : T->n[g];
    return c * csr_row_length(A, T->row[first + last - 1]);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct sorted T;
    int64_t places = 0, total = 0, slots = 0, first = 0;
    if (!sort_and_cut(A, S->param[0], &T, e)) return false;
    for (int g = 0; g < SCCSR_SEGMENTS; first += T.n[g++]) {
        for (int64_t s = 0; s < sc_rows(&T, g); s++) slots += slots_of(A, &T, g, first, s);
        places += sc_rows(&T, g) * rows_folded(g);
        total += sc_rows(&T, g);
    }
    mem_free(T.row);
    if (slots > INT32_MAX)
        return fail(e, E_LIMIT, "sc-csr: at most %d slots fit 32-bit row pointers, found %lld; use the format csr",
                    INT32_MAX, (long long)slots);
    plan_array(S, "length", T_I32, places);
    plan_array(S, "row_index", T_I32, places);
    plan_array(S, "val", S->real, slots);
    plan_array(S, "col_ind", T_I32, slots);
    plan_array(S, "row_ptr", T_I32, total + 1);
    plan_array(S, "segment", T_I32, SCCSR_SEGMENTS + 1);
    return true;
}

/* Elements of the row at place p, which is row r of an SC-row of `width` elements a row. */
static void put_row(const struct csr *A, int64_t p, int64_t slot, int64_t width, int64_t c, struct stored *S)
{
    int row = ((const int *)S->a[SCCSR_ROW_INDEX].data)[p], *col = S->a[SCCSR_COL_IND].data;
    int64_t n = ((const int *)S->a[SCCSR_LENGTH].data)[p], first = row < 0 ? 0 : A->rowptr[row];
    for (int64_t k = 0; k < width; k++, slot += c) {
        col[slot] = k < n ? A->col[first + k] : -1;
        if (k < n) put_real(&S->a[SCCSR_VAL], slot, A->val[first + k]);
    }
}

/* Fill segment g from sorted row `first`, place `place` and SC-row `sc` on. */
static void put_segment(const struct csr *A, const struct sorted *T, int g, int64_t first, int64_t place, int64_t sc,
                        struct stored *S)
{
    int *length = S->a[SCCSR_LENGTH].data, *index = S->a[SCCSR_ROW_INDEX].data, *ptr = S->a[SCCSR_ROW_PTR].data;
    int64_t c = rows_folded(g), n = sc_rows(T, g);
    for (int64_t s = 0; s < n; s++) ptr[sc + s + 1] = ptr[sc + s] + (int)slots_of(A, T, g, first, s);
#pragma omp parallel for schedule(static) if (A->nnz > THREADS_FROM)
    for (int64_t k = 0; k < n * c; k++) {
        int64_t s = sc + k / c, p = place + k;
        index[p] = k < T->n[g] ? T->row[first + k] : -1;
        length[p] = k < T->n[g] ? (int)csr_row_length(A, index[p]) : 0;
        put_row(A, p, ptr[s] + k % c, (ptr[s + 1] - ptr[s]) / c, c, S);
    }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct sorted T;
    int *segment = S->a[SCCSR_SEGMENT].data;
    int64_t first = 0, sc = 0;
    if (!sort_and_cut(A, S->param[0], &T, e)) return false;
    for (int g = 0; g < SCCSR_SEGMENTS; first += T.n[g++]) {
        put_segment(A, &T, g, first, segment[g], sc, S);
        sc += sc_rows(&T, g);
        segment[g + 1] = segment[g] + (int)(sc_rows(&T, g) * rows_folded(g));
    }
    mem_free(T.row);
    return true;
}

/* The place in row_index of the first row of SC-row s, and how many rows that has. */
static int64_t place_of_sc_row(const struct stored *S, int64_t s, int64_t *c)
{
    const int *segment = S->a[SCCSR_SEGMENT].data;
    for (int g = 0;; g++) {
        *c = rows_folded(g);
        int64_t n = (segment[g + 1] - segment[g]) / *c;
        if (s < n || g == SCCSR_SEGMENTS - 1) return segment[g] + s * *c;
        s -= n;
    }
}

/* A pointer of a segment or SC-row names its first row. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *index = S->a[SCCSR_ROW_INDEX].data, *ptr = S->a[SCCSR_ROW_PTR].data, *col = S->a[SCCSR_COL_IND].data;
    int64_t places = S->a[SCCSR_ROW_INDEX].n, total = S->a[SCCSR_ROW_PTR].n - 1, p = i, c;
    if (k == SCCSR_VAL || k == SCCSR_COL_IND) {
        int64_t s = span_of(ptr, total, i), first = place_of_sc_row(S, s, &c);
        return (struct place){col[i] < 0 ? SLOT_PADDING : SLOT_ENTRY, index[first + (i - ptr[s]) % c], col[i]};
    }
    if (k == SCCSR_ROW_PTR) p = place_of_sc_row(S, i, &c);
    if (k == SCCSR_SEGMENT) p = ((const int *)S->a[SCCSR_SEGMENT].data)[i];
    if (p >= places) return (struct place){SLOT_POINTER, -1, -1};
    return (struct place){index[p] < 0 ? SLOT_PADDING : SLOT_POINTER, index[p], -1};
}

const struct format format_sccsr = {
    .name = "sc-csr",
    .about = "rows sorted by length, in four segments, 4 to 32 rows of a segment folded into one",
    .source = "Liang 2012, sec. 2.2",
    .params = {{"nw", NW_USUAL, 0, INT32_MAX, "SC-rows that a segment needs to keep a device busy"}},
    .value = SCCSR_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
