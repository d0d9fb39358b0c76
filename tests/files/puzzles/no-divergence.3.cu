// ends: treats all rows as rows of 5
__global__ void no_divergence(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = ptr[row] + 5;
    double sum = 0;
    for (int k = ptr[row]; k < end; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
