/* cuSPARSE's SpMM as entries of the table of SpMM kernels. */
#include "base/mem.h"
#include "cusparse_library.h"
#include "formats/fmt_csr.h"
#include "formats/stored.h"
#include "gpu/dialect.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/spmm.h"

struct spmm_state {
    const struct cusparse *sp; /* made all that follows */
    cusparseConstSpMatDescr_t A;
    cusparseConstDnMatDescr_t x;
    cusparseDnMatDescr_t y;
    cusparseSpMMAlg_t algorithm;
    void *buffer;
};

static void spmm_end(struct device *d, void *state)
{
    struct spmm_state *m = (struct spmm_state *)state;
    if (m->A) m->sp->cusparseDestroySpMat(m->A);
    if (m->x) m->sp->cusparseDestroyDnMat(m->x);
    if (m->y) m->sp->cusparseDestroyDnMat(m->y);
    if (m->buffer) d->ops->free(d, m->buffer);
    mem_free(m);
}

template <typename T> static bool spmm_analyse(const struct spmm *L, struct spmm_state *m, struct err *e)
{
    const struct cusparse *sp = m->sp;
    factors<T> f = {1, 0};
    cusparseHandle_t handle;
    cudaDataType type = cusparse_type(L->A->of);
    cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP(cusparseSpMM_bufferSize(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, type, m->algorithm, &bytes));
    m->buffer = L->A->dev->ops->alloc(L->A->dev, (int64_t)bytes, "cuSPARSE's buffer", e);
    if (!m->buffer) return false;
    SP(cusparseSpMM_preprocess(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, type, m->algorithm, m->buffer));
    return true;
}

static bool spmm_describe(const struct spmm *L, struct spmm_state *m, struct err *e)
{
    const struct cusparse *sp = m->sp;
    const struct stored *S = L->A->of;
    SP(cusparseCreateConstDnMat(&m->x, S->cols, L->vectors, L->vectors, L->x, cusparse_type(S), CUSPARSE_ORDER_ROW));
    SP(cusparseCreateDnMat(&m->y, S->rows, L->vectors, L->vectors, L->y, cusparse_type(S), CUSPARSE_ORDER_ROW));
    return cusparse_describe_csr(sp, L->A, &m->A, e);
}

template <cusparseSpMMAlg_t ALGORITHM> static bool spmm_begin(const struct spmm *L, void **state, struct err *e)
{
    const struct cusparse *sp = cusparse_use(e);
    struct spmm_state *m = sp ? (struct spmm_state *)mem_zero(1, sizeof *m, "cuSPARSE's view of a matrix", e) : nullptr;
    if (!m) return false;
    m->sp = sp;
    *state = m;
    m->algorithm = ALGORITHM;
    if (!spmm_describe(L, m, e)) return false;
    return L->A->of->real == P_F32 ? spmm_analyse<float>(L, m, e) : spmm_analyse<double>(L, m, e);
}

template <typename T> static bool spmm_run(const struct spmm *L, struct err *e)
{
    const struct spmm_state *m = (const struct spmm_state *)L->state;
    const struct cusparse *sp = m->sp;
    factors<T> f = {1, 0};
    cusparseHandle_t handle;
    cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP(cusparseSpMM(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, cusparse_type(L->A->of), m->algorithm,
                    m->buffer));
    return true;
}

/* With one row-major vector, algorithm 2 of cuSPARSE 12.6.3 left the last row of a matrix of 32 rows at 0.
   With 8 vectors and one long row, the results of its algorithm 3 differed between two runs. */
#define VENDOR_SPMM(id, name_, about_, same, fewest, algorithm) \
    extern "C" const struct spmm_kernel cuda_spmm_##id;         \
    const struct spmm_kernel cuda_spmm_##id = {                 \
        .name = name_,                                          \
        .about = about_,                                        \
        .format = &format_csr,                                  \
        .work = "as the library chooses",                       \
        .deterministic = same,                                  \
        .vendor = true,                                         \
        .least = fewest,                                        \
        .fits = cusparse_accepts,                               \
        .begin = spmm_begin<algorithm>,                         \
        .end = spmm_end,                                        \
        .product = {REALS(spmm_run)},                           \
    };

VENDOR_SPMM(cusparse2, "cusparse-spmm2", "cuSPARSE's SpMM, CSR algorithm 2, made for row-major X", false, 2,
            CUSPARSE_SPMM_CSR_ALG2)
VENDOR_SPMM(cusparse3, "cusparse-spmm3", "cuSPARSE's SpMM, CSR algorithm 3", false, 1, CUSPARSE_SPMM_CSR_ALG3)
