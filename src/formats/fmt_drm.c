/* DRM, divide - rearrange - merge: segments of `nrows` rows, each with the diagonals that have an entry in it, are
   merged into sub-blocks of nearly equal work. One thread block processes one sub-block.

   Sub-block b consists of the segments at positions drm_blo[b] .. drm_blo[b+1]-1. The segment at position s begins at
   row drm_index[s]*nrows and has the diagonals drm_dnum[s] .. drm_dnum[s+1]-1, whose offsets are in drm_off. Slot
   d*nrows + t is row t of the segment on diagonal d. The last segment of the matrix is stored at full height.

   Example: four segments have 8, 6, 4 and 2 operands. The two smallest segments would be merged only if the largest
   segment had more than twice the operands of each of them. 8 is more than 2*2, but not more than 2*4, so they are not
   merged. The largest segment is paired with the smallest: {0, 3} and {1, 2} have 10 operands each. */
#include "fmt_drm.h"
#include "base/mem.h"
#include "base/search.h"
#include "diagonals.h"
#include "format.h"

/* The sub-blocks during the merge. A sub-block is a linked list of segments and is identified by its first segment. */
struct merge {
    int64_t n;    /* remaining sub-blocks */
    int *heap;    /* [n] the sub-blocks, as a heap with the smallest number of operands at its root */
    int64_t *ope; /* operands of each sub-block */
    int *next;    /* the next segment of the same sub-block, -1 at the end */
    int *tail;    /* the last segment of each sub-block */
};

static bool merge_new(struct merge *M, int64_t segments, struct err *e)
{
    static const char what[] = "the merging of segments";
    *M = (struct merge){.n = segments};
    M->heap = mem_new(segments, sizeof *M->heap, what, e);
    M->ope = mem_new(segments, sizeof *M->ope, what, e);
    M->next = mem_new(segments, sizeof *M->next, what, e);
    M->tail = mem_new(segments, sizeof *M->tail, what, e);
    return M->heap && M->ope && M->next && M->tail;
}

static void merge_free(struct merge *M)
{
    mem_free(M->heap);
    mem_free(M->ope);
    mem_free(M->next);
    mem_free(M->tail);
}

/* If two sub-blocks have equally many operands, the lower number comes first, so that the result is the same on every
   machine. */
static bool less(const struct merge *M, int64_t i, int64_t j)
{
    int a = M->heap[i], b = M->heap[j];
    /* cppcheck-suppress arrayIndexThenCheck ; a < b breaks ties */
    return M->ope[a] < M->ope[b] || (M->ope[a] == M->ope[b] && a < b);
}

static void swap(struct merge *M, int64_t i, int64_t j)
{
    int was = M->heap[i];
    M->heap[i] = M->heap[j];
    M->heap[j] = was;
}

static void sift(struct merge *M, int64_t i, int64_t n)
{
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && less(M, child + 1, child)) child++;
        if (!less(M, child, i)) return;
        swap(M, i, child);
    }
}

/* Append sub-block b to a. */
static void join(struct merge *M, int a, int b)
{
    M->next[M->tail[a]] = b;
    M->tail[a] = M->tail[b];
    M->ope[a] += M->ope[b];
}

/* The second smallest sub-block is directly below the root. */
static int64_t second(const struct merge *M)
{
    return M->n > 2 && less(M, 2, 1) ? 2 : 1;
}

static void merge_two_smallest(struct merge *M)
{
    int smallest = M->heap[0];
    M->heap[0] = M->heap[--M->n];
    sift(M, 0, M->n);
    join(M, M->heap[0], smallest);
    sift(M, 0, M->n);
}

/* Removing the root of a min-heap repeatedly leaves the array sorted by size, with the largest first. */
static void sort(struct merge *M)
{
    for (int64_t n = M->n - 1; n > 0; n--) {
        swap(M, 0, n);
        sift(M, 0, n);
    }
}

/* The paper's procedure. If two sub-blocks are each smaller than half of the largest, the merged sub-block is smaller
   than the largest, so `max` does not change. */
static void rearrange(struct merge *M)
{
    int64_t max = 0;
    for (int64_t i = M->n - 1; i >= 0; i--) {
        if (M->ope[i] > max) max = M->ope[i];
        sift(M, i, M->n);
    }
    while (M->n > 1 && max > 2 * M->ope[M->heap[0]] && max > 2 * M->ope[M->heap[second(M)]]) merge_two_smallest(M);
    if (M->n > 1 && M->n % 2) merge_two_smallest(M);
    sort(M);
    if (M->n <= 2) return;
    for (int64_t r = 0; r < M->n / 2; r++) join(M, M->heap[r], M->heap[M->n - 1 - r]);
    M->n /= 2;
}

void drm_layout_free(struct drm_layout *L)
{
    mem_free(L->dnum);
    mem_free(L->index);
    mem_free(L->blo);
    *L = (struct drm_layout){0};
}

/* Write the lists of segments one after another. A list of more than `most` segments is divided into several lists of
   nearly equal length. */
static void lay_out(const struct merge *M, int64_t most, struct drm_layout *L)
{
    int64_t at = 0;
    for (int64_t i = 0; i < M->n; i++) {
        int64_t first = at;
        for (int s = M->heap[i]; s >= 0; s = M->next[s]) L->index[at++] = s;
        int64_t parts = (at - first + most - 1) / most;
        for (int64_t p = 1; p <= parts; p++) L->blo[++L->subblocks] = (int)(first + (at - first) * p / parts);
    }
}

/* Set L->dnum, which is ordered by position. before[h] is the number of diagonals of the segments before h. */
static void place_counts(const int *before, struct drm_layout *L)
{
    for (int64_t s = 0; s < L->segments; s++) {
        int h = L->index[s];
        L->dnum[s + 1] = L->dnum[s] + before[h + 1] - before[h];
    }
}

static void start(struct merge *M, const int *before, int64_t nrows)
{
    for (int h = 0; h < M->n; h++) {
        M->heap[h] = M->tail[h] = h;
        M->next[h] = -1;
        M->ope[h] = (before[h + 1] - before[h]) * nrows;
    }
}

bool drm_lay(const int *before, int64_t n, int64_t nrows, struct drm_layout *L, struct err *e)
{
    struct merge M = {0};
    *L = (struct drm_layout){.segments = n};
    L->dnum = mem_zero(n + 1, sizeof *L->dnum, "numbers of diagonals", e);
    L->index = mem_new(n, sizeof *L->index, "the order of segments", e);
    L->blo = mem_zero(n + 1, sizeof *L->blo, "sub-blocks", e);
    bool ok = L->dnum && L->index && L->blo && merge_new(&M, n, e);
    if (ok) {
        start(&M, before, nrows);
        rearrange(&M);
        lay_out(&M, DRM_ROWS / nrows, L);
        place_counts(before, L);
    }
    merge_free(&M);
    return ok;
}

static bool lay(const struct csr *A, const struct stored *S, struct drm_layout *L, struct err *e)
{
    struct blocks segments = blocks_of(A, S->param[0]);
    int *before = count_diagonals(A, &segments, e);
    *L = (struct drm_layout){0};
    bool ok = before && drm_lay(before, segments.n, S->param[0], L, e);
    mem_free(before);
    return ok;
}

void drm_sizes(struct stored *S, const struct drm_layout *L)
{
    int64_t n = L->segments, diagonals = L->dnum[n];
    plan_array(S, "drm_dnum", ROLE_LAYOUT, T_I32, n + 1);
    plan_array(S, "drm_index", ROLE_LAYOUT, T_I32, n);
    plan_array(S, "drm_blo", ROLE_LAYOUT, T_I32, L->subblocks + 1);
    plan_array(S, "drm_off", ROLE_DIAGONALS, T_I32, diagonals);
    plan_values(S, "drm_val", diagonals * S->param[0]);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct drm_layout L;
    bool ok = lay(A, S, &L, e);
    if (ok) drm_sizes(S, &L);
    drm_layout_free(&L);
    return ok;
}

static void put_segment(void *to, const struct csr *A, struct block *B)
{
    struct stored *S = to;
    int *off = S->a[DRM_OFF].data;
    int64_t first = ((const int *)S->a[DRM_DNUM].data)[B->at], nrows = S->param[0];
    block_put(B, A, off + first, &S->a[DRM_VAL], first * nrows, nrows);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct drm_layout L;
    bool ok = lay(A, S, &L, e);
    if (ok) {
        put_ints(&S->a[DRM_DNUM], L.dnum);
        put_ints(&S->a[DRM_INDEX], L.index);
        put_ints(&S->a[DRM_BLO], L.blo);
        struct blocks segments = blocks_of(A, S->param[0]);
        segments.index = L.index;
        ok = visit_blocks(A, &segments, put_segment, S, e);
    }
    drm_layout_free(&L);
    return ok;
}

/* A segment's pointers refer to the first row of the segment; a sub-block's pointers refer to the first row of its
   first segment. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *dnum = S->a[DRM_DNUM].data, *index = S->a[DRM_INDEX].data;
    const int *blo = S->a[DRM_BLO].data, *off = S->a[DRM_OFF].data;
    int64_t nrows = S->param[0], n = S->a[DRM_INDEX].n;
    int64_t d = k == DRM_VAL ? i / nrows : i, s = k == DRM_BLO ? blo[i] : i;
    if (k == DRM_VAL || k == DRM_OFF) s = span_of(dnum, n, d);
    if (s == n) return (struct place){SLOT_POINTER, -1, -1};
    int64_t first = index[s] * nrows, row = first + i % nrows;
    if (k == DRM_OFF) return place_of_offset(first, off[d]);
    if (k != DRM_VAL) return (struct place){SLOT_POINTER, first, -1};
    return place_of_value(S, k, i, row, row + off[d]);
}

/* A piece is a sub-block. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int *dnum = S->a[DRM_DNUM].data, *blo = S->a[DRM_BLO].data;
    if (k >= S->a[DRM_BLO].n - 1) return false;
    *operands = (dnum[blo[k + 1]] - dnum[blo[k]]) * S->param[0];
    return true;
}

const struct format format_drm = {
    .name = "drm",
    .about = "diagonals of row segments, merged into sub-blocks of equal work for thread blocks",
    .source = "DRM, sec. 4.1 to 4.3, fig. 5 to 9",
    .params = {{"nrows", 32, 1, DRM_ROWS, "rows per segment"}},
    .zeros_fade = true,
    .value = DRM_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
