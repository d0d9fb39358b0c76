/* Finds the rows of a saddle point, wherever they are. */
#include "saddle.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "csr.h"

static int64_t mark(const struct csr *A, unsigned char *is_zero, struct loop *l)
{
    int64_t zero = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : zero) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(l, from, A->rows); i < end; i++)
            zero += is_zero[i] = !csr_has_diagonal(A, i);
    return zero;
}

/* The nonzero entries of row i in the columns of zero rows, and in others. */
static void count_entries(const struct csr *A, int64_t i, const unsigned char *is_zero, int64_t n[2])
{
    n[0] = n[1] = 0;
    for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) n[is_zero[A->col[k]]] += csr_abs(A, k) != 0;
}

static void look_at_rows(const struct csr *A, const unsigned char *is_zero, struct saddle *s, struct loop *l)
{
    int64_t mixed = 0, empty = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : mixed, empty) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t n[2], i = from, end = loop_share(l, from, A->rows); i < end; i++) {
            if (!is_zero[i]) continue;
            count_entries(A, i, is_zero, n);
            mixed += n[1] > 0;
            empty += !n[0] && !n[1];
        }
    s->mixed = mixed;
    s->empty = empty;
}

/* Mark the rows whose diagonal has the sign that is less frequent, and return how many there are. */
static int64_t mark_sign(const struct csr *A, unsigned char *is_second, struct loop *l)
{
    int64_t negative = 0, i;
    for (i = 0; i < A->rows && loop_goes(l, i); i++) negative += is_second[i] = A->val[csr_find(A, i, i)] < 0;
    if (2 * negative <= i) return negative;
    for (i = 0; i < A->rows && loop_goes(l, i); i++) is_second[i] = !is_second[i];
    return A->rows - negative;
}

bool saddle_of(const struct csr *A, bool symmetric, struct saddle *s, unsigned char *is_second, struct err *e)
{
    unsigned char *own = is_second ? NULL : mem_zero(A->rows, sizeof *own, "the rows of a saddle point", e);
    unsigned char *marks = is_second ? is_second : own;
    struct loop l = loop_of("the rows of a saddle point", A->rows);
    *s = (struct saddle){0};
    if (!marks) return false;
    s->second = s->zero = mark(A, marks, &l);
    if (s->zero) look_at_rows(A, marks, s, &l);
    if (!s->zero && symmetric) s->by_sign = (s->second = mark_sign(A, marks, &l)) > 0;
    mem_free(own);
    return loop_end(&l, e);
}

enum saddle_lack saddle_lack(const struct saddle *s, int64_t rows)
{
    if (s->by_sign) return SADDLE_LACKS_NOTHING;
    if (s->mixed) return SADDLE_MIXED;
    if (!s->zero) return SADDLE_FULL;
    if (2 * s->empty >= s->zero) return SADDLE_EMPTY;
    return s->zero > rows / 2 ? SADDLE_MANY : SADDLE_LACKS_NOTHING;
}

bool is_saddle(const struct saddle *s, int64_t rows)
{
    return saddle_lack(s, rows) == SADDLE_LACKS_NOTHING;
}
