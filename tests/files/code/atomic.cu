// TRY(csr, blocks_for(rows, 128), 128)
__global__ void atomic(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) atomicAdd(&y[row], val[k] * x[col[k]]);
}
