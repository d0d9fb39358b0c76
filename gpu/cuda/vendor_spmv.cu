/* cuSPARSE's SpMV as entries of the table of kernels: its generic functions for CSR, COO, SELL and BSR. */
#include "base/array.h"
#include "base/mem.h"
#include "cusparse_library.h"
#include "formats/fmt_bsr.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_sell.h"
#include "formats/stored.h"
#include "gpu/dialect.h"
#include "machine/kernel.h"
#include "machine/mat.h"

/* ---- scratch data of a matrix ---- */

struct spmv {
    const struct cusparse *sp; /* made all that follows */
    cusparseConstSpMatDescr_t A;
    cusparseSpMVAlg_t algorithm;
    void *buffer;
    int64_t bytes; /* of buffer */
};

typedef bool describe(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e);

static bool describe_coo(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstCoo(A, S->rows, S->cols, S->nnz, M->ptr[COO_ROW], M->ptr[COO_COL], M->ptr[COO_VAL],
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cusparse_type(S)));
    return true;
}

static bool describe_sell(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstSlicedEll(A, S->rows, S->cols, S->nnz, S->a[SELL_VAL].n, S->param[0], M->ptr[SELL_PTR],
                                    M->ptr[SELL_COL], M->ptr[SELL_VAL], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_BASE_ZERO, cusparse_type(S)));
    return true;
}

static bool describe_bsr(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    int64_t b = S->param[0];
    SP(cusparseCreateConstBsr(A, S->rows / b, S->cols / b, S->a[BSR_COL].n, b, b, M->ptr[BSR_PTR], M->ptr[BSR_COL],
                              M->ptr[BSR_VAL], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              cusparse_type(S), CUSPARSE_ORDER_ROW));
    return true;
}

static void release(struct device *d, uint64_t note)
{
    struct spmv *v = (struct spmv *)note;
    if (v->A) v->sp->cusparseDestroySpMat(v->A);
    if (v->buffer) d->ops->free(d, v->buffer);
    mem_free(v);
}

static const char *title_of(uint64_t note)
{
    return ((const struct spmv *)note)->sp->title;
}

static int64_t workspace(uint64_t note)
{
    return ((const struct spmv *)note)->bytes;
}

/* ---- one SpMV ---- */

struct vectors {
    cusparseConstDnVecDescr_t x;
    cusparseDnVecDescr_t y;
};

static bool vectors_new(const struct cusparse *sp, const struct launch *L, struct vectors *v, struct err *e)
{
    const struct stored *S = L->A->of;
    SP(cusparseCreateConstDnVec(&v->x, S->cols, L->x, cusparse_type(S)));
    SP(cusparseCreateDnVec(&v->y, S->rows, L->y, cusparse_type(S)));
    return true;
}

static void vectors_free(const struct cusparse *sp, struct vectors *v)
{
    if (v->x) sp->cusparseDestroyDnVec(v->x);
    if (v->y) sp->cusparseDestroyDnVec(v->y);
}

template <typename T>
static bool analyse_as(const struct launch *L, struct spmv *s, struct vectors *v, bool preprocess, struct err *e)
{
    const struct cusparse *sp = s->sp;
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    cudaDataType type = cusparse_type(L->A->of);
    size_t bytes = 0;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &f.alpha, s->A, v->x, &f.beta, v->y, type,
                               s->algorithm, &bytes));
    s->buffer = L->A->dev->ops->alloc(L->A->dev, (int64_t)bytes, "cuSPARSE's buffer", e);
    if (!s->buffer) return false;
    s->bytes = (int64_t)bytes;
    if (preprocess)
        SP(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &f.alpha, s->A, v->x, &f.beta, v->y, type,
                                   s->algorithm, s->buffer));
    return true;
}

template <describe *DESCRIBE, cusparseSpMVAlg_t ALGORITHM, bool PREPROCESS>
static bool prepare(const struct launch *L, struct err *e)
{
    static bool (*const analyse[])(const struct launch *, struct spmv *, struct vectors *, bool, struct err *) = {
        analyse_as<float>, analyse_as<double>, analyse_as<cplx<float>>, analyse_as<cplx<double>>};
    struct vectors v = {};
    const struct cusparse *sp = cusparse_use(e);
    struct spmv *s = !sp ? nullptr : (struct spmv *)mem_zero(1, sizeof *s, "cuSPARSE's view of a matrix", e);
    if (!s) return false;
    *L->note = (uint64_t)s;
    s->sp = sp;
    s->algorithm = ALGORITHM;
    bool ok =
        DESCRIBE(sp, L->A, &s->A, e) && vectors_new(sp, L, &v, e) && analyse[L->A->of->real](L, s, &v, PREPROCESS, e);
    vectors_free(sp, &v);
    return ok;
}

template <typename T> static bool multiply(const struct launch *L, const struct vectors *v, struct err *e)
{
    const struct spmv *s = (const struct spmv *)*L->note;
    const struct cusparse *sp = s->sp;
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &f.alpha, s->A, v->x, &f.beta, v->y,
                    cusparse_type(L->A->of), s->algorithm, s->buffer));
    return true;
}

template <typename T> static bool run(const struct launch *L, struct err *e)
{
    struct vectors v = {};
    const struct cusparse *sp = ((const struct spmv *)*L->note)->sp;
    bool ok = vectors_new(sp, L, &v, e) && multiply<T>(L, &v, e);
    vectors_free(sp, &v);
    return ok;
}

/* ---- matrices that the library does not support ---- */

static bool rows_in_order(const struct stored *S, struct err *e)
{
    if (S->param[1] == 1) return cusparse_accepts(S, e);
    return fail(e, E_UNSUPPORTED, "cuSPARSE's SELL does not permute rows; use sigma 1");
}

static bool whole_blocks(const struct stored *S, struct err *e)
{
    if (S->param[0] < 2)
        return fail(e, E_UNSUPPORTED, "cuSPARSE's BSR needs blocks of at least 2 x 2; use block 2 or more");
    if (S->rows % S->param[0] == 0 && S->cols % S->param[0] == 0) return cusparse_accepts(S, e);
    return fail(e, E_UNSUPPORTED,
                "cuSPARSE's BSR needs whole blocks: %lld x %lld is not a multiple of %lld; choose another block",
                (long long)S->rows, (long long)S->cols, (long long)S->param[0]);
}

static const int64_t unsorted[PARAMS_MAX] = {32, 1}, slices_of_64[PARAMS_MAX] = {64, 1};
static const int64_t blocks_of_2[PARAMS_MAX] = {2}, blocks_of_3[PARAMS_MAX] = {3}, blocks_of_4[PARAMS_MAX] = {4},
                     blocks_of_8[PARAMS_MAX] = {8};

#define CSR1                                                                                    \
    "In measurements, the kernel handles rows of any length well, like csr-merge. The manual\n" \
    "guarantees no fixed order of additions: the last bits of y may differ between runs.\n"
#define CSR2                                                                                              \
    "The manual guarantees the same bits in every run. The algorithm is slower than algorithm 1: on an\n" \
    "H200, 45 us instead of 36 for poisson2d 1000 999. csr-merge gives the same bits in every run too.\n"
#define BSR "The layout is the same as for bsr-block and bsr-column, for matrices that consist of whole blocks.\n"
#define PREP                                                                                                \
    "The preprocessing reads the rows once. It pays off in a solver, which multiplies often, but perhaps\n" \
    "not for a single SpMV: see the lines that `bench` prints below its table.\n"

#define VENDOR(id, name_, of, about_, lesson_, same, describe_, algorithm, preprocess, fits_, param_)                 \
    CUSPARSE_KERNEL(id, name_, of, about_, lesson_, same, .param = param_, .fits = fits_,                             \
                    .prepare = prepare<describe_, algorithm, preprocess>, .release = release, .workspace = workspace, \
                    .product = {VALUE_TYPES(run)})

VENDOR(cusparse_csr1, "cusparse-csr1", csr, "cuSPARSE's CSR algorithm 1, the default", CSR1, false,
       cusparse_describe_csr, CUSPARSE_SPMV_CSR_ALG1, false, cusparse_accepts, nullptr)
VENDOR(cusparse_csr1_prep, "cusparse-csr1-prep", csr, "cuSPARSE's CSR algorithm 1, with preprocessing", CSR1 PREP,
       false, cusparse_describe_csr, CUSPARSE_SPMV_CSR_ALG1, true, cusparse_accepts, nullptr)
VENDOR(cusparse_csr2, "cusparse-csr2", csr, "cuSPARSE's CSR algorithm 2, bitwise reproducible", CSR2, true,
       cusparse_describe_csr, CUSPARSE_SPMV_CSR_ALG2, false, cusparse_accepts, nullptr)
VENDOR(cusparse_csr2_prep, "cusparse-csr2-prep", csr, "cuSPARSE's CSR algorithm 2, with preprocessing", CSR2 PREP, true,
       cusparse_describe_csr, CUSPARSE_SPMV_CSR_ALG2, true, cusparse_accepts, nullptr)
VENDOR(cusparse_coo1, "cusparse-coo1", coo, "cuSPARSE's COO algorithm 1",
       "The kernel reads the same arrays as coo-segmented. The order of additions is not fixed.\n", false, describe_coo,
       CUSPARSE_SPMV_COO_ALG1, false, cusparse_accepts, nullptr)
VENDOR(cusparse_coo2, "cusparse-coo2", coo, "cuSPARSE's COO algorithm 2, bitwise reproducible",
       "Like algorithm 1, but the manual guarantees the same bits in every run.\n", true, describe_coo,
       CUSPARSE_SPMV_COO_ALG2, false, cusparse_accepts, nullptr)
VENDOR(cusparse_sell, "cusparse-sell", sell, "cuSPARSE's sliced ELL, without sorting of rows",
       "The layout is sell with sigma 1: without sorting, a slice is as wide as the longest of 32\n"
       "neighbouring rows, and stores to y are coalesced.\n",
       false, describe_sell, CUSPARSE_SPMV_SELL_ALG1, false, rows_in_order, unsorted)
VENDOR(cusparse_sell64, "cusparse-sell64", sell, "cuSPARSE's sliced ELL with slices of 64 rows, without sorting",
       "The same layout with slices of 64 rows.\n", false, describe_sell, CUSPARSE_SPMV_SELL_ALG1, false, rows_in_order,
       slices_of_64)
VENDOR(cusparse_bsr, "cusparse-bsr", bsr, "cuSPARSE's BSR",
       BSR "cusparse-bsr2 to cusparse-bsr8 have blocks of other sizes: the fastest differs by matrix.\n", false,
       describe_bsr, CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, nullptr)
VENDOR(cusparse_bsr2, "cusparse-bsr2", bsr, "cuSPARSE's BSR with blocks of 2 x 2", BSR, false, describe_bsr,
       CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, blocks_of_2)
VENDOR(cusparse_bsr3, "cusparse-bsr3", bsr, "cuSPARSE's BSR with blocks of 3 x 3", BSR, false, describe_bsr,
       CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, blocks_of_3)
VENDOR(cusparse_bsr4, "cusparse-bsr4", bsr, "cuSPARSE's BSR with blocks of 4 x 4", BSR, false, describe_bsr,
       CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, blocks_of_4)
VENDOR(cusparse_bsr8, "cusparse-bsr8", bsr, "cuSPARSE's BSR with blocks of 8 x 8", BSR, false, describe_bsr,
       CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, blocks_of_8)
