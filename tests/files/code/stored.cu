// TRY(csr, blocks_for(rows, 128), 128)
__global__ void stored(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) y[row] += val[k] * x[col[k]];
}
