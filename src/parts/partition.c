/* Partitions, and the contiguous ways: equal rows, nonzeros or bytes. */
#include "partition.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/search.h"
#include "matrix/csr.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define WAY(id) extern const struct way way_##id;
#include "ways.def"
#undef WAY

/* floor(n * k / parts) without overflow. */
static int64_t fraction(int64_t n, int64_t k, int64_t parts)
{
    return (int64_t)((__int128)n * k / parts);
}

static void equal_shares(int64_t *first, int64_t n, int parts)
{
    struct loop l = loop_of("partition", parts);
    for (int p = 0; p <= parts && loop_goes(&l, p); p++) first[p] = fraction(n, p, parts);
}

/* ---- memory ---- */

int64_t partition_memory(int64_t rows, int parts, bool contiguous)
{
    return 2 * (parts + 1) * (int64_t)sizeof(int64_t) + (contiguous ? 0 : 2 * rows * (int64_t)sizeof(int));
}

void partition_free(struct partition *P)
{
    if (P->first_col != P->first) mem_free(P->first_col);
    mem_free(P->first);
    mem_free(P->order);
    mem_free(P->position);
    *P = (struct partition){0};
}

static bool partition_room(struct partition *P, int64_t rows, int64_t cols, int parts, struct err *e)
{
    *P = (struct partition){.parts = parts, .rows = rows, .cols = cols};
    if (parts < 1 || parts > PARTS_MAX)
        return fail(e, E_USAGE, "%d parts are not possible; give a number from 1 to %d", parts, PARTS_MAX);
    P->first = mem_zero((int64_t)parts + 1, sizeof *P->first, "a partition", e);
    P->first_col = P->first;
    if (P->first && rows != cols) P->first_col = mem_zero((int64_t)parts + 1, sizeof *P->first_col, "a partition", e);
    if (P->first_col && P->first_col != P->first) equal_shares(P->first_col, cols, parts);
    if (!P->first_col) partition_free(P);
    return P->first_col != NULL;
}

bool partition_copy(struct partition *out, const struct partition *P, struct err *e)
{
    const int64_t bytes = (P->parts + 1) * (int64_t)sizeof *P->first, each = P->rows * (int64_t)sizeof *P->order;
    if (!partition_room(out, P->rows, P->cols, P->parts, e)) return false;
    out->way = P->way;
    bool ok = loop_copy(out->first, P->first, bytes, "partition", e) &&
              (out->first_col == out->first || loop_copy(out->first_col, P->first_col, bytes, "partition", e));
    if (ok && P->order)
        ok = (out->order = mem_new(P->rows, sizeof *out->order, "a partition", e)) &&
             (out->position = mem_new(P->rows, sizeof *out->position, "a partition", e)) &&
             loop_copy(out->order, P->order, each, "partition", e) &&
             loop_copy(out->position, P->position, each, "partition", e);
    if (!ok) partition_free(out);
    return ok;
}

bool partition_sorted(struct partition *out, const struct partition *P, struct err *e)
{
    const int64_t bytes = (P->parts + 1) * (int64_t)sizeof *P->first;
    if (!partition_room(out, P->rows, P->cols, P->parts, e)) return false;
    out->way = P->way;
    if (!loop_copy(out->first, P->first, bytes, "partition", e)) partition_free(out);
    return out->first != NULL;
}

/* A library holds the graph, and coarser graphs with weights that take about twice as much. */
enum { GRAPHS_OF_LIBRARY = 3, WORDS_PER_COLUMN = 2, WORDS_PER_PART = 32 };

int64_t partition_needs(const struct way *way, const struct csr *A, int parts)
{
    const int64_t word = sizeof(int);
    int64_t graph = way->by_owner ? (A->rows + 2 * A->nnz) * word : 0;
    return partition_memory(A->rows, parts, !way->by_owner) + (1 + GRAPHS_OF_LIBRARY) * graph +
           (WORDS_PER_COLUMN * A->cols + WORDS_PER_PART * (int64_t)parts) * word;
}

/* ---- contiguous ways ---- */

static bool divide_rows(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e)
{
    equal_shares(P->first, P->rows, P->parts);
    return loop_unbroken("partition", e);
}

const struct way way_rows = {
    .name = "rows",
    .about = "contiguous, with equal numbers of rows",
    .source = "floor(rows p / parts)",
    .divide = divide_rows,
};

/* What an entry and a row weigh when parts of equal weight are made. */
struct weights {
    int64_t entry, row;
};
static const struct weights entries_only = {1, 0};
/* Bytes of a product in fp64 with parts that exchange items of x: 12 for the value and the column of an entry; 8 for
   two row pointers, 8 for x, and 24 for y, which is stored and then updated. */
static const struct weights bytes_moved = {12, 40};

/* The weight of the rows before row i. */
static int64_t weight_before(const struct csr *A, int64_t i, struct weights of)
{
    return csr_start(A, i) * of.entry + i * of.row;
}

/* The row before which the weight is nearest to `target`, among the rows from `low` on; the earlier one of two. */
static int64_t row_near(const struct csr *A, int64_t low, int64_t target, struct weights of)
{
    int64_t high = A->rows;
    while (low < high) { /* the first row that begins at `target` or later */
        int64_t middle = low + (high - low) / 2;
        if (weight_before(A, middle, of) < target)
            low = middle + 1;
        else
            high = middle;
    }
    bool earlier = low > 0 && target - weight_before(A, low - 1, of) <= weight_before(A, low, of) - target;
    return earlier ? low - 1 : low;
}

/* Part p ends at the row nearest to its share of the weight; target(p) of all parts ascend. */
static void divide_at(struct partition *P, const struct csr *A, struct weights of, int64_t (*target)(void *user, int p),
                      void *user)
{
    struct loop l = loop_of("partition", P->parts);
    for (int p = 1; p < P->parts && loop_goes(&l, p); p++) {
        int64_t row = row_near(A, P->first[p - 1], target(user, p), of);
        P->first[p] = row > P->first[p - 1] ? row : P->first[p - 1];
    }
    P->first[P->parts] = P->rows;
}

struct equal {
    int64_t weight;
    int parts;
};

static int64_t equal_target(void *user, int p)
{
    const struct equal *q = user;
    return fraction(q->weight, p, q->parts);
}

static bool divide_nnz(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e)
{
    struct equal q = {A->nnz, P->parts};
    if (!A->nnz) return divide_rows(P, A, owner, w, e);
    divide_at(P, A, entries_only, equal_target, &q);
    return loop_unbroken("partition", e);
}

const struct way way_nnz = {
    .name = "nnz",
    .aliases = "nonzeros entries",
    .about = "contiguous, with equal numbers of nonzeros",
    .source = "each part ends at the row nearest to nnz p / parts",
    .divide = divide_nnz,
};

static bool divide_bytes(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e)
{
    struct equal q = {weight_before(A, A->rows, bytes_moved), P->parts};
    divide_at(P, A, bytes_moved, equal_target, &q);
    return loop_unbroken("partition", e);
}

const struct way way_bytes = {
    .name = "bytes",
    .about = "contiguous, with equal bytes per product: 12 for a nonzero, 40 for a row",
    .source = "each part ends at the row nearest to the bytes of the whole p / parts",
    .divide = divide_bytes,
};

struct weighted {
    int64_t nnz;
    const double *share;
    double sum, before; /* of all shares, and of those of parts 0 .. p-1 */
};

static int64_t weighted_target(void *user, int p)
{
    struct weighted *q = user;
    q->before += q->share[p - 1];
    double target = (double)q->nnz * (q->before / q->sum);
    return target < (double)q->nnz ? (int64_t)target : q->nnz;
}

bool partition_shares(struct partition *P, const struct csr *A, int parts, const double *share, struct err *e)
{
    struct weighted q = {.nnz = A->nnz, .share = share};
    if (!partition_room(P, A->rows, A->cols, parts, e)) return false;
    bool ok = true;
    for (int p = 0; p < parts; p++) {
        ok = ok && isfinite(share[p]) && share[p] >= 0;
        q.sum += share[p];
    }
    ok = ok && q.sum > 0;
    if (!ok) {
        partition_free(P);
        return fail(e, E_INTERNAL, "the shares of %d parts are not numbers >= 0 with a sum > 0", parts);
    }
    divide_at(P, A, entries_only, weighted_target, &q);
    if (!loop_unbroken("partition", e)) partition_free(P);
    return P->first != NULL;
}

/* ---- parts by owner ---- */

/* Sort the rows by owner; within a part they ascend. */
static bool sort_rows(struct partition *P, const int *owner, struct err *e)
{
    struct loop l = loop_of("partition", P->rows);
    P->order = mem_new(P->rows, sizeof *P->order, "rows by part", e);
    P->position = P->order ? mem_new(P->rows, sizeof *P->position, "rows by part", e) : NULL;
    if (!P->position) return false;
    for (int64_t i = 0; i < P->rows && loop_goes(&l, i); i++) {
        if (owner[i] < 0 || owner[i] >= P->parts)
            return fail(e, E_INTERNAL, "row %lld belongs to part %d, but there are %d parts", (long long)i, owner[i],
                        P->parts);
        P->first[owner[i] + 1]++;
    }
    for (int p = 0; p < P->parts; p++) P->first[p + 1] += P->first[p];
    for (int64_t i = 0; i < P->rows && loop_goes(&l, i); i++) {
        P->position[i] = (int)P->first[owner[i]]++;
        P->order[P->position[i]] = (int)i;
    }
    memmove(P->first + 1, P->first, (size_t)P->parts * sizeof *P->first);
    P->first[0] = 0;
    return loop_end(&l, e);
}

bool partition_of_owners(struct partition *P, int64_t rows, int parts, const int *owner, struct err *e)
{
    if (rows > INT_MAX)
        return fail(
            e, E_LIMIT,
            "%lld rows are too many: a partition that is not contiguous takes at most %d; divide by bytes, nnz or rows",
            (long long)rows, INT_MAX);
    if (!partition_room(P, rows, rows, parts, e)) return false;
    if (!sort_rows(P, owner, e)) partition_free(P);
    return P->first != NULL;
}

/* ---- all ways ---- */

const struct way *const ways[] = {
#define WAY(id) &way_##id,
#include "ways.def"
#undef WAY
    NULL};
const struct registry way_registry = {ways, 0, offsetof(struct way, aliases)};

const struct way *way_find(const char *name)
{
    return registry_find(&way_registry, name);
}

static bool divide_by_owner(struct partition *P, const struct way *way, const struct csr *A, int parts, struct watch *w,
                            struct err *e)
{
    struct partition sizes = {.parts = parts, .rows = A->rows, .cols = A->cols};
    int *owner = mem_new(A->rows, sizeof *owner, "the owners of rows", e);
    bool ok = owner && way->divide(&sizes, A, owner, w, e) && partition_of_owners(P, A->rows, parts, owner, e);
    mem_free(owner);
    return ok;
}

static bool needs_square(const struct way *way, const struct csr *A, struct err *e)
{
    if (!way->by_owner || A->rows == A->cols) return true;
    fail(e, E_UNSUPPORTED, "%lld x %lld: %s divides the graph of a square matrix", (long long)A->rows,
         (long long)A->cols, way->name);
    err_advise(e, "divide a rectangular matrix by bytes, nnz or rows");
    return false;
}

bool partition_new(struct partition *P, const struct way *way, const struct csr *A, int parts, struct watch *w,
                   struct err *e)
{
    *P = (struct partition){0};
    if (!needs_square(way, A, e) || !partition_room(P, A->rows, A->cols, parts, e)) return false;
    if (way->by_owner) partition_free(P);
    bool ok = way->by_owner ? divide_by_owner(P, way, A, parts, w, e) : way->divide(P, A, NULL, w, e);
    if (!ok) partition_free(P);
    P->way = ok ? way : NULL;
    return ok;
}

bool partition_rows(struct partition *P, const struct csr *A, int parts, struct err *e)
{
    return partition_new(P, &way_rows, A, parts, NULL, e);
}

bool partition_nnz(struct partition *P, const struct csr *A, int parts, struct err *e)
{
    return partition_new(P, &way_nnz, A, parts, NULL, e);
}

/* ---- owners ---- */

int partition_owner(const struct partition *P, int64_t row)
{
    return (int)span_of_wide(P->first, P->parts, partition_position(P, row));
}

int partition_owner_at(const struct partition *P, int64_t col_position)
{
    return (int)span_of_wide(P->first_col, P->parts, col_position);
}

int partition_col_owner(const struct partition *P, int64_t col)
{
    return partition_owner_at(P, partition_position(P, col));
}
