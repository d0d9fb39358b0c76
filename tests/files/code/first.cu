// TRY(csr, 2, 16)
__global__ void first(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        double sum = 0;
        for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]] + 0 * x[0];
        y[row] = sum;
    }
}
