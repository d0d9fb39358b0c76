/* Symmetrization by cuSPARSE, a baseline for the bench: csr2csc, then csrgeam2 for A + A^T. */
#include "cusparse_library.h"

#include "base/mem.h"
#include "gpu/dev.h"
#include "machine/peer_library.h"
#include "machine/symmetrize.h"

enum { BLOCKS = 10 };
struct sym_peer {
    const struct cusparse *sp; /* made all that follows */
    struct device *d;
    cusparseHandle_t handle;
    cusparseMatDescr_t about;
    int n, nnz, found;
    int *ptr, *col, *tptr, *tcol, *out_ptr, *out_col;
    double *val, *tval, *out_val;
    void *turn, *add; /* work buffers of csr2csc and csrgeam2 */
    void *taken[BLOCKS + 2];
    int ntaken;
};

static bool take(struct sym_peer *p, void **at, int64_t bytes, struct err *e)
{
    *at = p->d->ops->alloc(p->d, bytes, "cuSPARSE's arrays", e);
    if (*at) p->taken[p->ntaken++] = *at;
    return *at != NULL;
}

static bool take_arrays(struct sym_peer *p, struct err *e)
{
    int64_t rows = 4 * ((int64_t)p->n + 1), n = p->nnz;
    return take(p, (void **)&p->ptr, rows, e) && take(p, (void **)&p->col, 4 * n, e) &&
           take(p, (void **)&p->val, 8 * n, e) && take(p, (void **)&p->tptr, rows, e) &&
           take(p, (void **)&p->tcol, 4 * n, e) && take(p, (void **)&p->tval, 8 * n, e) &&
           take(p, (void **)&p->out_ptr, rows, e) && take(p, (void **)&p->out_col, 8 * n, e) &&
           take(p, (void **)&p->out_val, 16 * n, e);
}

static bool prepare(struct sym_peer *p, const struct csr *A, struct err *e)
{
    const struct cusparse *sp = p->sp;
    const double one = 1;
    size_t bytes = 0;
    SP(cusparseCreate(&p->handle));
    SP(cusparseSetStream(p->handle, static_cast<cudaStream_t>(p->d->stream)));
    SP(cusparseCreateMatDescr(&p->about));
    const struct device_ops *ops = p->d->ops;
    if (!take_arrays(p, e) || !ops->put(p->d, p->ptr, A->rowptr, 4 * (A->rows + 1), e) ||
        !ops->put(p->d, p->col, A->col, 4 * A->nnz, e) || !ops->put(p->d, p->val, A->val, 8 * A->nnz, e))
        return false;
    SP(cusparseCsr2cscEx2_bufferSize(p->handle, p->n, p->n, p->nnz, p->val, p->ptr, p->col, p->tval, p->tptr, p->tcol,
                                     CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                     CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
    if (!take(p, &p->turn, (int64_t)bytes, e)) return false;
    SP(cusparseDcsrgeam2_bufferSizeExt(p->handle, p->n, p->n, &one, p->about, p->nnz, p->val, p->ptr, p->col, &one,
                                       p->about, p->nnz, p->tval, p->tptr, p->tcol, p->about, p->out_val, p->out_ptr,
                                       p->out_col, &bytes));
    return take(p, &p->add, (int64_t)bytes, e);
}

static void peer_free(struct sym_peer *p)
{
    if (!p) return;
    if (p->about) p->sp->cusparseDestroyMatDescr(p->about);
    if (p->handle) p->sp->cusparseDestroy(p->handle);
    for (int i = 0; i < p->ntaken; i++) p->d->ops->free(p->d, p->taken[i]);
    mem_free(p);
}

static bool peer_begin(struct sym_peer **out, const struct csr *A, struct device *d, struct err *e)
{
    *out = NULL;
    const struct cusparse *sp = cusparse_use(e);
    if (!sp || !d->ops->sync(d, e)) return false;
    struct sym_peer *p = (struct sym_peer *)mem_zero(1, sizeof *p, "cuSPARSE's matrices", e);
    if (!p) return false;
    p->sp = sp;
    p->d = d;
    p->n = (int)A->rows;
    p->nnz = (int)A->nnz;
    if (prepare(p, A, e)) return *out = p, true;
    peer_free(p);
    return false;
}

/* One symmetrization. Between the two passes of csrgeam2, the number of entries is copied to the host, because a caller
   of csrgeam2 needs this number to allocate the result. The allocation is not timed here. */
static bool peer_run(void *ctx, struct err *e)
{
    struct sym_peer *p = (struct sym_peer *)ctx;
    const struct cusparse *sp = p->sp;
    const double one = 1;
    SP(cusparseCsr2cscEx2(p->handle, p->n, p->n, p->nnz, p->val, p->ptr, p->col, p->tval, p->tptr, p->tcol, CUDA_R_64F,
                          CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, p->turn));
    SP(cusparseXcsrgeam2Nnz(p->handle, p->n, p->n, p->about, p->nnz, p->ptr, p->col, p->about, p->nnz, p->tptr, p->tcol,
                            p->about, p->out_ptr, &p->found, p->add));
    SP(cusparseDcsrgeam2(p->handle, p->n, p->n, &one, p->about, p->nnz, p->val, p->ptr, p->col, &one, p->about, p->nnz,
                         p->tval, p->tptr, p->tcol, p->about, p->out_val, p->out_ptr, p->out_col, p->add));
    return true;
}

static bool peer_get(struct sym_peer *p, struct csr *out, struct err *e)
{
    struct device *d = p->d;
    if (!d->ops->sync(d, e) || !csr_new(out, p->n, p->n, p->found, false, e)) return false;
    if (d->ops->get(d, out->rowptr, p->out_ptr, 4 * (out->rows + 1), e) &&
        d->ops->get(d, out->col, p->out_col, 4 * out->nnz, e) && d->ops->get(d, out->val, p->out_val, 8 * out->nnz, e))
        return true;
    csr_free(out);
    return false;
}

extern "C" const struct sym_peer_ops cuda_sym_peer;
const struct sym_peer_ops cuda_sym_peer = {
    .begin = peer_begin,
    .run = peer_run,
    .get = peer_get,
    .free = peer_free,
    .version = cusparse_version,
};
