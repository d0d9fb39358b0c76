// requests: adds to y in memory
__global__ void one_row(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = 0;
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k++) y[row] += val[k] * x[col[k]];
}
