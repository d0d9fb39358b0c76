/* Orderings that move rows and columns differently: large entries to the diagonal, and the block triangular form. */
#include "base/library_thread.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"
#include "matching.h"
#include "reorder.h"

#include <math.h>
#include <string.h>
#include <suitesparse/btf.h>

/* ---- matching: P A ---- */

static bool exponents_of(int **to, const double *log2_of, int64_t n, struct err *e)
{
    *to = mem_new(n, sizeof **to, "the scales of a matching", e);
    for (int64_t i = 0; *to && i < n; i++) (*to)[i] = (int)lrint(log2_of[i]);
    return *to;
}

/* Row j of P A is the row that is matched with column j. */
static bool matched_rows(const struct csr *A, struct moves *out, struct watch *w, struct err *e)
{
    struct matching m;
    if (!matching_find(&m, A, w, e)) return false;
    bool ok = matching_is_full(&m, e) && moves_new(out, A->rows, false, e) &&
              exponents_of(&out->row_exponent, m.row_log, m.n, e) &&
              exponents_of(&out->col_exponent, m.col_log, m.n, e);
    for (int64_t j = 0; ok && j < m.n; j++) {
        out->rows[j] = m.row[j];
        out->cols[j] = (int)j;
    }
    matching_free(&m);
    return ok;
}

const struct ordering ordering_matching = {
    .name = "matching",
    .aliases = "mc64 transversal",
    .about = "moves rows so that the product of the diagonal entries is as large as possible: none is 0",
    .source = "MC64, job 5; Duff and Koster 2001",
    .order_sides = matched_rows,
};

/* ---- btf: P A Q' ---- */

/* The arguments of btf_strongcomp, which reads the rows of A as the columns of A'. */
struct blocks_job {
    int n, *rowptr, *col; /* a copy of the pattern */
    int *room;            /* [7 n + 1]: */
    int *Q, *P, *R, *work;
    int blocks;
};

static void blocks_work(void *p)
{
    struct blocks_job *job = p;
    job->blocks = btf_strongcomp(job->n, job->rowptr, job->col, job->Q, job->P, job->R, job->work);
}

static void blocks_done(void *p)
{
    struct blocks_job *job = p;
    mem_free(job->rowptr);
    mem_free(job->col);
    mem_free(job->room);
    mem_free(job);
}

/* rows: row rows[j] of A has the diagonal entry of column j */
static struct blocks_job *blocks_new(const struct csr *A, const int *rows, struct err *e)
{
    int64_t n = A->rows;
    struct blocks_job *job = mem_zero(1, sizeof *job, "blocks", e);
    if (!job) return NULL;
    job->n = (int)n;
    job->rowptr = mem_new(n + 1, sizeof *job->rowptr, "blocks", e);
    job->col = job->rowptr ? mem_new(A->nnz, sizeof *job->col, "blocks", e) : NULL;
    job->room = job->col ? mem_new(7 * n + 1, sizeof *job->room, "blocks", e) : NULL;
    bool ok = job->room && loop_copy(job->rowptr, A->rowptr, (n + 1) * (int64_t)sizeof *job->rowptr, "blocks", e) &&
              loop_copy(job->col, A->col, A->nnz * (int64_t)sizeof *job->col, "blocks", e) &&
              loop_copy(job->room, rows, n * (int64_t)sizeof *job->room, "blocks", e);
    if (!ok) return blocks_done(job), NULL;
    job->Q = job->room;
    job->P = job->room + n;
    job->R = job->room + 2 * n;
    job->work = job->room + 3 * n + 1;
    return job;
}

/* A'(P, Q) is upper block triangular, so A(Q, P) is lower block triangular; backwards it is upper again. */
static void take_blocks(struct moves *out, const struct blocks_job *job)
{
    for (int64_t i = 0; i < out->n; i++) {
        out->rows[i] = job->Q[out->n - 1 - i];
        out->cols[i] = job->P[out->n - 1 - i];
    }
    out->blocks = job->blocks;
    for (int b = 0; b < job->blocks; b++)
        if (job->R[b + 1] - job->R[b] > out->largest) out->largest = job->R[b + 1] - job->R[b];
}

static bool block_triangular(const struct csr *A, struct moves *out, struct watch *w, struct err *e)
{
    if (!matched_rows(A, out, w, e) || !A->rows) return out->rows != NULL;
    struct blocks_job *job = blocks_new(A, out->rows, e);
    if (!job || !worker_run(blocks_work, blocks_done, job, "block triangular form", w, e)) return false;
    take_blocks(out, job);
    blocks_done(job);
    return true;
}

const struct ordering ordering_btf = {
    .name = "btf",
    .aliases = "block-triangular",
    .about = "upper block triangular form: a matching on the diagonal, then strongly connected components",
    .source = "Duff and Reid 1978; BTF of SuiteSparse",
    .order_sides = block_triangular,
};
