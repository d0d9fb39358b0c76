/* Column strips: the columns are cut into strips of `width` columns, narrow enough that the elements of x of a strip
   fit in the shared memory of a thread block. The entries are stored strip by strip, and row by row within a strip, in
   chunks of 128 entries. Columns are counted from the first column of the strip, in 16 bits.

   The entries of a row in a chunk give one partial sum. `ends` has a bit for each entry: the entry is the last one of
   its partial sum. A chunk's last entry always ends a partial sum, so chunks are independent of one another. With
   strips of two columns, and `|` after each end:

       1 7 0 0     strip 0   col  0 1 | 1 | 0 | 1       row 0 1 2 3       partial sums 0 1 2 3
       0 2 8 0               val  1 7 | 2 | 5 | 6
       5 0 3 9     strip 1   col  0 | 0 1 | 1           row 1 2 3         partial sums 4 5 6
       0 6 0 4               val  8 | 3 9 | 4

   ptr[s] is the number of chunks before strip s, before[c] the number of partial sums before chunk c, and row[p] the
   row of partial sum p. The last chunk of a strip is padded: column 0, value 0, and no end.

   Within a chunk, entries lie transposed (strips_slot): word k of the chunk's four words of `ends` has in bit l the end
   bit of entry 4l + k.

   A list of runs says where the partial sums of each group of 32 rows are: a run is two integers, first a mask with a
   bit for each row of the group that has a partial sum, then the index of the first of these partial sums, which are
   neighbours. Group g has the runs group[g] .. group[g + 1] - 1, in the order of their partial sums. */
#include "fmt_strips.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/search.h"
#include "format.h"
#include "matrix/csr.h"

#include <string.h>

int64_t strips_width_most(enum precision real)
{
    return STRIPS_X_MAX / (int64_t)type_size(precisions[real].vector);
}

bool strips_width(struct stored *S, struct err *e)
{
    int64_t most = strips_width_most(S->real);
    if (!S->param[0]) S->param[0] = STRIPS_X_BYTES / (int64_t)type_size(precisions[S->real].vector);
    if (S->param[0] <= most) return true;
    return fail(e, E_USAGE, "strips: width is %lld; the shared memory holds %lld elements of x in %s",
                (long long)S->param[0], (long long)most, precisions[S->real].name);
}

int64_t strips_number(const struct stored *S)
{
    return (S->cols + S->param[0] - 1) / S->param[0];
}

void strips_sizes(struct stored *S, const struct strips_count *n)
{
    int64_t groups = (S->rows + STRIPS_GROUP_ROWS - 1) / STRIPS_GROUP_ROWS;
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, strips_number(S) + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_U16, n->chunks * STRIPS_CHUNK);
    plan_values(S, "val", n->chunks * STRIPS_CHUNK);
    plan_array(S, "ends", ROLE_BITS, T_I32, n->chunks * STRIPS_WORDS);
    plan_array(S, "before", ROLE_LAYOUT, T_I32, n->chunks + 1);
    plan_array(S, "row", ROLE_ROWS, T_I32, n->sums);
    plan_array(S, "group", ROLE_LAYOUT, T_I32, groups + 1);
    plan_array(S, "run", ROLE_LAYOUT, T_I32, 2 * n->runs);
}

/* The counts of a strip while the rows are visited in order. */
struct strip {
    int64_t entries, sums;
    int64_t group; /* the group of the last row with entries in the strip */
};

static void strip_add(struct strip *s, int64_t row, int64_t entries, struct strips_count *n)
{
    int64_t last = s->entries + entries - 1, sums = last / STRIPS_CHUNK - s->entries / STRIPS_CHUNK + 1;
    n->runs += sums - (s->entries && s->group == row / STRIPS_GROUP_ROWS);
    n->sums += sums;
    n->chunks += (last + STRIPS_CHUNK) / STRIPS_CHUNK - (s->entries + STRIPS_CHUNK - 1) / STRIPS_CHUNK;
    s->entries += entries;
    s->sums += sums;
    s->group = row / STRIPS_GROUP_ROWS;
}

/* The strip of the entry k of a row that ends before `end`, and the first entry of the row beyond this strip. */
static int64_t next_strip(const struct csr *A, int64_t k, int64_t end, int64_t width, int64_t *beyond)
{
    int64_t strip = A->col[k] / width, stop = (strip + 1) * width;
    while (k < end && A->col[k] < stop) k++;
    *beyond = k;
    return strip;
}

/* The strips of A: entries and partial sums. The caller frees them. */
static struct strip *strips_of(const struct csr *A, const struct stored *S, struct strips_count *n, struct err *e)
{
    struct strip *strip = mem_zero(strips_number(S) + 1, sizeof *strip, "column strips", e);
    if (!strip) return NULL;
    *n = (struct strips_count){0};
    struct loop l = loop_of("counting strips", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        for (int64_t k = A->rowptr[i], beyond; k < A->rowptr[i + 1]; k = beyond) {
            int64_t s = next_strip(A, k, A->rowptr[i + 1], S->param[0], &beyond);
            strip_add(&strip[s], i, beyond - k, n);
        }
    if (loop_end(&l, e)) return strip;
    mem_free(strip);
    return NULL;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct strips_count n;
    if (!strips_width(S, e)) return false;
    struct strip *strip = strips_of(A, S, &n, e);
    if (!strip) return false;
    mem_free(strip);
    strips_sizes(S, &n);
    return true;
}

/* ---- packing ---- */

/* Store entries k .. end-1 of row i from position `at` on. *sum: the next partial sum of the strip. */
static void put_entries(const struct csr *A, int64_t i, int64_t k, int64_t end, int64_t at, int64_t *sum,
                        struct stored *S)
{
    uint16_t *col = S->a[STRIPS_COL].data;
    uint32_t *ends = S->a[STRIPS_ENDS].data;
    int *row = S->a[STRIPS_ROW].data;
    for (; k < end; k++, at++) {
        int64_t slot = strips_slot(at), in = at % STRIPS_CHUNK;
        col[slot] = (uint16_t)(A->col[k] % S->param[0]);
        put_value(&S->a[STRIPS_VAL], slot, A, k);
        if (k + 1 < end && in + 1 < STRIPS_CHUNK) continue;
        ends[at / STRIPS_CHUNK * STRIPS_WORDS + in % STRIPS_WORDS] |= 1u << in / STRIPS_WORDS;
        row[(*sum)++] = (int)i;
    }
}

/* strip[s].entries and strip[s].sums become the first position and the first partial sum of strip s. */
static void put_pointers(struct strip *strip, struct stored *S)
{
    int *ptr = S->a[STRIPS_PTR].data;
    int64_t sums = 0;
    for (int64_t s = 0; s < strips_number(S); s++) {
        struct strip was = strip[s];
        strip[s] = (struct strip){.entries = (int64_t)ptr[s] * STRIPS_CHUNK, .sums = sums};
        ptr[s + 1] = ptr[s] + (int)((was.entries + STRIPS_CHUNK - 1) / STRIPS_CHUNK);
        sums += was.sums;
    }
}

static bool put_rows(const struct csr *A, struct strip *strip, struct stored *S, struct err *e)
{
    struct loop l = loop_of("packing rows", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        for (int64_t k = A->rowptr[i], beyond; k < A->rowptr[i + 1]; k = beyond) {
            struct strip *s = &strip[next_strip(A, k, A->rowptr[i + 1], S->param[0], &beyond)];
            put_entries(A, i, k, beyond, s->entries, &s->sums, S);
            s->entries += beyond - k;
        }
    return loop_end(&l, e);
}

static bool put_before(struct stored *S, struct err *e)
{
    const uint32_t *ends = S->a[STRIPS_ENDS].data;
    int *before = S->a[STRIPS_BEFORE].data;
    int64_t chunks = S->a[STRIPS_BEFORE].n - 1;
    struct loop l = loop_of("counting partial sums", chunks);
    for (int64_t c = 0; c < chunks && loop_goes(&l, c); c++) {
        before[c + 1] = before[c];
        for (int k = 0; k < STRIPS_WORDS; k++) before[c + 1] += __builtin_popcount(ends[c * STRIPS_WORDS + k]);
    }
    return loop_end(&l, e);
}

/* Call put(S, next, g, mask, p) for each run. A run ends where the group or the strip changes, or a row repeats. */
static bool each_run(struct stored *S, int *next, void (*put)(struct stored *, int *, int64_t, uint32_t, int64_t),
                     struct err *e)
{
    const int *row = S->a[STRIPS_ROW].data, *ptr = S->a[STRIPS_PTR].data, *before = S->a[STRIPS_BEFORE].data;
    struct loop l = loop_of("runs of partial sums", S->a[STRIPS_ROW].n);
    for (int64_t s = 0; s < strips_number(S); s++)
        for (int64_t p = before[ptr[s]], end = before[ptr[s + 1]], first; p < end && loop_goes(&l, p);) {
            uint32_t mask = 0;
            int64_t g = row[p] / STRIPS_GROUP_ROWS;
            first = p;
            do mask |= 1u << row[p++] % STRIPS_GROUP_ROWS;
            while (p < end && row[p] / STRIPS_GROUP_ROWS == g && row[p] > row[p - 1]);
            put(S, next, g, mask, first);
        }
    return loop_end(&l, e);
}

static void count_run(struct stored *S, int *next, int64_t g, uint32_t mask, int64_t p)
{
    ((int *)S->a[STRIPS_GROUP].data)[g + 1]++;
}

static void put_run(struct stored *S, int *next, int64_t g, uint32_t mask, int64_t p)
{
    int *run = S->a[STRIPS_RUN].data;
    int64_t at = 2 * (int64_t)next[g]++;
    run[at] = (int)mask;
    run[at + 1] = (int)p;
}

static bool put_runs(struct stored *S, struct err *e)
{
    int *group = S->a[STRIPS_GROUP].data;
    int64_t groups = S->a[STRIPS_GROUP].n - 1;
    if (!each_run(S, NULL, count_run, e)) return false;
    for (int64_t g = 0; g < groups; g++) group[g + 1] += group[g];
    int *next = mem_new(groups + 1, sizeof *next, "runs of partial sums", e);
    bool ok = next && loop_copy(next, group, (groups + 1) * (int64_t)sizeof *next, "runs", e) &&
              each_run(S, next, put_run, e);
    mem_free(next);
    return ok;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct strips_count n;
    struct strip *strip = strips_of(A, S, &n, e);
    if (!strip) return false;
    put_pointers(strip, S);
    bool ok = put_rows(A, strip, S, e) && put_before(S, e) && put_runs(S, e);
    mem_free(strip);
    return ok;
}

/* ---- where slots belong ---- */

/* The index of the partial sum to which the entry in slot i of col and val belongs; -1 if the slot is padding. */
static int64_t sum_of(const struct stored *S, int64_t i)
{
    const uint32_t *ends = (const uint32_t *)S->a[STRIPS_ENDS].data + i / STRIPS_CHUNK * STRIPS_WORDS;
    int64_t in = i % STRIPS_CHUNK, lane = in % 32, word = in / 32, sum = 0;
    uint32_t below = (1u << lane) - 1, later = 0;
    for (int64_t k = 0; k < STRIPS_WORDS; k++) {
        uint32_t earlier = k < word ? below | 1u << lane : below;
        sum += __builtin_popcount(ends[k] & earlier);
        later |= ends[k] & ~earlier;
    }
    return later ? ((const int *)S->a[STRIPS_BEFORE].data)[i / STRIPS_CHUNK] + sum : -1;
}

static struct place where_entry(const struct stored *S, int64_t i)
{
    const uint16_t *col = S->a[STRIPS_COL].data;
    const int *row = S->a[STRIPS_ROW].data;
    int64_t sum = sum_of(S, i), strip = span_of(S->a[STRIPS_PTR].data, strips_number(S), i / STRIPS_CHUNK);
    if (sum < 0) return (struct place){SLOT_PADDING, -1, -1};
    return (struct place){SLOT_ENTRY, row[sum], strip * S->param[0] + col[i]};
}

/* ptr refers to the first column of a strip; the words and counts of a chunk refer to nothing in particular; a run
   refers to the first row of its partial sums. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *row = S->a[STRIPS_ROW].data, *run = S->a[STRIPS_RUN].data;
    switch (k) {
    case STRIPS_PTR:
        return (struct place){SLOT_POINTER, -1, i < strips_number(S) ? i * S->param[0] : -1};
    case STRIPS_COL:
    case STRIPS_VAL:
        return where_entry(S, i);
    case STRIPS_ROW:
        return (struct place){SLOT_POINTER, row[i], -1};
    case STRIPS_GROUP:
        return (struct place){SLOT_POINTER, i < S->a[k].n - 1 ? i * STRIPS_GROUP_ROWS : -1, -1};
    case STRIPS_RUN:
        return (struct place){SLOT_POINTER, row[run[i / 2 * 2 + 1]], -1};
    default:
        return (struct place){SLOT_POINTER, -1, -1};
    }
}

const struct format format_strips = {
    .name = "strips",
    .aliases = "column-strips",
    .about = "strips of columns whose x fits in shared memory, with 16-bit columns and a partial sum per row and strip",
    .source = "[ours]",
    .params = {{"width", 0, 0, UINT16_MAX, "columns per strip; 0 = as many as fit in 192 KB"}},
    .value = STRIPS_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
