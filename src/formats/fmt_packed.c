/* packed: slices as in SELL-C-sigma, in which columns and values need as few bytes as possible without loss.

   A slice has C rows and 32 lanes: V = 32/C lanes for each row. Entry j of the slice's row r is at lane r*V + j%V, in
   step j/V. A slice has as many steps as its longest row needs. The first row of this matrix in slices of C = 16, V =
   2:

     columns 100 101 103 105 109           lane 0    lane 1
                                  step 0   100       101
                                  step 1   103       105
                                  step 2   109       padding

   Columns. If the columns of a slice lie within 65535 of one another, the slice is narrow: its base is its first
   column, and col16 stores column - base in 16 bits. Otherwise the slice is wide: its base is -1, and col32 stores its
   columns. `slice` has four numbers for each slice: at16 and at32, its first slots in col16 and col32, then its number
   of steps and its base. The columns of eight steps (four, if the slice is wide) lie together for each lane, so that a
   lane loads 16 bytes at once: first the eight columns of lane 0, then the eight columns of lane 1, and so on. The
   remaining steps follow in groups of 4, 2 and 1. Padding has column 65535, or -1 in col32.

   Values. A slice begins at slot at16 + at32 of the values. There are three cases:
     up to 256 distinct values    val holds the distinct values, sorted by their bits, and code holds the index of
                                  each slot's value, in the order of the columns
     one distinct value           val holds it, and code is empty (a pattern, for example)
     otherwise                    val holds the value of each slot: step by step, lane by lane; code is empty
   Values are equal if their bits are equal, so 0 and -0 are different values. Codes are used only if they save bytes.

   Rows. With sigma > 1, the rows of each window of sigma rows are sorted by length: position p of the order is that of
   row p/sigma*sigma + perm[p]. With sigma 1, perm is empty. */
#include "fmt_packed.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"
#include "slices.h"

#include <stdlib.h>
#include <string.h>

/* The default C, as measured on an H200: a row has one lane, or two if rows have at least LONG_ROW entries on average.
   If there are fewer than FEW_SLICES slices, a row has more lanes, to keep the device busy. */
enum { LONG_ROW = 40, FEW_SLICES = 1024, SIGMA_MAX = 65536 };

/* ---- sizes, for the host and for devices ---- */

static int64_t default_rows(int64_t rows, int64_t nnz)
{
    int64_t length = rows ? nnz / rows : 0, V = length >= LONG_ROW ? 2 : 1;
    while (V < PACKED_LANES && 2 * V <= length && rows * V / PACKED_LANES < FEW_SLICES) V *= 2;
    return PACKED_LANES / V;
}

bool packed_shape(struct stored *S, struct err *e)
{
    if (S->param[0] == 0) S->param[0] = default_rows(S->rows, S->nnz);
    if (PACKED_LANES % S->param[0])
        return fail(e, E_USAGE, "packed: C is %lld, which does not divide 32; use 1, 2, 4, 8, 16 or 32",
                    (long long)S->param[0]);
    return true;
}

bool packed_sorts(int64_t slots_natural, int64_t slots_sorted)
{
    return slots_natural - slots_sorted > slots_natural / 16;
}

bool packed_sizes(struct stored *S, const struct packed_counts *n, struct err *e)
{
    int64_t slices = (S->rows + S->param[0] - 1) / S->param[0], slots = n->slots16 + n->slots32;
    int64_t size = (int64_t)type_size(precisions[S->real].stored);
    bool coded = n->values > 1 && n->values <= PACKED_CODES && n->values * size + slots < slots * size;
    if (slots > INT32_MAX)
        return fail(e, E_LIMIT, "packed: 32-bit slice pointers allow at most %d slots, not %lld; use a smaller C",
                    INT32_MAX, (long long)slots);
    plan_array(S, "perm", ROLE_ROW_ORDER, T_U16, S->param[1] > 1 ? S->rows : 0);
    plan_array(S, "slice", ROLE_LAYOUT, T_I32, slices * PACKED_HEAD);
    plan_array(S, "col16", ROLE_COLUMNS, T_U16, n->slots16);
    plan_array(S, "col32", ROLE_COLUMNS, T_I32, n->slots32);
    plan_array(S, "code", ROLE_LAYOUT, T_U8, coded ? slots : 0);
    plan_values(S, "val", coded || n->values == 1 ? n->values : slots);
    return true;
}

/* ---- distinct values ---- */

struct packed_bits packed_get(enum type stored, const void *data, int64_t i)
{
    size_t size = type_size(stored), part = type_size(type_of_parts(stored));
    const char *at = (const char *)data + (size_t)i * size;
    struct packed_bits v = {0, 0};
    memcpy(&v.re, at, part);
    memcpy(&v.im, at + part, size - part);
    return v;
}

void packed_put(enum type stored, void *data, int64_t i, struct packed_bits v)
{
    size_t size = type_size(stored), part = type_size(type_of_parts(stored));
    char *at = (char *)data + (size_t)i * size;
    memcpy(at, &v.re, part);
    memcpy(at + part, &v.im, size - part);
}

/* The bits of entry k of A, as arrays of the type `stored` store it. */
static struct packed_bits entry_bits(const struct csr *A, int64_t k, enum type stored)
{
    struct packed_bits v = {0, 0};
    double value[2];
    if (stored == T_F64) return memcpy(&v.re, &A->val[k], sizeof v.re), v; /* the usual case, without conversions */
    put_value(&(struct array){.type = stored, .n = 1, .data = value}, 0, A, k);
    return packed_get(stored, value, 0);
}

static bool same(struct packed_bits a, struct packed_bits b)
{
    return a.re == b.re && a.im == b.im;
}

/* The slot of v in the hash table, or the free slot at which to insert it. */
static short *hash_slot(struct packed_dictionary *d, struct packed_bits v)
{
    uint64_t h = (v.re ^ v.im * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u >> 32;
    while (d->at[h % PACKED_PLACES] && !same(d->value[d->at[h % PACKED_PLACES] - 1], v)) h++;
    return &d->at[h % PACKED_PLACES];
}

bool packed_add(struct packed_dictionary *d, struct packed_bits v)
{
    short *at = hash_slot(d, v);
    if (*at) return true;
    if (d->n >= PACKED_CODES) return d->n = PACKED_CODES + 1, false;
    d->value[d->n++] = v;
    *at = (short)d->n;
    return true;
}

static int by_bits(const void *a, const void *b)
{
    const struct packed_bits *x = a, *y = b;
    return x->im != y->im ? (x->im > y->im) - (x->im < y->im) : (x->re > y->re) - (x->re < y->re);
}

void packed_sort(struct packed_dictionary *d)
{
    if (d->n > PACKED_CODES) return;
    qsort(d->value, (size_t)d->n, sizeof *d->value, by_bits);
    memset(d->at, 0, sizeof d->at);
    for (int64_t i = 0; i < d->n; i++) *hash_slot(d, d->value[i]) = (short)(i + 1);
}

/* Add the values of the entries from .. end - 1 to d, up to one value more than it has room for. */
static void add_values(const struct csr *A, int64_t from, int64_t end, enum type stored, struct packed_dictionary *d)
{
    struct packed_bits last = {0, 0};
    for (int64_t k = from; k < end; k++) {
        struct packed_bits v = entry_bits(A, k, stored);
        if (k > from && same(v, last)) continue;
        if (!packed_add(d, last = v)) return;
    }
}

/* The distinct values of A: each thread finds those of its entries. */
static void find_values(const struct csr *A, enum type stored, struct packed_dictionary *d)
{
    struct loop l = loop_of("distinct values", A->nnz);
    *d = (struct packed_dictionary){0};
#pragma omp parallel if (A->nnz > THREADS_FROM)
    {
        struct packed_dictionary own = {0};
#pragma omp for schedule(static)
        for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
            if (own.n <= PACKED_CODES) add_values(A, from, loop_share(&l, from, A->nnz), stored, &own);
#pragma omp critical(packed_values)
        {
            if (own.n > PACKED_CODES) d->n = own.n;
            for (int64_t i = 0; i < own.n && d->n <= PACKED_CODES; i++) packed_add(d, own.value[i]);
        }
    }
    packed_sort(d);
}

/* ---- slices ---- */

/* The order of the rows: sorted keys, or NULL for the natural order. */
struct order {
    int64_t *key;
};

static int64_t row_at(const struct order *o, int64_t p)
{
    return o->key ? slices_row(o->key, p) : p;
}

static bool order_new(const struct csr *A, int64_t sigma, struct order *o, struct err *e)
{
    o->key = sigma > 1 ? slices_sort(A->rowptr, A->rows, sigma, e) : NULL;
    return sigma <= 1 || o->key;
}

struct slice {
    int64_t steps, first; /* first: its first column; 0 if the slice is empty */
    bool wide;
};

static struct slice slice_of(const struct csr *A, const struct order *o, int64_t C, int64_t s)
{
    int64_t longest = 0, first = INT64_MAX, last = 0, V = PACKED_LANES / C;
    for (int64_t p = s * C; p < (s + 1) * C && p < A->rows; p++) {
        int64_t row = row_at(o, p), n = csr_row_length(A, row);
        if (n > longest) longest = n;
        if (n && A->col[A->rowptr[row]] < first) first = A->col[A->rowptr[row]];
        if (n && A->col[A->rowptr[row + 1] - 1] > last) last = A->col[A->rowptr[row + 1] - 1];
    }
    if (!longest) first = 0;
    return (struct slice){(longest + V - 1) / V, first, last - first >= PACKED_SPAN};
}

static bool count_slots(const struct csr *A, const struct order *o, int64_t C, struct packed_counts *n, struct err *e)
{
    int64_t slices = (A->rows + C - 1) / C, narrow = 0, wide = 0;
    struct loop l = loop_of("counting slots", slices);
#pragma omp parallel for schedule(static) reduction(+ : narrow, wide) if (A->nnz > THREADS_FROM)
    for (int64_t s = 0; s < slices; s++) {
        if (!loop_check(&l, s)) continue;
        struct slice t = slice_of(A, o, C, s);
        *(t.wide ? &wide : &narrow) += PACKED_LANES * t.steps;
    }
    n->slots16 = narrow;
    n->slots32 = wide;
    return loop_end(&l, e);
}

static int64_t slots_of(const struct packed_counts *n)
{
    return n->slots16 + n->slots32;
}

/* Count the slots. If sigma is 0, choose it. */
static bool plan_slices(const struct csr *A, struct stored *S, struct packed_counts *n, struct err *e)
{
    struct order natural = {NULL}, sorted;
    struct packed_counts before;
    int64_t sigma = S->param[1] ? S->param[1] : PACKED_WINDOW;
    if (!count_slots(A, &natural, S->param[0], n, e)) return false;
    if (S->param[1] == 0 && !packed_sorts(slots_of(n), A->nnz)) S->param[1] = sigma = 1;
    if (sigma == 1) return true;
    before = *n;
    if (!order_new(A, sigma, &sorted, e)) return false;
    bool ok = count_slots(A, &sorted, S->param[0], n, e);
    mem_free(sorted.key);
    if (!ok) return false;
    if (S->param[1] == 0 && !packed_sorts(slots_of(&before), slots_of(n))) sigma = 1, *n = before;
    S->param[1] = sigma;
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct packed_counts n;
    struct packed_dictionary *d = mem_new(1, sizeof *d, "distinct values", e);
    bool ok = d && packed_shape(S, e) && plan_slices(A, S, &n, e);
    if (ok) {
        find_values(A, precisions[S->real].stored, d);
        n.values = d->n;
        ok = packed_sizes(S, &n, e);
    }
    mem_free(d);
    return ok;
}

/* ---- packing ---- */

static int64_t slices_of(const struct stored *S)
{
    return S->a[PACKED_SLICE].n / PACKED_HEAD;
}

static void put_heads(const struct csr *A, const struct order *o, struct stored *S)
{
    int *head = S->a[PACKED_SLICE].data, at16 = 0, at32 = 0;
    struct loop l = loop_of("the slices", slices_of(S));
    for (int64_t s = 0; s < slices_of(S) && loop_goes(&l, s); s++, head += PACKED_HEAD) {
        struct slice t = slice_of(A, o, S->param[0], s);
        head[PACKED_AT16] = at16;
        head[PACKED_AT32] = at32;
        head[PACKED_STEPS] = (int)t.steps;
        head[PACKED_BASE] = t.wide ? -1 : (int)t.first;
        *(t.wide ? &at32 : &at16) += (int)(PACKED_LANES * t.steps);
    }
}

/* The slots of a slice. */
struct slots {
    int64_t at16, at32, at; /* the first slot in col16, in col32 and in the values */
    int64_t steps, base;
    bool wide;
};

static struct slots slots_at(const struct stored *S, int64_t s)
{
    const int *head = (const int *)S->a[PACKED_SLICE].data + s * PACKED_HEAD;
    return (struct slots){head[PACKED_AT16],  head[PACKED_AT32], (int64_t)head[PACKED_AT16] + head[PACKED_AT32],
                          head[PACKED_STEPS], head[PACKED_BASE], head[PACKED_BASE] < 0};
}

/* The position of a step and lane within a slice. */
static int64_t grouped(const struct slots *t, int64_t step, int64_t lane)
{
    struct packed_group g = packed_group_of(t->steps, step, t->wide);
    return g.first * PACKED_LANES + lane * g.width + step - g.first;
}

/* Does val store a value for each slot? A slice has at least 32 slots. */
static bool value_per_slot(const struct stored *S)
{
    return !S->a[PACKED_CODE].n && S->a[PACKED_VAL].n > 1;
}

static void put_entry(const struct csr *A, int64_t k, const struct slots *t, int64_t step, int64_t lane,
                      struct packed_dictionary *d, struct stored *S)
{
    int64_t in = grouped(t, step, lane);
    if (t->wide)
        ((int *)S->a[PACKED_COL32].data)[t->at32 + in] = A->col[k];
    else
        ((uint16_t *)S->a[PACKED_COL16].data)[t->at16 + in] = (uint16_t)(A->col[k] - t->base);
    if (S->a[PACKED_CODE].n)
        ((uint8_t *)S->a[PACKED_CODE].data)[t->at + in] =
            (uint8_t)(*hash_slot(d, entry_bits(A, k, S->a[PACKED_VAL].type)) - 1);
    else if (value_per_slot(S))
        put_value(&S->a[PACKED_VAL], t->at + step * PACKED_LANES + lane, A, k);
}

static void put_slice(const struct csr *A, const struct order *o, int64_t s, struct packed_dictionary *d,
                      struct stored *S)
{
    int64_t C = S->param[0], sigma = S->param[1], V = PACKED_LANES / C;
    int bits = __builtin_ctz((unsigned)V); /* V = 2^bits: shifts instead of divisions in the loop over the entries */
    struct slots t = slots_at(S, s);
    if (t.wide)
        memset((int *)S->a[PACKED_COL32].data + t.at32, 0xff, (size_t)(t.steps * PACKED_LANES) * sizeof(int));
    else
        memset((uint16_t *)S->a[PACKED_COL16].data + t.at16, 0xff, (size_t)(t.steps * PACKED_LANES) * sizeof(uint16_t));
    for (int64_t p = s * C; p < (s + 1) * C && p < A->rows; p++) {
        int64_t row = row_at(o, p), first = A->rowptr[row], n = csr_row_length(A, row);
        if (o->key) ((uint16_t *)S->a[PACKED_PERM].data)[p] = (uint16_t)(row - p / sigma * sigma);
        for (int64_t j = 0; j < n; j++) put_entry(A, first + j, &t, j >> bits, (p - s * C) * V + (j & (V - 1)), d, S);
    }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct order o;
    struct packed_dictionary *d = mem_new(1, sizeof *d, "distinct values", e);
    bool ok = d && order_new(A, S->param[1], &o, e);
    if (ok) {
        find_values(A, S->a[PACKED_VAL].type, d);
        for (int64_t i = 0; !value_per_slot(S) && i < d->n; i++)
            packed_put(S->a[PACKED_VAL].type, S->a[PACKED_VAL].data, i, d->value[i]);
        put_heads(A, &o, S);
        struct loop l = loop_of("packing slices", slices_of(S));
#pragma omp parallel for schedule(dynamic, LOOP_SHARE / PACKED_LANES) if (A->nnz > THREADS_FROM)
        for (int64_t s = 0; s < slices_of(S); s++)
            if (loop_check(&l, s)) put_slice(A, &o, s, d, S);
        mem_free(o.key);
        ok = loop_end(&l, e);
    }
    mem_free(d);
    return ok;
}

/* ---- the entries of the slots ---- */

/* The first slot of slice s in array k. */
static int64_t first_of(const struct stored *S, int k, int64_t s)
{
    struct slots t = slots_at(S, s);
    return k == PACKED_COL16 ? t.at16 : k == PACKED_COL32 ? t.at32 : t.at;
}

/* The slice of slot i of array k. */
static int64_t slice_with(const struct stored *S, int k, int64_t i)
{
    static _Thread_local int64_t last; /* a place to look first: neighbouring slots are asked for one after another */
    int64_t low = 0, high = slices_of(S) - 1;
    if (last < high && first_of(S, k, last) <= i && i < first_of(S, k, last + 1)) return last;
    while (low < high) {
        int64_t mid = (low + high + 1) / 2;
        if (first_of(S, k, mid) <= i)
            low = mid;
        else
            high = mid - 1;
    }
    return last = low;
}

/* The slot of a slice that slot i of array k belongs to. */
struct position {
    int64_t slice, step, lane;
};

static struct position position_of(const struct stored *S, int k, int64_t i)
{
    int64_t s = slice_with(S, k, i);
    struct slots t = slots_at(S, s);
    int64_t in = i - first_of(S, k, s);
    if (k == PACKED_VAL) return (struct position){s, in / PACKED_LANES, in % PACKED_LANES};
    struct packed_group g = packed_group_of(t.steps, in / PACKED_LANES, t.wide);
    in -= g.first * PACKED_LANES;
    return (struct position){s, g.first + in % g.width, in / g.width};
}

static int64_t row_of(const struct stored *S, int64_t p)
{
    const uint16_t *perm = S->a[PACKED_PERM].data;
    int64_t sigma = S->param[1];
    if (p >= S->rows) return -1;
    return sigma > 1 ? p / sigma * sigma + perm[p] : p;
}

static struct place place_at(const struct stored *S, struct position at)
{
    const uint16_t *col16 = S->a[PACKED_COL16].data;
    const int *col32 = S->a[PACKED_COL32].data;
    struct slots t = slots_at(S, at.slice);
    int64_t in = grouped(&t, at.step, at.lane), C = S->param[0];
    int64_t row = row_of(S, at.slice * C + at.lane / (PACKED_LANES / C));
    int64_t col = t.wide ? col32[t.at32 + in] : col16[t.at16 + in] == PACKED_PAD16 ? -1 : col16[t.at16 + in];
    if (col < 0) return (struct place){SLOT_PADDING, row, -1};
    return (struct place){SLOT_ENTRY, row, col + (t.wide ? 0 : t.base)};
}

/* The numbers of a slice refer to its first row. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    bool by_slot = k != PACKED_VAL || value_per_slot(S);
    if (k == PACKED_PERM) return (struct place){SLOT_POINTER, row_of(S, i), -1};
    if (k == PACKED_SLICE) return (struct place){SLOT_POINTER, row_of(S, i / PACKED_HEAD * S->param[0]), -1};
    return by_slot ? place_at(S, position_of(S, k, i)) : (struct place){SLOT_POINTER, -1, -1};
}

/* The value that belongs to slot i of col16 or col32. */
static void slot_value(const struct stored *S, int k, int64_t i, double *re, double *im)
{
    const uint8_t *code = S->a[PACKED_CODE].data;
    struct position at = position_of(S, k, i);
    struct slots t = slots_at(S, at.slice);
    int64_t v = S->a[PACKED_CODE].n ? code[t.at + grouped(&t, at.step, at.lane)]
                : value_per_slot(S) ? t.at + at.step * PACKED_LANES + at.lane
                                    : 0;
    bool pads = place_at(S, at).kind == SLOT_PADDING;
    *re = pads ? 0 : array_real(&S->a[PACKED_VAL], v);
    *im = pads ? 0 : array_imag(&S->a[PACKED_VAL], v);
}

const struct format format_packed = {
    .name = "packed",
    .about = "slices like sell, with 16-bit columns, and 8-bit codes if there are at most 256 distinct values",
    .source = "[ours]; slices: Kreutzer et al. 2014",
    .params = {{"C", 0, 0, PACKED_LANES,
                "rows per slice of 32 lanes: 1, 2, 4, 8, 16, 32; 0: chosen by the row lengths"},
               {"sigma", 0, 0, SIGMA_MAX, "rows per sorting window; 1 = no sorting; 0: 1024 if it saves padding"}},
    .value = -1,
    .values = {PACKED_COL16, PACKED_COL32, -1},
    .slot_value = slot_value,
    .plan = plan,
    .pack = pack,
    .where = where,
};
