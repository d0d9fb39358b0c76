/* SC-CSR, segmented and combined: the rows are sorted by length, shortest first, and divided into four segments by
   length. In each segment, c neighbouring rows are folded into one SC-row, which one warp processes.

     segment   0        1         2          3
     length    0..7     8..15     16..31     32..
     c         32       16        8          4

   An SC-row stores the first elements of its c rows, then their second elements, and so on: slot row_ptr[s] + k*c + r
   is element k of row r of SC-row s; missing elements have column -1 and value 0. The arrays `length` and `row_index`
   are in the order of the sorted rows. The last SC-row of a segment is padded with rows of length 0 and index -1.
   The rows of segment g are at positions segment[g] .. segment[g+1]-1 of length and row_index.

   A segment with fewer than nw SC-rows would not keep the device busy, so its rows move to the next segment. The
   paper's rule is nw = 0.5 * multiprocessors * active blocks per multiprocessor * warps per block, which is 480 on the
   paper's GTX 295. The default is 2560 = 0.5 * 80 * 8 * 8, for a V100 with 80 multiprocessors, each with 8 active
   blocks of 8 warps. */
#include "fmt_sccsr.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/search.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

enum { NW_MULTIPROCESSOR = 8 * 8 / 2, NW_DEFAULT = 80 * NW_MULTIPROCESSOR };

struct layout {
    int *row; /* the rows in sorted order */
    struct sccsr_layout of;
};

static int64_t rows_folded(int g)
{
    return 32 >> g;
}

/* Sorts the rows by length with a stable counting sort. Returns NULL on failure; the caller frees the result. */
static int *sort_rows(const struct csr *A, struct err *e)
{
    int64_t longest = csr_longest_row(A);
    int *first = mem_zero(longest + 2, sizeof *first, "a count of row lengths", e);
    int *row = first ? mem_new(A->rows, sizeof *row, "rows sorted by length", e) : NULL;
    struct loop l = loop_of("sorting rows by length", 2 * A->rows);
    if (row) {
        for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) first[csr_row_length(A, i) + 1]++;
        for (int64_t n = 0; n <= longest; n++) first[n + 1] += first[n];
        for (int64_t i = 0; i < A->rows && loop_goes(&l, A->rows + i); i++) row[first[csr_row_length(A, i)]++] = (int)i;
    }
    mem_free(first);
    if (loop_end(&l, e)) return row;
    mem_free(row);
    return NULL;
}

/* Count the rows that each segment gets if rows are assigned to segments by length alone. */
static void cut(const struct csr *A, const int *row, int64_t rows[SCCSR_SEGMENTS])
{
    struct loop l = loop_of("counting rows", A->rows);
    int g = 0;
    for (int64_t k = 0; k < A->rows && loop_goes(&l, k); k++) {
        while (g < SCCSR_SEGMENTS - 1 && csr_row_length(A, row[k]) >= 8 << g) g++;
        rows[g]++;
    }
}

void sccsr_lay(int64_t rows[SCCSR_SEGMENTS], int64_t nw, struct sccsr_layout *L)
{
    int64_t first = 0;
    *L = (struct sccsr_layout){0};
    for (int g = 0; g < SCCSR_SEGMENTS - 1; g++) {
        if (rows[g] >= nw * rows_folded(g)) continue;
        rows[g + 1] += rows[g];
        rows[g] = 0;
    }
    for (int g = 0; g < SCCSR_SEGMENTS; g++) {
        struct sccsr_segment *s = &L->segment[g];
        int64_t c = rows_folded(g), n = (rows[g] + c - 1) / c;
        *s = (struct sccsr_segment){.c = c, .rows = rows[g], .first = first, .n = n, .sc = L->n, .place = L->places};
        first += s->rows;
        L->n += s->n;
        L->places += s->n * s->c;
    }
}

static bool lay(const struct csr *A, int64_t nw, struct layout *L, struct err *e)
{
    int64_t rows[SCCSR_SEGMENTS] = {0};
    *L = (struct layout){.row = sort_rows(A, e)};
    if (!L->row) return false;
    cut(A, L->row, rows);
    sccsr_lay(rows, nw, &L->of);
    if (loop_unbroken("counting rows", e)) return true;
    mem_free(L->row);
    return false;
}

/* The number of slots of a segment's k-th SC-row. The last row of an SC-row is its longest row. */
static int64_t slots_of(const struct csr *A, const struct layout *L, const struct sccsr_segment *s, int64_t k)
{
    int64_t end = (k + 1) * s->c < s->rows ? (k + 1) * s->c : s->rows;
    return s->c * csr_row_length(A, L->row[s->first + end - 1]);
}

bool sccsr_sizes(struct stored *S, const struct sccsr_layout *L, int64_t slots, struct err *e)
{
    int64_t most = slots > L->places ? slots : L->places;
    if (most > INT32_MAX)
        return fail(e, E_LIMIT, "sc-csr: 32-bit pointers allow at most %d slots or rows, not %lld; use the format csr",
                    INT32_MAX, (long long)most);
    plan_array(S, "length", ROLE_LAYOUT, T_I32, L->places);
    plan_array(S, "row_index", ROLE_ROW_ORDER, T_I32, L->places);
    plan_values(S, "val", slots);
    plan_array(S, "col_ind", ROLE_COLUMNS, T_I32, slots);
    plan_array(S, "row_ptr", ROLE_LAYOUT, T_I32, L->n + 1);
    plan_array(S, "segment", ROLE_LAYOUT, T_I32, SCCSR_SEGMENTS + 1);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    int64_t slots = 0;
    if (!lay(A, S->param[0], &L, e)) return false;
    struct loop l = loop_of("counting slots", L.of.n);
    for (const struct sccsr_segment *s = L.of.segment; s < L.of.segment + SCCSR_SEGMENTS; s++)
        for (int64_t k = 0; k < s->n && loop_goes(&l, k); k++) slots += slots_of(A, &L, s, k);
    mem_free(L.row);
    return loop_end(&l, e) && sccsr_sizes(S, &L.of, slots, e);
}

/* Write the row at position `place` to slots slot, slot + c, slot + 2c, ...; row -1 has only padding. */
static void put_row(const struct csr *A, int64_t place, int64_t slot, int64_t width, int64_t c, struct stored *S)
{
    int row = ((const int *)S->a[SCCSR_ROW_INDEX].data)[place], *col = S->a[SCCSR_COL_IND].data;
    int64_t first = row < 0 ? 0 : A->rowptr[row], n = row < 0 ? 0 : csr_row_length(A, row);
    ((int *)S->a[SCCSR_LENGTH].data)[place] = (int)n;
    for (int64_t k = 0; k < width; k++, slot += c) {
        col[slot] = k < n ? A->col[first + k] : -1;
        if (k < n) put_value(&S->a[SCCSR_VAL], slot, A, first + k);
    }
}

static void put_segment(const struct csr *A, const struct layout *L, const struct sccsr_segment *s, struct stored *S)
{
    int *index = (int *)S->a[SCCSR_ROW_INDEX].data + s->place, *ptr = (int *)S->a[SCCSR_ROW_PTR].data + s->sc;
    for (int64_t k = 0; k < s->n; k++) ptr[k + 1] = ptr[k] + (int)slots_of(A, L, s, k);
    struct loop l = loop_of("packing rows", s->n * s->c);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < s->n * s->c; from += LOOP_EVERY)
        for (int64_t r = from, end = loop_share(&l, from, s->n * s->c); r < end; r++) {
            int64_t k = r / s->c, width = (ptr[k + 1] - ptr[k]) / s->c;
            index[r] = r < s->rows ? L->row[s->first + r] : -1;
            put_row(A, s->place + r, ptr[k] + r % s->c, width, s->c, S);
        }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    int *segment = S->a[SCCSR_SEGMENT].data;
    if (!lay(A, S->param[0], &L, e)) return false;
    for (int g = 0; g < SCCSR_SEGMENTS; g++) {
        segment[g] = (int)L.of.segment[g].place;
        put_segment(A, &L, &L.of.segment[g], S);
    }
    segment[SCCSR_SEGMENTS] = (int)L.of.places;
    mem_free(L.row);
    return true;
}

/* Returns the position in row_index of the first row of SC-row s. *c receives the number of rows in s. */
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

/* The pointer of a segment or SC-row refers to the first row in that segment or SC-row. */
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

static void suit(const struct csr *A, enum precision real, int multiprocessors, int64_t *param)
{
    param[0] = (int64_t)multiprocessors * NW_MULTIPROCESSOR;
}

const struct format format_sccsr = {
    .name = "sc-csr",
    .about = "rows sorted by length, in four segments; 4 to 32 rows of a segment are folded into one SC-row",
    .source = "THESIS, sec. 2.2.1, fig. 2.4, eq. 2.1; stable sorting [ours]",
    .params = {{"nw", NW_DEFAULT, 0, INT32_MAX, "number of SC-rows that a segment needs to keep a device busy"}},
    .value = SCCSR_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
    .suit = suit,
    .rule = "0.5 * multiprocessors * 8 blocks * 8 warps (eq. 2.1)",
};
