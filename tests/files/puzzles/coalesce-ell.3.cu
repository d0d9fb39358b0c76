// sectors: reverses the lanes of a warp and spreads them
__global__ void coalesce_ell(int rows, int width, const int *col, const double *val, const double *x, double *y)
{
    int row = threadIdx.x % 16 * 100 + threadIdx.x / 16 + blockIdx.x * 16;
    if (threadIdx.x % 16 * 100 + threadIdx.x / 16 + blockIdx.x * 16 >= rows || threadIdx.x / 16 + blockIdx.x * 16 >= 100) return;
    double sum = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + row];
        if (c >= 0) sum += val[k * rows + row] * x[c];
    }
    y[row] = sum;
}
