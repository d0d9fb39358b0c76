/* The eigenvalue problem of a small dense symmetric or hermitian matrix, by LAPACK's divide and conquer (dsyevd,
   zheevd; Anderson et al. 1999, LAPACK Users' Guide). */
#include "dense_symmetric.h"
#include "base/err.h"
#include "base/library_thread.h"
#include "base/mem.h"
#include "base/shared.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AT_ONCE = 64 }; /* up to this size, the call takes less than 1 ms */

/* Fortran passes the lengths of character arguments at the end. */
typedef void dsyevd_fn(const char *job, const char *triangle, const int *n, double *A, const int *ld, double *value,
                       double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t job_length,
                       size_t triangle_length);
/* Complex numbers are pairs; `lwork` counts pairs. */
typedef void zheevd_fn(const char *job, const char *triangle, const int *n, double *A, const int *ld, double *value,
                       double *work, const int *lwork, double *rwork, const int *lrwork, int *iwork, const int *liwork,
                       int *info, size_t job_length, size_t triangle_length);
static dsyevd_fn *dsyevd;
static zheevd_fn *zheevd;

static const struct shared_function functions[] = {{"dsyevd_", &dsyevd}, {"zheevd_", &zheevd}, {0}};

struct shared_library lapack_library = {.file = "liblapack.so.3", .package = "liblapack3", .functions = functions};

bool small_ready(struct err *e)
{
    return shared_load(&lapack_library, "eigs", e);
}

/* One call, with its own copy of the matrix, because the worker thread may outlive the command. */
struct job {
    int n, info, lwork, lpairs, liwork;
    double *A, *value, *work;
    double *pairs; /* the work memory of pairs, if A is complex */
    int *iwork;
};

static void job_free(void *p)
{
    struct job *j = p;
    if (!j) return;
    mem_free(j->A);
    mem_free(j->value);
    mem_free(j->work);
    mem_free(j->pairs);
    mem_free(j->iwork);
    mem_free(j);
}

static struct job *job_new(int n, bool pairs, const double *A, struct err *e)
{
    static const char what[] = "a dense eigenvalue problem";
    struct job *j = mem_zero(1, sizeof *j, what, e);
    if (!j) return NULL;
    int64_t numbers = (int64_t)n * n * (pairs ? 2 : 1);
    *j = (struct job){.n = n, .lwork = 1 + 6 * n + 2 * n * n, .lpairs = 2 * n + n * n, .liwork = 3 + 5 * n};
    j->A = mem_new(numbers, sizeof *j->A, what, e);
    j->value = j->A ? mem_new(n, sizeof *j->value, what, e) : NULL;
    j->work = j->value ? mem_new(j->lwork, sizeof *j->work, what, e) : NULL;
    j->iwork = j->work ? mem_new(j->liwork, sizeof *j->iwork, what, e) : NULL;
    if (pairs && j->iwork) j->pairs = mem_new(2 * (int64_t)j->lpairs, sizeof *j->pairs, what, e);
    if (j->iwork && (!pairs || j->pairs)) {
        memcpy(j->A, A, sizeof *A * (size_t)numbers);
        return j;
    }
    job_free(j);
    return NULL;
}

static void solve(void *p)
{
    struct job *j = p;
    if (j->pairs)
        zheevd("V", "U", &j->n, j->A, &j->n, j->value, j->pairs, &j->lpairs, j->work, &j->lwork, j->iwork, &j->liwork,
               &j->info, 1, 1);
    else
        dsyevd("V", "U", &j->n, j->A, &j->n, j->value, j->work, &j->lwork, j->iwork, &j->liwork, &j->info, 1, 1);
}

static bool eigen_of(int n, bool pairs, double *A, double *value, struct watch *w, struct err *e)
{
    if (!n) return true;
    struct job *j = small_ready(e) ? job_new(n, pairs, A, e) : NULL;
    if (!j) return false;
    if (n <= AT_ONCE)
        solve(j);
    else if (!worker_run(solve, job_free, j, "", w, e))
        return false;
    bool ok =
        !j->info || fail(e, E_NUMERIC, "LAPACK's %s does not converge (info %d)", pairs ? "zheevd" : "dsyevd", j->info);
    if (ok) {
        memcpy(A, j->A, sizeof *A * (size_t)n * (size_t)n * (pairs ? 2 : 1));
        memcpy(value, j->value, sizeof *value * (size_t)n);
    }
    job_free(j);
    return ok;
}

bool small_eigen(int n, double *A, double *value, struct watch *w, struct err *e)
{
    return eigen_of(n, false, A, value, w, e);
}

bool small_eigen_hermitian(int n, double *A, double *value, struct watch *w, struct err *e)
{
    return eigen_of(n, true, A, value, w, e);
}
