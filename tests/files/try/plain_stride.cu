// A loop over the grid. TRY(csr, 4, 128)
__device__ double dot(const int *col, const double *val, const double *x, int from, int to)
{
    double sum = 0;
    for (int k = from; k < to; ++k) sum += val[k] * x[col[k]];
    return sum;
}
__global__ void plain_stride(int rows, const int *ptr, const int *col, const double *val, double alpha, const double *x,
                       double beta, double *y)
{
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += step) {
        double s = dot(col, val, x, ptr[i], ptr[i + 1]);
        y[i] = alpha * s + (beta != 0 ? beta * y[i] : 0);
    }
}
