/* The eigenvalue problem of a small dense symmetric matrix, by LAPACK's divide and conquer (dsyevd; Anderson et al.
   1999, LAPACK Users' Guide). */
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
static dsyevd_fn *dsyevd;

static const struct shared_function functions[] = {{"dsyevd_", &dsyevd}, {0}};

struct shared_library lapack_library = {.file = "liblapack.so.3", .package = "liblapack3", .functions = functions};

bool small_ready(struct err *e)
{
    return shared_load(&lapack_library, "eigs", e);
}

/* One call, with its own copy of the matrix, because the worker thread may outlive the command. */
struct job {
    int n, info, lwork, liwork;
    double *A, *value, *work;
    int *iwork;
};

static void job_free(void *p)
{
    struct job *j = p;
    if (!j) return;
    mem_free(j->A);
    mem_free(j->value);
    mem_free(j->work);
    mem_free(j->iwork);
    mem_free(j);
}

static struct job *job_new(int n, const double *A, struct err *e)
{
    static const char what[] = "a dense eigenvalue problem";
    struct job *j = mem_zero(1, sizeof *j, what, e);
    if (!j) return NULL;
    *j = (struct job){.n = n, .lwork = 1 + 6 * n + 2 * n * n, .liwork = 3 + 5 * n};
    j->A = mem_new((int64_t)n * n, sizeof *j->A, what, e);
    j->value = j->A ? mem_new(n, sizeof *j->value, what, e) : NULL;
    j->work = j->value ? mem_new(j->lwork, sizeof *j->work, what, e) : NULL;
    j->iwork = j->work ? mem_new(j->liwork, sizeof *j->iwork, what, e) : NULL;
    if (j->iwork) {
        memcpy(j->A, A, sizeof *A * (size_t)n * (size_t)n);
        return j;
    }
    job_free(j);
    return NULL;
}

static void solve(void *p)
{
    struct job *j = p;
    dsyevd("V", "U", &j->n, j->A, &j->n, j->value, j->work, &j->lwork, j->iwork, &j->liwork, &j->info, 1, 1);
}

bool small_eigen(int n, double *A, double *value, struct watch *w, struct err *e)
{
    if (!n) return true;
    struct job *j = small_ready(e) ? job_new(n, A, e) : NULL;
    if (!j) return false;
    if (n <= AT_ONCE)
        solve(j);
    else if (!worker_run(solve, job_free, j, "", w, e))
        return false;
    bool ok = !j->info || fail(e, E_NUMERIC, "LAPACK's dsyevd does not converge (info %d)", j->info);
    if (ok) {
        memcpy(A, j->A, sizeof *A * (size_t)n * (size_t)n);
        memcpy(value, j->value, sizeof *value * (size_t)n);
    }
    job_free(j);
    return ok;
}
