// TRY(csr, rows, 64, 64 * sizeof(double))
__global__ void plain_given2(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    extern __shared__ double part[];
    int row = blockIdx.x;
    double sum = 0;
    for (int k = ptr[row] + threadIdx.x; k < ptr[row + 1]; k += blockDim.x) sum += val[k] * x[col[k]];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0;
        for (int i = 0; i < blockDim.x; i++) all += part[i];
        y[row] = all;
    }
}
