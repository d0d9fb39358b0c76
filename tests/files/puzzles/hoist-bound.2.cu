// compiled: promises something about ptr only
__global__ void hoist_bound(int rows, const int *__restrict__ ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) y[row] += val[k] * x[col[k]];
}
