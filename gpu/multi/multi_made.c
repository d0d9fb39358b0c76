/* A matrix without arrays on a device with members: the rows of each member are made a few at a time and copied to it,
   so that neither the host nor one member ever has the whole matrix. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/role.h"
#include "base/threads.h"
#include "formats/format.h"
#include "matrix/csr.h"
#include "multi.h"
#include "parts/part_made.h"

#include <stdio.h>

/* One member, while it gets its rows. */
struct filling {
    struct piece *q;
    struct device *d;
    enum type type;        /* of the vectors */
    int64_t in, out, rows; /* inner and outer entries so far, and rows with outer ones */
};

/* ---- the inner entries: arrays of the format, which are rows ---- */

static int array_with(const struct stored *S, enum role role)
{
    int k = 0;
    while (k < S->narrays && S->a[k].role != role) k++;
    return k;
}

static bool local_new(struct mat *M, const struct stored *S, struct device *d, struct err *e)
{
    char what[80];
    *M = (struct mat){.of = S, .dev = d};
    for (int k = 0; k < S->narrays; k++) {
        const struct array *a = &S->a[k];
        snprintf(what, sizeof what, "the array %s of %s", a->name, S->format->name);
        M->ptr[k] = d->ops->alloc(d, a->n * (int64_t)type_size(a->type), what, e);
        if (!M->ptr[k]) return mat_free(M), false;
    }
    M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
    if (!M->scratch) mat_free(M);
    return M->scratch != NULL;
}

static bool put_at(struct device *d, void *array, int64_t at, const struct array *from, struct err *e)
{
    int64_t size = (int64_t)type_size(from->type);
    return d->ops->put(d, (char *)array + at * size, from->data, from->n * size, e);
}

/* Copy the values of A to an array on the device. */
static bool put_values_at(struct device *d, void *array, int64_t at, const struct csr *A, enum type type, struct err *e)
{
    struct array a = {.type = type, .n = A->nnz, .data = A->val};
    if (type == T_F64) return put_at(d, array, at, &a, e);
    if (!(a.data = mem_new(a.n, type_size(type), "values of a part", e))) return false;
    put_values(&a, A);
    bool ok = put_at(d, array, at, &a, e);
    mem_free(a.data);
    return ok;
}

/* The row pointers of a slice, which begins with row `first` and with entry `from`. */
static bool put_pointers(struct filling *f, const struct csr *in, int64_t from, int64_t first, enum type type,
                         void *array, struct err *e)
{
    int64_t n = in->rows + 1;
    struct loop l = loop_of("", n);
    struct array a = {.type = type, .n = n, .data = mem_new(n, type_size(type), "row pointers of a part", e)};
    if (!a.data) return false;
#pragma omp parallel for schedule(static) if (n > THREADS_FROM)
    for (int64_t k = 0; k < n; k += LOOP_EVERY)
        for (int64_t i = k, end = loop_share(&l, k, n); i < end; i++)
            if (type == T_I64)
                ((int64_t *)a.data)[i] = from + csr_start(in, i);
            else
                ((int *)a.data)[i] = (int)(from + csr_start(in, i));
    bool ok = loop_end(&l, e) && put_at(f->d, array, first, &a, e);
    mem_free(a.data);
    return ok;
}

/* Entry `from` of M is the first of the slice. */
static bool put_entries(struct filling *f, struct mat *M, const struct csr *in, int64_t from, int64_t first,
                        struct err *e)
{
    const struct stored *S = M->of;
    int ptr = array_with(S, ROLE_POINTERS), col = array_with(S, ROLE_COLUMNS), val = array_with(S, ROLE_VALUES);
    struct array columns = {.type = T_I32, .n = in->nnz, .data = in->col};
    return put_pointers(f, in, from, first, S->a[ptr].type, M->ptr[ptr], e) &&
           put_at(f->d, M->ptr[col], from, &columns, e) &&
           put_values_at(f->d, M->ptr[val], from, in, S->a[val].type, e);
}

static bool put_inside(struct filling *f, const struct csr *in, int64_t first, struct err *e)
{
    bool ok = !f->q->S.format || put_entries(f, &f->q->local, in, f->in, first, e);
    f->in += in->nnz;
    return ok;
}

/* ---- the outer entries ---- */

static bool outside_new(struct filling *f, int64_t rows, int64_t nnz, struct err *e)
{
    static const char what[] = "the entries in columns of other members";
    struct piece *q = f->q;
    struct device *d = f->d;
    int64_t word = (int64_t)sizeof(int);
    if (!outside_allowed(d, nnz, e)) return false;
    q->out_rows = rows;
    q->out_nnz = nnz;
    return (q->row = put_array(d, NULL, rows * word, what, &q->bytes, e)) &&
           (q->ptr = put_array(d, NULL, (rows + 1) * word, what, &q->bytes, e)) &&
           (q->col = put_array(d, NULL, nnz * word, what, &q->bytes, e)) &&
           (q->val = put_array(d, NULL, nnz * (int64_t)type_size(f->type), what, &q->bytes, e));
}

/* The rows of the slice that have entries, and the ends of these entries. The pointer before them was written with the
   slice before. */
static bool put_rows(struct filling *f, const struct csr *out, int64_t first, struct err *e)
{
    int64_t n = 0;
    struct loop l = loop_of("", out->rows);
    int *row = mem_new(out->rows, sizeof *row, "rows of a part", e);
    int *end = row ? mem_new(out->rows, sizeof *end, "rows of a part", e) : NULL;
    for (int64_t i = 0; end && i < out->rows && loop_goes(&l, i); i++) {
        if (csr_row_length(out, i) == 0) continue;
        row[n] = (int)(first + i);
        end[n++] = (int)(f->out + csr_start(out, i + 1));
    }
    struct array rows = {.type = T_I32, .n = n, .data = row}, ends = {.type = T_I32, .n = n, .data = end};
    bool ok = end && loop_end(&l, e) && put_at(f->d, f->q->row, f->rows, &rows, e) &&
              put_at(f->d, f->q->ptr, f->rows + 1, &ends, e);
    mem_free(row);
    mem_free(end);
    f->rows += n;
    return ok;
}

static bool put_outside(struct filling *f, const struct csr *out, int64_t first, struct err *e)
{
    struct array columns = {.type = T_I32, .n = out->nnz, .data = out->col};
    if (f->q->outer.dev) {
        f->out += out->nnz;
        return put_entries(f, &f->q->outer, out, f->out - out->nnz, first, e);
    }
    if (out->nnz == 0) return true;
    bool ok = put_rows(f, out, first, e) && put_at(f->d, f->q->col, f->out, &columns, e) &&
              put_values_at(f->d, f->q->val, f->out, out, f->type, e);
    f->out += out->nnz;
    return ok;
}

/* ---- one member ---- */

static bool put_slice(void *user, const struct csr *in, const struct csr *out, int64_t first, struct err *e)
{
    return put_inside(user, in, first, e) && put_outside(user, out, first, e);
}

static bool plan_piece(struct piece *q, const struct part *part, const struct stored *S, struct err *e)
{
    struct plan plan;
    const struct csr *inside = &part->inside, *outside = &part->outside;
    if (inside->nnz) {
        if (!format_plan(inside, S->format, S->param, S->real, &plan, e)) return false;
        q->S = plan.shape;
    }
    if (is_outer_matrix(outside)) {
        if (!format_plan(outside, outer_format(outside), NULL, S->real, &plan, e)) return false;
        q->outer_S = plan.shape;
    }
    return true;
}

/* Room for the outer entries: a matrix, or a list of the rows that have some. */
static bool outer_new(struct filling *f, int64_t rows, const struct csr *outside, struct err *e)
{
    struct piece *q = f->q;
    int zero = 0;
    struct array start = {.type = T_I32, .n = 1, .data = &zero};
    if (!q->outer_S.format) return outside_new(f, rows, outside->nnz, e) && put_at(f->d, q->ptr, 0, &start, e);
    return local_new(&q->outer, &q->outer_S, f->d, e) && outer_matrix_new(q, f->d, outside, f->type, e);
}

static bool make_piece(struct pieces *p, int k, const struct part *all, const int64_t *rows_outside,
                       const struct stored *S, struct err *e)
{
    struct filling f = {.q = &p->piece[k], .d = multi_of(p->dev)->member[k], .type = precisions[S->real].vector};
    if (f.q->S.format && !local_new(&f.q->local, &f.q->S, f.d, e)) return false;
    f.q->bytes += stored_bytes(&f.q->S);
    return pieces_link(p, k, all, (int64_t)type_size(f.type), e) &&
           outer_new(&f, rows_outside[k], &all[k].outside, e) && part_visit(&all[k], S->made, &p->P, put_slice, &f, e);
}

bool pieces_make(struct pieces *p, const struct stored *S, struct err *e)
{
    int64_t rows_outside[MEMBERS_MAX];
    struct part *part = parts_of_made(S->made, &p->P, rows_outside, e);
    bool ok = part != NULL;
    for (int k = 0; ok && k < p->n; k++) ok = plan_piece(&p->piece[k], &part[k], S, e);
    ok = ok && pieces_fit(p, part, rows_outside, (int64_t)type_size(precisions[S->real].vector), e);
    for (int k = 0; ok && k < p->n; k++) ok = make_piece(p, k, part, rows_outside, S, e);
    parts_free(part, p->n);
    return ok;
}
