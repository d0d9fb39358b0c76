// TRY(csr, blocks_for(rows, 128), 128)
__global__ void fixed(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    int begin = ptr[row];
    for (int j = 0; j < 4; j++)
        if (begin + j < ptr[row + 1]) sum += val[begin + j] * x[col[begin + j]];
    for (int k = begin + 4; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
