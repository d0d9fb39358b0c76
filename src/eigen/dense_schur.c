/* The ordered real Schur form, by LAPACK: dgees (QR algorithm), dtrexc (exchange of blocks; Bai and Demmel 1993),
   dtrevc (eigenvectors) and dtrsna (conditions of eigenvalues). Anderson et al. 1999, LAPACK Users' Guide. */
#include "dense_schur.h"
#include "base/base.h"
#include "base/err.h"
#include "base/library_thread.h"
#include "base/mem.h"
#include "base/shared.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AT_ONCE = 48, WORK = 8 }; /* up to AT_ONCE rows, the calls take about 1 ms */

/* Fortran passes the lengths of character arguments at the end. */
typedef void dgees_fn(const char *vectors, const char *sort, void *select, const int *n, double *A, const int *lda,
                      int *selected, double *re, double *im, double *Q, const int *ldq, double *work, const int *lwork,
                      int *bwork, int *info, size_t vectors_length, size_t sort_length);
typedef void dtrexc_fn(const char *vectors, const int *n, double *T, const int *ldt, double *Q, const int *ldq,
                       int *from, int *to, double *work, int *info, size_t vectors_length);
typedef void dtrevc_fn(const char *side, const char *which, int *select, const int *n, const double *T, const int *ldt,
                       double *L, const int *ldl, double *R, const int *ldr, const int *most, int *m, double *work,
                       int *info, size_t side_length, size_t which_length);
typedef void dtrsna_fn(const char *job, const char *which, const int *select, const int *n, const double *T,
                       const int *ldt, const double *L, const int *ldl, const double *R, const int *ldr, double *share,
                       double *sep, const int *most, int *m, double *work, const int *ldw, int *iwork, int *info,
                       size_t job_length, size_t which_length);
static dgees_fn *dgees;
static dtrexc_fn *dtrexc;
static dtrevc_fn *dtrevc;
static dtrsna_fn *dtrsna;

static const struct shared_function functions[] = {
    {"dgees_", &dgees}, {"dtrexc_", &dtrexc}, {"dtrevc_", &dtrevc}, {"dtrsna_", &dtrsna}, {0}};
static struct shared_library library = {.file = "liblapack.so.3", .package = "liblapack3", .functions = functions};

/* One call, with its own arrays, because the worker thread may outlive the command. */
struct job {
    struct small_schur s;
    struct wanted wanted;
    int info;
    double *left, *work;
    int *iwork;
};

static void job_free(void *p)
{
    struct job *j = p;
    if (!j) return;
    double *const arrays[] = {j->s.T, j->s.Q, j->s.Y, j->s.value, j->s.imag, j->s.share, j->left, j->work};
    for (int i = 0; i < COUNT(arrays); i++) mem_free(arrays[i]);
    mem_free(j->iwork);
    mem_free(j);
}

static struct job *job_new(const struct small_schur *s, const struct wanted *w, struct err *e)
{
    static const char what[] = "a dense eigenvalue problem";
    int64_t n = s->n;
    struct job *j = mem_zero(1, sizeof *j, what, e);
    if (!j) return NULL;
    *j = (struct job){.s.n = s->n, .wanted = *w};
    struct {
        double **array;
        int64_t n;
    } const arrays[] = {{&j->s.T, n * n}, {&j->s.Q, n * n},     {&j->s.Y, n * n},  {&j->s.value, n},
                        {&j->s.imag, n},  {&j->s.share, n + 1}, {&j->left, n * n}, {&j->work, WORK * n}};
    bool ok = true;
    for (int i = 0; ok && i < COUNT(arrays); i++)
        ok = (*arrays[i].array = mem_zero(arrays[i].n, sizeof(double), what, e)) != NULL;
    j->iwork = ok ? mem_zero(2 * n, sizeof *j->iwork, what, e) : NULL;
    if (j->iwork) return memcpy(j->s.T, s->T, (size_t)(n * n) * sizeof *s->T), j;
    job_free(j);
    return NULL;
}

/* Is the block at i one of 2 rows? */
static bool is_block(const struct small_schur *s, int i)
{
    return i + 1 < s->n && s->T[(int64_t)i * s->n + i + 1] != 0;
}

/* The eigenvalues of the block at i. LAPACK makes the diagonal elements of a block of 2 rows equal. */
static void read_block(struct small_schur *s, int i)
{
    const double *at = s->T + (int64_t)i * s->n + i;
    s->value[i] = *at;
    s->imag[i] = 0;
    if (!is_block(s, i)) return;
    s->value[i + 1] = *at;
    s->imag[i] = sqrt(fabs(at[1])) * sqrt(fabs(at[s->n]));
    s->imag[i + 1] = -s->imag[i];
}

/* The block, from row `from` on, whose eigenvalues are wanted first. */
static int best_block(struct job *j, int from)
{
    struct small_schur *s = &j->s;
    int best = from;
    for (int i = from; i < s->n; i += 1 + is_block(s, i)) {
        read_block(s, i);
        if (wanted_rank(&j->wanted, s->value[i], s->imag[i]) < wanted_rank(&j->wanted, s->value[best], s->imag[best]))
            best = i;
    }
    return best;
}

/* Blocks whose eigenvalues are too close to be exchanged (info 1) keep their places. */
static void sort_blocks(struct job *j)
{
    struct small_schur *s = &j->s;
    for (int at = 0; at < s->n; at += 1 + is_block(s, at)) {
        int from = best_block(j, at) + 1, to = at + 1, info = 0;
        if (from != to) dtrexc("V", &s->n, s->T, &s->n, s->Q, &s->n, &from, &to, j->work, &info, 1);
    }
    for (int at = 0; at < s->n; at += 1 + is_block(s, at)) read_block(s, at);
}

/* Scale the eigenvectors to norm 1. */
static void normalise(struct small_schur *s)
{
    for (int i = 0, columns; i < s->n; i += columns) {
        double *y = s->Y + (int64_t)i * s->n, sum = 0;
        columns = 1 + (s->imag[i] > 0);
        for (int k = 0; k < columns * s->n; k++) sum += y[k] * y[k];
        for (int k = 0; k < columns * s->n; k++) y[k] /= sqrt(sum);
    }
}

static void solve(void *p)
{
    struct job *j = p;
    struct small_schur *s = &j->s;
    int n = s->n, none = 0, lwork = WORK * n, m = 0, one = 1;
    dgees("V", "N", NULL, &n, s->T, &n, &none, s->value, s->imag, s->Q, &n, j->work, &lwork, NULL, &j->info, 1, 1);
    if (j->info) return;
    sort_blocks(j);
    dtrevc("B", "A", NULL, &n, s->T, &n, j->left, &n, s->Y, &n, &n, &m, j->work, &j->info, 1, 1);
    if (j->info) return;
    dtrsna("E", "A", NULL, &n, s->T, &n, j->left, &n, s->Y, &n, s->share, NULL, &n, &m, j->work, &one, j->iwork,
           &j->info, 1, 1);
    normalise(s);
}

static void copy_out(struct small_schur *to, const struct small_schur *from)
{
    size_t n = (size_t)to->n, line = n * sizeof(double);
    memcpy(to->T, from->T, n * line);
    memcpy(to->Q, from->Q, n * line);
    memcpy(to->Y, from->Y, n * line);
    memcpy(to->value, from->value, line);
    memcpy(to->imag, from->imag, line);
    memcpy(to->share, from->share, line);
}

bool small_schur(struct small_schur *s, const struct wanted *w, struct watch *watch, struct err *e)
{
    if (!s->n) return true;
    struct job *j = shared_load(&library, "eigs", e) ? job_new(s, w, e) : NULL;
    if (!j) return false;
    if (s->n <= AT_ONCE)
        solve(j);
    else if (!worker_run(solve, job_free, j, "", watch, e))
        return false;
    bool ok = !j->info || fail(e, E_NUMERIC, "LAPACK's dgees does not converge (info %d)", j->info);
    if (ok) copy_out(s, &j->s);
    job_free(j);
    return ok;
}
