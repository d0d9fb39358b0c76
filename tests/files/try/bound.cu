/* One row per thread; nvcc may give each of the 1,024 threads 64 registers. */
// TRY(csr, blocks_for(rows, 1024), 1024)
__global__ void __launch_bounds__(1024, 1)
bound(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
