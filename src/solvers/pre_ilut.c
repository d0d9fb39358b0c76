/* Incomplete LU with a threshold, ILUT (Saad 1994): row by row, multipliers and results below `drop` times the 2-norm
   of the row of A are dropped, and of the rest the largest are kept: in L, and in U, as many as A has there and `fill`
   more. A diagonal entry that A lacks is 0 at first, and fill may make a pivot of it. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "pivots.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const char who[] = "the preconditioner ilut";
const double ilut_drop = 1e-3;
const int64_t ilut_fill = 10;

/* The rows of L or U, without the diagonal, as they grow. */
struct rows {
    int *ptr, *col; /* [rows + 1], [room] */
    double *val;
    int64_t room;
};

struct ilut {
    const struct solve *v;
    const struct csr *A; /* of v, or `reordered` */
    struct csr reordered;
    int *names;
    double drop;
    int64_t fill;
    struct rows L, U;
    double *inverse; /* of the diagonal of U */
    struct pivots pivots;
    /* the row that is being eliminated */
    double *w;  /* [n] its values; 0 where it has no entry */
    bool *in;   /* [n] it has an entry there */
    int *heap;  /* [n] its columns left of the diagonal that are not eliminated yet: a heap, the least first */
    int *left;  /* [n] those that are, ascending */
    int *right; /* [n] its columns right of the diagonal, in any order */
    int nheap, nleft, nright;
};

/* ---- the heap of columns ---- */

static void heap_put(struct ilut *t, int column)
{
    int i = t->nheap++;
    for (; i > 0 && t->heap[(i - 1) / 2] > column; i = (i - 1) / 2) t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = column;
}

static int heap_take(struct ilut *t)
{
    int *h = t->heap, first = h[0], last = h[--t->nheap], i = 0;
    for (int k = 1; k < t->nheap; i = k, k = 2 * k + 1) {
        if (k + 1 < t->nheap && h[k + 1] < h[k]) k++;
        if (h[k] >= last) break;
        h[i] = h[k];
    }
    h[i] = last;
    return first;
}

/* ---- a row ---- */

static void add(struct ilut *t, int64_t i, int column, double value)
{
    if (!t->in[column]) {
        t->in[column] = true;
        t->w[column] = 0;
        if (column < i)
            heap_put(t, column);
        else if (column > i)
            t->right[t->nright++] = column;
    }
    t->w[column] += value;
}

/* Scatter row i of A; returns its 2-norm, and in *own the entries to the left of its diagonal and to the right. */
static double begin_row(struct ilut *t, int64_t i, int64_t own[2])
{
    const struct csr *A = t->A;
    double norm = 0;
    t->nheap = t->nleft = t->nright = 0;
    own[0] = own[1] = 0;
    add(t, i, (int)i, 0);
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        add(t, i, A->col[k], A->val[k]);
        norm = hypot(norm, A->val[k]);
        if (A->col[k] != i) own[A->col[k] > i]++;
    }
    return norm;
}

/* Subtract multiples of the rows of U above row i. */
static void eliminate(struct ilut *t, int64_t i, double least)
{
    while (t->nheap > 0) {
        int j = heap_take(t);
        double factor = t->w[j] * t->inverse[j];
        t->w[j] = factor;
        if (!(fabs(factor) > least)) {
            t->in[j] = false;
            continue;
        }
        t->left[t->nleft++] = j;
        for (int k = t->U.ptr[j]; k < t->U.ptr[j + 1]; k++) add(t, i, t->U.col[k], -factor * t->U.val[k]);
    }
}

/* A value and its column, to sort them by. */
struct entry {
    double size;
    int column;
};

static int by_size(const void *p, const void *q)
{
    const struct entry *a = p, *b = q;
    if (a->size != b->size) return a->size < b->size ? 1 : -1;
    return a->column - b->column;
}

static int by_column(const void *p, const void *q)
{
    return ((const struct entry *)p)->column - ((const struct entry *)q)->column;
}

static bool make_room(struct rows *r, int64_t at, int64_t n, struct err *e)
{
    if (at + n > INT_MAX)
        return fail(e, E_LIMIT, "%s has too many entries; give a smaller fill, or a larger drop", who);
    if (at + n <= r->room) return true;
    int64_t room = 2 * r->room > at + n ? 2 * r->room : at + n;
    int *col = mem_resize(r->col, room, sizeof *col, "the factors of ilut", e);
    if (!col) return false;
    r->col = col;
    double *val = mem_resize(r->val, room, sizeof *val, "the factors of ilut", e);
    if (!val) return false;
    r->val = val;
    r->room = room;
    return true;
}

/* Append the largest `most` of the n columns in list[] whose values are above `least`, by columns. */
static bool keep(struct ilut *t, struct rows *r, int64_t i, const int *list, int n, int64_t most, double least,
                 struct entry *some, struct err *e)
{
    int64_t kept = 0, at = r->ptr[i];
    for (int k = 0; k < n; k++) {
        double size = fabs(t->w[list[k]]);
        if (size > least || isnan(size)) some[kept++] = (struct entry){isnan(size) ? INFINITY : size, list[k]};
        t->in[list[k]] = false;
    }
    if (kept > most) {
        qsort(some, (size_t)kept, sizeof *some, by_size);
        kept = most;
    }
    if (!make_room(r, at, kept, e)) return false;
    qsort(some, (size_t)kept, sizeof *some, by_column);
    for (int64_t k = 0; k < kept; k++) {
        r->col[at + k] = some[k].column;
        r->val[at + k] = t->w[some[k].column];
    }
    r->ptr[i + 1] = (int)(at + kept);
    return true;
}

/* A pivot that no fill has reached stays 0 whatever replaces it. */
static bool refuse_structure(const struct ilut *t, int64_t i, struct err *e)
{
    return fail(
        e, E_NUMERIC,
        "%s: row %lld (counted from 0) has no entry on the diagonal, and fill makes none; `reorder matching` puts "
        "entries there, and gmres without a preconditioner needs none",
        who, (long long)(t->names ? t->names[i] : i));
}

static bool finish_row(struct ilut *t, int64_t i, struct err *e)
{
    int64_t row = t->names ? t->names[i] : i;
    t->in[i] = false;
    if (t->w[i] == 0 && csr_find(t->A, i, i) < 0) return refuse_structure(t, i, e);
    return pivot_invert(&t->pivots, i, row, &t->w[i], &t->inverse[i], e);
}

/* *refused: the program cannot divide by a pivot, for the reason in e. */
static bool factor_rows(struct ilut *t, struct entry *some, bool *refused, struct err *e)
{
    int64_t n = t->A->rows, own[2];
    struct loop l = loop_of("ilut", n);
    for (int64_t i = 0; i < n && loop_check(&l, i); i++) {
        double least = t->drop * begin_row(t, i, own);
        eliminate(t, i, least);
        if (!keep(t, &t->L, i, t->left, t->nleft, own[0] + t->fill, 0, some, e) ||
            !keep(t, &t->U, i, t->right, t->nright, own[1] + t->fill, least, some, e))
            return false;
        if (!finish_row(t, i, e)) return *refused = true, false;
        if (!watch_tick(t->v->matrix.watch, "ilut", i, n, e)) return false;
    }
    return loop_end(&l, e);
}

/* ---- the factors ---- */

static struct factors factors_of(const struct ilut *t)
{
    return (struct factors){.n = t->A->rows,
                            .lower = {t->L.ptr, t->L.ptr + 1, 0, t->L.col, t->L.val},
                            .upper = {t->U.ptr, t->U.ptr + 1, 0, t->U.col, t->U.val},
                            .upper_inverse = t->inverse,
                            .names = t->names};
}

/* With small pivots of greater and greater size, until M is of use. */
static bool factorise(struct ilut *t, struct entry *some, struct err *e)
{
    const struct given *shift = &t->v->pre.triangles.shift;
    int tries = pivots_tries(shift);
    for (int k = 0; k < tries; k++) {
        struct err why = {0};
        bool refused = false, last = k + 1 == tries;
        t->pivots = pivots_try(k, shift, t->A, t->v->real, who);
        bool ok = factor_rows(t, some, &refused, &why);
        if (!ok && (!refused || last)) return fail_at(e, why.code, why.where, "%s", why.text);
        struct factors f = factors_of(t);
        if (ok && (!t->pivots.replaced || last || pivots_are_stable(&t->pivots, &f))) return true;
        loop_zero(t->in, t->A->rows * (int64_t)sizeof *t->in, "ilut", NULL);
    }
    return loop_unbroken("ilut", e);
}

static bool rows_new(struct rows *r, int64_t n, int64_t room, struct err *e)
{
    r->room = room;
    r->ptr = mem_zero(n + 1, sizeof *r->ptr, "the factors of ilut", e);
    r->col = r->ptr ? mem_new(room, sizeof *r->col, "the factors of ilut", e) : NULL;
    r->val = r->col ? mem_new(room, sizeof *r->val, "the factors of ilut", e) : NULL;
    return r->val != NULL;
}

static bool new_arrays(struct ilut *t, struct err *e)
{
    int64_t n = t->A->rows;
    int **const ints[] = {&t->heap, &t->left, &t->right};
    for (int i = 0; i < COUNT(ints); i++)
        if (!(*ints[i] = mem_new(n, sizeof **ints[i], "a row of ilut", e))) return false;
    t->w = mem_new(n, sizeof *t->w, "a row of ilut", e);
    t->in = t->w ? mem_zero(n, sizeof *t->in, "a row of ilut", e) : NULL;
    t->inverse = t->in ? mem_new(n, sizeof *t->inverse, "the inverted diagonal", e) : NULL;
    return t->inverse && rows_new(&t->L, n, t->A->nnz, e) && rows_new(&t->U, n, t->A->nnz, e);
}

static void free_arrays(struct ilut *t)
{
    void *const all[] = {t->heap,  t->left,  t->right, t->w,     t->in,    t->inverse, t->L.ptr,
                         t->L.col, t->L.val, t->U.ptr, t->U.col, t->U.val, t->names};
    for (int i = 0; i < COUNT(all); i++) mem_free(all[i]);
    csr_free(&t->reordered);
}

static bool make_factors(struct solve *v, struct ilut *t, struct err *e)
{
    struct entry *some = new_arrays(t, e) ? mem_new(t->A->rows, sizeof *some, "a row of ilut", e) : NULL;
    bool ok = some && factorise(t, some, e);
    mem_free(some);
    if (!ok) return false;
    struct factors f = factors_of(t);
    double entries = (double)t->L.ptr[f.n] + (double)t->U.ptr[f.n] + (double)f.n;
    pivots_note(v, &t->pivots, &f, t->U.val, t->inverse);
    v->pre.note[TRI_FILL] = llround(1e6 * entries / (double)t->A->nnz);
    return triangles_make(v, &f, e);
}

static bool make(struct solve *v, struct err *e)
{
    const struct triangle_settings *set = &v->pre.triangles;
    struct ilut t = {.v = v,
                     .A = v->system.A,
                     .drop = set->drop.set ? set->drop.value : ilut_drop,
                     .fill = set->fill.set ? (int64_t)set->fill.value : ilut_fill};
    bool ok = triangles_named_order(v, t.A, &t.names, e) &&
              (!t.names || reorder_apply(&t.reordered, t.A, t.names, v->matrix.watch, e));
    if (ok && t.names) t.A = &t.reordered;
    ok = ok && make_factors(v, &t, e);
    free_arrays(&t);
    return ok;
}

const struct precond precond_ilut = {
    .name = "ilut",
    .about = "incomplete LU factors with the largest entries of a row: drop and fill say how many",
    .source = "Saad 1994",
    .needs = "no pivot that A lacks and fill does not make",
    .long_apply = true,
    .triangles = true,
    .drops = true,
    .making = 150,
    .make = make,
    .apply = triangles_apply,
    .restore = triangles_restore,
    .drop = triangles_drop,
    .bytes = triangles_bytes,
    .note = triangles_note,
    .how = triangles_how,
    .peers =
        {.hypre = "HYPRE_ILUSolve",
         .hypre_setup = "HYPRE_ILUSetup",
         .hypre_make = "HYPRE_ILUCreate(&precond);\n"
                       "HYPRE_ILUSetType(precond, 1);\n"
                       "HYPRE_ILUSetDropThreshold(precond, 1e-3);\n"
                       "HYPRE_ILUSetMaxIter(precond, 1);\n"
                       "HYPRE_ILUSetTol(precond, 0);\n",
         .scipy =
             "# SuperLU's ILU pivots and drops by other rules than ILUT, so iterations differ.\n"
             "room = 2 + 4 * fill * A.shape[0] / A.nnz\n"
             "M = linalg.LinearOperator(A.shape, linalg.spilu(A.tocsc(), drop_tol=drop, fill_factor=room).solve)\n"},
};
