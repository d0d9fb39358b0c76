/* The registry of preconditioners, and the diagonal by which several methods divide. */
#include "precond.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/threads.h"
#include "matrix/csr.h"
#include "matrix/row_slices.h"
#include "solve.h"
#include "solver.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define PRECOND(id) extern const struct precond precond_##id;
#include "preconds.def"
#undef PRECOND
#define PRECOND(id) &precond_##id,
const struct precond *const preconds[] = {
#include "preconds.def"
    NULL};
#undef PRECOND

const struct registry precond_registry = {.entries = preconds, .aliases = offsetof(struct precond, aliases)};

const struct precond *precond_find(const char *name)
{
    return registry_find(&precond_registry, name);
}

const char precond_none[] = "none";

bool precond_typed(const char *text, const struct precond **out)
{
    *out = precond_find(text);
    return *out || !strcmp(text, precond_none);
}

const void *precond_diagonal(const struct solve *v)
{
    return v->pre.method && v->pre.method->diagonal && !v->matrix.csr->imag ? v->pre.part[0] : NULL;
}

/* What visits the diagonal, row by row. */
struct diagonal {
    double *diag;
    int64_t zeros, first; /* rows without a nonzero there, and the first of them */
    bool empty, stored;   /* that row: has it no entries; has it an entry there? */
};

/* Advice if a row has no diagonal entry by which to divide. */
static const char *without_diagonal(bool empty)
{
    return empty ? "that row is empty, so A is singular"
                 : "gmres and bicgstab without a preconditioner need no diagonal";
}

static void note_first_zero(struct diagonal *d, const struct csr *A, int64_t first)
{
    int64_t i = 0, k;
    while ((k = csr_find(A, i, first + i)) >= 0 && csr_abs(A, k) != 0) i++;
    d->first = first + i;
    d->empty = csr_row_length(A, i) == 0;
    d->stored = k >= 0;
}

static bool read_diagonal(void *user, const struct csr *A, int64_t first, struct err *e)
{
    struct diagonal *d = user;
    double complex *pair = (double complex *)d->diag;
    struct loop l = loop_of("the diagonal", A->rows);
    int64_t zeros = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : zeros) if (A->rows > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            int64_t row = first + i, k = csr_find(A, i, row);
            double re = k < 0 ? 0 : A->val[k], im = k < 0 || !A->imag ? 0 : A->imag[k];
            if (A->imag)
                pair[row] = CMPLX(re, im);
            else
                d->diag[row] = re;
            zeros += re == 0 && im == 0;
        }
    if (!loop_end(&l, e)) return false;
    if (zeros && !d->zeros) note_first_zero(d, A, first);
    d->zeros += zeros;
    return true;
}

bool diagonal_of(const struct csr *A, const char *who, double *diag, struct err *e)
{
    struct diagonal d = {.diag = diag};
    if (!csr_visit_all(A, read_diagonal, &d, e)) return false;
    if (!d.zeros) return true;
    return fail(e, E_NUMERIC, "%s divides by the diagonal, but row %lld (counted from 0) has %s there (%s); %s", who,
                (long long)d.first, d.stored ? "a zero" : "no entry", how_many(d.zeros, "such row").text,
                without_diagonal(d.empty));
}

bool diagonal_inverse(const struct csr *A, const char *who, double scale, double *diag, struct err *e)
{
    if (!diagonal_of(A, who, diag, e)) return false;
    double complex *pair = (double complex *)diag;
    struct loop l = loop_of("the diagonal", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->rows > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
            if (A->imag)
                pair[i] = scale / pair[i];
            else
                diag[i] = scale / diag[i];
    return loop_end(&l, e);
}

/* Is entry k, on the diagonal, as wanted? */
typedef bool wanted_entry(const struct csr *A, int64_t k);

static bool is_negative(const struct csr *A, int64_t k)
{
    return A->val[k] < 0;
}

static bool is_nonzero(const struct csr *A, int64_t k)
{
    return csr_abs(A, k) != 0;
}

/* Ends the visit, as a failure, at the first row that has no diagonal entry, or not the wanted one. */
static bool visit_diagonal(void *user, const struct csr *A, int64_t first, struct err *e)
{
    wanted_entry *const *wanted = user;
    struct loop l = loop_of("the diagonal", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        int64_t k = csr_find(A, i, first + i);
        if (k < 0 || !(*wanted)(A, k)) return false;
    }
    return true;
}

bool diagonal_is_negative(const struct csr *A)
{
    wanted_entry *wanted = is_negative;
    return A->rows > 0 && csr_visit_all(A, visit_diagonal, &wanted, NULL);
}

double precond_sign(const struct solve *v)
{
    return v->solver->symmetric && diagonal_is_negative(v->system.A) ? -1 : 1;
}

bool diagonal_is_full(const struct csr *A)
{
    wanted_entry *wanted = is_nonzero;
    return csr_visit_all(A, visit_diagonal, &wanted, NULL);
}

int64_t precond_held(const struct solve *v)
{
    const struct precond *p = v->pre.method;
    if (!p || !v->pre.made) return 0;
    return p->held ? p->held(v) : (int64_t)p->bytes(v) - 2 * v->n * (int64_t)type_size(v->real);
}

bool values_of(const struct csr *A, double *val, struct err *e)
{
    struct loop l = loop_of("the values", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++)
        if (A->imag)
            val[2 * k] = A->val[k], val[2 * k + 1] = A->imag[k];
        else
            val[k] = A->val[k];
    return loop_end(&l, e);
}
