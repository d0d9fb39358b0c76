// TRY(csr, blocks_for(rows, 128), 128)
__global__ void sunk(int rows, const int *__restrict__ ptr, const int *__restrict__ col, const double *__restrict__ val, const double *__restrict__ x, double *__restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) y[row] += val[k] * x[col[k]];
}
