__global__ void k(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    volatile double much[100000];
    if (row >= rows) return;
    much[row] = ptr[row] + col[0] + val[0];
    y[row] = much[row] * x[0];
}
