// right: begins with the sum that happens to be in y
__global__ void hoist_bound(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = y[row];
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
