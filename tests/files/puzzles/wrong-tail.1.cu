// races: mends the sums only
// TRY(csr, 16, 128)
__global__ void wrong_tail(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double part[4];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int end = ptr[row + 1];
        double sum = 0;
        for (int k = ptr[row] + 2 * threadIdx.x; k < end; k += 2 * blockDim.x) {
            sum += val[k] * x[col[k]];
            if (k + 1 < end) sum += val[k + 1] * x[col[k + 1]];
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) y[row] = part[0] + part[1] + part[2] + part[3];
    }
}
