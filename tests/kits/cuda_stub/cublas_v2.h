#pragma once
typedef int cublasHandle_t;
enum { CUBLAS_SIDE_LEFT = 1 };
static inline int cublasCreate(cublasHandle_t *)
{
    return 0;
}
static inline int cublasDdot(int, int n, const double *x, int, const double *y, int, double *sum)
{
    *sum = 0;
    for (int i = 0; i < n; i++) *sum += x[i] * y[i];
    return 0;
}
static inline int cublasDaxpy(int, int n, const double *a, const double *x, int, double *y, int)
{
    for (int i = 0; i < n; i++) y[i] += *a * x[i];
    return 0;
}
static inline int cublasDscal(int, int n, const double *a, double *x, int)
{
    for (int i = 0; i < n; i++) x[i] *= *a;
    return 0;
}
static inline int cublasDdgmm(int, int, int m, int n, const double *A, int, const double *d, int, double *C, int)
{
    for (int i = 0; i < m * n; i++) C[i] = d[i] * A[i];
    return 0;
}
