#pragma once
#include <stddef.h>
#include <stdint.h>
struct stub_matrix {
    int64_t rows;
    const int *start, *col;
    const double *value;
};
typedef int cusparseHandle_t, cusparseOperation_t, cusparseSpMVAlg_t;
typedef stub_matrix *cusparseSpMatDescr_t;
typedef double *cusparseDnVecDescr_t;
enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE,
    CUSPARSE_SPMV_ALG_DEFAULT,
    CUSPARSE_INDEX_32I,
    CUSPARSE_INDEX_BASE_ZERO,
    CUDA_R_64F
};
static inline int cusparseCreate(cusparseHandle_t *)
{
    return 0;
}
static inline int cusparseCreateCsr(cusparseSpMatDescr_t *A, int64_t rows, int64_t, int64_t, void *start, void *col,
                                    void *value, int, int, int, int)
{
    *A = new stub_matrix{rows, (int *)start, (int *)col, (double *)value};
    return 0;
}
static inline int cusparseCreateDnVec(cusparseDnVecDescr_t *v, int64_t, void *x, int)
{
    return !(*v = (double *)x);
}
static inline int cusparseDestroyDnVec(cusparseDnVecDescr_t)
{
    return 0;
}
static inline int cusparseSpMV_bufferSize(int, int, const void *, cusparseSpMatDescr_t, double *, const void *,
                                          double *, int, int, size_t *bytes)
{
    *bytes = 8;
    return 0;
}
static inline int cusparseSpMV(int, int, const void *, cusparseSpMatDescr_t A, double *x, const void *, double *y, int,
                               int, void *)
{
    for (int64_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++) y[i] += A->value[k] * x[A->col[k]];
    }
    return 0;
}
