// local: the compiler does not know k & 3 either
__global__ void register_array(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum[4] = {0, 0, 0, 0};
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k++) sum[k & 3] += val[k] * x[col[k]];
    y[row] = sum[0] + sum[1] + sum[2] + sum[3];
}
