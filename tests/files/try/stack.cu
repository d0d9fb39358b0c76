__device__ double down(const double *x, int n)
{
    volatile double here[64];
    here[n % 64] = n;
    return n < 0 ? 0 : here[n % 64] + down(x, n + 1) + x[0];
}
__global__ void k(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = down(x, 1);
}
