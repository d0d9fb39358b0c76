// TRY(csr, blocks_for(rows, 128), 128)
__global__ void ldg(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = __ldg(&ptr[row]); k < __ldg(&ptr[row + 1]); k++) sum += __ldg(&val[k]) * __ldg(&x[col[k]]);
    y[row] = sum;
}
