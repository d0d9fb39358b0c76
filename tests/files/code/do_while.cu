// TRY(csr, blocks_for(rows, 128), 128)
__global__ void do_while(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    int k = ptr[row];
    if (k < ptr[row + 1])
        do {
            sum += val[k] * x[col[k]];
        } while (++k < ptr[row + 1]);
    y[row] = sum;
}
