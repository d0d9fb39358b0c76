// TRY(csr, blocks_for(rows, 128), 128)
__global__ void macro(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
#define END(r) ptr[(r) + 1]
    double sum = 0;
    for (int k = ptr[row]; k < END(row); k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
