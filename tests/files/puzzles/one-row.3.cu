// ends: reads x at the entry, not at its column
__global__ void one_row(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k++) sum += val[k] * x[k];
    y[row] = sum;
}
