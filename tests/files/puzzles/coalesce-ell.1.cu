// right: reads row by row
__global__ void coalesce_ell(int rows, int width, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = 0; k < width; k++) {
        int c = col[row * width + k];
        if (c >= 0) sum += val[row * width + k] * x[c];
    }
    y[row] = sum;
}
