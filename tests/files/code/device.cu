// TRY(csr, blocks_for(rows, 128), 128)
__device__ int last(const int *ptr, int row) { return ptr[row + 1]; }
__global__ void device(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = ptr[row]; k < last(ptr, row); k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
