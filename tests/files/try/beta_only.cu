/* Takes beta, but not alpha. */
__global__ void beta_only(int rows, const int *ptr, const int *col, const double *val, const double *x, double beta,
                          double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    y[row] = beta == 0 ? sum : sum + beta * y[row];
}
