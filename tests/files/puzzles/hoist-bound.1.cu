// compiled: loads the bound once, but stores y in each iteration
__global__ void hoist_bound(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = ptr[row + 1];
    y[row] = 0;
    for (int k = ptr[row]; k < end; k++) y[row] += val[k] * x[col[k]];
}
