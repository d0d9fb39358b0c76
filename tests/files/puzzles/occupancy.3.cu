// sectors: does without shared memory, and its loads do not coalesce
__global__ void occupancy(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
