// TRY(csr, 1, 32)
__global__ void nested(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        double sum = 0;
        for (int k = ptr[row]; k < ptr[row + 1]; k++) {
            sum += val[k] * x[col[k]];
            if (col[k] != row) sum += 0 * x[rows - 1];
        }
        y[row] = sum;
    }
}
