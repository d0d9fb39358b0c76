// TRY(csr, blocks_for(rows, 128), 128)
__global__ void branches(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) {
        if (row % 2) sum += val[k] * x[col[k]];
        else sum -= -val[k] * x[col[k]];
    }
    y[row] = sum;
}
