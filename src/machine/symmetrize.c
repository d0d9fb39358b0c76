/* Symmetrization: checks of the input, the layout of the arrays on a device, and the steps of each method. */
#include "symmetrize.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device.h"
#include "tools.h"

#include <stdlib.h>

const struct named sym_modes[SYM_MODES + 1] = {
    [SYM_UNION] = {"union", "a stored entry keeps its value; a missing entry takes the value of its mirror image"},
    [SYM_AVERAGE] = {"average", "half the sum of A and its transpose"},
    [SYM_SUM] = {"sum", "the sum of A and its transpose; the diagonal is doubled"},
    [SYM_MAX] = {"max", "the larger of an entry and its mirror image; a missing entry is ignored"},
};

const struct registry sym_mode_registry = {.entries = sym_modes, .size = sizeof *sym_modes};

int sym_mode_find(const char *name)
{
    return registry_index(&sym_mode_registry, name);
}

static const struct sym_method method_paper;
const struct registry sym_registry = {.entries = sym_methods};

const struct sym_method *sym_find(const char *name)
{
    return registry_find(&sym_registry, name);
}

/* ---- memory ---- */

/* Round n up to a multiple of 32, so that an array placed after n items of any size is aligned for a warp's request. */
static int64_t aligned(int64_t n)
{
    return (n + 31) / 32 * 32;
}

static int64_t tiles_most(int64_t rows, int64_t nnz)
{
    return (rows + 2 * nnz) / TILE + 2;
}

static void *allocate(struct sym *v, int64_t n, size_t size, const char *what, struct err *e)
{
    void *p = v->o.dev->ops->alloc(v->o.dev, n * (int64_t)size, what, e);
    if (p) v->allocated[v->nallocated++] = p;
    return p;
}

static void *byte_at(void *room, int64_t bytes)
{
    return (char *)room + bytes;
}

static int64_t matrix_bytes(int64_t rows, int64_t nnz)
{
    return 4 * (rows + 1) + 12 * nnz;
}

static bool enough(int64_t need, int64_t have, const char *where, const char *what, struct err *e)
{
    char a[32], b[32];
    if (need <= have) return true;
    return fail(e, E_MEMORY, "%s: %s needs %s, but only %s is free; drop a matrix", where, what,
                show_bytes((double)need, a, sizeof a), show_bytes((double)have, b, sizeof b));
}

/* The device needs `bytes` bytes, and the host needs `result` bytes. On cpu and emu, both amounts come from the same
   memory. */
static bool fits(struct device *d, int64_t bytes, int64_t result, const char *what, struct err *e)
{
    int64_t available, total;
    bool same = d->kind != DEV_CUDA;
    if (!d->ops->memory(d, &available, &total, e)) return false;
    if (!enough(same ? bytes + result : bytes, available, d->name, what, e)) return false;
    return same || enough(result, mem_available(), "the host", what, e);
}

/* Copy A to the device, and allocate the other arrays that every method needs. */
static bool put_matrix(struct sym *v, struct err *e)
{
    struct device *d = v->o.dev;
    const struct csr *A = v->of;
    double from = now_us();
    v->ptr = allocate(v, A->rows + 1, sizeof *v->ptr, "row pointers", e);
    v->col = v->ptr ? allocate(v, A->nnz, sizeof *v->col, "columns", e) : NULL;
    v->val = v->col ? allocate(v, A->nnz, sizeof *v->val, "values", e) : NULL;
    v->cut = v->val ? allocate(v, 2 * (tiles_most(A->rows, A->nnz) + 1), sizeof *v->cut, "starts of tiles", e) : NULL;
    v->sums = v->cut ? allocate(v, 2, sizeof *v->sums, "the fingerprint", e) : NULL;
    bool ok = v->sums && d->ops->put(d, v->ptr, A->rowptr, 4 * (A->rows + 1), e) &&
              d->ops->put(d, v->col, A->col, 4 * A->nnz, e) && d->ops->put(d, v->val, A->val, 8 * A->nnz, e);
    v->put_us = now_us() - from;
    return ok;
}

/* ---- the fingerprint ---- */

static bool run_fingerprint(void *ctx, struct err *e)
{
    struct sym *v = ctx;
    v->ops->cut(v, false);
    v->ops->fingerprint(v);
    return true;
}

/* On a GPU, the kernels run twice, and only the second run is timed, because the first run also loads the kernels. */
static bool fingerprint_on_device(struct sym *v, uint64_t sums[2], struct err *e)
{
    static const uint64_t zero[2] = {0, 0};
    struct device *d = v->o.dev;
    for (int i = 0; i < 1 + (d->kind == DEV_CUDA); i++)
        if (!d->ops->put(d, v->sums, zero, sizeof zero, e) ||
            !d->ops->time(d, run_fingerprint, v, 1, &v->fingerprint_us, e))
            return false;
    return d->ops->sync(d, e) && d->ops->get(d, sums, v->sums, 2 * sizeof *sums, e);
}

static bool fingerprint(struct sym *v, struct err *e)
{
    uint64_t sums[2] = {0, 0};
    double from = now_us();
    if (v->ops && !fingerprint_on_device(v, sums, e)) return false;
    if (!v->ops) {
        sym_host_fingerprint(v->of, sums);
        if (!loop_tick("the fingerprint", 0, 0, e)) return false;
        v->fingerprint_us = now_us() - from;
    }
    v->pattern_symmetric = sums[0] == 0;
    v->value_symmetric = v->pattern_symmetric && sums[1] == 0;
    return true;
}

/* Copy A to the result. A copy is correct if A is symmetric. A copy is also correct if the pattern of A is symmetric
   and the mode is `union`, which keeps all values. */
static bool copy(struct sym *v, struct err *e)
{
    if (!csr_copy(&v->result, v->of, e)) return false;
    double *val = v->result.val;
    int mode = (int)v->o.mode;
    if (mode == SYM_UNION) return true;
    struct loop l = loop_of("symmetrize", v->nnz);
#pragma omp parallel for if (v->nnz > 1 << 16)
    for (int64_t from = 0; from < v->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, v->nnz); k < end; k++)
            val[k] = sym_join(mode, val[k], val[k]);
    return loop_end(&l, e);
}

/* ---- the transpose, by a sort on the columns ---- */

/* Allocate one area of 36 bytes per entry. The area has two keys and two values per entry and the columns of the
   transpose: payload[0] | key[0] | key[1] | payload[1] | transposed_col Once the columns are unpacked, the unused
   arrays form one contiguous area of 24 bytes per entry, wherever the sort left its result. The result of the
   symmetrization is then in this area. Therefore, memory is needed only for A, its transpose and the result. */
static bool plan_transpose(struct sym *v, struct err *e)
{
    int64_t n = aligned(v->nnz), added = tiles_most(v->rows, v->nnz) + 1;
    void *room = allocate(v, 36 * n, 1, "keys and values", e);
    v->transposed_ptr =
        room ? allocate(v, v->cols + 1, sizeof *v->transposed_ptr, "row pointers of the transpose", e) : NULL;
    if (!v->transposed_ptr) return false;
    v->payload[0] = room;
    v->key[0] = byte_at(room, 8 * n);
    v->key[1] = byte_at(room, 16 * n);
    v->payload[1] = byte_at(room, 24 * n);
    v->transposed_col = byte_at(room, 32 * n);
    v->temp_bytes = v->tools->bytes(v->o.dev, v->nnz, added, e);
    v->temp = v->temp_bytes >= 0 ? allocate(v, v->temp_bytes, 1, "work memory of the sort", e) : NULL;
    return v->temp != NULL;
}

/* Sort the n keys and values of v by the bits [from, bits) of the keys; *k receives the index of the arrays of the
   result. */
static bool sort_keys(struct sym *v, int64_t n, int from, int bits, int *k, struct err *e)
{
    struct pairs p = {n, {v->key[0], v->key[1]}, {v->payload[0], v->payload[1]}};
    return v->tools->sort(v->o.dev, &p, from, bits, k, v->temp, v->temp_bytes, e);
}

/* Replace the counts v->at[0 .. n-2] by their exclusive prefix sums; v->at[n-1] becomes the total. */
static bool exclusive_scan(struct sym *v, int64_t n, struct err *e)
{
    return v->tools->exclusive_scan(v->o.dev, v->at, n, v->temp, v->temp_bytes, e);
}

/* Queue the sort of the transpose's keys and values; *k receives the index of the arrays that will receive the
   result. */
static bool queue_sort(struct sym *v, int *k, struct err *e)
{
    *k = 0;
    if (!sym_begin_step(v, SYM_EXPAND, e)) return false;
    v->ops->cut(v, false);
    v->ops->expand(v, false);
    if (!sym_begin_step(v, SYM_SORT, e) || !sort_keys(v, v->nnz, 32, 32 + bits_of(v->cols), k, e)) return false;
    void *room = *k ? (void *)v->payload[0] : (void *)v->key[0];
    v->transposed_val = v->payload[*k];
    v->out_val = room;
    v->out_col = byte_at(room, 16 * aligned(v->nnz));
    return true;
}

static bool queue_transpose(struct sym *v, struct err *e)
{
    int k;
    if (!queue_sort(v, &k, e) || !sym_begin_step(v, SYM_TRANSPOSE, e)) return false;
    v->ops->unpack(v, v->key[k], v->nnz, v->cols, v->transposed_ptr, v->transposed_col);
    return true;
}

/* ---- sym ---- */

static int64_t sym_bytes(int64_t rows, int64_t nnz)
{
    return 36 * aligned(nnz) + 8 * (rows + 1) + 16 * (tiles_most(rows, nnz) + 1) + nnz / 4 + (1 << 20);
}

static bool plan_sym(struct sym *v, struct err *e)
{
    if (!plan_transpose(v, e)) return false;
    v->out_ptr = allocate(v, v->rows + 1, sizeof *v->out_ptr, "row pointers of the result", e);
    v->at = v->out_ptr ? allocate(v, tiles_most(v->rows, v->nnz) + 1, sizeof *v->at, "counts of tiles", e) : NULL;
    return v->at != NULL;
}

/* If the fingerprint shows a symmetric pattern, only the values are computed. */
static bool queue_pairs(struct sym *v, struct err *e)
{
    int k;
    if (!queue_sort(v, &k, e) || !sym_begin_step(v, SYM_FILL, e)) return false;
    v->ops->pair(v);
    v->found = v->nnz;
    return sym_begin_step(v, SYM_STEPS, e);
}

static bool queue_sym(struct sym *v, struct err *e)
{
    if (v->pattern_symmetric && !v->o.whole) return queue_pairs(v, e);
    if (!queue_transpose(v, e) || !sym_begin_step(v, SYM_COUNT, e)) return false;
    v->ops->cut(v, true);
    v->ops->count(v);
    if (!exclusive_scan(v, v->tiles + 1, e) || !sym_begin_step(v, SYM_FILL, e)) return false;
    v->ops->fill(v);
    v->found = -1;
    return sym_begin_step(v, SYM_STEPS, e);
}

/* ---- sym-paper ---- */

/* Memory for two keys and two values per triple (there are 2 nnz triples), their flags, and the compacted keys. The
   columns of the result reuse the memory of the flags. The values of the result reuse the value array that the
   sort has left free. */
static int64_t paper_bytes(int64_t rows, int64_t nnz)
{
    return 96 * aligned(nnz) + 256 + 4 * (rows + 1) + nnz / 2 + (1 << 20);
}

static bool plan_paper(struct sym *v, struct err *e)
{
    int64_t n = 2 * aligned(v->nnz);
    void *room = allocate(v, 48 * n + 256, 1, "triples", e);
    v->out_ptr = room ? allocate(v, v->rows + 1, sizeof *v->out_ptr, "row pointers of the result", e) : NULL;
    if (!v->out_ptr) return false;
    for (int k = 0; k < 2; k++) {
        v->key[k] = byte_at(room, 16 * n * k);
        v->payload[k] = byte_at(room, 16 * n * k + 8 * n);
    }
    v->packed = byte_at(room, 32 * n);
    v->at = byte_at(room, 40 * n);
    v->out_col = (int *)v->at;
    v->temp_bytes = v->tools->bytes(v->o.dev, 2 * v->nnz, 2 * v->nnz + 1, e);
    v->temp = v->temp_bytes >= 0 ? allocate(v, v->temp_bytes, 1, "work memory of the sort", e) : NULL;
    return v->temp != NULL;
}

/* Copy n elements of 8 bytes from the device to a new array. */
static bool keep(struct sym *v, void *to, const void *from, int64_t n, struct err *e)
{
    void *copy = mem_new(n, 8, "the arrays of a step", e);
    *(void **)to = copy;
    return copy && v->o.dev->ops->sync(v->o.dev, e) && v->o.dev->ops->get(v->o.dev, copy, from, 8 * n, e);
}

/* Keep n triples, if the user wants to see the steps. */
static bool keep_triples(struct sym *v, enum sym_array which, const uint64_t *key, const double *value, int64_t n,
                         struct err *e)
{
    struct sym_steps *t = v->o.steps;
    if (!t) return true;
    t->n[which] = n;
    return keep(v, &t->key[which], key, n, e) && keep(v, &t->value[which], value, n, e);
}

static bool queue_paper(struct sym *v, struct err *e)
{
    struct device *d = v->o.dev;
    int k = 0;
    int64_t n = 2 * v->nnz;
    if (!sym_begin_step(v, SYM_EXPAND, e)) return false;
    v->ops->cut(v, false);
    v->ops->expand(v, true);
    if (!keep_triples(v, SYM_T2, v->key[0], v->payload[0], n, e)) return false;
    if (!sym_begin_step(v, SYM_SORT, e) || !sort_keys(v, n, 0, 32 + bits_of(v->rows), &k, e)) return false;
    if (!keep_triples(v, SYM_T3, v->key[k], v->payload[k], n, e) || !sym_begin_step(v, SYM_COUNT, e)) return false;
    v->ops->flag(v, k);
    if (v->o.steps && !keep(v, &v->o.steps->first, v->at, n, e)) return false;
    if (!exclusive_scan(v, n + 1, e) || !d->ops->get(d, &v->found, v->at + n, sizeof v->found, e) ||
        !sym_begin_step(v, SYM_FILL, e))
        return false;
    v->out_val = v->payload[!k];
    v->ops->compact(v, k);
    if (!keep_triples(v, SYM_T4, v->packed, v->out_val, v->found, e)) return false;
    v->ops->unpack(v, v->packed, v->found, v->rows, v->out_ptr, v->out_col);
    return sym_begin_step(v, SYM_STEPS, e);
}

/* ---- a whole symmetrization ---- */

static bool suits(const struct csr *A, const struct sym_method *m, struct err *e)
{
    if (A->imag)
        return fail(e, E_UNSUPPORTED,
                    "the matrix is complex, but this method is for real matrices; `let S = 0.5*(A + A')` computes it");
    if (A->rows != A->cols)
        return fail(e, E_UNSUPPORTED, "the matrix is not square: it has %s and %s", how_many(A->rows, "row").text,
                    how_many(A->cols, "column").text);
    if (m->nnz_most && A->nnz > m->nnz_most)
        return fail(e, E_LIMIT, "%s takes at most %lld entries, but the matrix has %lld; use the method sym", m->name,
                    (long long)m->nnz_most, (long long)A->nnz);
    return true;
}

static bool begin(struct sym *v, struct err *e)
{
    struct device *d = v->o.dev;
    int64_t on_device = v->ops ? matrix_bytes(v->rows, v->nnz) + 8 * tiles_most(v->rows, v->nnz) : 0;
    int64_t result = matrix_bytes(v->rows, v->nnz);
    if (!fits(d, on_device, result, "the matrix and its copy", e)) return false;
    if ((v->ops && !put_matrix(v, e)) || !fingerprint(v, e)) return false;
    bool enough_seen = v->value_symmetric || (v->pattern_symmetric && v->o.mode == SYM_UNION);
    v->copied = enough_seen && (!v->o.whole || v->nnz == 0);
    if (v->copied) return true;
    result = v->ops ? result + 12 * v->nnz : 0; /* on cpu, the work areas include the result */
    return fits(d, v->o.method->bytes(v->rows, v->nnz), result, v->o.method->name, e) &&
           (!v->ops || v->o.method->plan(v, e));
}

bool sym_begin(struct sym **v, const struct csr *A, const struct sym_options *o, struct err *e)
{
    *v = NULL;
    struct sym_options with = *o;
    if (!with.method) with.method = sym_methods[0];
    if (!suits(A, with.method, e)) return false;
    struct sym *w = mem_zero(1, sizeof *w, "symmetrize", e);
    if (!w) return false;
    *w = (struct sym){.o = with, .of = A, .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .step = -1};
    w->ops = sym_ops_of(with.dev);
    w->tools = tools_of(with.dev);
    if (begin(w, e)) return *v = w, true;
    sym_free(w);
    return false;
}

bool sym_run(struct sym *v, struct err *e)
{
    csr_free(&v->result);
    if (v->copied) return copy(v, e);
    return v->ops ? v->o.method->kernels(v, e) : v->o.method->loops(v, e);
}

bool sym_sample(struct sym *v, struct err *e)
{
    memset(v->step_us, 0, sizeof v->step_us);
    v->sampling = true;
    v->step = -1;
    bool ok = sym_run(v, e);
    v->sampling = false;
    return ok;
}

static bool get_csr(struct sym *v, struct csr *out, const int *ptr, const int *col, const double *val, struct err *e)
{
    struct device *d = v->o.dev;
    if (d->ops->get(d, out->rowptr, ptr, 4 * (out->rows + 1), e) && d->ops->get(d, out->col, col, 4 * out->nnz, e) &&
        d->ops->get(d, out->val, val, 8 * out->nnz, e))
        return true;
    csr_free(out);
    return false;
}

bool sym_get(struct sym *v, struct csr *out, struct err *e)
{
    struct device *d = v->o.dev;
    memset(out, 0, sizeof *out);
    if (!v->ops || v->copied) {
        *out = v->result;
        memset(&v->result, 0, sizeof v->result);
        return true;
    }
    if (!d->ops->sync(d, e)) return false;
    if (v->found < 0 && !d->ops->get(d, &v->found, v->at + v->tiles, sizeof v->found, e)) return false;
    if (!csr_new(out, v->rows, v->cols, v->found, false, e)) return false;
    bool paired = v->pattern_symmetric && !v->o.whole && v->o.method->kernels == queue_sym;
    return get_csr(v, out, paired ? v->ptr : v->out_ptr, paired ? v->col : v->out_col, v->out_val, e);
}

void sym_free(struct sym *v)
{
    if (!v) return;
    for (int i = 0; i < v->nallocated; i++) v->o.dev->ops->free(v->o.dev, v->allocated[i]);
    csr_free(&v->result);
    mem_free(v);
}

bool symmetrize(struct csr *out, const struct csr *A, const struct sym_options *o, struct err *e)
{
    struct sym *v;
    memset(out, 0, sizeof *out);
    if (!sym_begin(&v, A, o, e)) return false;
    bool ok = sym_run(v, e) && sym_get(v, out, e);
    sym_free(v);
    return ok;
}

/* ---- the steps of the patent ---- */

bool sym_steps_take(struct sym_steps *out, const struct csr *A, enum sym_mode mode, struct device *d,
                    struct watch *watch, struct err *e)
{
    *out = (struct sym_steps){0};
    struct sym_options o = {
        .method = &method_paper, .dev = d, .mode = mode, .whole = true, .watch = watch, .steps = out};
    if (!sym_ops_of(d))
        return fail(e, E_UNSUPPORTED, "%s does the last steps in one loop and has no arrays to show; use emu", d->name);
    if (A->nnz == 0) return fail(e, E_UNSUPPORTED, "the matrix has no entries, so the arrays are empty");
    if (symmetrize(&out->result, A, &o, e)) return true;
    sym_steps_free(out);
    return false;
}

void sym_steps_free(struct sym_steps *t)
{
    for (int i = 0; i < SYM_ARRAYS; i++) {
        mem_free(t->key[i]);
        mem_free(t->value[i]);
    }
    mem_free(t->first);
    csr_free(&t->result);
    *t = (struct sym_steps){0};
}

/* ---- the transpose ---- */

static bool run_transpose(void *ctx, struct err *e)
{
    return queue_transpose(ctx, e);
}

static bool transpose_on_device(struct sym *v, struct csr *out, double *us, struct err *e)
{
    struct device *d = v->o.dev;
    const struct csr *A = v->of;
    int64_t bytes = matrix_bytes(A->rows, A->nnz) + sym_bytes(A->rows, A->nnz) + 4 * A->cols;
    if (!fits(d, bytes, matrix_bytes(A->cols, A->nnz), "transposing", e) || !put_matrix(v, e) || !plan_transpose(v, e))
        return false;
    if (d->kind == DEV_CUDA && !d->ops->time(d, run_transpose, v, 1, us, e))
        return false; /* this run is not timed, because it also loads the kernels */
    return d->ops->time(d, run_transpose, v, 1, us, e) && d->ops->sync(d, e) &&
           csr_new(out, A->cols, A->rows, A->nnz, false, e) &&
           get_csr(v, out, v->transposed_ptr, v->transposed_col, v->transposed_val, e);
}

bool sym_transpose(struct csr *out, const struct csr *A, struct device *d, double *us, struct err *e)
{
    double from = now_us(), unused;
    memset(out, 0, sizeof *out);
    if (!us) us = &unused;
    const struct sym_ops *ops = A->imag || A->nnz == 0 ? NULL : sym_ops_of(d);
    if (!ops) {
        bool done = A->imag ? csr_transpose(out, A, e) : sym_host_transpose(out, A, e);
        *us = now_us() - from;
        return done;
    }
    struct sym v = {.o.dev = d, .of = A, .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .step = -1};
    v.ops = ops;
    v.tools = tools_of(d);
    bool ok = transpose_on_device(&v, out, us, e);
    for (int i = 0; i < v.nallocated; i++) d->ops->free(d, v.allocated[i]);
    return ok;
}

/* ---- the methods ---- */

static const struct sym_method method_sym = {
    .name = "sym",
    .about = "transpose A by a stable sort on the columns, then merge the rows of A and its transpose",
    .source = "[ours]",
    .bytes = sym_bytes,
    .plan = plan_sym,
    .kernels = queue_sym,
    .loops = sym_host_sym,
};

static const struct sym_method method_paper = {
    .name = "sym-paper",
    .about = "all entries and their mirror images sorted by 64-bit keys; the first of equal keys is kept",
    .source = "SYM",
    .nnz_most = INT32_MAX / 2, /* each entry gives two keys */
    .bytes = paper_bytes,
    .plan = plan_paper,
    .kernels = queue_paper,
    .loops = sym_host_paper,
    .has_steps = true,
};

const struct sym_method *const sym_methods[] = {&method_sym, &method_paper, NULL};
