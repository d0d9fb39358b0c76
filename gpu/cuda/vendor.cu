/* cuSPARSE's SpMV and SpMM as entries of the tables of kernels. The library is opened at its first use, because loading
   it would delay the prompt. */
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/fmt_bsr.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_sell.h"
#include "formats/stored.h"
#include "gpu/dialect.h"
#include "library.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/spmm.h"

#include <cusparse.h>
#include <string.h>

/* ---- the library ---- */

#define FUNCTIONS(F)                \
    F(cusparseCreate)               \
    F(cusparseDestroy)              \
    F(cusparseSetStream)            \
    F(cusparseGetErrorString)       \
    F(cusparseGetProperty)          \
    F(cusparseCreateConstCsr)       \
    F(cusparseCreateConstCoo)       \
    F(cusparseCreateConstSlicedEll) \
    F(cusparseCreateConstBsr)       \
    F(cusparseDestroySpMat)         \
    F(cusparseCreateConstDnVec)     \
    F(cusparseCreateDnVec)          \
    F(cusparseDestroyDnVec)         \
    F(cusparseSpMV)                 \
    F(cusparseSpMV_bufferSize)      \
    F(cusparseSpMV_preprocess)      \
    F(cusparseCreateConstDnMat)     \
    F(cusparseCreateDnMat)          \
    F(cusparseDestroyDnMat)         \
    F(cusparseSpMM)                 \
    F(cusparseSpMM_bufferSize)      \
    F(cusparseSpMM_preprocess)

static struct {
    void *opened;
#define F(name) decltype(&::name) name;
    FUNCTIONS(F)
#undef F
} sp;

static bool load(struct err *e)
{
    if (sp.opened) return true;
    static const int versions[] = {12};
    void *library = library_open("cusparse", versions, COUNT(versions));
    if (!library)
        return fail(e, E_DEVICE, "cuSPARSE cannot be opened (%s); add its folder to LD_LIBRARY_PATH", dlerror());
    bool whole = true;
#define F(name) whole = (sp.name = (decltype(sp.name))dlsym(library, #name)) && whole;
    FUNCTIONS(F)
#undef F
    if (!whole)
        return fail(
            e, E_DEVICE,
            "this cuSPARSE lacks functions of version 12.6; add the folder of a newer version to LD_LIBRARY_PATH");
    sp.opened = library;
    return true;
}

#define SP(call)                                                                                                      \
    do {                                                                                                              \
        cusparseStatus_t status = (sp.call);                                                                          \
        if (status != CUSPARSE_STATUS_SUCCESS)                                                                        \
            return fail(e, E_DEVICE, "%.*s: %s", (int)strcspn(#call, "("), #call, sp.cusparseGetErrorString(status)); \
    } while (0)

/* ---- one handle per device ---- */

enum { HANDLES_MAX = 16 };
static struct {
    const struct device *d;
    cusparseHandle_t handle;
} known[HANDLES_MAX];

void vendor_forget(const struct device *d)
{
    vendor_lu_forget(d);
    for (int i = 0; i < HANDLES_MAX; i++)
        if (known[i].d == d) known[i].d = nullptr;
}

static bool handle_of(const struct device *d, cusparseHandle_t *handle, struct err *e)
{
    int unused = -1;
    for (int i = 0; i < HANDLES_MAX; i++) {
        if (known[i].d == d) return *handle = known[i].handle, true;
        if (!known[i].d) unused = i;
    }
    if (unused < 0) return fail(e, E_LIMIT, "cuSPARSE: %d devices are already in use", +HANDLES_MAX);
    if (!load(e)) return false;
    SP(cusparseCreate(&known[unused].handle));
    SP(cusparseSetStream(known[unused].handle, static_cast<cudaStream_t>(d->stream)));
    known[unused].d = d;
    *handle = known[unused].handle;
    return true;
}

/* ---- scratch data of a matrix ---- */

struct spmv {
    cusparseConstSpMatDescr_t A;
    cusparseSpMVAlg_t algorithm;
    void *buffer;
};

static cudaDataType type_of(const struct stored *S)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[S->real - T_F32];
}

typedef bool describe(const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e);

static bool describe_csr(const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstCsr(A, S->rows, S->cols, S->nnz, M->ptr[CSR_PTR], M->ptr[CSR_COL], M->ptr[CSR_VAL],
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_of(S)));
    return true;
}

static bool describe_coo(const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstCoo(A, S->rows, S->cols, S->nnz, M->ptr[COO_ROW], M->ptr[COO_COL], M->ptr[COO_VAL],
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_of(S)));
    return true;
}

static bool describe_sell(const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstSlicedEll(A, S->rows, S->cols, S->nnz, S->a[SELL_VAL].n, S->param[0], M->ptr[SELL_PTR],
                                    M->ptr[SELL_COL], M->ptr[SELL_VAL], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_BASE_ZERO, type_of(S)));
    return true;
}

static bool describe_bsr(const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    int64_t b = S->param[0];
    SP(cusparseCreateConstBsr(A, S->rows / b, S->cols / b, S->a[BSR_COL].n, b, b, M->ptr[BSR_PTR], M->ptr[BSR_COL],
                              M->ptr[BSR_VAL], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              type_of(S), CUSPARSE_ORDER_ROW));
    return true;
}

static void release(struct device *d, uint64_t note)
{
    struct spmv *v = (struct spmv *)note;
    if (v->A) sp.cusparseDestroySpMat(v->A);
    if (v->buffer) d->ops->free(d, v->buffer);
    mem_free(v);
}

/* ---- one SpMV ---- */

struct vectors {
    cusparseConstDnVecDescr_t x;
    cusparseDnVecDescr_t y;
};

static bool vectors_new(const struct launch *L, struct vectors *v, struct err *e)
{
    const struct stored *S = L->A->of;
    SP(cusparseCreateConstDnVec(&v->x, S->cols, L->x, type_of(S)));
    SP(cusparseCreateDnVec(&v->y, S->rows, L->y, type_of(S)));
    return true;
}

static void vectors_free(struct vectors *v)
{
    if (v->x) sp.cusparseDestroyDnVec(v->x);
    if (v->y) sp.cusparseDestroyDnVec(v->y);
}

/* alpha and beta in the type of the values, because the library takes them by address. */
template <typename T> struct factors {
    T alpha, beta;
};

template <typename T>
static bool analyse_as(const struct launch *L, struct spmv *s, struct vectors *v, bool preprocess, struct err *e)
{
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    cudaDataType type = type_of(L->A->of);
    size_t bytes = 0;
    if (!handle_of(L->A->dev, &handle, e)) return false;
    SP(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &f.alpha, s->A, v->x, &f.beta, v->y, type,
                               s->algorithm, &bytes));
    s->buffer = L->A->dev->ops->alloc(L->A->dev, (int64_t)bytes, "cuSPARSE's buffer", e);
    if (!s->buffer) return false;
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
    struct spmv *s = (struct spmv *)mem_zero(1, sizeof *s, "cuSPARSE's view of a matrix", e);
    if (!s) return false;
    *L->note = (uint64_t)s;
    s->algorithm = ALGORITHM;
    bool ok = load(e) && DESCRIBE(L->A, &s->A, e) && vectors_new(L, &v, e) &&
              analyse[L->A->of->real - T_F32](L, s, &v, PREPROCESS, e);
    vectors_free(&v);
    return ok;
}

template <typename T> static bool multiply(const struct launch *L, const struct vectors *v, struct err *e)
{
    const struct spmv *s = (const struct spmv *)*L->note;
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    if (!handle_of(L->A->dev, &handle, e)) return false;
    SP(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &f.alpha, s->A, v->x, &f.beta, v->y, type_of(L->A->of),
                    s->algorithm, s->buffer));
    return true;
}

template <typename T> static bool run(const struct launch *L, struct err *e)
{
    struct vectors v = {};
    bool ok = vectors_new(L, &v, e) && multiply<T>(L, &v, e);
    vectors_free(&v);
    return ok;
}

/* ---- matrices that the library does not support ---- */

static bool not_empty(const struct stored *S, struct err *e)
{
    return S->nnz > 0 ||
           fail(e, E_UNSUPPORTED, "cuSPARSE does not accept a matrix without entries; use another kernel");
}

static bool rows_in_order(const struct stored *S, struct err *e)
{
    if (S->param[1] == 1) return not_empty(S, e);
    return fail(e, E_UNSUPPORTED, "cuSPARSE's SELL does not permute rows; use sigma 1");
}

static bool whole_blocks(const struct stored *S, struct err *e)
{
    if (S->param[0] < 2)
        return fail(e, E_UNSUPPORTED, "cuSPARSE's BSR needs blocks of at least 2 x 2; use block 2 or more");
    if (S->rows % S->param[0] == 0 && S->cols % S->param[0] == 0) return not_empty(S, e);
    return fail(e, E_UNSUPPORTED,
                "cuSPARSE's BSR needs whole blocks: %lld x %lld is not a multiple of %lld; choose another block",
                (long long)S->rows, (long long)S->cols, (long long)S->param[0]);
}

static const int64_t unsorted[PARAMS_MAX] = {32, 1};

/* The library's source is closed, so the `lesson` texts below rely on its manual and on measurements. */
#define CLOSED "The source is closed: the kernel cannot be traced, only timed.\n"
#define CSR1                                                                                    \
    "In measurements, the kernel handles rows of any length well, like csr-merge. The manual\n" \
    "guarantees no fixed order of additions: the last bits of y may differ between runs.\n"
#define CSR2                                                                                              \
    "The manual guarantees the same bits in every run. The algorithm is slower than algorithm 1: on an\n" \
    "H200, 45 us instead of 36 for poisson2d 1000 999. csr-merge gives the same bits in every run too.\n"
#define PREP                                                                                                \
    "The preprocessing reads the rows once. It pays off in a solver, which multiplies often, but perhaps\n" \
    "not for a single SpMV: see the lines that `bench` prints below its table.\n"

#define VENDOR(id, name_, of, about_, lesson_, same, describe_, algorithm, preprocess, fits_, param_) \
    extern "C" const struct kernel cuda_kernel_##id;                                                  \
    const struct kernel cuda_kernel_##id = {                                                          \
        .name = name_,                                                                                \
        .about = about_,                                                                              \
        .format = &format_##of,                                                                       \
        .source = "cuSPARSE",                                                                         \
        .work = "as the library chooses",                                                             \
        .lesson = lesson_,                                                                            \
        .deterministic = same,                                                                        \
        .vendor = true,                                                                               \
        .param = param_,                                                                              \
        .fits = fits_,                                                                                \
        .prepare = prepare<describe_, algorithm, preprocess>,                                         \
        .release = release,                                                                           \
        VALUE_TYPES(run),                                                                             \
    };

VENDOR(cusparse_csr1, "cusparse-csr1", csr, "cuSPARSE's CSR algorithm 1, the default", CLOSED CSR1, false, describe_csr,
       CUSPARSE_SPMV_CSR_ALG1, false, not_empty, nullptr)
VENDOR(cusparse_csr1_prep, "cusparse-csr1-prep", csr, "cuSPARSE's CSR algorithm 1, with preprocessing",
       CLOSED CSR1 PREP, false, describe_csr, CUSPARSE_SPMV_CSR_ALG1, true, not_empty, nullptr)
VENDOR(cusparse_csr2, "cusparse-csr2", csr, "cuSPARSE's CSR algorithm 2, bitwise reproducible", CLOSED CSR2, true,
       describe_csr, CUSPARSE_SPMV_CSR_ALG2, false, not_empty, nullptr)
VENDOR(cusparse_csr2_prep, "cusparse-csr2-prep", csr, "cuSPARSE's CSR algorithm 2, with preprocessing",
       CLOSED CSR2 PREP, true, describe_csr, CUSPARSE_SPMV_CSR_ALG2, true, not_empty, nullptr)
VENDOR(cusparse_coo1, "cusparse-coo1", coo, "cuSPARSE's COO algorithm 1",
       CLOSED "The kernel reads the same arrays as coo-segmented. The order of additions is not fixed.\n", false,
       describe_coo, CUSPARSE_SPMV_COO_ALG1, false, not_empty, nullptr)
VENDOR(cusparse_coo2, "cusparse-coo2", coo, "cuSPARSE's COO algorithm 2, bitwise reproducible",
       CLOSED "Like algorithm 1, but the manual guarantees the same bits in every run.\n", true, describe_coo,
       CUSPARSE_SPMV_COO_ALG2, false, not_empty, nullptr)
VENDOR(cusparse_sell, "cusparse-sell", sell, "cuSPARSE's sliced ELL, without sorting of rows",
       CLOSED "The layout is sell with sigma 1: without sorting, a slice is as wide as the longest of 32\n"
              "neighbouring rows, and stores to y are coalesced.\n",
       false, describe_sell, CUSPARSE_SPMV_SELL_ALG1, false, rows_in_order, unsorted)
VENDOR(cusparse_bsr, "cusparse-bsr", bsr, "cuSPARSE's BSR",
       CLOSED "The layout is the same as for bsr-block and bsr-column, for matrices that consist of whole blocks.\n",
       false, describe_bsr, CUSPARSE_SPMV_BSR_ALG1, false, whole_blocks, nullptr)

/* ---- SpMM ---- */

struct spmm_state {
    cusparseConstSpMatDescr_t A;
    cusparseConstDnMatDescr_t x;
    cusparseDnMatDescr_t y;
    cusparseSpMMAlg_t algorithm;
    void *buffer;
};

static void spmm_end(struct device *d, void *state)
{
    struct spmm_state *m = (struct spmm_state *)state;
    if (m->A) sp.cusparseDestroySpMat(m->A);
    if (m->x) sp.cusparseDestroyDnMat(m->x);
    if (m->y) sp.cusparseDestroyDnMat(m->y);
    if (m->buffer) d->ops->free(d, m->buffer);
    mem_free(m);
}

template <typename T> static bool spmm_analyse(const struct spmm *L, struct spmm_state *m, struct err *e)
{
    factors<T> f = {1, 0};
    cusparseHandle_t handle;
    cudaDataType type = type_of(L->A->of);
    cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    if (!handle_of(L->A->dev, &handle, e)) return false;
    SP(cusparseSpMM_bufferSize(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, type, m->algorithm, &bytes));
    m->buffer = L->A->dev->ops->alloc(L->A->dev, (int64_t)bytes, "cuSPARSE's buffer", e);
    if (!m->buffer) return false;
    SP(cusparseSpMM_preprocess(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, type, m->algorithm, m->buffer));
    return true;
}

static bool spmm_describe(const struct spmm *L, struct spmm_state *m, struct err *e)
{
    const struct stored *S = L->A->of;
    SP(cusparseCreateConstDnMat(&m->x, S->cols, L->vectors, L->vectors, L->x, type_of(S), CUSPARSE_ORDER_ROW));
    SP(cusparseCreateDnMat(&m->y, S->rows, L->vectors, L->vectors, L->y, type_of(S), CUSPARSE_ORDER_ROW));
    return describe_csr(L->A, &m->A, e);
}

template <cusparseSpMMAlg_t ALGORITHM> static bool spmm_begin(const struct spmm *L, void **state, struct err *e)
{
    struct spmm_state *m = (struct spmm_state *)mem_zero(1, sizeof *m, "cuSPARSE's view of a matrix", e);
    if (!m) return false;
    *state = m;
    m->algorithm = ALGORITHM;
    if (!load(e) || !spmm_describe(L, m, e)) return false;
    return L->A->of->real == T_F32 ? spmm_analyse<float>(L, m, e) : spmm_analyse<double>(L, m, e);
}

template <typename T> static bool spmm_run(const struct spmm *L, struct err *e)
{
    const struct spmm_state *m = (const struct spmm_state *)L->state;
    factors<T> f = {1, 0};
    cusparseHandle_t handle;
    cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (!handle_of(L->A->dev, &handle, e)) return false;
    SP(cusparseSpMM(handle, op, op, &f.alpha, m->A, m->x, &f.beta, m->y, type_of(L->A->of), m->algorithm, m->buffer));
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
        .fits = not_empty,                                      \
        .begin = spmm_begin<algorithm>,                         \
        .end = spmm_end,                                        \
        .f32 = spmm_run<float>,                                 \
        .f64 = spmm_run<double>,                                \
    };

VENDOR_SPMM(cusparse2, "cusparse-spmm2", "cuSPARSE's SpMM, CSR algorithm 2, made for row-major X", false, 2,
            CUSPARSE_SPMM_CSR_ALG2)
VENDOR_SPMM(cusparse3, "cusparse-spmm3", "cuSPARSE's SpMM, CSR algorithm 3", false, 1, CUSPARSE_SPMM_CSR_ALG3)
